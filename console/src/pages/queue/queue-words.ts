import { translated } from '../../languages/language.ts'

export const queueWords = translated('queue', {
  title: 'Queue',
  says: 'Everything that waits for a person, the oldest first. J and K, or the arrows, go to the next and the one before; Enter opens it.',
  list: 'What waits',
  none: 'Nothing waits',
  noneTeach:
    'Payments to decide, approvals, unknown payouts, breaks and contradictions appear here.',
  all: 'All',
  filter: 'Show',
  kinds: {
    payment: 'Payment to decide',
    approval: 'Approval',
    movement: 'Unexplained movement',
    payout: 'Unknown payout',
    break: 'Books and bank differ',
    open_item: 'Contradiction',
  } as Record<string, string>,
  next: 'Next',
  previous: 'Previous',
  open: 'Open',
  place: (at: number, of: number) => `${at} of ${of}`,
  facts: {
    kind: 'What it is',
    about: 'About',
    agent: 'Agent',
    since: 'Waits since',
    assignee: 'Looked into by',
    payer: 'Payer',
    reference: 'Reference',
  },
  decide: 'Decide',
  credit: 'Credit',
  creditTo: (ref: string) => `Credit to ${ref}`,
  wallet: 'Credit to a wallet',
  return: 'Return',
  dismiss: 'Not money',
  leave: 'Leave it',
  decided: (does: string) =>
    ({ credit: 'To be credited', return: 'To be returned', dismiss: 'Not money' })[does] ?? does,
  ownCode: 'This takes its own code, on its own page.',
  noOrder: 'No order fits it. Open it to look further.',
  basket: (count: number, currency: string) =>
    `${count === 1 ? 'One decision' : `${count} decisions`} in ${currency}, not confirmed yet`,
  confirm: 'Confirm with one code',
  clear: 'Undo all',
  dialog: {
    title: (count: number) => (count === 1 ? 'Confirm one decision' : `Confirm ${count} decisions`),
    explain:
      'One code confirms this list, as it is shown, and no other. If one of the payments has changed meanwhile, nothing is done.',
    sum: (sum: string) => `Together ${sum}`,
    most: (most: string) => `One code confirms at most ${most} together. Undo some decisions.`,
    label: 'What is confirmed',
    payment: 'Payment',
    amount: 'Amount',
    does: 'Decision',
    words: { credit: 'credit to', return: 'return', dismiss: 'not money' } as Record<
      string,
      string
    >,
  },
  results: {
    title: 'What was decided',
    done: (count: number) =>
      count === 1 ? 'One payment was decided.' : `${count} payments were decided.`,
    refused: 'Not done',
    close: 'Go on',
  },
})
