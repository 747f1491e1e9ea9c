import { isBankingDay, isWithinBankingDay } from '../bank-accounts/pair-reports.ts'
import { pagesJoined, type StatementPage, withFirstDays } from '../bank-accounts/statement-pages.ts'
import type { Day } from '../statements/statement.ts'

export interface StatementFact extends StatementPage {
  seq: bigint | null
  /** Whether it is the bank's word, and not only a person's who brought the file. */
  isTrusted: boolean
}

export interface MovementFact {
  movementId: string
  day: Day
  amountMinor: bigint
  /** Whether a statement that is the bank's word has it. */
  isInStatement: boolean
  isUnexplained: boolean
  /** What about it contradicts the payouts of files. */
  fault?: PayoutFault | null
  /** Only people reported it, who saw a slip. */
  isByHand?: boolean
  /** The sum of a batch that is in the books, although its payments are known one by one. */
  isSumTwice: boolean
  /** Its money waits for a decision, since this day. */
  waitsSince: Day | null
  /** It is being booked. */
  isOpen: boolean
  /** The bank has not said so itself. */
  isUnconfirmed: boolean
}

/** A payout was debited again; a debit or a return is of another amount than its payout; a return is of none. */
export const payoutFaults = ['paid_twice', 'amount_differs', 'return_unknown'] as const
export type PayoutFault = (typeof payoutFaults)[number]

export type BreakName =
  | PayoutFault
  | 'gap'
  | 'seq_gap'
  | 'does_not_close'
  | 'vanished'
  | 'changed'
  | 'unconfirmed'
  | 'unexplained_debit'
  | 'unexplained_credit'
  | 'never_booked'
  | 'batch_twice'
  | 'return_not_debited'
  | 'paid_not_debited'
  | 'paid_after_failed'
  | 'signed_day_changed'
  | 'written_off'
  | 'books_differ'

export interface Break {
  name: BreakName
  /** What is missing or too much, in minor units. */
  amountMinor: bigint | null
  movementId: string | null
  /** Its payment waits under Payments to decide. */
  paymentWaits?: true
  /** What it means and what to do. */
  detail: string
}

export interface JudgedDay {
  day: Day
  /** Green: the bank's statement is in, and everything on it is explained. Amber: not yet. Red: a break. */
  state: 'green' | 'amber' | 'red'
  opening: bigint | null
  closing: bigint | null
  breaks: Break[]
  /** What is on it. */
  movements: number
  amountMinor: bigint
}

/** How many days money may wait for a decision before the day turns amber, and banking days a slip for its bank. */
const patienceDays = 2

/** Judges every day on which something moved or that a statement covers, oldest first. */
export function judgeDays(
  statements: readonly StatementFact[],
  movements: readonly MovementFact[],
  today: Day,
  holidays: ReadonlySet<Day> = new Set(),
): JudgedDay[] {
  const trusted = withFirstDays(statements.filter(({ isTrusted }) => isTrusted))
  const hearsay = statements.filter(({ isTrusted }) => !isTrusted)
  const byDay = new Map<Day, MovementFact[]>()
  for (const movement of movements) {
    const same = byDay.get(movement.day)
    if (same) same.push(movement)
    else byDay.set(movement.day, [movement])
  }
  const inOrder = latestStatements(withoutCovered(pagesJoined(trusted)))
  const latest = withOpenings(inOrder, trusted, byDay)
  const days = new Map<Day, JudgedDay>()
  const at = (day: Day): JudgedDay => {
    const known = days.get(day)
    if (known) return known
    const own = byDay.get(day) ?? []
    const fresh: JudgedDay = {
      day,
      state: 'amber',
      opening: null,
      closing: null,
      breaks: [],
      movements: own.length,
      amountMinor: own.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
    }
    days.set(day, fresh)
    return fresh
  }
  for (const day of [...byDay.keys(), ...hearsay.map(({ to }) => to)]) at(day)
  for (const statement of latest) {
    checkStatement(at(statement.to), statement, byDay, trusted)
    for (const day of byDay.keys()) {
      if (day >= statement.from && day <= statement.to) at(day)
    }
  }
  for (const judged of days.values()) {
    const own = byDay.get(judged.day) ?? []
    judged.breaks.push(...movementBreaks(own, latest, today, holidays))
    judged.breaks.push(...unconfirmedBreak(judged.day, own, latest, hearsay))
    judged.state = stateOf(judged, own, latest)
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1))
}

