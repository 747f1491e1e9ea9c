/** What an audit row says, in the order of the names, which is the order in which it is hashed. */
export const auditColumns = [
  'action',
  'after',
  'agent_id',
  'at',
  'audit_id',
  'before',
  'email',
  'ip',
  'outcome',
  'reason',
  'role',
  'session_id',
  'subject_id',
  'subject_kind',
  'user_id',
] as const

/** The lanes that are written to; lane 0 has the rows from before there were any. */
export const auditLanes = 16
