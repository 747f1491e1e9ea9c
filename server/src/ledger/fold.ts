import { noHash } from '../lib/chain-hash.ts'
import type { LocalTime } from '../lib/local-time.ts'
import { type Currency, defaultCurrency } from '../lib/money.ts'
import { noChange } from './accounts.ts'
import type {
  BookableItem,
  BookedItem,
  Callback,
  Clearing,
  ClosedItem,
  HandedPayout,
  JournalRow,
  OpenItem,
  Order,
  Payment,
  PaymentClaim,
  SaidPaid,
  UnmatchedPayment,
  Wallet,
} from './book.ts'
import { booksOf, type Command, type Decision, needsWallet } from './commands.ts'
import { decide } from './decide.ts'
import { costKey, debitKeys, debitOf, sweepKey, writeOffKey } from './decide-house.ts'
import { adjustmentKey } from './entry.ts'
import { houseBook } from './house.ts'
import { journalHash } from './journal-hash.ts'
import { LimitCount } from './limit-count.ts'
import type { AgentLimits, LimitCheck, LimitPayee, LimitRule, LimitUse } from './limits.ts'
import { type BookedNotice, eventKeyOf } from './taken-notices.ts'

/** The parts of the books that a batch of commands touches, as read. */
export interface Books {
  wallets: Map<bigint, Wallet>
  orders: Map<string, Order>
  /** Orders by agent and refId. */
  refIds: Map<string, Order>
  payments: Map<string, Payment>
  /** By payment id: the payments that came in for no agent. */
  unmatched: Map<string, UnmatchedPayment>
  /** By agent and provider: what of the book's clearing is there. */
  clearings: Map<string, Clearing>
  /** By book: the time of its last journal row. */
  lastTimes: ReadonlyMap<bigint, Date>
  /** By payment id only: payment ids are unique across all agents. */
  claims: Map<string, PaymentClaim>
  /**
   * By agent and order: the attempts that their providers say they paid, although the order went on without them.
   * The first one counts: those that nobody has looked into come first, then earlier ones.
   */
  payers: Map<string, readonly SaidPaid[]>
  /** By agent: the references of attempts whose providers say that the money came back. */
  cameBack: Set<string>
  /** By agent and order: refunds that a provider had when their deposit was taken back. */
  takenBack: Set<string>
  /** By agent: the open items that the commands book, in any state. */
  items: ReadonlyMap<string, BookableItem>
  /** By book: the rows that have booked them before; null for one that was archived. */
  itemRows: ReadonlyMap<string, JournalRow | null>
  /** Those of the references in the commands that payouts of any agent already use. */
  takenReferences: Set<string>
  /** By agent: those of the commands' keys that journal rows have. */
  doneKeys: Set<string>
  /** By agent: the refIds of archived orders, and the keys of archived payments and adjustments. */
  archivedRefs: Set<string>
  archivedKeys: Set<string>
  /** Those of the commands' events that are recorded. */
  recordedEvents: ReadonlySet<string>
  /** The limits of the commands' agents, and of each agent. */
  limitRules: readonly LimitRule[]
  /** By agent: what the limits need to know, of agents that have some. */
  limits: ReadonlyMap<bigint, AgentLimits>
}

/** What a batch writes. Each item appears once, however often it changed within the batch. */
export interface Writes {
  newOrders: Order[]
  changedOrders: { order: Order; versionRead: number }[]
  journal: JournalRow[]
  callbacks: Callback[]
  /** In order of id, so that two batches cannot deadlock. */
  newClaims: PaymentClaim[]
  /** Claims that were nobody's and are an agent's now. */
  givenClaims: PaymentClaim[]
  newUnmatched: UnmatchedPayment[]
  changedUnmatched: UnmatchedPayment[]
  clearings: Clearing[]
  newPayments: Payment[]
  changedPayments: { payment: Payment; stateRead: Payment['state'] }[]
  newPayouts: HandedPayout[]
  newItems: OpenItem[]
  reopenedItems: OpenItem[]
  closedItems: ClosedItem[]
  bookedItems: BookedItem[]
  wallets: { wallet: Wallet; seqRead: bigint }[]
  /** What changes of what counts for limits. */
  uses: LimitUse[]
  checks: LimitCheck[]
  payees: LimitPayee[]
  /** The notices whose payments the batch books. */
  notices: BookedNotice[]
  /** The agents whose new deposits were not measured against limits: they must have none. */
  unlimited: bigint[]
}

