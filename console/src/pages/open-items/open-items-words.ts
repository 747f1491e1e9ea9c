export const openItemsWords = {
  title: 'Open items',
  says: 'Payouts of which a provider and the books say what cannot both be true. No notice changes the books then: a person finds out who is right.',
  none: 'Nothing contradicts the books',
  noneTeach:
    'A payout that failed and is then said to be paid appears here, one that two providers say they paid, and one that was paid and is then said to have failed.',
  state: 'State',
  open: 'Open',
  closed: 'Closed',
  mine: 'Mine',
  columns: {
    kind: 'What',
    words: 'Who says what',
    amount: 'Amount',
    age: 'First said',
    order: 'Order',
    agent: 'Agent',
    assignee: 'Assignee',
    reference: 'Reference',
  },
}
