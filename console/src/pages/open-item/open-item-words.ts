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
  bookings: {
    write_off: {
      button: 'The house bears it',
      explain:
        'The amount left and is not coming back soon: the books show it as a loss of the house at this provider. If it comes back later, this item opens again.',
    },
    charge_agent: {
      button: 'Charge the agent',
      explain:
        'The agent has agreed to bear it: the amount is taken from its wallet, and the books show that it left at this provider. If it comes back later, this item opens again.',
    },
    received_back: {
      button: 'The money is back',
      explain:
        'The bank statement shows that it came back: what was booked for it is booked back, and the agent gets back what it was charged.',
    },
  } as Record<string, { button: string; explain: string }>,
  bookedNow: 'Booked, and closed.',
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
    bookedAs: 'Booked as',
  },
})
