import { usualForm } from '../lib/payment-code.ts'
import { isFullAccountNo, shownOfMasked } from '../statements/masked-account-no.ts'
import type { BankIds, Day } from '../statements/statement.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import { plainAccountNo } from './expected-deposits.ts'
import { codesOfForms, type FindCodes } from './find-codes.ts'

/** A movement that a report may be about, and what was reported of it so far. */
export interface KnownMovement {
  movementId: string
  amountMinor: bigint
  bookedOn: Day
  bookedAt: Date | null
  reports: KnownReport[]
}

/** A page of a statement, by the statement's number. */
export interface PageOfStatement {
  seq: string
  page: number
}

interface KnownReport {
  source: ReportSource
  /** Null for a push, and by hand: each is a file of its own. */
  fileId: string | null
  /** Where it is, if the bank numbers statements and their pages. */
  page?: PageOfStatement | null
  bookedOn: Day
  balanceAfterMinor: bigint | null
  ids: BankIds
  text: string
  payerAccountNo: string | null
  /** Whether it is the bank's word. */
  isTrusted: boolean
}

/** A report with the payment codes that it names. */
type CodedReport = KnownReport & { codes: readonly string[] }
type CodedMovement = Omit<KnownMovement, 'reports'> & { reports: CodedReport[] }

/** What is known of the order that a payment code names. */
export interface NamedOrder {
  payerAccountNo: string
  createdAt: Date
  expiresAt: Date
}

/** Ids that a bank gives out. */
export const bankIds = ['accountServicerRef', 'transactionId', 'uetr', 'feedId'] as const
/** Ids that a payer chooses: payers use the same again. */
const payerIds = ['endToEndId', 'instructionId'] as const

/**
 * Finds which known movement each report of one file is about; a report without one is a movement of its own,
 * to which later reports of the same file never belong. Lines of the file that came before are about the
 * movements `inFile`. Returns an id for each report, and the movements that are new.
 *
 * What only a person says contradicts nothing that the bank says. So if the file is the bank's word, it is
 * compared with the bank's earlier words alone; a line that is left over is about a movement that only people
 * reported, if one has its amount and day, whatever else they said of it.
 */
export function pairReports(
  reports: readonly (BankReport & Pick<KnownReport, 'page'>)[],
  known: readonly KnownMovement[],
  {
    fileId,
    isTrusted,
    holidays = none,
    findCodes = (texts) => codesOfForms(texts, [usualForm]),
    orders = new Map(),
  }: {
    fileId: string | null
    isTrusted: boolean
    holidays?: ReadonlySet<Day>
    findCodes?: FindCodes
    orders?: ReadonlyMap<string, NamedOrder>
  },
  newId: () => string,
  inFile: ReadonlySet<string> = new Set(),
): { movementIds: string[]; added: Set<string> } {
  const coded = <Report extends KnownReport>(
    report: Report,
    amountMinor: bigint,
  ): Report & CodedReport => ({
    ...report,
    codes: findCodes(codedTexts(report), amountMinor),
  })
  const before = (isTrusted ? known.map(asTheBankSays) : known).map((movement) => ({
    ...movement,
    reports: movement.reports.map((each) => coded(each, movement.amountMinor)),
  }))
  const shelves = new Shelves(before, inFile, holidays)
  const compared = reports.map((report) =>
    coded(
      { ...report, fileId, isTrusted, payerAccountNo: report.payer.accountNo },
      report.amountMinor,
    ),
  )
  // What has a name takes its own first, so that no other line takes that in its place.
  const named = compared.map((report) => shelves.takeNamed(report))
  if (orders.size > 0) {
    takeByTexts(shelves, compared, named)
    takeByOrders(shelves, compared, named, orders)
  }
  const found = compared.map((report, at) => named[at] ?? shelves.take(report))
  const added = new Set<string>()
  const movementIds = compared.map((report, at) => {
    // A hand is a person's word too: what another person reports of another payer or order is not about it.
    const isTheBanks = isTrusted && report.source !== 'hand'
    const movement = found[at] ?? (isTheBanks ? shelves.takeHearsay(report) : undefined)
    if (movement) return movement.movementId
    const movementId = newId()
    added.add(movementId)
    return movementId
  })
  return { movementIds, added }
}

