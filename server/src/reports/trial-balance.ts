import type { Pool } from '../db/pool.ts'
import { type Accounts, accountNames, noChange, sumOf } from '../ledger/accounts.ts'
import { clearingsFrom } from '../ledger/archived.ts'
import { accountColumns } from '../ledger/book-columns.ts'
import { archivedProvider, isHouse } from '../ledger/house.ts'
import { seqsAsOf } from '../ledger/wallet-as-of.ts'
import { localTimeIn, startOfDay } from '../lib/local-time.ts'
import { type Currency, currencies, decimalText, defaultCurrency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { ProofTx } from '../proof/proof-failure.ts'
import { inSnapshot } from '../proof/proof-snapshot.ts'

/** One book as it stands in the trial balance. */
export interface BookBalance {
  agentId: bigint
  /** Null for a book of the house. */
  appId: string | null
  name: string
  currency: Currency
  /** The journal row that these balances are after. */
  seq: bigint
  balances: Accounts
  /** What of clearing is at each provider. */
  clearings: Map<string, bigint>
}

/** All books of one currency, added up. Positive is what the house owes or has earned. */
export interface TrialBalance {
  currency: Currency
  /** Balances above zero: what agents may use. */
  owedToAgents: bigint
  /** Balances below zero: what agents owe the house. */
  receivable: bigint
  held: bigint
  /** What is held back of deposits. */
  reserve: bigint
  suspenseOfAgents: bigint
  suspenseOfHouse: bigint
  /** What left bank accounts, and nobody can say yet for what; negative. */
  unexplained: bigint
  clearing: bigint
  fees: bigint
  costs: bigint
  adjustments: bigint
  differences: bigint
  transfers: bigint
  total: bigint
  /** Clearing by provider, in order of name. */
  providers: { provider: string; clearing: bigint }[]
  /** What does not add up, in words; nothing if the books balance. */
  faults: string[]
  books: BookBalance[]
}

/**
 * The trial balance of every currency in use, now or as of a time, from one snapshot of the database. It
 * reads a few rows per book, by key, and never the history.
 */
export async function readTrialBalances(
  pool: Pool,
  { asOf, currency }: { asOf?: Date | undefined; currency?: Currency | undefined } = {},
): Promise<TrialBalance[]> {
  return inSnapshot(pool, async (tx) => {
    const read = await readBooks(tx, currency === undefined ? currencies : [currency])
    const wanted = currency === undefined ? currenciesInUse(read) : [currency]
    const books = asOf ? await booksAsOf(tx, read, asOf) : await withClearings(tx, read)
    return wanted.map((each) =>
      addUp(
        each,
        books.filter((book) => book.currency === each),
      ),
    )
  })
}

/**
 * The trial balance of a currency at the end of each of the last days, newest first. It ends where the
 * journal was archived.
 */
export async function readTrialHistory(
  pool: Pool,
  { currency, days, now, timeZone }: HistoryAsked,
): Promise<{ day: string; at: Date; balance: TrialBalance }[]> {
  const localTime = localTimeIn(timeZone)
  const history: { day: string; at: Date; balance: TrialBalance }[] = []
  for (let next = startOfDay(now, timeZone); history.length < days; ) {
    const at = new Date(next.getTime() - 1)
    const balance = await readTrialBalances(pool, { asOf: at, currency }).then(
      ([only]) => only,
      (error) => {
        if (error instanceof Problem && error.code === 'not_found') return undefined
        throw error
      },
    )
    if (!balance) break
    history.push({ day: localTime(at).slice(0, 10), at, balance })
    next = startOfDay(at, timeZone)
  }
  return history
}

interface HistoryAsked {
  currency: Currency
  days: number
  now: Date
  timeZone: string
}

export function isBalanced(balances: readonly TrialBalance[]): boolean {
  return balances.every(({ faults }) => faults.length === 0)
}

/** Those of an agent, and those in which anything is in the house's book. */
function currenciesInUse(books: readonly BookBalance[]): Currency[] {
  const used = books.filter(
    ({ agentId, seq, balances }) =>
      !isHouse(agentId) || seq > 0n || accountNames.some((account) => balances[account] !== 0n),
  )
  const found = currencies.filter((each) => used.some(({ currency }) => currency === each))
  return found.length === 0 ? [defaultCurrency] : found
}

async function readBooks(tx: ProofTx, wanted: readonly Currency[]): Promise<BookBalance[]> {
  const { rows } = await tx.query<{
    agent_id: bigint
    app_id: string | null
    name: string | null
    currency: Currency
    seq: bigint
  }>(
    `select w.agent_id, a.app_id, a.name, w.currency, w.seq, ${accountColumns.select('w')}
     from wallets w left join agents a on a.agent_id = w.agent_id
     where w.currency = any($1::text[]) order by w.agent_id`,
    [wanted],
  )
  return rows.map((row) => ({
    agentId: row.agent_id,
    appId: row.app_id,
    name: row.name ?? `House ${row.currency}`,
    currency: row.currency,
    seq: row.seq,
    balances: accountColumns.fromRow(row),
    clearings: new Map(),
  }))
}

async function withClearings(tx: ProofTx, books: BookBalance[]): Promise<BookBalance[]> {
  const { rows } = await tx.query<{ agent_id: bigint; provider: string; balance: bigint }>(
    'select agent_id, provider, balance from clearings where agent_id = any($1::bigint[])',
    [books.map(({ agentId }) => agentId)],
  )
  const byId = new Map(books.map((book) => [book.agentId, book]))
  for (const { agent_id, provider, balance } of rows) {
    byId.get(agent_id)?.clearings.set(provider, balance)
  }
  return books
}

async function booksAsOf(tx: ProofTx, books: BookBalance[], at: Date): Promise<BookBalance[]> {
  const ids = books.map(({ agentId }) => agentId)
  // Only asks for rows, which a connection does as well as a pool.
  const seqs = await seqsAsOf(tx as unknown as Pool, ids, at)
  const then = books.map((book) => ({ ...book, seq: seqs.get(book.agentId) ?? 0n }))
  const archives = await lastArchives(tx, ids)
  const rows = await rowsAt(tx, then)
  for (const { agentId, seq } of then) {
    const archived = archives.get(agentId)
    const last = rows.get(agentId)
    if (archived && seq <= archived.toSeq && !(last && last.at <= at)) {
      throw new Problem(
        'not_found',
        `The journal up to ${archived.endedAt.toISOString()} was archived: take a later time.`,
      )
    }
  }
  const clearings = await clearingsAt(tx, then, archives)
  return then.map((book) => ({
    ...book,
    balances: rows.get(book.agentId)?.balances ?? noChange,
    clearings: clearings.get(book.agentId) ?? new Map(),
  }))
}

/** Where the archived part of a book ends, and what was at each provider then, as far as that was kept. */
interface LastArchive {
  toSeq: bigint
  endedAt: Date
  clearings: Map<string, bigint> | null
}

async function lastArchives(
  tx: ProofTx,
  ids: readonly bigint[],
): Promise<Map<bigint, LastArchive>> {
  const { rows } = await tx.query<{
    agent_id: bigint
    to_seq: bigint
    ended_at: Date
    clearings: string | null
  }>(
    `select distinct on (agent_id) agent_id, to_seq, ended_at, clearings from archive_parts
     where agent_id = any($1::bigint[]) order by agent_id, part desc`,
    [ids],
  )
  return new Map(
    rows.map(({ agent_id, to_seq, ended_at, clearings }) => [
      agent_id,
      {
        toSeq: to_seq,
        endedAt: ended_at,
        clearings: clearings === null ? null : clearingsFrom(clearings),
      },
    ]),
  )
}

async function rowsAt(
  tx: ProofTx,
  books: readonly { agentId: bigint; seq: bigint }[],
): Promise<Map<bigint, { at: Date; balances: Accounts }>> {
  const { rows } = await tx.query<{ agent_id: bigint; at: Date }>(
    `select j.agent_id, j.at, ${accountColumns.select('j')}
     from unnest($1::bigint[], $2::bigint[]) b(agent_id, seq)
     join journal j on j.agent_id = b.agent_id and j.seq = b.seq`,
    [books.map(({ agentId }) => agentId), books.map(({ seq }) => seq)],
  )
  return new Map(
    rows.map((row) => [row.agent_id, { at: row.at, balances: accountColumns.fromRow(row) }]),
  )
}

/**
 * What the last row at each provider says or, if there is none since, what the archive ends with. A part of
 * the archive from before providers were told apart leaves only a sum.
 */
async function clearingsAt(
  tx: ProofTx,
  books: readonly { agentId: bigint; seq: bigint }[],
  archives: ReadonlyMap<bigint, LastArchive>,
): Promise<Map<bigint, Map<string, bigint>>> {
  const { rows } = await tx.query<{ agent_id: bigint; provider: string; there: bigint }>(
    `select w.agent_id, c.provider, coalesce(j.clearing_there, c.balance) as there
     from wallets w join clearings c on c.agent_id = w.agent_id
     join unnest($1::bigint[], $2::bigint[], $3::bigint[]) b(agent_id, seq, after)
       on b.agent_id = w.agent_id
     left join lateral (
       select clearing_there from journal j where j.agent_id = w.agent_id
         and j.clearing_at = c.provider and j.seq > b.after and j.seq <= b.seq
       order by j.seq desc limit 1
     ) j on true
     where j.clearing_there is not null or (b.after = 0 and c.provider = $4 and c.seq = 0)`,
    [
      books.map(({ agentId }) => agentId),
      books.map(({ seq }) => seq),
      books.map(({ agentId }) => {
        const archived = archives.get(agentId)
        return archived?.clearings ? archived.toSeq : 0n
      }),
      archivedProvider,
    ],
  )
  const found = new Map(
    books.map(({ agentId }) => [agentId, new Map(archives.get(agentId)?.clearings)]),
  )
  for (const { agent_id, provider, there } of rows) found.get(agent_id)?.set(provider, there)
  return found
}

/** Adds the books of one currency up, and says what does not fit. */
export function addUp(currency: Currency, books: BookBalance[]): TrialBalance {
  const sum = (pick: (book: BookBalance) => bigint) =>
    books.reduce((total, book) => total + pick(book), 0n)
  const available = (isCounted: (minor: bigint) => boolean) =>
    sum(({ balances }) => (isCounted(balances.available) ? balances.available : 0n))
  const suspense = (ofHouse: boolean) =>
    sum(({ agentId, balances }) => (isHouse(agentId) === ofHouse ? balances.suspense : 0n))
  const transfers = sum(({ balances }) => balances.transfers)
  const money = (minor: bigint) => `${decimalText(minor, currency)} ${currency}`
  const faults = books.flatMap((book) => faultsOf(book, money))
  if (transfers !== 0n) {
    faults.push(`Transfers between all books come to ${money(transfers)}, not to 0.`)
  }
  const atProviders = new Map<string, bigint>()
  for (const { clearings } of books) {
    for (const [provider, there] of clearings) {
      atProviders.set(provider, (atProviders.get(provider) ?? 0n) + there)
    }
  }
  return {
    currency,
    owedToAgents: available((minor) => minor > 0n),
    receivable: available((minor) => minor < 0n),
    held: sum(({ balances }) => balances.held),
    reserve: sum(({ balances }) => balances.reserve),
    suspenseOfAgents: suspense(false),
    suspenseOfHouse: suspense(true),
    unexplained: sum(({ balances }) => balances.unexplained),
    clearing: sum(({ balances }) => balances.clearing),
    fees: sum(({ balances }) => balances.fees),
    costs: sum(({ balances }) => balances.costs),
    adjustments: sum(({ balances }) => balances.adjustments),
    differences: sum(({ balances }) => balances.differences),
    transfers,
    total: sum(({ balances }) => sumOf(balances)),
    providers: [...atProviders]
      .map(([provider, clearing]) => ({ provider, clearing }))
      .sort((a, b) => (a.provider < b.provider ? -1 : 1)),
    faults,
    books,
  }
}

/** Each book must balance by itself: two wrong ones could make up for each other in the sum. */
function faultsOf(
  { appId, name, balances, clearings }: BookBalance,
  money: (minor: bigint) => string,
): string[] {
  const whose = appId === null ? name : `${name} (${appId})`
  const faults: string[] = []
  const sum = sumOf(balances)
  if (sum !== 0n) faults.push(`${whose}: the accounts come to ${money(sum)}, not to 0.`)
  const there = [...clearings.values()].reduce((total, each) => total + each, 0n)
  if (there !== balances.clearing) {
    faults.push(
      `${whose}: clearing is ${money(balances.clearing)}, but at providers it is ${money(there)}.`,
    )
  }
  return faults
}

/** Whether a book has nothing to show. */
export function isEmptyBook({ balances, clearings }: BookBalance): boolean {
  return (
    accountNames.every((name) => balances[name] === 0n) &&
    [...clearings.values()].every((there) => there === 0n)
  )
}