/**
 * The statements in the order of their days. Of several of the same days with the same opening, the last one
 * that has a closing balance counts; those that continue each other are one.
 */
function latestStatements(statements: readonly StatementFact[]): StatementFact[] {
  const byDays = new Map<string, Map<bigint | null, StatementFact>>()
  for (const statement of statements) {
    const key = `${statement.from} ${statement.to}`
    const same = byDays.get(key) ?? new Map<bigint | null, StatementFact>()
    const known = same.get(statement.opening)
    const saysMore = statement.closing !== null || !known || known.closing === null
    if (saysMore) same.set(statement.opening, statement)
    byDays.set(key, same)
  }
  return [...byDays.values()]
    .flatMap((same) => joined([...same.values()]))
    .sort((a, b) => (a.to === b.to ? (a.from < b.from ? -1 : 1) : a.to < b.to ? -1 : 1))
}

/** Without those that say no opening and that a later one repeats and continues. */
function withoutCovered(statements: readonly StatementFact[]): StatementFact[] {
  return statements.filter(
    ({ opening, from, to }, at) =>
      opening !== null ||
      !statements
        .slice(at + 1)
        .some((later) => later.closing !== null && later.from <= from && later.to > to),
  )
}

/** A statement beside the others. */
interface PlacedStatement extends StatementFact {
  /** The last one that ends before this one begins: statements may overlap. */
  before: StatementFact | undefined
  /** What the account had when this one begins, by the statements before. */
  expected: bigint | null
  /** The bank says no opening balance, so it is the one that is expected. */
  isInherited: boolean
  /** Whether another one tells of some of its days too. */
  isOverlapped: boolean
}

/**
 * Where a bank says no opening balance, it is that of an earlier statement from the same day on, else the closing
 * balance before. The first statement of an account sets it.
 */
function withOpenings(
  latest: readonly StatementFact[],
  told: readonly StatementFact[],
  byDay: ReadonlyMap<Day, readonly MovementFact[]>,
): PlacedStatement[] {
  const placed: PlacedStatement[] = []
  for (const statement of latest) {
    const { from, to } = statement
    const same = told.findLast(
      (each) => each.from === from && each.to < to && each.closing !== null,
    )
    const implied = same?.closing == null ? null : (same.opening ?? same.closing - same.booked)
    const before = placed.findLast((each) => each.to < from)
    const others = latest.filter((each) => each !== statement)
    // What came between is told by one that began earlier and goes on into this one.
    const isBridged = others.some((each) => each.from < from && each.to >= from)
    const between =
      before && isBridged
        ? inStatements(byDay, (day) => day > before.to && day < from).reduce(sumUp, 0n)
        : 0n
    const expected = before?.closing == null ? null : before.closing + between
    placed.push({
      ...statement,
      opening: statement.opening ?? implied ?? expected,
      before,
      expected,
      isInherited: statement.opening === null && implied === null,
      isOverlapped: others.some((each) => each.from <= to && each.to >= from),
    })
  }
  return placed
}

/** The movements of some days that statements have, each once. */
function inStatements(
  byDay: ReadonlyMap<Day, readonly MovementFact[]>,
  isOfDay: (day: Day) => boolean,
): MovementFact[] {
  return [...byDay].flatMap(([day, each]) =>
    isOfDay(day)
      ? each.filter(({ isInStatement, isSumTwice }) => isInStatement && !isSumTwice)
      : [],
  )
}

function sumUp(total: bigint, { amountMinor }: MovementFact): bigint {
  return total + amountMinor
}

