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
 * Banks date an opening balance with the day that it closed, too. Where another statement closes that day with the same
 * balance, a statement begins on the day after.
 */
export function withFirstDays<Page extends StatementPage>(statements: readonly Page[]): Page[] {
  const closed = new Map<string, Page[]>()
  for (const each of statements) {
    if (each.closing !== null) append(closed, `${each.to} ${each.closing}`, each)
  }
  return statements.map((each) => {
    const before = closed.get(`${each.from} ${each.opening}`) ?? []
    const isContinued = each.to > each.from && before.some((other) => other !== each)
    return isContinued ? { ...each, from: dayAfter(each.from) } : each
  })
}

/** Pages of one statement are this many days apart at most. */
const mostDays = 5

/**
 * Joins the pages of statements, which are in the order in which they were read: the first has the opening and the
 * last the closing balance. Without all pages before it, a page closes no day, unless it has both balances: then it
 * is a whole statement, and the bank numbers its files or messages, not the pages of this one.
 */
export function pagesJoined<Page extends StatementPage>(statements: readonly Page[]): Page[] {
  const byName = new Map<string, Page[]>()
  for (const each of statements) if (each.page != null) append(byName, nameOf(each), each)
  const readAt = new Map(statements.map((each, at) => [each, at]))
  const used = new Set<Page>()
  const found: { at: number; statement: Page }[] = []
  for (const first of statements) {
    if (first.page !== 1) continue
    const pages = pagesAfter(first, byName.get(nameOf(first)) ?? [])
    for (const page of pages) used.add(page)
    const at = Math.max(...pages.map((page) => readAt.get(page) ?? 0))
    found.push({ at, statement: joinedPages(first, pages) })
  }
  // A page that came again, and of which the other one was taken, says nothing more.
  const isRepeated = (page: Page) =>
    (byName.get(nameOf(page)) ?? []).some(
      (each) => used.has(each) && each.page === page.page && each.to === page.to,
    )
  for (const [at, each] of statements.entries()) {
    if (used.has(each)) continue
    if (each.page == null || isWhole(each)) found.push({ at, statement: each })
    else if (!isRepeated(each)) found.push({ at, statement: { ...each, closing: null } })
  }
  return found.sort((a, b) => a.at - b.at).map(({ statement }) => statement)
}

/** The messages of a statement have its number, and often a reference of their own each. */
function nameOf({ id, seq }: StatementPage): string {
  return seq === null ? `id ${id}` : `number ${seq}`
}

function isWhole({ opening, closing }: StatementPage): boolean {
  return opening !== null && closing !== null
}

/** A first page and those that follow it, as far as they are there. */
function pagesAfter<Page extends StatementPage>(first: Page, named: readonly Page[]): Page[] {
  const pages = [first]
  for (let last = first; ; ) {
    const next = nextPage(last, named)
    if (!next) return pages
    pages.push(next)
    last = next
  }
}

/** The next page, of several the nearest in days that was read last. A bank begins its numbers anew every year. */
function nextPage<Page extends StatementPage>(
  last: Page,
  named: readonly Page[],
): Page | undefined {
  const daysApart = ({ to }: Page) => (Date.parse(to) - Date.parse(last.to)) / 86_400_000
  const follows = (each: Page) => {
    if (each.page !== (last.page ?? 0) + 1) return false
    if (each.to === last.to && each.id === last.id) return true
    const isOpen = last.closing === null && each.opening === null
    return isOpen && daysApart(each) >= 0 && daysApart(each) <= mostDays
  }
  return named
    .filter(follows)
    .reduce<Page | undefined>(
      (best, each) => (best && daysApart(best) < daysApart(each) ? best : each),
      undefined,
    )
}

function joinedPages<Page extends StatementPage>(first: Page, pages: readonly Page[]): Page {
  const last = pages.at(-1) ?? first
  return {
    ...last,
    from: [first.from, last.from].sort()[0] ?? first.from,
    opening: first.opening,
    closing: last.closing,
    booked: pages.reduce((sum, { booked }) => sum + booked, 0n),
    entries: pages.reduce((sum, { entries }) => sum + entries, 0),
  }
}

export function dayAfter(day: Day): Day {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}

function append<Page>(of: Map<string, Page[]>, key: string, page: Page): void {
  const same = of.get(key)
  if (same) same.push(page)
  else of.set(key, [page])
}
