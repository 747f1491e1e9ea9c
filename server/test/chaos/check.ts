import { allPages } from './all-pages.ts'
import { inTurns, type Placed, txnIdOf } from './load.ts'
import {
  type BankPayment,
  type BankPayout,
  depositFault,
  feeByRule,
  isHistory,
  isSettlement,
  minor,
  payoutFault,
  settlementFault,
  type ToldEntry,
  type ToldOrder,
  walletOf,
} from './model.ts'
import type { Arrival } from './moody-receiver.ts'
import type { ChaosAgent, World } from './world.ts'

interface ToldEvent {
  seq: number
  txn_id: string
  status: string
  delivery: string
  body: string
}

/** Reads everything back from outside, and says what does not agree with what the agent knows. */
export async function check(world: World, agent: ChaosAgent, placed: Placed[]): Promise<string[]> {
  const [told, events, entries] = [
    await allPages<ToldOrder>(world, agent, '/payment/orders'),
    await allPages<ToldEvent>(world, agent, '/payment/events'),
    await allPages<ToldEntry>(world, agent, '/payment/wallet/entries'),
  ]
  const orders = told.map((order) => ({ ...order, created_at: inUtc(world, order.created_at) }))
  return [
    ...(await checkAnswers(world, agent, placed, orders)),
    ...checkHistories(placed, orders, events),
    ...(await checkWallet(world, agent, orders, entries)),
    ...checkSettlements(agent, orders, entries),
    ...checkCallbacks(world, agent, events),
    ...(await checkBank(world, agent, orders)),
  ].map((finding) => `${agent.appId}: ${finding}`)
}

/** Every order that was acknowledged is there, once, as it was answered; nothing else is. */
async function checkAnswers(
  world: World,
  agent: ChaosAgent,
  placed: Placed[],
  orders: ToldOrder[],
): Promise<string[]> {
  const findings: string[] = []
  const [door] = world.doors
  if (!door) throw new Error('there is no door')
  await inTurns(placed, async ({ refId, asked }) => {
    const byRefId = await world.client(agent, door).get(`/payment/orders?refId=${refId}`)
    const listed = orders.filter(({ ref_id }) => ref_id === refId)
    const taken = asked.flatMap(({ wish, answers }) =>
      answers.filter(({ status }) => status < 300).map((answer) => ({ wish, ...answer })),
    )
    const find = (what: string) => {
      findings.push(`${refId}: ${what}`)
    }
    if (taken.length === 0) {
      if (isUnsure({ asked })) return
      if (byRefId.status !== 404 || listed.length > 0) find('was refused, and is there')
      return
    }
    if (byRefId.status !== 200) {
      find(`was acknowledged, and is gone: ${byRefId.text}`)
      return
    }
    if (listed.length !== 1) find(`is listed ${listed.length} times`)
    if (new Set(taken.map(({ text }) => text)).size > 1) find('was answered in different ways')
    if (taken.filter(({ status }) => status === 201).length > 1) find('was new more than once')
    const wish = taken[0]?.wish
    const { txn_id, kind, amount, fee } = byRefId.json as ToldOrder
    const expectedFee = wish && feeOf(agent, wish.kind, wish.amount)
    if (taken.some((each) => each.wish !== wish)) find('two that exclude each other were taken')
    if (kind !== wish?.kind || amount !== wish.amount) find('is another order than was asked for')
    if (minor(fee, agent.terms) !== expectedFee) find(`costs ${fee}`)
    if (JSON.parse(taken[0]?.text ?? '{}').txn_id !== txn_id) find('has another id than was told')
  })
  const known = new Set(placed.map(txnIdOf))
  const unsure = new Set(placed.filter(isUnsure).map(({ refId }) => refId))
  const unknown = orders.filter(
    (order) =>
      !known.has(order.txn_id) && !unsure.has(order.ref_id) && !isSettlement(order, agent.terms),
  )
  if (unknown.length > 0) findings.push(`${unknown.length} orders that nobody acknowledged`)
  return findings
}

/**
 * Whether a refund may be there although its last request was refused: the first one may have come through before
 * the deposit was taken back.
 */
function isUnsure({ asked }: Pick<Placed, 'asked'>): boolean {
  return asked.some(({ wish, unknowns }) => wish.refundOf !== undefined && unknowns > 0)
}

/** Each order's outcomes are a history it may have, up to its state; nobody was told another state. */
function checkHistories(placed: Placed[], orders: ToldOrder[], events: ToldEvent[]): string[] {
  const seen = new Map(placed.map((each) => [txnIdOf(each), each.seen]))
  const told = groupBy(events, ({ txn_id }) => txn_id)
  return orders.flatMap(({ txn_id, kind, status }) => {
    const outcomes = (told.get(txn_id) ?? []).map((event) => event.status)
    const strange = [...(seen.get(txn_id) ?? [])].filter(
      (state) => state !== 'WAITING' && !outcomes.includes(state),
    )
    return [
      ...(isHistory(kind, outcomes) ? [] : [`${txn_id} went ${outcomes.join(', ')}`]),
      ...((outcomes.at(-1) ?? 'WAITING') === status
        ? []
        : [`${txn_id} is ${status}, not ${outcomes}`]),
      ...strange.map((state) => `${txn_id} was told to be ${state}, and never was`),
    ]
  })
}

