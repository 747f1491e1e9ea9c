export const paymentsWords = {
  title: 'Payments to decide',
  says: 'Money that came in and could not be credited by itself. Nothing is ever dropped: each waits for a person.',
  none: 'Nothing to decide',
  noneTeach:
    'Late, wrong, duplicate and unmatched payments appear here. In the sandbox, the stories late, underpaid, overpaid and duplicate make some.',
  state: 'State',
  toDecide: 'To decide',
  decided: 'Decided',
  mine: 'Mine',
  columns: {
    payment: 'Payment',
    why: 'Why',
    amount: 'Amount',
    age: 'Came in',
    paidAt: 'Paid',
    agent: 'Agent',
    payer: 'Payer',
    reference: 'Reference',
    assignee: 'Assignee',
  },
}
