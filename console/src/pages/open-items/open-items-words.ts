import { translated } from '../../languages/language.ts'

export const openItemsWords = translated('openItems', {
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
  reports: {
    title: 'Reports that could not be processed',
    says: 'The service tries each again, but for those that it does not understand. If it cannot act on one, for example because no payout has its reference, find out what it means and close it.',
    columns: {
      words: 'What the provider reported',
      detail: 'Why it waits',
      provider: 'Provider',
      age: 'First reported',
      order: 'Order',
      close: 'Close',
    },
    close: 'Close',
    closeAll: (reports: number) => `Close all ${reports}`,
    times: (words: string, reports: number) => `${words} (${reports} times)`,
    isMoney:
      'This report is about money that came in. The service processes it once the cause is mended.',
    closeTitle: 'Close the report',
    closeExplain:
      'This moves no money. If the report was true, change the order or the wallet first.',
    closedNow: 'The report is closed.',
    evidenceHint: 'What you found out, and from whom. It stays with the report.',
  },
})
