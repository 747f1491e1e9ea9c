import { parseDecimal } from '../lib/money.ts'
import type { PaymentStatus, StatusLevel, StatusReason, StatusReport } from './pain002.ts'
import type { PaymentFile } from './payment-file.ts'

/** What a status report means for one payment of a file. */
export interface ItemOutcome {
  /**
   * Accepted is no outcome yet; paid is the bank's word, before the debit is booked. Unknown: the bank calls it a
   * duplicate, so a first copy may be being paid, and somebody must look.
   */
  outcome: 'accepted' | 'paid' | 'rejected' | 'cancelled' | 'unknown'
  /** The bank's code. */
  status: string
  /** Who said so: the deepest level of the report that says anything of this payment. */
  level: 'group' | 'batch' | 'transaction'
  reasons: StatusReason[]
  /** The payee's name does not fit, and the bank waits for an answer. */
  waitsForAnswer: boolean
  bankReference: string | null
}

/** What in a report fits no payment of the file, or contradicts it. Such things change nothing. */
export interface ReportBreak {
  what:
    | 'other_message'
    | 'other_batch'
    | 'unknown_item'
    | 'amount_differs'
    | 'sum_differs'
    | 'unknown_status'
    | 'contradiction'
    | 'never_left'
  /** The id, code or figure that the bank wrote. */
  found: string
  code: string | null
}

export type SentFile = Pick<PaymentFile, 'messageId' | 'batchReference'> & {
  debtor: Pick<PaymentFile['debtor'], 'currency'>
  items: Pick<PaymentFile['items'][number], 'code' | 'amountMinor'>[]
}

/** What the codes mean for a payment; any other code means nothing. RJCT depends on its reasons. */
const meanings: Record<string, Pick<ItemOutcome, 'outcome' | 'waitsForAnswer'> | undefined> = {
  ...meaning('RCVD ACTC ACCP ACFC ACFW ACSP ACWC ACWP PATC PDNG PART', 'accepted'),
  ...meaning('RCVC RVNC RVMC RVNA', 'accepted'),
  ...meaning('RVCM RVNM', 'accepted', true),
  ...meaning('ACSC ACCC', 'paid'),
  ...meaning('RJCT', 'rejected'),
  ...meaning('CANC', 'cancelled'),
}

function meaning(codes: string, outcome: ItemOutcome['outcome'], waitsForAnswer = false) {
  return Object.fromEntries(codes.split(' ').map((code) => [code, { outcome, waitsForAnswer }]))
}

const duplicateCodes = new Set('DU01 DU02 DU03 DU04 DU05 AM05 DUPL AB12'.split(' '))

/** Banks also say it in a code of their own or in words. */
function isDuplicate({ code, text }: StatusReason): boolean {
  return duplicateCodes.has(code?.toUpperCase() ?? '') || /dupli|doppel/i.test(`${code} ${text}`)
}

/**
 * What a report says of each payment of a file, by its code; payments that it does not speak of are left out.
 * The deepest level that speaks of a payment wins. A report about another file, or one whose count or sum is
 * not the file's, says nothing at all.
 */
export function itemOutcomes(
  report: StatusReport,
  file: SentFile,
): { outcomes: Map<string, ItemOutcome>; breaks: ReportBreak[] } {
  const outcomes = new Map<string, ItemOutcome>()
  const breaks: ReportBreak[] = []
  if (report.originalMessageId !== file.messageId) {
    breaks.push({ what: 'other_message', found: report.originalMessageId ?? '', code: null })
    return { outcomes, breaks }
  }
  const wrongTotal = otherTotal(report.group, file)
  if (wrongTotal !== null) {
    breaks.push({ what: 'sum_differs', found: wrongTotal, code: null })
    return { outcomes, breaks }
  }
  const batches = report.payments.filter((batch) => isOurs(batch, file, breaks))
  const said = transactionsOf(batches, file, breaks)
  const batch = batchLevel(batches, breaks)
  // Where a part of the report does not fit the file, what it says of the whole is not taken for each payment.
  const isWhole = breaks.length === 0

  for (const { code } of file.items) {
    const own = said.get(code)
    if (own === 'unusable') continue
    const levels: Level[] = [
      { level: 'transaction', status: own?.status ?? null, reasons: own?.reasons ?? [] },
      { level: 'batch', ...batch },
      { level: 'group', ...report.group },
    ]
    const deepest = levels.find(({ status }) => status !== null)
    if (!deepest || (deepest.level !== 'transaction' && !isWhole)) continue
    const outcome = itemOutcome(deepest, levels)
    if (outcome) outcomes.set(code, { ...outcome, bankReference: own?.bankReference ?? null })
    else breaks.push({ what: 'unknown_status', found: deepest.status ?? '', code })
  }
  return { outcomes, breaks }
}

