/**
 * What must be true of an agent, worked out from what everybody was told. Written down anew: it
 * shares no code with the service.
 */

export interface AgentTerms {
  currency: 'THB' | 'VND'
  depositFee: string
  withdrawFee: string
  revertFee: 'keep' | 'return'
  lateMoney: 'review' | 'credit'
  expiresInS: number
  /** The share of each paid deposit that is held back for longer than any run. */
  reserve?: string
  /** What stays in the wallet when it is settled every day. */
  settleKeep?: number
}

/** A bank of each currency. */
export const bankCode = { THB: 'SCB', VND: 'VCB' }

/** An order as the API tells it. */
export interface ToldOrder {
  txn_id: string
  ref_id: string
  kind: 'deposit' | 'withdraw'
  status: string
  amount: number
  fee: number
  paid_amount: number | null
  created_at: string
  /** Seconds; deposits have it. */
  expires_in?: number
}

/** A withdrawal at the bank, and money that came in there. */
export interface BankPayout {
  txn_id: string | null
  amount: number
  state: string
}
export interface BankPayment {
  reference: string
  amount: number
  paid_at: Date
  taken_back: boolean
  /** Whether a person credited it. */
  decided: boolean
  /** How many rows the service has for it. */
  recorded: number
}

/** Whole minor units, so that sums are exact. */
export function minor(amount: number, { currency }: AgentTerms): number {
  return Math.round(amount * (currency === 'THB' ? 100 : 1))
}

/** `PERCENT%`, `FIXED` or both; half a minor unit rounds up. */
export function feeByRule(rule: string, amountMinor: number, terms: AgentTerms): number {
  return rule.split('+').reduce((sum, part) => {
    if (!part.endsWith('%')) return sum + minor(Number(part), terms)
    const millionths = Math.round(Number(part.slice(0, -1)) * 10_000)
    return sum + Math.floor((amountMinor * millionths + 500_000) / 1_000_000)
  }, 0)
}

/** What a wallet holds if its orders are what the agent is told they are. */
export function walletOf(
  orders: ToldOrder[],
  terms: AgentTerms,
): { balance: number; held: number; reserve: number } {
  let [balance, held, reserve] = [0, 0, 0]
  for (const { kind, status, amount, paid_amount } of orders) {
    if (kind === 'deposit') {
      if (status !== 'PAID') continue
      const paid = minor(paid_amount ?? 0, terms)
      const left = paid - feeByRule(terms.depositFee, paid, terms)
      const kept = terms.reserve ? Math.min(left, feeByRule(terms.reserve, paid, terms)) : 0
      balance += left - kept
      reserve += kept
      continue
    }
    const asked = minor(amount, terms)
    const fee = feeByRule(terms.withdrawFee, asked, terms)
    if (status === 'WAITING') held += asked + fee
    if (status === 'WAITING' || status === 'PAID') balance -= asked + fee
    if (status === 'REVERT' && terms.revertFee === 'keep') balance -= fee
  }
  return { balance, held, reserve }
}

/** A row of the journal as the API tells it. */
export interface ToldEntry {
  seq: number
  /** Local time. */
  at: string
  amount: number
  balance: number
  held_change: number
  held: number
}

/** Whether the service made the order by itself, to settle its agent. */
export function isSettlement({ ref_id }: ToldOrder, { settleKeep }: AgentTerms): boolean {
  return settleKeep !== undefined && ref_id.startsWith('settlement-')
}

/** Clocks are this far apart at most. */
const clocksMs = 60_000