/** A line in the very words of one payment is about that one: no other line's order takes it. */
function takeByTexts(
  shelves: Shelves,
  reports: readonly Compared[],
  found: (CodedMovement | undefined)[],
): void {
  const lines = new Map<string, number[]>()
  for (const [at, report] of reports.entries()) {
    const text = plain(report.text)
    if (found[at] || text === '') continue
    const key = `${report.amountMinor} ${text}`
    const same = lines.get(key)
    if (same) same.push(at)
    else lines.set(key, [at])
  }
  for (const [at, ...others] of lines.values()) {
    const report = reports[at ?? -1]
    if (at === undefined || !report || others.length > 0) continue
    found[at] = shelves.takeOnly(report, plain(report.text))
  }
}

/** Beyond so many equal amounts in one file, nobody is told apart by what is known of orders. */
const mostAlike = 100

/**
 * A line with a code may be about one of several equal payments that were reported without one. It is about the payment
 * of its order's payer, else about the one that was made while its order was open, if only one was.
 */
function takeByOrders(
  shelves: Shelves,
  reports: readonly Compared[],
  found: (CodedMovement | undefined)[],
  orders: ReadonlyMap<string, NamedOrder>,
): void {
  const byAmount = new Map<bigint, { at: number; report: Compared; order: NamedOrder }[]>()
  for (const [at, report] of reports.entries()) {
    const order = orders.get(report.codes[0] ?? '')
    if (found[at] || !order || report.codes.length > 1) continue
    const same = byAmount.get(report.amountMinor)
    if (same) same.push({ at, report, order })
    else byAmount.set(report.amountMinor, [{ at, report, order }])
  }
  for (const lines of byAmount.values()) {
    if (lines.length > mostAlike) continue
    for (const isLike of [isOfPayer, isInTime]) {
      // Each that is taken may leave only one to another line.
      for (let isMore = true; isMore; ) {
        isMore = false
        for (const { at, report, order } of lines) {
          if (found[at]) continue
          const movement = shelves.takeOnly(report, 'uncoded', (each) => isLike(each, order))
          if (!movement) continue
          found[at] = movement
          isMore = true
        }
      }
    }
  }
}

function isOfPayer({ reports }: CodedMovement, { payerAccountNo }: NamedOrder): boolean {
  return reports.some((each) => fullAccountNo(each.payerAccountNo) === payerAccountNo)
}

function isInTime({ bookedAt }: CodedMovement, { createdAt, expiresAt }: NamedOrder): boolean {
  return bookedAt !== null && createdAt <= bookedAt && bookedAt <= expiresAt
}

/** A movement without what people said of it, if the bank has reported it too. */
function asTheBankSays(movement: KnownMovement): KnownMovement {
  const reports = movement.reports.filter(({ isTrusted }) => isTrusted)
  return reports.length === 0 ? movement : { ...movement, reports }
}

/** Where a report may name a payment code. */
export function codedTexts({ text, ids }: Pick<BankReport, 'text' | 'ids'>): string[] {
  return ids.endToEndId === null ? [text] : [text, ids.endToEndId]
}

/** What is compared of a report. */
type Compared = CodedReport & { amountMinor: bigint; bookedAt: Date | null }

/** Whether a report may be about a movement. */
function fits(
  report: Compared,
  { bookedOn, reports }: Pick<CodedMovement, 'bookedOn' | 'reports'>,
  holidays: ReadonlySet<Day>,
): boolean {
  const isOfThisFile = (each: KnownReport) =>
    report.fileId === null ? each.source === report.source : each.fileId === report.fileId
  const isApart = (each: KnownReport) => isOfThisFile(each) || isOnOtherPage(report, each)
  if (reports.some((each) => isApart(each) || contradicts(report, each))) return false
  // What the bank itself gives one number is one, whichever order an earlier report was taken to name.
  const isNumbered = reports.some((each) => sharesBankId(report, each))
  if (!isNumbered && reports.some((each) => namesAnother(report, each))) return false
  const ofKind = reports.filter(({ source }) => source === report.source)
  if (ofKind.some((each) => each.bookedOn === report.bookedOn)) return true
  if (ofKind.length === 0 && isWithinBankingDay(bookedOn, report.bookedOn, holidays)) return true
  const isNamed =
    isNumbered ||
    (ofKind.length === 0 &&
      reports.some((each) => sharesId(report.ids, each.ids, payerIds) || isOfOrder(report, each)))
  const apart = Math.abs(daysBetween(bookedOn, report.bookedOn))
  return isNamed && apart <= mostDaysFrom(report.bookedOn, holidays)
}

/**
 * Whether two reports are on different pages of one statement: then they are of two movements, as in one file. A bank
 * may number what it reports during the day like its statements, and may cut one that it sends again into other pages.
 */
