import { translated } from '../../languages/language.ts'

export const orderWords = translated('order', {
  title: 'Order',
  heading: (kind: string, refId: string) => `${kind} ${refId}`,
  about: 'Details',
  timeline: 'What happened',
  now: 'As of now',
  callback: (status: string, attempts: number) =>
    `Callback ${status}, sent ${attempts === 1 ? 'once' : `${attempts} times`}`,
  openAll: 'Open all',
  closeAll: 'Close all',
  extraParams: 'extraParams',
  amount: 'Amount to refund',
  amountHint: (left: string) => `At most ${left}, which is left of what was paid.`,
  elsewhere: 'To another account than the payer’s',
  elsewhereHint: 'A second person has to approve it.',
  toAccount: { account_no: 'Account number', account_name: 'Account name', bank_code: 'Bank code' },
  refunds: 'Refunds',
  recordPayment: 'Record a payment',
  marks: {
    title: 'Notes and tags',
    about: { order: 'Order', user: 'User', account: 'Account' } as Record<string, string>,
    untag: (tag: string) => `Take off ${tag}`,
    mayNot: 'Your role may not do this.',
    take: (who: string | null) => (who === null ? 'Take it' : `${who} looks into it: take it`),
    letGo: 'Let it go',
    write: (about: string) => `A note or a tag: ${about}`,
    placeholder: 'A note, or a tag',
    note: 'Note',
    tag: 'Tag',
  },
  evidence: 'Evidence',
  evidenceHint: 'Proof that it happened at the bank: a statement line, a ticket, who confirmed it.',
  actionTitle: (action: string, amount: string) => `${action}: ${amount}`,
  actionOn: (kind: string, refId: string, agent: string) => `${kind} ${refId} of ${agent}`,
  done: (action: string) => `${action}: done.`,
  kinds: {
    request: 'Request',
    provider: 'Provider',
    notice: 'Notice',
    payment: 'Payment',
    journal: 'Journal',
    callback: 'Callback',
    attempt: 'Attempt',
    operator: 'Operator',
  },
  facts: {
    agent: 'Agent',
    refId: 'refId',
    userId: 'User',
    amount: 'Amount',
    paidAmount: 'Amount paid',
    fee: 'Fee',
    feeRule: 'Fee rule',
    refundOf: 'Refund of',
    refundable: 'Left to refund',
    account: 'Account',
    accountName: 'Account name',
    bank: 'Bank',
    provider: 'Provider',
    providerRef: 'Reference there',
    createdAt: 'Created',
    expiresAt: 'Valid until',
    handedOverAt: 'Handed over',
    completedAt: 'Completed',
    limits: 'Limits',
    waitsUntil: 'Waits until',
    link: 'Payment page',
    openLink: 'Open',
  },
  actions: {
    'mark-paid': {
      label: 'Mark paid',
      explain:
        'Confirms that the bank paid this. It is final: the books change and the agent gets a PAID callback. If the order had failed, amount and fee are taken from the wallet, below zero if necessary.',
    },
    'mark-failed': {
      label: 'Mark failed',
      explain:
        'Confirms that the bank did not pay and never will. The held money goes back to the wallet and the agent gets a FAILED callback.',
    },
    void: {
      label: 'Void',
      explain: 'The payer can no longer pay this deposit. The agent gets a VOID callback.',
    },
    'take-back': {
      label: 'Take back',
      explain:
        'Confirms that the bank took this payment back. The wallet is debited, below zero if necessary, and the agent gets a VOID callback.',
    },
    refund: {
      label: 'Refund',
      explain:
        'Pays this deposit back to its payer, or a part of it. It is a withdrawal of the agent: amount and fee are taken from its wallet, and it gets the callbacks of a withdrawal.',
    },
    cancel: {
      label: 'Cancel withdrawal',
      explain:
        'The withdrawal is not paid out. The held money goes back to the wallet and the agent gets a CANCEL callback.',
    },
    revert: {
      label: 'Revert',
      explain:
        'Confirms that the bank returned this payout. The wallet is credited and the agent gets a REVERT callback.',
    },
    resend: {
      label: 'Resend callback',
      explain: 'The latest callback of this order is sent again, with the same body.',
    },
  },
})
