/** What the bank does to a deposit on its own. */
export type DepositAct = { afterMs: number } & (
  | {
      does: 'pay'
      amount: 'exact' | 'half' | 'half as much again'
      from: 'payer' | 'somebody else'
    }
  | { does: 'take back' }
  | { does: 'end'; status: 'FAILED' | 'VOID' }
  | { does: 'charge' }
)

/** What the bank does to a payout on its own. */
export type PayoutAct = { afterMs: number } & (
  | { state: 'paid' | 'rejected' | 'returned' }
  | { does: 'charge' }
)

export interface DepositStory {
  /** The description for docs/sandbox.md. */
  happens: string
  agentSees: string
  /** The moment from which the delays of its acts count. */
  after: 'creation' | 'expiry'
  acts: readonly DepositAct[]
}

export interface PayoutStory {
  happens: string
  agentSees: string
  acts: readonly PayoutAct[]
  /** Whether the call that submits the payout is answered. */
  answers: boolean
  /** How often each notice is sent, accepted or not; 0 means that none is sent. */
  notices: number
}

const waits = "waits for an operator, unless the agent's policy credits it"
const exactly = { does: 'pay', amount: 'exact', from: 'payer' } as const

export const depositStories: Record<string, DepositStory> = {
  paid: {
    happens: 'the exact amount comes in after 1 s',
    agentSees: 'PAID',
    after: 'creation',
    acts: [{ afterMs: 1_000, ...exactly }],
  },
  failed: {
    happens: 'the bank gives it up after 1 s',
    agentSees: 'FAILED',
    after: 'creation',
    acts: [{ afterMs: 1_000, does: 'end', status: 'FAILED' }],
  },
  void: {
    happens: 'the bank withdraws it after 1 s',
    agentSees: 'VOID',
    after: 'creation',
    acts: [{ afterMs: 1_000, does: 'end', status: 'VOID' }],
  },
  'taken-back': {
    happens: 'the exact amount comes in after 1 s and is taken back 2 s later',
    agentSees: 'PAID, then VOID',
    after: 'creation',
    acts: [
      { afterMs: 1_000, ...exactly },
      { afterMs: 3_000, does: 'take back' },
    ],
  },
  late: {
    happens: 'the exact amount comes in 1 s after expiry',
    agentSees: `EXPIRED; the payment ${waits}`,
    after: 'expiry',
    acts: [{ afterMs: 1_000, ...exactly }],
  },
  underpaid: {
    happens: 'half the amount comes in after 1 s',
    agentSees: `EXPIRED in the end; the payment ${waits}`,
    after: 'creation',
    acts: [{ afterMs: 1_000, does: 'pay', amount: 'half', from: 'payer' }],
  },
  overpaid: {
    happens: 'one and a half times the amount comes in after 1 s',
    agentSees: `EXPIRED in the end; the payment ${waits}`,
    after: 'creation',
    acts: [{ afterMs: 1_000, does: 'pay', amount: 'half as much again', from: 'payer' }],
  },
  duplicate: {
    happens: 'the exact amount comes in after 1 s, and once more 2 s later',
    agentSees: `PAID; the second payment ${waits}`,
    after: 'creation',
    acts: [
      { afterMs: 1_000, ...exactly },
      { afterMs: 3_000, ...exactly },
    ],
  },
  'wrong-payer': {
    happens: 'the exact amount comes in after 1 s, from another account',
    agentSees: 'PAID with `flag_incorrect_payee`',
    after: 'creation',
    acts: [{ afterMs: 1_000, does: 'pay', amount: 'exact', from: 'somebody else' }],
  },
  charged: {
    happens: 'the exact amount comes in after 1 s, and the bank charges you 1% of it',
    agentSees: 'PAID',
    after: 'creation',
    acts: [
      { afterMs: 1_000, ...exactly },
      { afterMs: 1_000, does: 'charge' },
    ],
  },
}

const toldOnce = { answers: true, notices: 1 } as const
const neverTold = { answers: false, notices: 0 } as const

/** A payout without a story. */
export const plainPayout: PayoutStory = {
  happens: 'it is paid after 2 s',
  agentSees: 'PAID',
  acts: [{ afterMs: 2_000, state: 'paid' }],
  ...toldOnce,
}

export const payoutStories: Record<string, PayoutStory> = {
  paid: {
    happens: 'it is paid after 1 s',
    agentSees: 'PAID',
    acts: [{ afterMs: 1_000, state: 'paid' }],
    ...toldOnce,
  },
  failed: {
    happens: 'the bank rejects it after 1 s',
    agentSees: 'FAILED',
    acts: [{ afterMs: 1_000, state: 'rejected' }],
    ...toldOnce,
  },
  revert: {
    happens: 'it is paid after 1 s, and the money comes back 2 s later',
    agentSees: 'PAID, then REVERT',
    acts: [
      { afterMs: 1_000, state: 'paid' },
      { afterMs: 3_000, state: 'returned' },
    ],
    ...toldOnce,
  },
  'timeout-then-paid': {
    happens:
      'the call is never answered and no notice is sent; asking tells after 3 s that it is paid',
    agentSees: 'PAID, when the bank was asked again',
    acts: [{ afterMs: 3_000, state: 'paid' }],
    ...neverTold,
  },
  'timeout-then-failed': {
    happens:
      'the call is never answered and no notice is sent; asking tells after 3 s that it is rejected',
    agentSees: 'FAILED, when the bank was asked again',
    acts: [{ afterMs: 3_000, state: 'rejected' }],
    ...neverTold,
  },
  'duplicate-notice': {
    happens: 'it is paid after 1 s, and the bank says so three times',
    agentSees: 'PAID, once',
    acts: [{ afterMs: 1_000, state: 'paid' }],
    answers: true,
    notices: 3,
  },
  charged: {
    happens: 'it is paid after 1 s, and the bank charges you 1% of it',
    agentSees: 'PAID',
    acts: [
      { afterMs: 1_000, state: 'paid' },
      { afterMs: 1_000, does: 'charge' },
    ],
    ...toldOnce,
  },
  slow: {
    happens: 'the bank accepts it, then nothing until it is triggered',
    agentSees: 'nothing until it is triggered',
    acts: [],
    ...toldOnce,
  },
  queued: {
    happens: 'it is not handed to the bank until it is triggered',
    agentSees: 'nothing until it is triggered; it can be cancelled',
    acts: [],
    ...toldOnce,
  },
}