function isOnOtherPage(report: KnownReport, other: KnownReport): boolean {
  const [a, b] = [report.page, other.page]
  if (!a || !b || report.source !== other.source || sharesBankId(report, other)) return false
  return a.seq === b.seq && a.page !== b.page
}

/** Reports of one movement are this far apart at most, if the bank is not closed for longer. */
const mostDays = 5

/** How many days reports of one movement may be from a day: beyond all on which the bank is closed around it. */
export function mostDaysFrom(day: Day, holidays: ReadonlySet<Day>): number {
  return Math.max(mostDays, closedDays(day, -1, holidays) + 1, closedDays(day, 1, holidays) + 1)
}

/** On how many days before a day, or after it, the bank is closed without a break. */
export function closedDays(day: Day, step: -1 | 1, holidays: ReadonlySet<Day>): number {
  let count = 0
  while (!isBankingDay(dayFrom(day, step * (count + 1)), holidays)) count++
  return count
}

function dayFrom(day: Day, away: number): Day {
  return new Date(Date.parse(day) + away * 86_400_000).toISOString().slice(0, 10)
}

/**
 * The movements that are not taken yet, by amount and day, and again by id, balance and text: a day of many
 * equal payments must not be searched to its end for each of them.
 */
class Shelves {
  private readonly shelves = new Map<string, Shelf>()
  private readonly taken = new Set<CodedMovement>()
  private readonly days = new Map<Day, Day[]>()
  /** The movements whose reports are of several days, by amount. */
  private readonly shifted = new Map<bigint, CodedMovement[]>()
  /** The movements that only people reported, by amount and day. */
  private readonly hearsay = new Map<string, CodedMovement[]>()

  private readonly holidays: ReadonlySet<Day>

  constructor(
    known: readonly CodedMovement[],
    inFile: ReadonlySet<string>,
    holidays: ReadonlySet<Day>,
  ) {
    this.holidays = holidays
    for (const movement of known) {
      if (inFile.has(movement.movementId)) this.taken.add(movement)
      const { amountMinor, bookedOn, reports } = movement
      if (reports.some((each) => each.bookedOn !== reports[0]?.bookedOn)) {
        append(this.shifted, amountMinor, movement)
      }
      if (!reports.some(({ isTrusted }) => isTrusted)) {
        append(this.hearsay, `${amountMinor} ${bookedOn}`, movement)
      }
      const isNumbered = reports.some(({ ids }) => ids.accountServicerRef !== null)
      const isBalanced = reports.some((each) => each.balanceAfterMinor !== null)
      const tag = tagOf(isNumbered, isBalanced)
      const keys = new Set([tag])
      if (reports.every(({ codes }) => codes.length === 0)) keys.add(`${tag} uncoded`)
      for (const each of reports) {
        for (const key of namesOf(each)) keys.add(key)
        keys.add(`${tag} ${plain(each.text)}`)
      }
      for (const key of keys) this.put(`${amountMinor} ${bookedOn} ${key}`, movement)
    }
  }

  private put(name: string, movement: CodedMovement): void {
    const shelf = this.shelves.get(name)
    if (shelf) shelf.add(movement)
    else this.shelves.set(name, new Shelf(movement, this.taken))
  }

  /** Takes the movement that has an id, a code or the balance of a report. */
  takeNamed(report: Compared): CodedMovement | undefined {
    const movement = this.findBy(namesOf(report), report)
    if (movement) this.taken.add(movement)
    return movement
  }

  /** Takes the movement of a kind that a report may be about and that is like this, if there is only one. */
  takeOnly(
    report: Compared,
    kind: string,
    isLike: (movement: CodedMovement) => boolean = () => true,
  ): CodedMovement | undefined {
    const alike: CodedMovement[] = []
    for (const tag of tagsFor(report)) {
      for (const day of this.daysAround(report.bookedOn)) {
        const shelf = this.shelves.get(`${report.amountMinor} ${day} ${tag} ${kind}`)
        if ((shelf?.size ?? 0) > mostAlike) return undefined
        alike.push(
          ...(shelf?.free((each) => fits(report, each, this.holidays) && isLike(each)) ?? []),
        )
      }
    }
    const [movement, other] = alike
    if (!movement || other) return undefined
    this.taken.add(movement)
    return movement
  }

  /** Takes the movement that a report is about. */
  take(report: Compared): CodedMovement | undefined {
    const movement = this.find(report) ?? this.makeRoom(report)
    if (movement) this.taken.add(movement)
    return movement
  }

