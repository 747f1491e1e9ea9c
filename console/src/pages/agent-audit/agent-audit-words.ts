import { translated } from '../../languages/language.ts'

export const agentAuditWords = translated('agentAudit', {
  title: 'What was done',
  says: 'By your own users and secrets, and by the operator where it concerns your account.',
  none: 'Nothing yet',
  noneTeach:
    'Sign-ins, changes of addresses and secrets, and what the operator does with your orders appear here.',
  operator: 'The operator',
  columns: {
    at: 'When',
    by: 'Who',
    ip: 'From',
    action: 'What',
    subject: 'To',
    outcome: 'Outcome',
    reason: 'Why',
  },
})
