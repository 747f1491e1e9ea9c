export const openItemsWords = {
  title: 'Open items',
  says: 'Payouts where a provider’s report contradicts the books. Such a report never changes the books: an operator finds out what is true.',
  none: 'Nothing contradicts the books',
  noneTeach:
    'A payout appears here if it failed and is then reported as paid, if two providers report it as paid, or if it was paid and is then reported as failed.',
  state: 'State',
  open: 'Open',
  closed: 'Closed',
  mine: 'Mine',
  columns: {
    kind: 'What',
    words: 'Who says what',
    amount: 'Amount',
    age: 'First reported',
    order: 'Order',
    agent: 'Agent',
    assignee: 'Assignee',
    reference: 'Reference',
  },
}