/** The writes of a batch that belong to one agent. */
export function writesFor(writes: Writes, agentId: bigint): Writes {
  const isOwn = (item: { agentId: bigint }) => item.agentId === agentId
  return {
    newOrders: writes.newOrders.filter(isOwn),
    changedOrders: writes.changedOrders.filter(({ order }) => isOwn(order)),
    journal: writes.journal.filter(isOwn),
    callbacks: writes.callbacks.filter(isOwn),
    newClaims: writes.newClaims.filter((claim) => isOwn(claim) || isOfHouse(claim, agentId)),
    givenClaims: writes.givenClaims.filter(isOwn),
    newUnmatched: writes.newUnmatched.filter((each) => isOfHouse(each, agentId)),
    changedUnmatched: writes.changedUnmatched.filter((each) => isOfHouse(each, agentId)),
    clearings: writes.clearings.filter(isOwn),
    newPayments: writes.newPayments.filter(isOwn),
    changedPayments: writes.changedPayments.filter(({ payment }) => isOwn(payment)),
    newPayouts: writes.newPayouts.filter(isOwn),
    newItems: writes.newItems.filter(isOwn),
    reopenedItems: writes.reopenedItems.filter(isOwn),
    closedItems: writes.closedItems.filter(isOwn),
    bookedItems: writes.bookedItems.filter(isOwn),
    wallets: writes.wallets.filter(({ wallet }) => isOwn(wallet)),
    uses: writes.uses.filter(isOwn),
    checks: writes.checks.filter(isOwn),
    payees: writes.payees.filter(isOwn),
    notices: writes.notices.filter(isOwn),
    unlimited: writes.unlimited.filter((each) => each === agentId),
  }
}

/** Whether money that belongs to no agent is, or was, in this book of the house. */
function isOfHouse(
  { currency, ...money }: { currency: Currency; agentId?: bigint },
  agentId: bigint,
): boolean {
  return (money.agentId ?? 0n) === 0n && houseBook(currency) === agentId
}

export const keyOf = (agentId: bigint, id: string) => `${agentId} ${id}`

/** The id of the payment that a command is about, if any. */
export function paymentIdOf(command: Command): string | undefined {
  if (command.type === 'receive_payment') return command.payment.paymentId
  if (command.type === 'receive_unmatched') return command.unmatched.paymentId
  return 'paymentId' in command ? command.paymentId : undefined
}

/** Whether a command needs to know which agent its payment belongs to. */
export function isAboutClaim({ type }: Command): boolean {
  return type === 'receive_payment' || type === 'receive_unmatched' || type === 'assign_payment'
}

/** The key of the journal row that a command writes, if nothing else keeps it from counting twice. */
export function doneKeyOf(command: Command): string | undefined {
  switch (command.type) {
    case 'adjust':
      return adjustmentKey(command.ref)
    case 'charge_cost':
      return costKey(command)
    case 'sweep':
      return sweepKey(command)
    case 'write_off':
      return writeOffKey(command)
    case 'end_unmatched':
      return command.explained && writeOffKey(command.explained)
    case 'report_debit':
      return debitKeys(debitOf(command) ?? '').reported
    case 'explain_debit':
      return debitKeys(debitOf(command) ?? '').explained
    default:
      return undefined
  }
}

/** The keys of journal rows that a command needs to know of. */
export function keysReadOf(command: Command): string[] {
  const debit = debitOf(command)
  const own = doneKeyOf(command)
  return [...(own === undefined ? [] : [own]), ...(debit ? Object.values(debitKeys(debit)) : [])]
}

/** The deposit whose refunds a command needs, if any. */
export function refundsNeededOf(command: Command): string | undefined {
  if (command.type === 'create') return command.order.refundOf ?? undefined
  return command.type === 'take_back_payment' ? (command.orderId ?? undefined) : undefined
}

/** The key that keeps a command from taking effect twice, if it has one. */
export function onceKeyOf(command: Command): string | undefined {
  if (command.type === 'receive_payment') return `payment:${command.payment.paymentId}`
  return doneKeyOf(command)
}

