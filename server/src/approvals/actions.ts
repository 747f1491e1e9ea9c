/** Every action that two people may have to decide on. Each route that does one of them names it. */
export const actions = {
  adjust_wallet: { title: 'Credit or debit a wallet', hasAmount: true },
  credit_payment: { title: 'Credit a payment', hasAmount: true },
  decide_together: {
    title: 'Decide on several payments with one code: the amount is the most together',
    hasAmount: true,
  },
  return_payment: { title: 'Say that a payment was given back', hasAmount: true },
  dismiss_payment: { title: 'Say that what was reported is not money', hasAmount: true },
  record_payment: { title: 'Record a payment by hand', hasAmount: true },
  explain_movement: { title: 'Say what a movement on a bank account was', hasAmount: true },
  write_off: { title: 'Write off a difference', hasAmount: true },
  end_payout: { title: "End a payout by a person's word", hasAmount: true },
  take_back_order: { title: 'Take back a deposit, or revert a withdrawal', hasAmount: true },
  refund_order: { title: 'Refund a deposit', hasAmount: true },
  refund_elsewhere: { title: 'Refund to an account that did not pay', hasAmount: true },
  create_agent: { title: 'Create an agent', hasAmount: false },
  change_agent: { title: "Change an agent's terms", hasAmount: false },
  resume_agent: { title: 'Take the orders of an agent again', hasAmount: false },
  change_addresses: { title: 'Change where callbacks are sent', hasAmount: false },
  change_settlement: { title: "Change where an agent's balance is paid out to", hasAmount: false },
  rotate_key: { title: 'Make a new secret', hasAmount: false },
  set_provider: { title: 'Switch a provider on', hasAmount: false },
  use_connector: { title: 'Use a version of a connector, or other secrets', hasAmount: false },
  change_bank_account: {
    title: 'Make or change a bank account by the command line',
    hasAmount: false,
  },
  set_routes: { title: 'Change which provider gets which orders', hasAmount: false },
  create_user: { title: 'Create a user', hasAmount: false },
  change_user: { title: 'Change a user', hasAmount: false },
  reset_user: { title: "Reset a user's password and authenticator", hasAmount: false },
  lift_stop: { title: 'Start again after a stop', hasAmount: false },
  reject_payouts: {
    title: 'Believe that a bank refuses payouts of a file',
    hasAmount: true,
  },
  take_out_payouts: { title: 'Take payouts out of a file', hasAmount: true },
  abandon_payout_file: {
    title: 'Say that a payout file was never brought to the bank',
    hasAmount: true,
  },
  release_hold: { title: 'Pay out again after a restore', hasAmount: false },
  release_payouts: {
    title: 'Let files of an account leave again after a restore',
    hasAmount: false,
  },
  pay_out: { title: 'Pay out a withdrawal', hasAmount: true },
  change_reports: { title: 'Send reports out by themselves', hasAmount: false },
  change_limits: { title: 'Change limits and lists', hasAmount: false },
  change_policy: { title: 'Change what needs two people', hasAmount: false },
} as const satisfies Record<string, { title: string; hasAmount: boolean }>

export type ActionName = keyof typeof actions

export const actionNames = Object.keys(actions) as ActionName[]

/** Actions on users need a second admin only where two have signed in. */
export const needsSecondAdmin: readonly ActionName[] = ['create_user', 'change_user', 'reset_user']

/**
 * Takes two people in every mode, whatever the rules say: the proof of a refund and of what was taken out of a file
 * asks for their decision, and a refusal of a bank that a person brings releases money. After a restore a file that
 * leaves too early pays twice. Whoever makes a bank account decides where deposits go.
 */
export const alwaysByTwo: readonly ActionName[] = [
  'change_bank_account',
  'refund_elsewhere',
  'reject_payouts',
  'take_out_payouts',
  'abandon_payout_file',
  'release_hold',
  'release_payouts',
]

/** Takes two people in live, whatever the rules say: a forged slip that one person believes is paid out at once. */
const alwaysByTwoInLive: readonly ActionName[] = ['record_payment']

/** Whether no rule lets one person do it. */
export function isAlwaysByTwo(action: ActionName, mode: 'sandbox' | 'live'): boolean {
  return alwaysByTwo.includes(action) || (mode === 'live' && alwaysByTwoInLive.includes(action))
}

export function titleOf(action: string): string {
  return isAction(action) ? actions[action].title : action
}

export function isAction(text: string): text is ActionName {
  return Object.hasOwn(actions, text)
}
