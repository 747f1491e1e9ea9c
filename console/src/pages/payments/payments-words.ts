import { translated } from '../../languages/language.ts'

export const paymentsWords = translated('payments', {
  title: 'Payments to decide',
  says: 'Payments that came in and could not be credited automatically. None is ever dropped: each waits for an operator’s decision.',
  none: 'Nothing to decide',
  noneTeach:
    'Late, wrong, duplicate and unmatched payments appear here. In the sandbox, the stories late, underpaid, overpaid and duplicate create some.',
  state: 'State',
  toDecide: 'To decide',
  decided: 'Decided',
  mine: 'Mine',
  unexplained: {
    title: 'Unexplained on bank accounts',
    says: 'Money that left an account and that this service did not send, or sums that the bank did not break down. Say what each was.',
    account: 'Account',
  },
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
})