/**
 * The order that a command hands on or ends after a provider's definite refusal, or that a person says was paid, if it
 * is such a command.
 */
export function orderIdAfterNo(command: Command): string | undefined {
  if (command.type === 'hand_over') return command.insteadOf === null ? undefined : command.orderId
  if (command.type !== 'outcome' || command.providerRef === undefined) return undefined
  const isPersons = command.to === 'PAID' && command.evidence !== undefined
  const isNo = command.to === 'FAILED' || command.to === 'CANCEL'
  return isNo || isPersons ? command.orderId : undefined
}

export const noBooks: Books = {
  wallets: new Map(),
  orders: new Map(),
  refIds: new Map(),
  payments: new Map(),
  unmatched: new Map(),
  clearings: new Map(),
  lastTimes: new Map(),
  claims: new Map(),
  payers: new Map(),
  cameBack: new Set(),
  takenBack: new Set(),
  items: new Map(),
  itemRows: new Map(),
  takenReferences: new Set(),
  doneKeys: new Set(),
  archivedRefs: new Set(),
  archivedKeys: new Set(),
  recordedEvents: new Set(),
  limitRules: [],
  limits: new Map(),
}

/** A placeholder for a wallet that a command neither reads nor changes. */
function untouched(agentId: bigint): Wallet {
  return { agentId, currency: defaultCurrency, seq: 0n, balances: noChange, hash: noHash }
}

function claimOf(payment: Payment, orderId: string | null, { currency }: Wallet): PaymentClaim {
  const { paymentId, agentId, amountMinor, reportedAt } = payment
  return { paymentId, agentId, orderId, amountMinor, currency, claimedAt: reportedAt }
}

/**
 * The command, not before the last row of any book that it changes. It may have waited while later commands were
 * written, or come from a process whose clock is behind. So the times of a book never go down, and both rows of a
 * move between two books have the same time.
 */
function inOrder(command: Command, lastTimes: ReadonlyMap<bigint, Date>): Command {
  let { at } = command
  for (const book of booksOf(command)) {
    const last = lastTimes.get(book)
    if (last && last > at) at = last
  }
  return at === command.at ? command : { ...command, at }
}