/** What is wrong with a settlement: it is of what was there at midnight, above what stays. */
export function settlementFault(order: ToldOrder, entries: ToldEntry[], terms: AgentTerms) {
  const day = order.ref_id.slice('settlement-'.length)
  const midnight = Date.parse(`${day}T00:00:00Z`)
  const timeOf = ({ at }: ToldEntry) => Date.parse(`${at.replace(' ', 'T')}Z`)
  const before = entries.filter((entry) => timeOf(entry) < midnight - clocksMs).slice(-1)
  const around = entries.filter((entry) => Math.abs(timeOf(entry) - midnight) <= clocksMs)
  const most = Math.max(...[...before, ...around].map(({ balance }) => minor(balance, terms)))
  const amount = minor(order.amount, terms)
  const fee = feeByRule(terms.withdrawFee, amount, terms)
  if (order.kind !== 'withdraw') return `a settlement is a ${order.kind}`
  if (!Number.isInteger(order.amount)) return `${order.amount} is settled, not whole units`
  const isThere = amount + fee <= most - minor(terms.settleKeep ?? 0, terms)
  return isThere ? undefined : `${amount} and ${fee} are settled of ${most}`
}

/** States that an order may come to from the one before. */
const steps: Record<string, string[]> = {
  'deposit WAITING': ['PAID', 'FAILED', 'EXPIRED', 'VOID'],
  'deposit FAILED': ['PAID'],
  'deposit EXPIRED': ['PAID'],
  'deposit VOID': ['PAID'],
  'deposit PAID': ['VOID'],
  'withdraw WAITING': ['PAID', 'FAILED', 'CANCEL'],
  'withdraw PAID': ['REVERT'],
}

/** Whether these outcomes, one after the other, are a history that an order may have. */
export function isHistory(kind: string, outcomes: string[]): boolean {
  return outcomes.every((to, at) => steps[`${kind} ${outcomes[at - 1] ?? 'WAITING'}`]?.includes(to))
}

/** What is wrong between a withdrawal and what the bank has booked for it. */
export function payoutFault(
  { status, amount }: ToldOrder,
  payouts: BankPayout[],
  terms: AgentTerms,
) {
  if (payouts.length > 1) return `the bank has ${payouts.length} payouts`
  const [payout] = payouts
  if (payout && payout.amount !== minor(amount, terms)) return `the bank has ${payout.amount}`
  const fitting: Record<string, string[]> = {
    PAID: ['paid'],
    FAILED: ['rejected'],
    REVERT: ['returned'],
    CANCEL: ['none', 'cancelled'],
  }
  const state = payout?.state ?? 'none'
  return fitting[status]?.includes(state) ? undefined : `it is ${status}, at the bank: ${state}`
}

/** What is wrong between a deposit and the money that the bank took in for it. */
export function depositFault(order: ToldOrder, payments: BankPayment[], terms: AgentTerms) {
  const lost = payments.filter(({ recorded }) => recorded !== 1)
  if (lost.length > 0) return `payments are recorded ${lost.map((p) => p.recorded)} times`
  const notTakenBack = payments.filter(({ taken_back }) => !taken_back)
  const left = notTakenBack.map(({ amount }) => amount)
  const asked = minor(order.amount, terms)
  if (order.status === 'PAID') {
    const paid = minor(order.paid_amount ?? 0, terms)
    if (!left.includes(paid)) return `it is PAID with ${paid}, at the bank: ${left.join(', ')}`
    const isByPolicy = terms.lateMoney === 'credit'
    const isDecided = notTakenBack.some(({ amount, decided }) => decided && amount === paid)
    return paid === asked || isByPolicy || isDecided
      ? undefined
      : `${paid} was credited for ${asked}`
  }
  // Where the agent's policy credits whatever comes in, nothing is left lying.
  if (terms.lateMoney === 'credit' && left.length > 0) {
    const eaten = left.every((amount) => feeByRule(terms.depositFee, amount, terms) >= amount)
    if (!eaten && payments.length === left.length) return `${left} lies at the bank uncredited`
  }
  // Paid in time is paid, however late it was told.
  const expiresMs =
    Date.parse(`${order.created_at.replace(' ', 'T')}Z`) + (order.expires_in ?? 0) * 1_000
  const inTime = notTakenBack.find((p) => p.amount === asked && p.paid_at.getTime() <= expiresMs)
  return order.status === 'EXPIRED' && inTime ? 'it is EXPIRED, and was paid in time' : undefined
}
