import type { Pool } from '../db/pool.ts'
import type { JournalRow } from '../ledger/book.ts'
import { feeChargedBy } from '../ledger/read-journal.ts'
import { type CsvCell, csvLine } from '../lib/csv.ts'
import { txnId } from '../lib/ids.ts'
import { Exact } from '../lib/json-text.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { decimalText, printedMoney } from '../lib/money.ts'
import {
  type MovementKind,
  type Statement,
  type StatementBalance,
  statementRows,
} from './statement.ts'
import type { PrintedRow, PrintedStatement } from './statement-pdf.ts'

/** What a kind of movements is called on paper. */
export function kindInWords(kind: MovementKind): string {
  const words = kind.replaceAll('_', ' ')
  return words[0]?.toUpperCase() + words.slice(1)
}

/** A statement without its rows, for `jsonText`. */
export function statementView(statement: Statement) {
  const { agent, from, to, opening, closing, movements, feesMinor } = statement
  const money = (minor: bigint) => new Exact(decimalText(minor, agent.currency))
  const balance = ({ total, available, held, reserve }: StatementBalance) => ({
    balance: money(total),
    available: money(available),
    held: money(held),
    reserve: money(reserve),
  })
  return {
    app_id: agent.appId,
    name: agent.name,
    currency: agent.currency,
    from,
    to,
    opening: balance(opening),
    movements: movements.map(({ kind, count, amountMinor }) => ({
      kind,
      count,
      amount: money(amountMinor),
    })),
    fees: money(feesMinor),
    closing: balance(closing),
  }
}

/**
 * The same as a table: the amounts from the opening balance to the last movement come to the closing balance,
 * and the lines after it say what that consists of.
 */
export function statementCsv({ agent, from, to, ...statement }: Statement): string {
  const { opening, movements, closing } = statement
  const money = (minor: bigint) => new Exact(decimalText(minor, agent.currency))
  const line = (...cells: [string, bigint | null, bigint]) => {
    const [name, count, minor] = cells
    const about: CsvCell[] = [agent.appId, agent.currency, from, to]
    return csvLine([...about, name, count, money(minor)])
  }
  return [
    csvLine(['app_id', 'currency', 'from', 'to', 'line', 'count', 'amount']),
    line('opening_balance', null, opening.total),
    ...movements.map(({ kind, count, amountMinor }) => line(kind, BigInt(count), amountMinor)),
    line('closing_balance', null, closing.total),
    line('closing_available', null, closing.available),
    line('closing_held', null, closing.held),
    line('closing_reserve', null, closing.reserve),
  ].join('')
}

/** The statement to print, with every journal row or without them. */
export function statementOnPaper(
  pool: Pool,
  statement: Statement,
  { localTime, timeZone, madeAt, withRows }: PaperOptions,
): PrintedStatement {
  const { agent, from, to, after, last, opening, closing, movements } = statement
  const money = (minor: bigint) => printedMoney(minor, agent.currency)
  async function* rows(): AsyncGenerator<PrintedRow> {
    const before = ['', '', 'Opening balance', '', '', '', '', money(opening.available)]
    yield { isSum: true, cells: before }
    let fees = 0n
    for await (const some of statementRows(pool, statement)) {
      for (const row of some) {
        fees += feeChargedBy(row)
        yield { cells: printedCells(row, localTime, money) }
      }
    }
    const change = money(closing.available - opening.available)
    const heldChange = money(closing.held - opening.held)
    const totals = [change, heldChange, money(fees), money(closing.available)]
    yield {
      isSum: true,
      cells: ['', '', 'Closing balance', 'and what the rows come to', ...totals],
    }
  }
  return {
    title: agent.name,
    madeAt,
    facts: [
      ['App id', agent.appId],
      ['Currency', agent.currency],
      ['Period', `${localTime(from)} to before ${localTime(to)} (${timeZone})`],
      ['Made', `${localTime(madeAt)} (${timeZone})`],
      ['Fees', money(statement.feesMinor)],
    ],
    figures: [
      ['Opening balance', money(opening.total)],
      ...movements.map(({ kind, count, amountMinor }): [string, string] => [
        `${kindInWords(kind)} (${count})`,
        money(amountMinor),
      ]),
      ['Closing balance', money(closing.total)],
      ['Of it available', money(closing.available)],
      ['Of it held', money(closing.held)],
      ['Of it in reserve', money(closing.reserve)],
    ],
    ...(withRows && { rowCount: Number(last - after) + 2, rows: rows() }),
  }
}

interface PaperOptions {
  localTime: LocalTime
  timeZone: string
  madeAt: Date
  withRows: boolean
}

function printedCells(
  row: JournalRow,
  localTime: LocalTime,
  money: (minor: bigint) => string,
): string[] {
  return [
    String(row.seq),
    localTime(row.at),
    row.event.replaceAll('_', ' '),
    row.orderId === null ? (row.reason ?? '') : txnId(row.agentId, row.orderId),
    money(row.change.available),
    money(row.change.held),
    money(feeChargedBy(row)),
    money(row.balances.available),
  ]
}
