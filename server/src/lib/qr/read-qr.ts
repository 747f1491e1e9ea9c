import { currencyRow } from '../currencies.ts'
import { type Currency, currencies } from '../money.ts'
import { fieldOf, readEmv, readFields } from './emv.ts'

/** What a payment QR code says, for people to check before it is shown to payers. */
export interface ReadQr {
  scheme: 'PromptPay' | 'VietQR' | 'Pix' | 'PayNow' | 'EPC' | 'Swiss QR-bill' | 'UPI' | 'EMV'
  /** The account, number or key that it pays to. */
  payTo: string
  name: string | null
  currency: Currency | null
  /** As it is written; null if the payer enters it. */
  amount: string | null
  reference: string | null
}

/** Reads a QR text of any kind; undefined if it is none, is cut off or its checksum is wrong. */
export function readQr(text: string): ReadQr | undefined {
  if (text.startsWith('BCD\n')) return readEpc(text.split('\n'))
  if (text.startsWith('SPC\n')) return readSwiss(text.split('\n'))
  if (text.startsWith('upi://pay?')) return readUpi(text.slice('upi://pay?'.length))
  return readEmvQr(text)
}

function readEmvQr(text: string): ReadQr | undefined {
  const read = readEmv(text)
  if ('fault' in read) return undefined
  const { fields } = read
  const at = (tag: string, inner?: string) => fieldOf(fields, tag, inner)
  const number = at('53')
  const said = {
    name: at('59') ?? null,
    currency: currencyOf((code) => currencyRow(code).isoNumber === number),
    amount: at('54') ?? null,
  }
  const promptPay = at('29', '01') ?? at('29', '02') ?? at('29', '03')
  if (at('29', '00') === 'A000000677010111' && promptPay !== undefined) {
    return { scheme: 'PromptPay', payTo: promptPay, ...said, reference: null }
  }
  const biller = at('30', '01')
  if (billers.includes(at('30', '00') ?? '') && biller !== undefined) {
    return { scheme: 'PromptPay', payTo: biller, ...said, reference: at('30', '02') ?? null }
  }
  // Of a shop at one bank, which gave the code out.
  const shop = at('31', '02') ?? at('31', '01')
  if (at('31', '00') === 'A000000677010113' && shop !== undefined) {
    return { scheme: 'PromptPay', payTo: shop, ...said, reference: at('31', '04') ?? null }
  }
  const [bin, account] = readFields(at('38', '01') ?? '') ?? []
  if (at('38', '00') === 'A000000727' && bin && account) {
    const payTo = `${bin[1]} ${account[1]}`
    return { scheme: 'VietQR', payTo, ...said, reference: at('62', '08') ?? null }
  }
  const key = at('26', '01')
  if (at('26', '00')?.toLowerCase() === 'br.gov.bcb.pix' && key !== undefined) {
    return { scheme: 'Pix', payTo: key, ...said, reference: at('62', '05') ?? null }
  }
  const proxy = at('26', '02')
  if (at('26', '00') === 'SG.PAYNOW' && proxy !== undefined) {
    return { scheme: 'PayNow', payTo: proxy, ...said, reference: at('62', '01') ?? null }
  }
  const merchant = fields.find(([tag]) => tag >= '02' && tag <= '51')
  return merchant && { scheme: 'EMV', payTo: merchant[1], ...said, reference: null }
}

/** Bills within the country, and across borders. */
const billers: readonly string[] = ['A000000677010112', 'A000000677012006']

function readEpc(lines: string[]): ReadQr | undefined {
  const [, version, charset, transfer, , name, iban, amount = '', , reference, text] = lines
  const isKnown = version === '001' || version === '002'
  if (!isKnown || charset !== '1' || transfer !== 'SCT' || !name || !iban) return undefined
  return {
    scheme: 'EPC',
    payTo: iban,
    name,
    currency: currencyOf((code) => code === amount.slice(0, 3)),
    amount: amount.slice(3) || null,
    reference: reference || text || null,
  }
}

/** The version, the account, the creditor, the amount and the reference stand at fixed lines. */
function readSwiss(lines: string[]): ReadQr | undefined {
  const [, version, charset, iban, , name] = lines
  const [amount, currency] = lines.slice(18, 20)
  if (version !== '0200' || charset !== '1' || !iban || !name || lines[30] !== 'EPD')
    return undefined
  return {
    scheme: 'Swiss QR-bill',
    payTo: iban,
    name,
    currency: currencyOf((code) => code === currency),
    amount: amount || null,
    reference: lines[28] || null,
  }
}

function readUpi(query: string): ReadQr | undefined {
  const pairs = query.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    return [pair.slice(0, equals), decoded(pair.slice(equals + 1))] as const
  })
  const at = (name: string) => pairs.find(([each]) => each === name)?.[1]
  const payTo = at('pa')
  if (!payTo) return undefined
  return {
    scheme: 'UPI',
    payTo,
    name: at('pn') ?? null,
    currency: currencyOf((code) => code === at('cu')),
    amount: at('am') ?? null,
    reference: at('tr') ?? null,
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function currencyOf(isIt: (code: Currency) => boolean): Currency | null {
  return currencies.find(isIt) ?? null
}