  /** Takes the movement nearest in days that only people reported, whatever they said of it but its amount. */
  takeHearsay({ amountMinor, bookedOn }: Compared): CodedMovement | undefined {
    if (this.hearsay.size === 0) return undefined
    for (const day of this.daysAround(bookedOn)) {
      if (!isWithinBankingDay(day, bookedOn, this.holidays)) continue
      const same = this.hearsay.get(`${amountMinor} ${day}`) ?? []
      for (let movement = same.pop(); movement; movement = same.pop()) {
        if (this.taken.has(movement)) continue
        this.taken.add(movement)
        return movement
      }
    }
    return undefined
  }

  private daysAround(day: Day): Day[] {
    const days = this.days.get(day) ?? daysAround(day, mostDaysFrom(day, this.holidays))
    this.days.set(day, days)
    return days
  }

  /** The movement that fits best: by an id or the balance, by its text, or the nearest in time. */
  private find(
    report: Compared,
    isRight: (movement: CodedMovement) => boolean = () => true,
  ): CodedMovement | undefined {
    const tags = tagsFor(report)
    const text = plain(report.text)
    const texts = tags.map((tag) => `${tag} ${text}`)
    // With a code of its own it is about none that has another.
    const rest = report.codes.length === 0 ? tags : tags.map((tag) => `${tag} uncoded`)
    return this.findBy([...namesOf(report), ...texts, ...rest], report, isRight)
  }

  private findBy(
    keys: readonly string[],
    report: Compared,
    isRight: (movement: CodedMovement) => boolean = () => true,
  ): CodedMovement | undefined {
    const days = this.daysAround(report.bookedOn)
    for (const key of keys) {
      for (const day of days) {
        const shelf = this.shelves.get(`${report.amountMinor} ${day} ${key}`)
        const movement = shelf?.nearest(
          report.bookedAt,
          (each) => fits(report, each, this.holidays) && isRight(each),
        )
        if (movement) return movement
      }
    }
    return undefined
  }

  /** The movements of a report's amount that have its code, whether or not they are free. */
  private ofCode({ amountMinor, bookedOn, codes }: Compared): CodedMovement[] {
    return codes.flatMap((code) =>
      this.daysAround(bookedOn).flatMap(
        (day) => this.shelves.get(`${amountMinor} ${day} code=${code}`)?.all() ?? [],
      ),
    )
  }

  /**
   * Equal payments of neighbouring days may have been paired across the days, before their own reports came, and one
   * without a code may have been taken for the payment whose code this report has. Where this report would fit if
   * those changed places, it takes the place that is left over at the end: the number of movements is then right,
   * and equal amounts are worth the same.
   */
  private makeRoom(report: Compared): CodedMovement | undefined {
    const ofCode = this.ofCode(report)
    const shifted = [...(this.shifted.get(report.amountMinor) ?? []), ...ofCode]
    const isFree = ({ reports }: CodedMovement) =>
      reports.every(
        (known) =>
          known.source !== report.source &&
          (report.fileId === null || known.fileId !== report.fileId) &&
          !contradicts(report, known) &&
          (ofCode.length > 0 || !namesAnother(report, known)),
      )
    const seen = new Set<CodedMovement>()
    let displaced = [report]
    while (displaced.length > 0) {
      const next: Compared[] = []
      for (const each of displaced) {
        for (const movement of shifted) {
          if (seen.has(movement)) continue
          const own = this.displacedBy(each, movement)
          if (!own) continue
          seen.add(movement)
          const moved = { ...own, amountMinor: report.amountMinor, bookedAt: null }
          const end = this.find(moved, isFree)
          if (end) return end
          next.push(moved)
        }
      }
      displaced = next
    }
    return undefined
  }

  /**
   * What would have to leave a movement for a report to be about it: what its own source says or, if that says nothing
   * yet, what one other source says. It is enough that the report fits what another source says.
   */
  private displacedBy(report: Compared, { reports }: CodedMovement): CodedReport | undefined {
    const doesFit = (each: CodedReport) =>
      each.source !== report.source &&
      fits(report, { bookedOn: each.bookedOn, reports: [each] }, this.holidays)
    const leaving = reports.filter((each) => !doesFit(each))
    if (leaving.length === reports.length) return undefined
    const own = leaving.find(({ source }) => source === report.source)
    const [first] = leaving
    return own ?? (leaving.every(({ source }) => source === first?.source) ? first : undefined)
  }
}

