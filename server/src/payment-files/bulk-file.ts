import { createHash } from 'node:crypto'
import { type Bank, bankCodeMeaning, findBank } from '../lib/banks.ts'
import { currencyRow } from '../lib/currencies.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Currency } from '../lib/money.ts'
import type { BulkDateFormat, BulkField, BulkProfile, BulkRecord } from './bulk-profile.ts'
import { bulkProfiles } from './bulk-profiles.ts'
import { cut, encoded, hasControl, latinText, missingIn, tidy } from './characters.ts'
import {
  type Characters,
  type Payee,
  type PaymentFile,
  PaymentFileFault,
  type PaymentFormat,
  type PaymentItem,
} from './payment-file.ts'

/** The formats that banks lay out themselves. */
export const bulkFormats: PaymentFormat[] = bulkProfiles.map(bulkFormat)

/** The format that a profile describes. */
export function bulkFormat(profile: BulkProfile): PaymentFormat {
  const { name, title, checked, currencies } = profile
  return {
    name,
    title,
    checked,
    hasMessageId: profile.header.flat().some(({ source }) => source === 'message-id'),
    currencies,
    breakOut: (payee) => {
      const problem = breakOut(profile, payee)
      return problem && `The name ${problem}.`
    },
    payeeProblem: (payee, currency, characters) => {
      const { text: name, lost } = nameIn(payee.name, characters)
      return lost === null
        ? payeeProblem(profile, { ...payee, name }, currency)
        : `The name has “${lost}”, which has no form in the Latin letters that this account’s bank takes.`
    },
    render: (file) => ({
      name: `${file.messageId.replace(/[^A-Za-z0-9-]/g, '-')}.${profile.extension}`,
      bytes: encoded(profile.charset, textOf(profile, file)),
      contentType: `text/${profile.extension === 'csv' ? 'csv' : 'plain'}; charset=${profile.charset}`,
    }),
  }
}

/** A name as it is written by an account's rule; layouts keep it unless that says otherwise. */
function nameIn(name: string, characters: Characters): { text: string; lost: string | null } {
  return characters === 'latin' ? latinText(name) : { text: name, lost: null }
}

function payeeProblem(profile: BulkProfile, payee: Payee, currency: Currency): string | null {
  const bank = findBank(currency, payee.bankCode)
  if (!bank) return `The bank code is not ${bankCodeMeaning(currency)}.`
  const { payeeBanks = {} } = profile
  if ('only' in payeeBanks && bank.code !== payeeBanks.only) {
    return `Files of this format pay only to accounts at ${payeeBanks.only}.`
  }
  if ('allBut' in payeeBanks && bank.code === payeeBanks.allBut) {
    return `Files of this format do not pay to accounts at ${bank.code}.`
  }
  if (!/^[A-Za-z0-9]{1,34}$/.test(payee.accountNo)) {
    return 'The account number is not 1 to 34 letters and digits.'
  }
  const texts = payeeTexts(payee, bank)
  for (const field of profile.detail.flat()) {
    const value = texts[field.source]
    const problem = value === undefined ? null : fieldProblem(profile, field, value)
    if (problem !== null) return `${names[field.source] ?? 'The payee'} ${problem}.`
  }
  return null
}

const names: Partial<Record<Source, string>> = {
  'payee-name': 'The name',
  'payee-account': 'The account number',
  'payee-branch': 'The account number',
  'payee-bank-code': 'The bank code',
  'payee-bank-number': 'The bank’s number',
}

type Source = BulkField['source']
type Texts = Partial<Record<Source, string>>

function payeeTexts(payee: Payee, bank: Bank): Texts {
  return {
    'payee-name': payee.name,
    'payee-account': payee.accountNo,
    'payee-branch': payee.accountNo.slice(0, 3),
    'payee-bank-code': bank.code,
    'payee-bank-number': bank.numericCode ?? '',
    'payee-bank-name': bank.name,
  }
}

/** Of these a part says enough. Of any other value a part would be another value. */
const maySayLess: readonly Source[] = ['payee-name', 'debtor-name', 'payee-bank-name', 'text']
/** Nobody is paid by these, so what a format cannot carry of them is left out. */
const mayLose: readonly Source[] = ['payee-bank-name', 'text']
const formulaStart = /^[=+\-@＝＋－＠]/

/** Why a value could end its field or its line, or be more than a text to who opens the file, as the end of a sentence. */
function breakOut({ delimiter, quoted }: BulkProfile, value: string): string | null {
  if (hasControl(value)) return 'has line breaks or other characters that cannot be printed'
  if (delimiter === null) return null
  const text = tidy(value)
  const sign = [delimiter, '"'].find((each) => text.includes(each))
  if (sign !== undefined && !quoted) {
    return `has ${sign}, which would end its field in a file without quotes`
  }
  return formulaStart.test(text)
    ? `begins with ${text[0]}, which spreadsheets take for a formula`
    : null
}