/** Joins the statements of a day that begin where another ends: some banks write several a day. */
function joined(statements: readonly StatementFact[]): StatementFact[] {
  const rest = new Set(statements)
  const after = ({ closing }: StatementFact) =>
    [...rest].find(({ opening }) => opening !== null && opening === closing)
  const isContinued = (statement: StatementFact) =>
    statements.some((each) => each !== statement && each.closing === statement.opening)
  const firsts = statements.filter((each) => each.opening === null || !isContinued(each))
  return (firsts.length > 0 ? firsts : statements.slice(0, 1)).map((first) => {
    rest.delete(first)
    let whole = first
    for (let next = after(whole); next; next = after(whole)) {
      rest.delete(next)
      whole = {
        ...next,
        opening: whole.opening,
        booked: whole.booked + next.booked,
        entries: whole.entries + next.entries,
      }
    }
    return whole
  })
}

function checkStatement(
  judged: JudgedDay,
  statement: PlacedStatement,
  byDay: ReadonlyMap<Day, readonly MovementFact[]>,
  told: readonly StatementFact[],
): void {
  const { opening, closing, booked, from, to, seq, before, expected } = statement
  judged.opening = opening
  judged.closing = closing
  const say = (name: BreakName, amountMinor: bigint | null, detail: string) =>
    judged.breaks.push({ name, amountMinor, movementId: null, detail })
  if (opening !== null && closing !== null && opening + booked !== closing) {
    say(
      'does_not_close',
      closing - opening - booked,
      'Opening and entries do not add up to the closing balance: a line is missing or was read twice. Fetch the statement again.',
    )
  }
  const known = inStatements(byDay, (day) => day >= from && day <= to)
  const sum = known.reduce(sumUp, 0n)
  // One that begins or ends in the middle of a day lacks what another has of it: their balances judge both.
  const isPart = statement.isInherited && statement.isOverlapped
  if (opening !== null && closing !== null && sum !== booked && !isPart) {
    // As many lines as before, but of other amounts: one of them was changed.
    const isChanged = told.some(
      (earlier) =>
        earlier.from === from &&
        earlier.to === to &&
        earlier.entries === statement.entries &&
        earlier.booked !== booked,
    )
    const isMore = known.length > statement.entries
    say(
      isMore ? (isChanged ? 'changed' : 'vanished') : 'does_not_close',
      sum - booked,
      isMore
        ? 'Earlier statements of the day say otherwise than the latest one. Ask the bank which is right.'
        : 'The statements have more than is known of the day: equal lines of two files may have been taken for one. Import the day as one file, or record the missing payment by hand.',
    )
  }
  if (before && expected !== null && opening !== null && expected !== opening) {
    say(
      'gap',
      opening - expected,
      `The statement to ${before.to} closes with another balance: fetch the days between it and ${from}.`,
    )
  }
  if (before?.seq != null && seq !== null && seq > before.seq + 1n) {
    say(
      'seq_gap',
      null,
      `Between number ${before.seq} and ${seq} statements are missing: fetch them.`,
    )
  }
}

/** Names what waits for a second person, once for the day: a file may have thousands of lines. */
function unconfirmedBreak(
  day: Day,
  movements: readonly MovementFact[],
  statements: readonly StatementFact[],
  hearsay: readonly StatementFact[],
): Break[] {
  const covers = ({ from, to, closing }: StatementFact) =>
    closing !== null && from <= day && day <= to
  const waiting = movements.filter(({ isUnconfirmed }) => isUnconfirmed)
  const isByFile = hearsay.some(covers) && !statements.some(covers)
  if (waiting.length === 0 && !isByFile) return []
  return [
    {
      name: 'unconfirmed',
      amountMinor: waiting.reduce((sum, { amountMinor }) => sum + amountMinor, 0n),
      movementId: null,
      detail: `${isByFile ? 'The statement of the day' : `What ${waiting.length} movements say`} is not the bank's own word. A second person must confirm the file under the account's Files, or the bank must report it itself.`,
    },
  ]
}

