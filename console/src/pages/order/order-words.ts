export const orderWords = {
  title: 'Order',
  heading: (kind: string, refId: string) => `${kind} ${refId}`,
  about: 'Details',
  timeline: 'What happened',
  openAll: 'Open all',
  closeAll: 'Close all',
  extraParams: 'extraParams',
  evidence: 'Evidence',
  evidenceHint: 'What shows that it happened at the bank: a statement line, a ticket, who said so.',
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
    account: 'Account',
    accountName: 'Account name',
    bank: 'Bank',
    provider: 'Provider',
    providerRef: 'Reference there',
    createdAt: 'Created',
    expiresAt: 'Valid until',
    handedOverAt: 'Handed over',
    completedAt: 'Completed',
    link: 'Payment page',
    openLink: 'Open',
  },
  actions: {
    'mark-paid': {
      label: 'Mark paid',
      explain:
        'Says that the bank paid this. It is final: the books move and the agent is told PAID. Of one that failed, amount and fee are taken from the wallet, below zero if need be.',
    },
    'mark-failed': {
      label: 'Mark failed',
      explain:
        'Says that the bank did not pay and never will. What is held goes back to the wallet and the agent is told FAILED.',
    },
    void: {
      label: 'Void',
      explain: 'The payer can no longer pay this deposit. The agent is told VOID.',
    },
    'take-back': {
      label: 'Take back',
      explain:
        'Says that the bank took this payment back. The wallet is debited, below zero if need be, and the agent is told VOID.',
    },
    cancel: {
      label: 'Cancel withdrawal',
      explain:
        'The withdrawal is not paid out. What is held goes back to the wallet and the agent is told CANCEL.',
    },
    revert: {
      label: 'Revert',
      explain:
        'Says that the bank returned this payout. The wallet is credited and the agent is told REVERT.',
    },
    resend: {
      label: 'Resend callback',
      explain: 'The latest callback of this order goes out again, with the same body.',
    },
  },
}
