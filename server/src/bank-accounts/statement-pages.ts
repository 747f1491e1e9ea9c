import type { Day } from '../statements/statement.ts'

/** A statement, or a page of one, with its balances as the bank gave them. */
export interface StatementPage {
  from: Day
  to: Day
  opening: bigint | null
  closing: bigint | null
  /** The sum and number of its booked entries. */
  booked: bigint
  entries: number
  /** The bank's running number, if it has one. */
  seq: bigint | string | null
  /** The bank's id of it, and which of its pages this is, if it has pages. */
  id?: string | null
  page?: number | null
}

/**
 * Joins the pages of statements, which are in the order in which they were read: the first has the opening and the
 * last the closing balance. Without all pages before it, a page closes no day, unless it has both balances: then it
 * is a whole statement, and the bank numbers its files or messages, not the pages of this one.
 */
export function pagesJoined<Page extends StatementPage>(statements: readonly Page[]): Page[] {
  const byStatement = new Map<string, Map<number, Page>>()
  const keyOf = ({ id, seq, to }: Page) => `${to} ${id} ${seq}`
  for (const statement of statements) {
    if (statement.page == null) continue
    const pages = byStatement.get(keyOf(statement)) ?? new Map<number, Page>()
    byStatement.set(keyOf(statement), pages.set(statement.page, statement))
  }
  return statements.flatMap((statement) => {
    const pages = byStatement.get(keyOf(statement))
    if (statement.page == null || !pages || (pages.size === 1 && statement.page === 1)) {
      return [statement]
    }
    const inOrder = [...pages.values()].sort((a, b) => (a.page ?? 0) - (b.page ?? 0))
    const isWhole = inOrder.every(({ page }, at) => page === at + 1)
    const isItself = ({ opening, closing }: Page) => opening !== null && closing !== null
    const parts = isWhole ? inOrder : inOrder.filter((each) => !isItself(each))
    if (inOrder.includes(statement) && !parts.includes(statement)) return [statement]
    const [first] = parts
    const last = parts.at(-1)
    if (last !== statement || !first) return []
    return [
      {
        ...last,
        from: [first.from, last.from].sort()[0] ?? last.from,
        opening: first.page === 1 ? first.opening : null,
        closing: isWhole ? last.closing : null,
        booked: parts.reduce((sum, { booked }) => sum + booked, 0n),
        entries: parts.reduce((sum, { entries }) => sum + entries, 0),
      },
    ]
  })
}
