/** What people can be told of outside of the console. */
export const alertKinds = [
  'sign_in_new_place',
  'account_changed',
  'authority_changed',
  'new_secret',
  'callback_changed',
  'bank_account_changed',
  'approval_waiting',
  'payout_unknown',
  'payout_alarm',
  'proof_red',
  'reconcile_break',
  'callbacks_failing',
  'bank_connection',
  'bank_account_full',
  'rule_fired',
  'rule_over',
  'digest',
] as const

export type AlertKind = (typeof alertKinds)[number]

/** These go to every channel that a person has: whoever took over an account cannot keep its owner from hearing of it. */
export const securityKinds: readonly AlertKind[] = [
  'sign_in_new_place',
  'account_changed',
  'authority_changed',
  'new_secret',
  'callback_changed',
  'bank_account_changed',
]

/** Whose roles hear of what; an agent's users only where it is about their agent, and everybody of their own account. */
export const heardBy: Record<AlertKind, readonly ('admin' | 'operator' | 'viewer' | 'agent')[]> = {
  sign_in_new_place: ['admin', 'operator', 'viewer', 'agent'],
  account_changed: ['admin', 'operator', 'viewer', 'agent'],
  authority_changed: ['admin'],
  new_secret: ['admin', 'agent'],
  callback_changed: ['admin', 'agent'],
  bank_account_changed: ['admin', 'agent'],
  approval_waiting: ['admin', 'operator', 'agent'],
  payout_unknown: ['admin', 'operator'],
  payout_alarm: ['admin', 'operator'],
  proof_red: ['admin', 'operator'],
  reconcile_break: ['admin', 'operator'],
  callbacks_failing: ['admin', 'operator', 'agent'],
  bank_connection: ['admin', 'operator'],
  bank_account_full: ['admin', 'operator'],
  // A rule says itself who is told.
  rule_fired: ['admin', 'operator', 'viewer', 'agent'],
  rule_over: ['admin', 'operator', 'viewer', 'agent'],
  digest: ['admin', 'operator', 'viewer', 'agent'],
}

/** What an alert can be called that nobody chooses: a test, and what was held in quiet hours. */
export type SentKind = AlertKind | 'held' | 'test'

export const alertTitles: Record<SentKind, string> = {
  sign_in_new_place: 'Used from a new place',
  account_changed: 'Your account was changed',
  authority_changed: 'Who may do what was changed',
  new_secret: 'New secret',
  callback_changed: 'Callback address changed',
  bank_account_changed: 'Bank account or connector changed',
  approval_waiting: 'Approval waiting',
  payout_unknown: 'Payout without a known outcome',
  payout_alarm: 'Money left against the books',
  proof_red: 'The books do not prove',
  reconcile_break: 'Break in a reconciliation',
  callbacks_failing: 'Callbacks are failing',
  bank_connection: 'No files come from or go to a bank',
  bank_account_full: 'A bank account is nearly full',
  rule_fired: 'What a rule watches for has happened',
  rule_over: 'What a rule watches for is over',
  digest: 'The day before',
  held: 'While it was quiet',
  test: 'Test',
}

export const channels = ['mail', 'webhook', 'telegram', 'line', 'slack'] as const

export type Channel = (typeof channels)[number]

/** An alert as a person is told it. */
export interface AlertMessage {
  alertId: string
  userId: bigint
  kind: SentKind
  words: string
  count: number
  firstAt: Date
  lastAt: Date
}

/** The alert as plain text: a line about what it is, what happened, and where to look. */
export function alertText({ kind, words, count, firstAt, lastAt }: AlertMessage, link: string) {
  const often =
    count === 1
      ? lastAt.toISOString()
      : `${count} times from ${firstAt.toISOString()} to ${lastAt.toISOString()}; the last one is shown`
  return { title: `Sluice: ${alertTitles[kind]}`, text: `${words}\n\n${often}\n${link}\n` }
}
