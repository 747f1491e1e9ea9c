import { currencyRow } from '../lib/currencies.ts'
import type { Currency } from '../lib/money.ts'
import { isoDay } from '../statements/reading.ts'
import { bulkFormats } from './bulk-file.ts'
import { pain001Formats } from './pain001.ts'
import {
  type Characters,
  type Payee,
  type PaymentFile,
  PaymentFileFault,
  type PaymentFormat,
  type RenderedFile,
} from './payment-file.ts'

/** The formats that a bank account may pay out by. */
export const paymentFormats: readonly PaymentFormat[] = [...pain001Formats, ...bulkFormats]

/** A format by its name, undefined if there is none. */
export function findPaymentFormat(name: string): PaymentFormat | undefined {
  return paymentFormats.find((format) => format.name === name)
}

/** Why a payee cannot be put into files of this format, as a sentence; null if nothing stands in the way. */
export function payeeProblem(
  format: string,
  payee: Payee,
  currency: Currency,
  characters: Characters = 'format',
): string | null {
  const known = findPaymentFormat(format)
  if (!known) return `There is no payment format ${format}.`
  if (!known.currencies.includes(currency)) return `${known.title} does not pay in ${currency}.`
  return known.payeeProblem(payee, currency, characters)
}

/**
 * The bytes of a payment file; the same values make the same bytes. Throws a `PaymentFileFault` rather than
 * write what the bank could read otherwise.
 */
export function renderPaymentFile(format: string, file: PaymentFile): RenderedFile {
  const known = findPaymentFormat(format)
  if (!known) throw new PaymentFileFault(`There is no payment format ${format}.`)
  const fault = faultOf(known, file)
  if (fault !== null) throw new PaymentFileFault(fault)
  return known.render(file)
}

/** The characters of SEPA. A slash at the start, or two of them, mean something else to banks. */
const idPattern = /^(?!\/)(?!.*\/\/)[A-Za-z0-9+?/:().,'-]{1,35}$/

function faultOf(format: PaymentFormat, file: PaymentFile): string | null {
  const { debtor, items } = file
  if (!format.currencies.includes(debtor.currency)) {
    return `${format.title} does not pay in ${debtor.currency}.`
  }
  for (const [what, id] of [
    ['message id', file.messageId],
    ['batch reference', file.batchReference],
  ] as const) {
    if (!idPattern.test(id)) return `The ${what} ${id} is none that every bank takes.`
  }
  if (isoDay(file.executionDate) !== file.executionDate) {
    return `The execution date ${file.executionDate} is no day.`
  }
  if (file.serviceLevel === 'SEPA' && !currencyRow(debtor.currency).isSepa) {
    return `SEPA does not pay in ${debtor.currency}.`
  }
  if (items.length === 0) return 'The file has no payments.'
  const codes = new Set(items.map((item) => item.code))
  if (codes.size < items.length) return 'A payment code is in the file twice.'
  for (const { code, amountMinor, payee } of items) {
    if (!/^[A-Z0-9]{1,16}$/.test(code)) return `${code} is no payment code.`
    if (amountMinor <= 0n) return `The amount of ${code} is not above zero.`
    const problem = format.payeeProblem(payee, debtor.currency, file.characters)
    if (problem !== null) return `The payee of ${code} cannot be written: ${problem}`
  }
  return null
}