function append<Key>(of: Map<Key, CodedMovement[]>, key: Key, movement: CodedMovement): void {
  const same = of.get(key)
  if (same) same.push(movement)
  else of.set(key, [movement])
}

function tagOf(isNumbered: boolean, isBalanced: boolean): string {
  return `${isNumbered ? 'numbered' : 'any'}/${isBalanced ? 'balanced' : 'any'}`
}

/** With a bank's number or a balance of its own, a report contradicts all that have another. */
function tagsFor({ ids, balanceAfterMinor }: Compared): string[] {
  return [false, true].flatMap((isNumbered) =>
    isNumbered && ids.accountServicerRef !== null
      ? []
      : [false, true].flatMap((isBalanced) =>
          isBalanced && balanceAfterMinor !== null ? [] : [tagOf(isNumbered, isBalanced)],
        ),
  )
}

/** What only one movement of a day is likely to have. */
function namesOf({ source, ids, codes, balanceAfterMinor }: CodedReport): string[] {
  const names = [...bankIds, ...payerIds].flatMap((name) =>
    ids[name] === null ? [] : [`${name}=${ids[name]}`],
  )
  // Nobody knows under which of its ids the bank has the number that is on a slip.
  if (source === 'hand' && ids.feedId !== null) {
    names.push(...bankIds.map((name) => `${name}=${ids.feedId}`))
  }
  names.push(...codes.map((code) => `code=${code}`))
  return balanceAfterMinor === null ? names : [...names, `balance=${balanceAfterMinor}`]
}

/** Movements of one day, by their time; those without a time come first. */
class Shelf {
  private readonly taken: ReadonlySet<CodedMovement>
  private movements: CodedMovement[]
  private isSorted = false
  private walks = 0

  constructor(first: CodedMovement, taken: ReadonlySet<CodedMovement>) {
    this.movements = [first]
    this.taken = taken
  }

  add(movement: CodedMovement): void {
    this.movements.push(movement)
    this.isSorted = false
  }

  get size(): number {
    return this.movements.length
  }

  all(): readonly CodedMovement[] {
    return this.movements
  }

  /** The free movements that fit. */
  free(doesFit: (movement: CodedMovement) => boolean): CodedMovement[] {
    return this.movements.filter((each) => !this.taken.has(each) && doesFit(each))
  }

  /** The free movement nearest to a time, the oldest of several, that fits. */
  nearest(
    at: Date | null,
    doesFit: (movement: CodedMovement) => boolean,
  ): CodedMovement | undefined {
    this.tidy()
    const { movements } = this
    let right = at ? this.firstFrom(at.getTime()) : 0
    let left = right - 1
    while (left >= 0 || right < movements.length) {
      const [before, after] = [movements[left], movements[right]]
      const isLeft = !after || (before !== undefined && apart(before, at) <= apart(after, at))
      const next = isLeft ? before : after
      if (isLeft) left--
      else right++
      if (next && !this.taken.has(next) && doesFit(next)) return next
    }
    return undefined
  }

  private tidy(): void {
    // What is taken is dropped now and then, so that nobody walks past it for ever.
    if (++this.walks > 32) {
      this.walks = 0
      this.movements = this.movements.filter((movement) => !this.taken.has(movement))
    }
    if (this.isSorted) return
    this.movements.sort((a, b) => timeOf(a) - timeOf(b))
    this.isSorted = true
  }

  private firstFrom(ms: number): number {
    let [low, high] = [0, this.movements.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (timeOf(this.movements[middle]) < ms) low = middle + 1
      else high = middle
    }
    return low
  }
}

function timeOf(movement: CodedMovement | undefined): number {
  return movement?.bookedAt?.getTime() ?? 0
}

function apart(movement: CodedMovement, at: Date | null): number {
  return movement.bookedAt && at ? Math.abs(timeOf(movement) - at.getTime()) : 0
}

/** The days that may be meant, the nearest first. */
function daysAround(day: Day, most: number): Day[] {
  const days = [day]
  for (let distance = 1; distance <= most; distance++) {
    days.push(dayFrom(day, -distance), dayFrom(day, distance))
  }
  return days
}

