export const homeWords = {
  title: 'Today',
  asOf: 'As of',
  volumeIn: 'Paid in today',
  volumeOut: 'Paid out today',
  yesterday: 'by this time yesterday',
  success: { deposit: 'Deposits paid', withdraw: 'Withdrawals paid' },
  dayNote: (paid: number, orders: number, before: string) =>
    `${paid.toLocaleString('en')} of ${orders.toLocaleString('en')}; yesterday ${before}`,
  payments: 'Payments to decide',
  openItems: 'Open items',
  openItemsAlarm: (many: number) =>
    many === 1
      ? 'A provider says it paid a payout that did not count as paid by it'
      : `Providers say they paid ${many} payouts that did not count as paid by them`,
  payouts: 'Unknown payouts',
  withdrawals: 'Withdrawals no provider has',
  noticeEvents: 'Reports not acted on yet',
  failing: 'Callbacks failing',
  givenUp: 'Callbacks given up',
  held: 'Held for withdrawals',
  heldNote: 'waits to be paid out',
  nothing: 'none waits',
  oldest: (ago: string) => `oldest ${ago}`,
  volumes: (currency: string) => `Volume by the hour, ${currency}`,
  in: 'In',
  out: 'Out',
  proofGreen: (unproved: number) =>
    unproved === 0
      ? 'The ledger is proved'
      : `The ledger is proved; ${unproved.toLocaleString('en')} new rows follow`,
  proofRed: (agents: number) =>
    agents === 1
      ? 'The book of 1 agent does not add up'
      : `The books of ${agents} agents do not add up`,
  providers: 'Providers today',
  providerPaid: (paid: number, failed: number) => `${paid} paid, ${failed} failed`,
  providerOpen: (open: number, unknown: number) => `${open} under way, ${unknown} unknown`,
}
