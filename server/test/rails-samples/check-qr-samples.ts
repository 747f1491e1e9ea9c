import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { currencyRows } from '../../src/lib/currencies.ts'
import { ibanFault } from '../../src/lib/iban.ts'
import { isCreditorReference } from '../../src/lib/qr/creditor-reference.ts'
import { type EmvField, readEmv, readFields } from '../../src/lib/qr/emv.ts'
import { qrFault, qrText } from '../../src/lib/qr/qr-text.ts'
import { readQr } from '../../src/lib/qr/read-qr.ts'

interface Sample {
  kind?: string
  payload: string
  decoded?: Record<string, string | Record<string, string>>
  build_from?: { proxy?: string; value?: string; amount?: string; bin?: string; account?: string }
}

/**
 * Reads the published QR codes in `qr/examples.json` of a folder and builds again what says from what it was
 * built. Returns a line per difference, and how many codes there were.
 */
export function checkQrSamples(folder: string): { checked: number; differences: string[] } {
  const samples: Record<'emv' | 'epc' | 'swiss' | 'upi', Sample[]> = JSON.parse(
    readFileSync(join(folder, 'qr/examples.json'), 'utf8'),
  )
  const others = [...samples.epc, ...samples.swiss, ...samples.upi]
  const differences = [
    ...samples.emv.flatMap((sample) => [
      ...differencesInFields(sample),
      ...differencesInBuilding(sample),
      ...differencesInTemplate(sample),
    ]),
    ...others.flatMap(differencesInLines),
  ]
  return { checked: samples.emv.length + others.length, differences }
}

function differencesInFields({ kind, payload, decoded = {} }: Sample): string[] {
  const read = readEmv(payload)
  if ('fault' in read) return [`${kind}: ${read.fault}`]
  const { 63: _checksum, ...expected } = decoded
  return Object.entries({ ...expected, ...Object.fromEntries(read.fields) }).flatMap(([tag]) => {
    const want = expected[tag]
    const value = read.fields.find(([each]) => each === tag)?.[1]
    const got = typeof want === 'object' ? Object.fromEntries(readFields(value ?? '') ?? []) : value
    const isSame = JSON.stringify(sorted(got)) === JSON.stringify(sorted(want))
    return isSame
      ? []
      : [`${kind}: field ${tag} is ${JSON.stringify(got)}, not ${JSON.stringify(want)}`]
  })
}

function sorted(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).sort() : value
}

/** Our code for the same payee has the same account field, and the same amount where there is one. */
function differencesInBuilding({ kind = '', payload, build_from: from }: Sample): string[] {
  if (!from) return []
  const built = from.bin === undefined ? builtPromptPay(from) : builtVietQr(from)
  const [ours, theirs] = [fieldsOf(built), fieldsOf(payload)]
  const tags = ['29', '38', '53', '58', ...(from.amount === undefined ? [] : ['54', '01'])]
  return tags.flatMap((tag) => {
    const [got, want] = [ours, theirs].map((list) => list.find(([each]) => each === tag)?.[1])
    return got === want ? [] : [`${kind}: built field ${tag} is ${got}, not ${want}`]
  })
}

const owner = { accountName: 'Sample', city: null, address: null }

function builtPromptPay({ proxy, value = '', amount = '1.00' }: NonNullable<Sample['build_from']>) {
  return qrText(
    { kind: proxy === 'mobile' ? 'promptpay-mobile' : 'promptpay-id', value },
    { ...owner, currency: 'THB', bankCode: '', accountNo: '' },
    { amountMinor: BigInt(amount.replace('.', '')), code: 'X' },
  )
}

function builtVietQr({ bin = '', account = '', amount = '1' }: NonNullable<Sample['build_from']>) {
  return qrText(
    { kind: 'vietqr', value: null },
    { ...owner, currency: 'VND', bankCode: bin, accountNo: account },
    { amountMinor: BigInt(amount), code: 'X' },
  )
}

function fieldsOf(text: string | undefined): readonly EmvField[] {
  const read = readEmv(text ?? '')
  return 'fields' in read ? read.fields : []
}

/** A static code in one of our currencies serves as a template and keeps all its other fields. */
function differencesInTemplate({ kind, payload }: Sample): string[] {
  const before = fieldsOf(payload)
  const number = before.find(([tag]) => tag === '53')?.[1]
  const currency = Object.entries(currencyRows).find(([, row]) => row.isoNumber === number)?.[0]
  const isStatic = before.some(([tag, value]) => tag === '01' && value === '11')
  if (currency === undefined || !isStatic) return []
  const account = {
    ...owner,
    currency: currency as keyof typeof currencyRows,
    bankCode: '',
    accountNo: '1',
  }
  const setting = { kind: 'template' as const, value: payload }
  const fault = qrFault(setting, account)
  if (fault !== undefined) return [`${kind}: ${fault}`]
  const after = fieldsOf(qrText(setting, account, { amountMinor: 10_007n, code: 'X' }))
  const rest = (fields: readonly EmvField[]) =>
    JSON.stringify(fields.filter(([tag]) => tag !== '01' && tag !== '54'))
  return rest(before) === rest(after) ? [] : [`${kind}: with an amount, other fields have changed`]
}

function differencesInLines({ payload }: Sample): string[] {
  const read = readQr(payload)
  const what = payload.split('\n', 1)[0]
  if (!read) return [`${what}: it cannot be read`]
  if (read.scheme === 'UPI') return read.amount ? [] : [`${what}: it has no amount`]
  const fault = ibanFault(read.payTo)
  return [
    ...(fault === undefined ? [] : [`${what}: ${read.payTo} ${fault}`]),
    ...(isCreditorReference(read.reference ?? '')
      ? []
      : [`${what}: ${read.reference} is no reference`]),
  ]
}