/**
 * What the bank says of a payment that it has spoken of before, given the state that we have. A refusal of the whole
 * file after that may be of a second copy of it, while the first is being paid; a refusal of the single payment is one.
 */
export function inDoubt<Told extends Pick<ItemOutcome, 'outcome' | 'level'>>(
  told: Told,
  state: string,
): Told {
  const endsIt = told.outcome === 'rejected' || told.outcome === 'cancelled'
  const isOfAll = endsIt && told.level !== 'transaction'
  return isOfAll && ['accepted', 'unknown', 'paid', 'returned'].includes(state)
    ? { ...told, outcome: 'unknown' }
    : told
}

type Level = Pick<ItemOutcome, 'level'> & Pick<StatusLevel, 'status' | 'reasons'>
type Said = Pick<StatusLevel, 'status' | 'reasons'> & { bankReference: string | null }

/** Banks often give the reason only once, above the payments that they reject. */
function itemOutcome({ level, status }: Level, levels: Level[]) {
  const known = meanings[status ?? '']
  if (!known || status === null) return undefined
  const reasons = levels.flatMap((each) => each.reasons)
  const endsIt = known.outcome === 'rejected' || known.outcome === 'cancelled'
  const outcome = endsIt && reasons.some(isDuplicate) ? 'unknown' : known.outcome
  return { ...known, outcome, status, level, reasons } as const
}

/** The count or sum that is not the file's; null if the level gives none or the right ones. */
function otherTotal({ count, sum }: StatusLevel, file: SentFile): string | null {
  const total = file.items.reduce((minor, item) => minor + item.amountMinor, 0n)
  if (count !== null && (!/^\d{1,15}$/.test(count) || Number(count) !== file.items.length)) {
    return count
  }
  return sum === null || parseDecimal(sum, file.debtor.currency) === total ? null : sum
}

function isOurs(batch: PaymentStatus, file: SentFile, breaks: ReportBreak[]): boolean {
  const { batchReference } = batch
  if (batchReference !== null && batchReference !== file.batchReference) {
    breaks.push({ what: 'other_batch', found: batchReference, code: null })
    return false
  }
  const wrongTotal = otherTotal(batch, file)
  if (wrongTotal !== null) breaks.push({ what: 'sum_differs', found: wrongTotal, code: null })
  return wrongTotal === null
}

/** What the report says of single payments; unusable if that contradicts the file or itself. */
function transactionsOf(batches: PaymentStatus[], file: SentFile, breaks: ReportBreak[]) {
  const said = new Map<string, Said | 'unusable'>()
  const amounts = new Map(file.items.map((item) => [item.code, item.amountMinor]))
  for (const one of batches.flatMap((batch) => batch.transactions)) {
    const ids = [one.endToEndId, one.instructionId].filter((id) => id !== null)
    const codes = new Set(ids.filter((id) => amounts.has(id)))
    const [code] = codes
    if (code === undefined) {
      breaks.push({ what: 'unknown_item', found: ids[0] ?? '', code: null })
      continue
    }
    const before = said.get(code)
    const { amount } = one
    const isOtherAmount =
      amount !== null &&
      (parseDecimal(amount.text, file.debtor.currency) !== amounts.get(code) ||
        (amount.currency ?? file.debtor.currency) !== file.debtor.currency)
    const contradicts =
      codes.size > 1 || (before && before !== 'unusable' && before.status !== one.status)
    if (isOtherAmount) breaks.push({ what: 'amount_differs', found: amount.text, code })
    if (contradicts) breaks.push({ what: 'contradiction', found: one.status ?? '', code })
    const isUsable = !isOtherAmount && !contradicts && before !== 'unusable'
    // Banks repeat a payment to give another reason: one of them may call it a duplicate.
    const reasons = [...(before && before !== 'unusable' ? before.reasons : []), ...one.reasons]
    said.set(code, isUsable ? { ...one, reasons } : 'unusable')
    for (const other of codes) if (!isUsable) said.set(other, 'unusable')
  }
  return said
}

/** What the report says of the file's one batch. */
function batchLevel(batches: PaymentStatus[], breaks: ReportBreak[]) {
  const speaking = batches.filter(({ status }) => status !== null)
  const statuses = new Set(speaking.map(({ status }) => status))
  if (statuses.size > 1) {
    breaks.push({ what: 'contradiction', found: [...statuses].join(' '), code: null })
  }
  const reasons = batches.flatMap((batch) => batch.reasons)
  return { status: speaking[0]?.status ?? null, reasons }
}
