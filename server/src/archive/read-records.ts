import type { JournalRow, Order } from '../ledger/book.ts'
import { type OrderRow, orderFromRow } from '../ledger/order-row.ts'
import { type JournalDbRow, journalFromRow } from '../ledger/read-journal.ts'
import { type Cell, csvCells } from '../lib/csv-records.ts'
import type { CallbackRow } from '../proof/prove-callback.ts'
import type { PayoutFact } from '../proof/prove-hand-overs.ts'
import type { Facts } from '../proof/prove-orders.ts'
import { type PaymentDbRow, paymentFromRow } from '../proof/prove-payments.ts'
import { ArchiveFault } from './part-files.ts'

type Values = Record<string, unknown>

/** A journal row from the record of a file. */
export function journalFrom(header: Cell[], record: string): JournalRow {
  return journalFromValues(valuesOf(header, record))
}

/** An order from the record of a file, with what belongs to it. */
export interface ArchivedOrder {
  order: Order
  rows: JournalRow[]
  /** What its proof looks at besides. */
  facts: Facts
}

export function orderFrom(header: Cell[], record: string): ArchivedOrder {
  const values = valuesOf(header, record)
  const list = (name: string): Values[] => {
    const text = values[name]
    return typeof text === 'string' ? parseExactly(text) : []
  }
  const order = orderFromRow(orderRow(values))
  const rows = list('journal').map(journalFromValues)
  const payments = list('payments').map((row) => paymentFromRow(paymentRow(row)))
  return {
    order,
    rows,
    facts: {
      rowsOf: new Map([[order.orderId, rows]]),
      callbacks: new Map(list('callbacks').map((row) => [whole(row.seq), callbackRow(row)])),
      payments: new Map(payments.map((payment) => [`payment:${payment.paymentId}`, payment])),
      payoutsOf: new Map([[order.orderId, list('payouts').map(payoutFact)]]),
    },
  }
}

function callbackRow(values: Values): CallbackRow {
  return {
    seq: whole(values.seq),
    order_id: text(values.order_id),
    kind: text(values.kind),
    follows: values.follows === true,
    created_at: new Date(text(values.created_at)),
    body: text(values.stored_body ?? values.body),
  }
}

function paymentRow(values: Values): PaymentDbRow {
  return {
    payment_id: text(values.payment_id),
    order_id: textOrNull(values.order_id),
    amount: whole(values.amount),
    paid_at: new Date(text(values.paid_at)),
    payer_account_no: textOrNull(values.payer_account_no),
    payer_account_name: textOrNull(values.payer_account_name),
    payer_bank_code: textOrNull(values.payer_bank_code),
    state: text(values.state) as PaymentDbRow['state'],
    why: textOrNull(values.why) as PaymentDbRow['why'],
    credited_to: textOrNull(values.credited_to) as PaymentDbRow['credited_to'],
    evidence: textOrNull(values.evidence),
  }
}

function payoutFact(values: Values): PayoutFact {
  return {
    attempt: Number(values.attempt),
    provider: text(values.provider),
    reference: text(values.reference),
    state: text(values.state) as PayoutFact['state'],
    handed_at: new Date(text(values.handed_at)),
    ask_at: timeOrNull(values.ask_at),
  }
}

function valuesOf(header: Cell[], record: string): Values {
  const cells = csvCells(record)
  if (cells.length !== header.length) {
    throw new ArchiveFault(`a record has ${cells.length} values instead of ${header.length}`)
  }
  return Object.fromEntries(header.map((name, at) => [name, cells[at] ?? null]))
}

function journalFromValues(values: Values): JournalRow {
  const row: JournalDbRow = {
    agent_id: whole(values.agent_id),
    seq: whole(values.seq),
    order_id: textOrNull(values.order_id),
    event: text(values.event) as JournalDbRow['event'],
    at: new Date(text(values.at)),
    available_change: whole(values.available_change),
    held_change: whole(values.held_change),
    clearing_change: whole(values.clearing_change),
    fees_change: whole(values.fees_change),
    adjustments_change: whole(values.adjustments_change),
    available: whole(values.available),
    held: whole(values.held),
    clearing: whole(values.clearing),
    fees: whole(values.fees),
    adjustments: whole(values.adjustments),
    once_key: textOrNull(values.once_key),
    reason: textOrNull(values.reason),
  }
  return journalFromRow(row)
}

function orderRow(values: Values): OrderRow {
  return {
    agent_id: whole(values.agent_id),
    order_id: text(values.order_id),
    kind: text(values.kind) as OrderRow['kind'],
    ref_id: text(values.ref_id),
    user_id: text(values.user_id),
    amount: whole(values.amount),
    fee: whole(values.fee),
    fee_rule: text(values.fee_rule),
    account_name: text(values.account_name),
    account_no: text(values.account_no),
    bank_code: text(values.bank_code),
    extra_params: textOrNull(values.extra_params),
    status: text(values.status) as OrderRow['status'],
    version: Number(values.version),
    answer: text(values.answer),
    created_at: new Date(text(values.created_at)),
    expires_at: timeOrNull(values.expires_at),
    completed_at: timeOrNull(values.completed_at),
    paid_amount: wholeOrNull(values.paid_amount),
    paid_fee: wholeOrNull(values.paid_fee),
    provider: textOrNull(values.provider),
    provider_ref: textOrNull(values.provider_ref),
    handed_over_at: timeOrNull(values.handed_over_at),
    instructions: textOrNull(values.instructions),
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new ArchiveFault('a record lacks a value')
  return value
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : text(value)
}

function timeOrNull(value: unknown): Date | null {
  const time = textOrNull(value)
  return time === null ? null : new Date(time)
}

/** Numbers as their own text: what a payment was reported with may be more than a number of ours can hold. */
function parseExactly(json: string): Values[] {
  const parts = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
  return JSON.parse(json.replace(parts, (part) => (part.startsWith('"') ? part : `"${part}"`)))
}

function whole(value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  throw new ArchiveFault(`a record has ${String(value)} where a whole number belongs`)
}

function wholeOrNull(value: unknown): bigint | null {
  return value === null || value === undefined ? null : whole(value)
}
