import { translated } from '../../languages/language.ts'

export const openItemWords = translated('openItem', {
  title: 'Open item',
  heading: (amount: string) => `Payout of ${amount}: who is right?`,
  next: 'What to do',
  toOrder: 'Go to the order',
  close: 'Close',
  isClosed: 'It has been closed already.',
  closeTitle: 'Close this item',
  closeExplain:
    'Confirms that you found out what is true. This moves no money: do what stands under What to do first.',
  evidenceHint: 'Your proof: a statement line, an answer of the bank.',
  closedNow: 'Closed.',
  facts: {
    kind: 'What',
    amount: 'Amount',
    provider: 'Provider',
    reference: 'Reference at the provider',
    agent: 'Agent',
    order: 'Order',
    orderNow: 'The order now',
    openedAt: 'First reported',
    closedAt: 'Closed',
    closedBy: 'Closed by',
    evidence: 'Evidence',
  },
})