/** Applies commands to the books, in order. A refused command leaves the books unchanged. */
export function fold(
  books: Books,
  commands: readonly Command[],
  localTime: LocalTime,
): { decisions: Decision[]; writes: Writes } {
  const wallets = new Map(books.wallets)
  const orders = new Map(books.orders)
  const refIds = new Map(books.refIds)
  const payments = new Map(books.payments)
  const unmatched = new Map(books.unmatched)
  const clearings = new Map(books.clearings)
  const lastTimes = new Map(books.lastTimes)
  const claims = new Map(books.claims)
  const payers = new Map(books.payers)
  const cameBack = new Set(books.cameBack)
  const takenBack = new Set(books.takenBack)
  const takenReferences = new Set(books.takenReferences)
  const doneKeys = new Set(books.doneKeys)
  const journal: JournalRow[] = []
  const callbacks: Callback[] = []
  const newPayouts: HandedPayout[] = []
  const newItems: OpenItem[] = []
  const reopenedItems: OpenItem[] = []
  const closedItems: ClosedItem[] = []
  const bookedItems: BookedItem[] = []
  const items = new Map(books.items)
  const itemRows = new Map(books.itemRows)
  const limitCount = new LimitCount(books.limits)
  const checks: LimitCheck[] = []
  const unlimited = new Set<bigint>()
  const notices: BookedNotice[] = []
  const recordedEvents = new Set(books.recordedEvents)
  /** By agent: the hash of the last row. */
  const heads = new Map<bigint, string>()

  const enter = (row: JournalRow) => {
    const { agentId, seq, clearingAt: provider, change, onceKey } = row
    journal.push(row)
    lastTimes.set(agentId, row.at)
    if (onceKey !== null) {
      doneKeys.add(keyOf(agentId, onceKey))
      itemRows.set(keyOf(agentId, onceKey), row)
    }
    if (provider !== null) {
      const key = keyOf(agentId, provider)
      const balance = (clearings.get(key)?.balance ?? 0n) + change.clearing
      clearings.set(key, { agentId, provider, seq, balance })
      row.clearingThere = balance
    }
    const before = heads.get(agentId) ?? books.wallets.get(agentId)?.hash
    if (before === undefined) throw new Error(`the wallet of agent ${agentId} was not read`)
    row.hash = journalHash(before, row)
    heads.set(agentId, row.hash)
  }

  const isHeld = (command: Command) => {
    const debit = debitOf(command)
    if (debit === undefined) return false
    const { reported, explained, writtenOff } = debitKeys(debit)
    const isDone = (key: string) => doneKeys.has(keyOf(command.agentId, key))
    return isDone(reported) && !isDone(explained) && !isDone(writtenOff)
  }

  const decisions = commands.map((asked): Decision => {
    const command = inOrder(asked, lastTimes)
    const { agentId } = command
    const wallet = wallets.get(agentId) ?? (needsWallet(command) ? undefined : untouched(agentId))
    if (!wallet) throw new Error(`the wallet of agent ${agentId} was not read`)
    const notice = command.type === 'receive_payment' ? command.notice : undefined
    if (notice && recordedEvents.has(eventKeyOf(notice))) {
      return { type: 'recorded', order: undefined }
    }
    const house = 'houseId' in command ? wallets.get(command.houseId) : undefined
    const paymentId = paymentIdOf(command)
    const attempted = orderIdAfterNo(command)
    const named =
      'orderId' in command && command.orderId !== null
        ? orders.get(keyOf(agentId, command.orderId))
        : undefined
    const refundOf = command.type === 'create' ? command.order.refundOf : named?.refundOf
    const refundsNeeded = refundsNeededOf(command)
    const decision = decide(
      {
        wallet,
        house,
        order: command.type === 'create' ? refIds.get(keyOf(agentId, command.order.refId)) : named,
        refunded: refundOf == null ? undefined : orders.get(keyOf(agentId, refundOf)),
        refunds:
          refundsNeeded === undefined
            ? []
            : [...orders.values()].filter(
                (each) => each.agentId === agentId && each.refundOf === refundsNeeded,
              ),
        payment: paymentId === undefined ? undefined : payments.get(keyOf(agentId, paymentId)),
        unmatched: paymentId === undefined ? undefined : unmatched.get(paymentId),
        claim: paymentId === undefined ? undefined : claims.get(paymentId),
        payer: attempted === undefined ? undefined : payers.get(keyOf(agentId, attempted))?.[0],
        isTakenBack: attempted !== undefined && takenBack.has(keyOf(agentId, attempted)),
        takenReferences,
        item: command.type === 'book_item' ? items.get(keyOf(agentId, command.itemId)) : undefined,
        itemRows,
        isHeld: isHeld(command),
        isDone: doneKeys.has(keyOf(agentId, doneKeyOf(command) ?? '')),
        archived:
          command.type === 'create'
            ? books.archivedRefs.has(keyOf(agentId, command.order.refId))
            : books.archivedKeys.has(keyOf(agentId, onceKeyOf(command) ?? '')),
        limits: command.type === 'create' ? limitCount.factsFor(command.order) : undefined,
      },
      command,
      localTime,
    )
    if (decision.type !== 'changed') return decision
    if (decision.check) checks.push(decision.check)
    if (!needsWallet(command)) unlimited.add(agentId)
    for (const change of [decision, ...(decision.also ?? [])]) {
      if (needsWallet(command)) wallets.set(agentId, change.wallet)
      if (change.order) {
        limitCount.change(orders.get(keyOf(agentId, change.order.orderId)), change.order)
        orders.set(keyOf(agentId, change.order.orderId), change.order)
        refIds.set(keyOf(agentId, change.order.refId), change.order)
      }
      if (change.row) enter(change.row)
      if (change.callback) callbacks.push(change.callback)
      if (change.item) newItems.push(change.item)
      if (change.item?.kind === 'refunded_and_taken_back') {
        takenBack.add(keyOf(agentId, change.item.orderId))
      }
    }
    if (notice) {
      const why = decision.payment?.why ?? null
      notices.push({ ...notice, result: why === null ? 'applied' : 'waiting', detail: why })
      recordedEvents.add(eventKeyOf(notice))
    }
    if (decision.payment) {
      payments.set(keyOf(agentId, decision.payment.paymentId), decision.payment)
      if (command.type === 'receive_payment' && !claims.has(decision.payment.paymentId)) {
        claims.set(decision.payment.paymentId, claimOf(decision.payment, command.orderId, wallet))
      }
    }
    if (decision.house) {
      wallets.set(decision.house.wallet.agentId, decision.house.wallet)
      enter(decision.house.row)
    }
    if (decision.unmatched) unmatched.set(decision.unmatched.paymentId, decision.unmatched)
    if (decision.claim) claims.set(decision.claim.paymentId, decision.claim)
    if (decision.item) {
      const { orderId, provider, reference, providerSaid } = decision.item
      const key = keyOf(agentId, orderId)
      const known = payers.get(key) ?? []
      // The same said again changes nothing about what a person has found out.
      const isKnown = known.some((each) => each.reference === reference)
      if (providerSaid === 'PAID' && !isKnown && !cameBack.has(keyOf(agentId, reference))) {
        const payer = { provider, reference, isLookedInto: false, isAskedAgain: false }
        const seen = known.findIndex(({ isLookedInto }) => isLookedInto)
        payers.set(key, known.toSpliced(seen < 0 ? known.length : seen, 0, payer))
      }
      if (providerSaid === 'REVERT') {
        cameBack.add(keyOf(agentId, reference))
        payers.set(
          key,
          known.filter((payer) => payer.reference !== reference),
        )
      }
    }
    if (decision.reopens) {
      const { orderId, reference } = decision.reopens
      const key = keyOf(agentId, orderId)
      const asked = (payers.get(key) ?? []).map((payer) =>
        payer.reference === reference
          ? { ...payer, isLookedInto: true, isAskedAgain: true }
          : payer,
      )
      payers.set(key, asked)
      reopenedItems.push(decision.reopens)
    }
    if (decision.closes) closedItems.push(decision.closes)
    if (decision.booked) {
      const { itemId, at: closedAt, ...booked } = decision.booked
      const item = items.get(keyOf(agentId, itemId))
      if (item) items.set(keyOf(agentId, itemId), { ...item, ...booked, closedAt })
      bookedItems.push(decision.booked)
    }
    if (decision.payout) {
      const { orderId } = decision.payout
      for (const earlier of newPayouts) if (earlier.orderId === orderId) earlier.askAt = null
      newPayouts.push(decision.payout)
      takenReferences.add(decision.payout.reference)
    }
    return decision
  })

  const writes: Writes = {
    newOrders: [],
    changedOrders: [],
    journal,
    callbacks,
    newClaims: [...claims.values()]
      .filter(({ paymentId }) => !books.claims.has(paymentId))
      .sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1)),
    givenClaims: [...claims.values()].filter((claim) => {
      const read = books.claims.get(claim.paymentId)
      return read !== undefined && read !== claim
    }),
    newUnmatched: [],
    changedUnmatched: [],
    clearings: [...clearings.values()].filter(
      (each) => books.clearings.get(keyOf(each.agentId, each.provider)) !== each,
    ),
    newPayments: [],
    changedPayments: [],
    newPayouts,
    newItems,
    reopenedItems,
    closedItems,
    bookedItems,
    wallets: [],
    uses: limitCount.changes(),
    checks,
    payees: limitCount.newPayees,
    notices,
    unlimited: [...unlimited],
  }
  for (const [key, order] of orders) {
    const read = books.orders.get(key)
    if (!read) writes.newOrders.push(order)
    else if (read !== order) writes.changedOrders.push({ order, versionRead: read.version })
  }
  for (const [key, payment] of unmatched) {
    const read = books.unmatched.get(key)
    if (!read) writes.newUnmatched.push(payment)
    else if (read !== payment) writes.changedUnmatched.push(payment)
  }
  for (const [key, payment] of payments) {
    const read = books.payments.get(key)
    if (!read) writes.newPayments.push(payment)
    else if (read !== payment) writes.changedPayments.push({ payment, stateRead: read.state })
  }
  for (const [agentId, wallet] of wallets) {
    const read = books.wallets.get(agentId)
    if (!read || read.seq === wallet.seq) continue
    const hash = heads.get(agentId) ?? read.hash
    writes.wallets.push({ wallet: { ...wallet, hash }, seqRead: read.seq })
  }
  return { decisions, writes }
}