const faultWords: Record<PayoutFault, string> = {
  paid_twice:
    'The bank has debited a payout twice. Ask it for the money, and say what the second debit was.',
  amount_differs:
    'It names a payout or a file of payouts, and has another amount. Compare both, and say what it was.',
  return_unknown:
    'The bank gives back a payment of ours, and no payout fits it. Find out which one it was.',
}

function movementBreaks(
  movements: readonly MovementFact[],
  statements: readonly StatementFact[],
  today: Day,
  holidays: ReadonlySet<Day>,
): Break[] {
  return movements.flatMap((movement): Break[] => {
    const { movementId, amountMinor, day, isUnexplained, isInStatement, waitsSince } = movement
    const { fault = null } = movement
    const breaks: Break[] = []
    if (fault !== null && (isUnexplained || waitsSince !== null)) {
      breaks.push({
        name: fault,
        amountMinor,
        movementId,
        ...(!isUnexplained && { paymentWaits: true }),
        detail: faultWords[fault],
      })
    } else if (isUnexplained) {
      const isDebit = amountMinor < 0n
      breaks.push({
        name: isDebit ? 'unexplained_debit' : 'unexplained_credit',
        amountMinor,
        movementId,
        detail: isDebit
          ? 'Money left the account that this service did not send. Find out who sent it, and say what it was.'
          : 'Nobody knows what it is. Say what it was.',
      })
    }
    if (movement.isSumTwice) {
      breaks.push({
        name: 'batch_twice',
        amountMinor,
        movementId,
        detail:
          'The sum of a batch was booked, and its payments came afterwards: the books have both. Explain the sum as "batch"; if it was credited to an agent, take it back there first.',
      })
    }
    if (fault === null && waitsSince !== null && daysApart(waitsSince, today) > patienceDays) {
      breaks.push({
        name: 'unexplained_credit',
        amountMinor,
        movementId,
        paymentWaits: true,
        detail: 'It waits under Payments to decide: credit it, or return it.',
      })
    }
    const isPast = statements.some(
      ({ to, closing }) => to > day && closing !== null && !isWithinBankingDay(day, to, holidays),
    )
    // Two people who believed a slip are no bank: what it has not reported by then is missing.
    const isOverdue = movement.isByHand && today > bankingDayAfter(day, patienceDays, holidays)
    if (!isInStatement && (isPast || isOverdue) && !movement.isUnconfirmed) {
      breaks.push({
        name: 'never_booked',
        amountMinor,
        movementId,
        detail: movement.isByHand
          ? 'It was recorded by hand, and the bank has not reported it. Ask the bank; if it never had it, take the payment back and explain it as never_booked.'
          : 'It was reported at once, and the statements since do not have it. Ask the bank.',
      })
    }
    return breaks
  })
}

/** The nth banking day after a day. */
function bankingDayAfter(day: Day, nth: number, holidays: ReadonlySet<Day>): Day {
  let at = day
  for (let left = nth; left > 0; ) {
    at = new Date(Date.parse(at) + 86_400_000).toISOString().slice(0, 10)
    if (isBankingDay(at, holidays)) left--
  }
  return at
}

function daysApart(a: Day, b: Day): number {
  return Math.round((Date.parse(b) - Date.parse(a)) / 86_400_000)
}

function stateOf(
  { day, breaks }: JudgedDay,
  movements: readonly MovementFact[],
  statements: readonly StatementFact[],
): JudgedDay['state'] {
  const waits = ({ name }: Break) => name === 'unexplained_credit' || name === 'unconfirmed'
  if (breaks.some((each) => !waits(each))) return 'red'
  const isClosed = statements.some(
    ({ from, to, closing }) => closing !== null && from <= day && day <= to,
  )
  const isDone = movements.every(
    ({ isInStatement, isOpen, isUnconfirmed }) => isInStatement && !isOpen && !isUnconfirmed,
  )
  return isClosed && isDone && breaks.length === 0 ? 'green' : 'amber'
}
