import { translated } from '../../languages/language.ts'

export const approvalsWords = translated('approvals', {
  title: 'Approvals',
  says: 'Changes that wait for a second person. Nothing happens before somebody other than the proposer approves.',
  none: 'Nothing waits for a second person',
  noneTeach:
    'What moves money or rights appears here when somebody proposes it, if the rules ask for two people.',
  state: 'State',
  open: 'Waiting',
  ended: 'Ended',
  by: 'Proposed by',
  mine: 'Me',
  columns: {
    action: 'What',
    about: 'About',
    amount: 'Amount',
    by: 'Proposed by',
    at: 'Proposed',
    state: 'State',
    until: 'Until',
  },
})