async function checkWallet(
  world: World,
  agent: ChaosAgent,
  orders: ToldOrder[],
  entries: ToldEntry[],
): Promise<string[]> {
  const [door] = world.doors
  if (!door) throw new Error('there is no door')
  const client = world.client(agent, door)
  const { json } = await client.get('/payment/wallet')
  const { reserve } = (await client.get('/payment/wallet/reserve')).json
  const wallet = { ...json, reserve }
  const inMinor = (amount: number) => minor(amount, agent.terms)
  const implied = walletOf(orders, agent.terms)
  const findings: string[] = []
  for (const account of ['balance', 'held', 'reserve'] as const) {
    if (inMinor(wallet[account] ?? 0) !== implied[account]) {
      findings.push(`${account} is ${wallet[account]}, by its orders ${implied[account]} (minor)`)
    }
  }
  let [balance, held] = [0, 0]
  entries.forEach((entry, at) => {
    balance += inMinor(entry.amount)
    held += inMinor(entry.held_change)
    const adds = inMinor(entry.balance) === balance && inMinor(entry.held) === held
    if (entry.seq !== at + 1 || !adds) findings.push(`the journal breaks at ${entry.seq}`)
  })
  if (wallet.seq !== entries.length) findings.push('the wallet is not after the last row')
  return findings
}

/** An agent is settled once a day, and of what it had then. */
function checkSettlements(
  { terms }: ChaosAgent,
  orders: ToldOrder[],
  entries: ToldEntry[],
): string[] {
  const own = orders.filter((order) => isSettlement(order, terms))
  const days = new Set(own.map(({ ref_id }) => ref_id))
  return [
    ...(days.size < own.length ? ['it was settled twice on a day'] : []),
    ...own.flatMap((order) => {
      const fault = settlementFault(order, entries, terms)
      return fault === undefined ? [] : [`${order.txn_id}: ${fault}`]
    }),
  ]
}

/** The service tells local times. */
function inUtc({ midnight }: World, local: string): string {
  const ms = Date.parse(`${local.replace(' ', 'T')}Z`) - midnight.aheadMs
  return new Date(ms).toISOString().slice(0, 19)
}

/** How long a process sends a callback at most. */
const sendingMs = 10_000

/**
 * Every outcome has reached its agent as it is listed, those of one order in order. When the suite moves all clocks on
 * by minutes, leases end while their callbacks are being sent: another process sends them and then the next one, and a
 * receiver that drops the first process's connection is sent the old one again. A database's clock never does that.
 */
function checkCallbacks(
  { movedAtMs }: World,
  { receiver }: ChaosAgent,
  events: ToldEvent[],
): string[] {
  const findings = [...receiver.strangers]
  const accepted = new Set(receiver.arrivals.filter((each) => each.accepted).map(({ seq }) => seq))
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  const lastSeq = new Map(events.map(({ txn_id, seq }) => [txn_id, seq]))
  for (const event of events) {
    const later = (lastSeq.get(event.txn_id) ?? 0) > event.seq
    const isDone = event.delivery === 'delivered' && accepted.has(event.seq)
    if (!isDone && !(event.delivery === 'superseded' && later)) {
      findings.push(`outcome ${event.seq} is ${event.delivery}`)
    }
  }
  const newest = new Map<string, Arrival>()
  for (const arrival of receiver.arrivals) {
    const { seq, txnId, body, atMs } = arrival
    const isAfterMove = movedAtMs.some((moved) => atMs >= moved && atMs < moved + sendingMs)
    if (bySeq.get(seq)?.body !== body) findings.push(`callback ${seq} is not the outcome`)
    if (seq < (newest.get(txnId)?.seq ?? 0) && !isAfterMove) {
      findings.push(`callback ${seq} came after a newer one`)
    }
    newest.set(txnId, arrival)
  }
  return findings
}

/** What the bank has in its own book is what the orders say. */
async function checkBank(world: World, agent: ChaosAgent, orders: ToldOrder[]): Promise<string[]> {
  const { payouts, payments } = await world.asOwner(async (owner) => ({
    payouts: (
      await owner.query<BankPayout>(
        `select p.amount::float8, p.state,
           r.agent_id || '-' || replace(r.order_id::text, '-', '') as txn_id
         from sandbox_bank.payouts p left join sluice.payout_references r using (reference)`,
      )
    ).rows,
    payments: (
      await owner.query<BankPayment>(
        `select p.reference, p.amount::float8, p.paid_at, p.taken_back_at is not null as taken_back,
           exists (select from sluice.audit_log where subject_kind = 'payment'
             and subject_id = 'sandbox:pay-' || p.payment_no and action = 'credit_payment') as decided,
           (select count(*)::int from sluice.payments where payment_id = 'sandbox:pay-' || p.payment_no)
           + (select count(*)::int from sluice.unmatched_payments
              where payment_id = 'sandbox:pay-' || p.payment_no) as recorded
         from sandbox_bank.payments p`,
      )
    ).rows,
  }))
  const payoutsOf = groupBy(payouts, ({ txn_id }) => txn_id ?? 'no order')
  const paymentsOf = groupBy(payments, ({ reference }) => reference)
  const lost = payoutsOf.get('no order')?.length
  if (lost) return [`the bank has ${lost} payouts that no order has`]
  return orders.flatMap((order) => {
    const fault =
      order.kind === 'withdraw'
        ? payoutFault(order, payoutsOf.get(order.txn_id) ?? [], agent.terms)
        : depositFault(order, paymentsOf.get(order.txn_id) ?? [], agent.terms)
    return fault === undefined ? [] : [`${order.txn_id}: ${fault}`]
  })
}

function feeOf({ terms }: ChaosAgent, kind: Placed['asked'][0]['wish']['kind'], amount: number) {
  const rule = kind === 'deposit' ? terms.depositFee : terms.withdrawFee
  return feeByRule(rule, minor(amount, terms), terms)
}

function groupBy<T>(items: T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}
