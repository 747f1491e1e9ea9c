import type { Column, Columns } from '../db/columns.ts'
import type { JournalRow, Order } from '../ledger/book.ts'
import { journalColumns, orderColumns, paymentColumns } from '../ledger/book-columns.ts'
import { type Cell, csvCells } from '../lib/csv-records.ts'
import { orderIdFromUuid } from '../lib/ids.ts'
import type { CallbackRow } from '../proof/prove-callback.ts'
import type { PayoutFact } from '../proof/prove-hand-overs.ts'
import type { Facts } from '../proof/prove-orders.ts'
import { ArchiveFault, type Manifest } from './part-files.ts'

type Values = Record<string, unknown>

/** In older files, rows and orders have no currency; only the manifest names it. */
type Told = Pick<Manifest, 'currency'>

function withCurrency(values: Values, currency: Manifest['currency']): Values {
  return { ...values, currency: values.currency ?? currency }
}

/** Accounts that did not exist when an older file was written. */
const laterAccounts = Object.fromEntries(
  ['reserve', 'suspense', 'unexplained', 'costs', 'differences', 'transfers'].flatMap((account) => [
    [account, '0'],
    [`${account}_change`, '0'],
  ]),
)

function journalRow(values: Values, currency: Manifest['currency']): JournalRow {
  // Rows in older files are not chained.
  const hash = values.hash ?? ''
  return read(journalColumns, { ...laterAccounts, ...withCurrency(values, currency), hash })
}

/**
 * In older files, orders have no terms of their own. Those of a withdrawal that came back show in what it
 * moved; on any others nothing in the file depends.
 */
function withTerms(order: Order, rows: readonly JournalRow[]): Order {
  if (order.lateMoney !== null || order.revertFee !== null) return order
  if (order.kind === 'deposit') return { ...order, lateMoney: 'review' }
  const reverted = rows.find(({ event }) => event === 'withdraw_reverted')
  return { ...order, revertFee: reverted?.change.fees === 0n ? 'keep' : 'return' }
}

/** Parses a journal row from a record of a file. */
export function journalFrom({ currency }: Told, header: Cell[], record: string): JournalRow {
  return journalRow(valuesOf(header, record), currency)
}

/** An order from a record of a file, with the rows that belong to it. */
export interface ArchivedOrder {
  order: Order
  rows: JournalRow[]
  /** The other rows that its proof needs. */
  facts: Facts
}

export function orderFrom({ currency }: Told, header: Cell[], record: string): ArchivedOrder {
  const values = valuesOf(header, record)
  const list = (name: string): Values[] => {
    const text = values[name]
    return typeof text === 'string' ? parseExactly(text) : []
  }
  const rows = list('journal').map((row) => journalRow(row, currency))
  const order = withTerms(read(orderColumns, withCurrency(values, currency)), rows)
  const payments = list('payments').map((row) =>
    read(paymentColumns, { received_seq: '0', ...row }),
  )
  return {
    order,
    rows,
    facts: {
      rowsOf: new Map([[order.orderId, rows]]),
      callbacks: new Map(list('callbacks').map((row) => [whole(row.seq), callbackRow(row)])),
      payments: new Map(payments.map((payment) => [`payment:${payment.paymentId}`, payment])),
      payoutsOf: new Map([[order.orderId, list('payouts').map(payoutFact)]]),
      // They were proved before they left, and none of them was open.
      itemsOf: new Map(),
    },
  }
}

function callbackRow(values: Values): CallbackRow {
  return {
    seq: whole(values.seq),
    order_id: orderIdFromUuid(text(values.order_id)),
    kind: text(values.kind),
    follows: values.follows === true,
    created_at: new Date(text(values.created_at)),
    body: text(values.stored_body ?? values.body),
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

/** Builds a value of the books from the columns of a record. */
function read<T>(columns: Columns<T>, values: Values): T {
  return columns.build(({ name, type, isNullable }) => {
    const value = values[name] ?? null
    return value === null && isNullable ? null : valueIn(type, value)
  })
}

function valueIn(type: Column['type'], value: unknown): unknown {
  switch (type) {
    case 'bigint':
      return whole(value)
    case 'int':
      return Number(whole(value))
    case 'boolean':
      return value === true
    case 'timestamptz':
      return new Date(text(value))
    case 'uuid':
      return orderIdFromUuid(text(value))
    case 'text':
    case 'date':
      return text(value)
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

/** Parses JSON with its numbers as text: a number in a payment's report may be too large for JavaScript. */
function parseExactly(json: string): Values[] {
  const parts = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
  return JSON.parse(json.replace(parts, (part) => (part.startsWith('"') ? part : `"${part}"`)))
}

function whole(value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  throw new ArchiveFault(`a record has ${String(value)} where a whole number belongs`)
}
