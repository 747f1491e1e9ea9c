import { numberText, translated } from '../../languages/language.ts'

export const homeWords = translated('home', {
  setUp: {
    title: (done: number, of: number) => `Set up: ${done} of ${of} done`,
    away: 'Put this list away',
    done: 'Done',
    open: 'Still to do',
    steps: {
      agent: 'An agent',
      provider: 'A provider for every kind of order',
      order: 'A first order',
      callback: 'A callback that was answered',
      second_admin: 'A second admin',
      backup: 'A backup of the database',
    },
    teach: {
      agent: 'Make one; it gets an app id and a secret.',
      provider: 'Without one, orders are refused.',
      order: 'Made by the agent, or here as a test order.',
      callback: 'Set the agent’s address; it must answer with code 0.',
      second_admin: 'So that nobody is locked out, and two people can decide.',
      backup: 'Archive the database’s log, or follow it with a replica.',
    },
  },
  title: 'Today',
  asOf: 'As of',
  volumeIn: 'Paid of today’s deposits',
  volumeOut: 'Paid of today’s withdrawals',
  yesterday: 'of those made by this time yesterday',
  success: {
    deposit: 'Deposits paid, in all currencies',
    withdraw: 'Withdrawals paid, in all currencies',
  },
  dayNote: (paid: string, ended: string, waiting: string, before: string) =>
    `${paid} of ${ended} ended, ${waiting} waiting; yesterday ${before}`,
  restoreHold: {
    title: 'Payouts are held after a restore',
    asking: 'Providers are being asked what they have paid.',
    open: (open: string) => `Differences to be looked into before two people release it: ${open}.`,
    none: 'Two people can release it.',
  },
  refused: {
    title: 'Orders are refused',
    deposit: (currency: string) => `deposits in ${currency}`,
    withdraw: (currency: string) => `withdrawals in ${currency}`,
    orders: (what: string) =>
      `No provider takes ${what}: every one is answered with 503. Switch a provider on, or connect one.`,
  },
  payments: 'Payments to decide',
  openItems: 'Open items',
  openItemsAlarm: (many: number) =>
    many === 1
      ? 'A provider reports a payout as paid that contradicts the books'
      : `Providers report ${many} payouts as paid that contradict the books`,
  stoppedUsers: (many: number) =>
    many === 1
      ? 'Somebody knows the password of a user and guessed codes'
      : `Somebody knows the passwords of ${many} users and guessed codes`,
  payoutAlarms: {
    title: 'Money left against the books',
    kinds: {
      paid_twice: (count: number, account: string) =>
        count === 1 ? `${account} paid a payout twice` : `${account} paid ${count} payouts twice`,
      paid_after_failed: (count: number, account: string) =>
        count === 1
          ? `${account} paid a payout that had failed`
          : `${account} paid ${count} payouts that had failed`,
      unexplained_debit: (count: number, account: string) =>
        count === 1
          ? `A debit of ${account} that nobody can explain`
          : `${count} debits of ${account} that nobody can explain`,
    },
    remedies: {
      paid_twice: 'Ask the bank to get the second payment back, then say what it was.',
      paid_after_failed:
        'The money was given back to the agent, and has left as well. If the payee keeps it, mark the order as paid.',
      unexplained_debit: 'Find out who sent it. If nobody did, tell the bank at once.',
    },
    openItems: 'Open items',
    movements: 'Unexplained movements',
  },
  payouts: 'Unknown payouts',
  withdrawals: 'Withdrawals without a provider',
  noticeEvents: 'Unprocessed reports',
  failing: 'Callbacks failing',
  givenUp: 'Callbacks given up',
  held: 'Held for withdrawals',
  heldNote: 'waiting to be paid out',
  nothing: 'none waiting',
  oldest: (ago: string) => `oldest ${ago}`,
  volumes: (currency: string) => `Volume by the hour, ${currency}`,
  zone: (zone: string) => `Days begin at midnight in ${zone}`,
  in: 'In',
  out: 'Out',
  proofGreen: (unproved: number) =>
    unproved === 0
      ? 'The ledger is proved'
      : `The ledger is proved; ${numberText(unproved)} new rows follow`,
  proofRed: (agents: number) =>
    agents === 1
      ? 'The book of 1 agent does not add up'
      : `The books of ${agents} agents do not add up`,
  providers: 'Providers today',
  providerPaid: (paid: number, failed: number) => `${paid} paid, ${failed} failed`,
  providerOpen: (open: number, unknown: number) => `${open} under way, ${unknown} unknown`,
})
