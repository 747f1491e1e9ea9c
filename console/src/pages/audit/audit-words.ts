import { translated } from '../../languages/language.ts'

export const auditWords = translated('audit', {
  title: 'Audit',
  says: 'Who did what, when, from where and why. The service can only add entries, never change them.',
  none: 'No entry matches',
  noneTeach: 'All actions in the console and on the command line appear here.',
  openRow: 'Details',
  before: 'Before',
  after: 'After',
  nothing: 'Nothing',
  columns: {
    at: 'When',
    actor: 'Who',
    ip: 'From',
    action: 'What',
    subject: 'To',
    outcome: 'Outcome',
    reason: 'Why',
    more: 'Details',
  },
  filters: {
    actor: 'Who: an email',
    kind: 'To what',
    anyKind: 'Anything',
    id: 'Its id',
    action: 'What was done',
    anyAction: 'Any action',
    from: 'From',
    to: 'To',
  },
  askedAt: 'Asked for',
})