/** Why a value cannot be written, as the end of a sentence. */
function fieldProblem(profile: BulkProfile, field: BulkField, value: string): string | null {
  const { source, width, minLength = 1 } = field
  if (source === 'constant' || mayLose.includes(source)) return null
  const more = breakOut(profile, value)
  if (more !== null) return more
  const text = tidy(value)
  const missing = missingIn(profile.charset, text)
  if (missing !== null) return `has “${missing}”, which files in ${profile.charset} do not have`
  if (text.length < minLength) {
    return minLength === 1 ? 'is empty' : `has fewer than ${minLength} characters`
  }
  if (width !== undefined && text.length > width && !maySayLess.includes(source)) {
    return `has more than the ${width} characters that the file has room for`
  }
  return field.fill === '0' && !/^\d+$/.test(text) ? 'is not made of digits' : null
}

function textOf(profile: BulkProfile, file: PaymentFile): string {
  const { debtor, items, characters } = file
  const { currency } = debtor
  const written = (payee: Payee) => ({ ...payee, name: nameIn(payee.name, characters).text })
  const ofFile: Texts = {
    'message-id': file.messageId,
    'batch-reference': file.batchReference,
    'batch-number': batchNumber(file.messageId),
    count: String(items.length),
    currency,
    'debtor-name': nameIn(debtor.name, characters).text,
    'debtor-account': debtor.accountNo,
    'debtor-branch': debtor.accountNo.slice(0, 3),
  }
  const sumMinor = items.reduce((sum, item) => sum + item.amountMinor, 0n)
  const lines = (records: BulkRecord[], texts: Texts, minor: bigint) =>
    records.map((record) =>
      record
        .map((field) => fieldText(profile, field, valueIn(field, texts, minor, file)))
        .join(profile.delimiter ?? ''),
    )
  return [
    ...lines(profile.header, ofFile, sumMinor),
    ...items.flatMap((item, index) =>
      lines(
        profile.detail,
        { ...ofFile, ...textsOf({ ...item, payee: written(item.payee) }, index, currency) },
        item.amountMinor,
      ),
    ),
    ...lines(profile.trailer, ofFile, sumMinor),
  ]
    .map((line) => line + profile.lineEnd)
    .join('')
}

function batchNumber(messageId: string): string {
  const digest = createHash('sha256').update(messageId).digest()
  return String((digest.readUIntBE(0, 6) % 999_999) + 1)
}

function textsOf(item: PaymentItem, index: number, currency: Currency): Texts {
  const bank = findBank(currency, item.payee.bankCode)
  return {
    ...(bank && payeeTexts(item.payee, bank)),
    'line-number': String(index + 1),
    code: item.code,
    text: item.text ?? '',
  }
}

function valueIn(field: BulkField, texts: Texts, minor: bigint, file: PaymentFile): string {
  switch (field.source) {
    case 'constant':
      return field.text
    case 'amount':
    case 'sum':
      return exactDecimals(minor, file.debtor.currency, field)
    case 'execution-date':
      return dateText(`${file.executionDate}T00:00:00`, field.format)
    case 'created-at':
      return dateText(localTimeIn(file.zone ?? 'UTC')(file.createdAt), field.format)
    default:
      return texts[field.source] ?? ''
  }
}

function exactDecimals(
  minor: bigint,
  currency: Currency,
  { decimals, point }: { decimals: number; point: boolean },
): string {
  const more = decimals - currencyRow(currency).decimals
  if (more < 0) throw new PaymentFileFault(`The format has too few decimals for ${currency}.`)
  const digits = (minor * 10n ** BigInt(more)).toString().padStart(decimals + 1, '0')
  return point && decimals > 0 ? `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}` : digits
}

function dateText(iso: string, format: BulkDateFormat): string {
  const [year = '', month = '', day = ''] = iso.slice(0, 10).split('-')
  switch (format) {
    case 'DDMMYYYY':
      return day + month + year
    case 'YYYYMMDD':
      return year + month + day
    case 'YYYY-MM-DD':
      return iso.slice(0, 10)
    case 'HHMMSS':
      return iso.slice(11, 19).replaceAll(':', '')
  }
}

function fieldText(profile: BulkProfile, field: BulkField, value: string): string {
  const problem = fieldProblem(profile, field, value)
  if (problem !== null) {
    throw new PaymentFileFault(`The field ${field.source}, “${value}”, ${problem}.`)
  }
  const { source, width, side = 'left', fill = ' ' } = field
  const whole =
    source === 'constant' ? value : tidy(mayLose.includes(source) ? safe(profile, value) : value)
  if (profile.delimiter !== null) {
    return profile.quoted ? `"${whole.replaceAll('"', '""')}"` : whole
  }
  if (width === undefined) throw new Error(`${profile.name}: ${source} has no width`)
  const text = maySayLess.includes(source) ? cut(whole, width) : whole
  return side === 'left' ? text.padEnd(width, fill) : text.padStart(width, fill)
}

/** What is left of a text that may lose characters. */
function safe({ charset, delimiter, quoted }: BulkProfile, text: string): string {
  const kept = Array.from(text.normalize('NFC'), (character) => {
    const isUnfit =
      hasControl(character) ||
      missingIn(charset, character) !== null ||
      (delimiter !== null && !quoted && [delimiter, '"'].includes(character))
    return isUnfit ? ' ' : character
  }).join('')
  return delimiter === null ? kept : kept.replace(/^[\s=+\-@＝＋－＠]+/, '')
}