function contradicts(report: CodedReport, other: CodedReport): boolean {
  const differ = (a: string | null, b: string | null) => a !== null && b !== null && a !== b
  const names = [...bankIds, ...payerIds] as const
  if (report.source === 'hand' || other.source === 'hand') {
    // Who records a payment says which order it is for, so another order's is another payment.
    if (namesAnother(report, other)) return true
    // Of a masked number, what can be seen must be that of the slip.
    const [a, b] = [report.payerAccountNo, other.payerAccountNo]
    if (differsFromMasked(a, b) || differsFromMasked(b, a)) return true
  } else if (names.some((name) => name !== 'feedId' && differ(report.ids[name], other.ids[name]))) {
    return true
  }
  if (areDifferentAccounts(report.payerAccountNo, other.payerAccountNo)) return true
  const [a, b] = [report.balanceAfterMinor, other.balanceAfterMinor]
  return a !== null && b !== null && a !== b
}

/** Whether two reports name different orders: money that names one is not the money that names another. */
function namesAnother(report: CodedReport, other: CodedReport): boolean {
  if (report.codes.length === 0 || other.codes.length === 0) return false
  return !report.codes.some((code) => other.codes.includes(code))
}

/** Whether a hand and another report name the same order: a slip may be days older than what the bank books. */
function isOfOrder(a: CodedReport, b: CodedReport): boolean {
  if (a.source !== 'hand' && b.source !== 'hand') return false
  return a.codes.some((code) => b.codes.includes(code))
}

function sharesBankId(a: KnownReport, b: KnownReport): boolean {
  const isOnSlip = ({ source, ids }: KnownReport, other: KnownReport) =>
    source === 'hand' &&
    ids.feedId !== null &&
    bankIds.some((name) => other.ids[name] === ids.feedId)
  return sharesId(a.ids, b.ids, bankIds) || isOnSlip(a, b) || isOnSlip(b, a)
}

function sharesId(a: BankIds, b: BankIds, names: readonly (keyof BankIds)[]): boolean {
  return names.some((name) => a[name] !== null && a[name] === b[name])
}

/** An account number without a mask, as it is compared; null if part of it is hidden. */
export function fullAccountNo(accountNo: string | null): string | null {
  if (accountNo === null || !isFullAccountNo(accountNo)) return null
  const plainNo = plainAccountNo(accountNo)
  return plainNo === '' ? null : plainNo
}

/** Of a longer number, the shorter one must be this much of its end. */
const leastCommonEnd = 6

/**
 * Whether two full account numbers are of different accounts. One source writes the bank, the branch, zeros or all of
 * the IBAN in front of the number that another one gives by itself.
 */
export function areDifferentAccounts(a: string | null, b: string | null): boolean {
  const [one, other] = [fullAccountNo(a), fullAccountNo(b)].map((each) => each?.replace(/^0+/, ''))
  if (one === undefined || other === undefined || one === other) return false
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one]
  return shorter.length < leastCommonEnd || !longer.endsWith(shorter)
}

/** Whether a full account number cannot be the one of which another shows a part. How long a mask is says nothing. */
function differsFromMasked(accountNo: string | null, masked: string | null): boolean {
  const full = fullAccountNo(accountNo)
  const shown = masked === null ? null : shownOfMasked(masked)
  if (full === null || shown === null) return false
  return !new RegExp(`^${shown.split(/\*+/).join('.*')}$`).test(full)
}

/** A masked account number as an SQL pattern; null if fewer than four digits of it can be seen. */
export function maskedPattern(accountNo: string | null): string | null {
  const shown = shownOfMasked(accountNo ?? '') ?? ''
  return shown.replace(/\D/g, '').length < 4 ? null : shown.replaceAll('*', '_')
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

function daysBetween(a: Day, b: Day): number {
  return Math.round((Date.parse(b) - Date.parse(a)) / 86_400_000)
}

const none: ReadonlySet<Day> = new Set()

/** The days of a list, as an account keeps its bank's holidays. */
export function holidaysIn(list: string): ReadonlySet<Day> {
  return new Set(list.split(',').filter(Boolean))
}

/** Whether a bank books on a day. */
export function isBankingDay(day: Day, holidays: ReadonlySet<Day>): boolean {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay()
  return weekday !== 0 && weekday !== 6 && !holidays.has(day)
}

/** Whether one day is the other, or its next banking day: banks book weekends and holidays on the day after. */
export function isWithinBankingDay(a: Day, b: Day, holidays: ReadonlySet<Day> = none): boolean {
  const [earlier, later] = a < b ? [a, b] : [b, a]
  let day = earlier
  do {
    if (day === later) return true
    day = dayFrom(day, 1)
  } while (day < later && !isBankingDay(day, holidays))
  return day === later
}
