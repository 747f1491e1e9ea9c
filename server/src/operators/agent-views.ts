import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { writeAudit } from './audit.ts'
import type { Operator } from './operator.ts'

/** How long an operator sees the console as an agent's users do; then they have to ask again. */
export const viewMs = 30 * 60_000

/** A session that sees an agent's console, and where its audit rows belong. */
interface View {
  agentId: bigint
  appId: string
  /** Null if its end is in the audit log already. */
  until: Date | null
}

/** From now on the session sees the agent's console, and changes nothing. */
export async function startView(
  tx: Tx,
  operator: Operator,
  agent: { agentId: bigint; appId: string },
  at: Date,
): Promise<Date> {
  const until = new Date(at.getTime() + viewMs)
  await tx.query(
    'update sessions set views_agent_id = $2, views_until = $3 where session_id = $1',
    [operator.sessionId, agent.agentId, until],
  )
  await writeAudit(tx, {
    at,
    operator,
    action: 'view_as_agent',
    subject: { kind: 'agent', id: agent.appId },
    agentId: agent.agentId,
    after: { until: until.toISOString() },
  })
  return until
}

/** The session sees its user's own console again. Returns the agent whose it saw, if any. */
export async function leaveView(
  tx: Tx,
  operator: Operator,
  at: Date,
): Promise<{ appId: string } | undefined> {
  for (;;) {
    const { rows } = await tx.query<View>(
      `select a.agent_id as "agentId", a.app_id as "appId", s.views_until as until
       from sessions s join agents a on a.agent_id = s.views_agent_id where s.session_id = $1`,
      [operator.sessionId],
    )
    const [view] = rows
    if (!view) return undefined
    // Its end may be written at the same moment, and is in the audit log once.
    const { rowCount } = await tx.query(
      `update sessions set views_agent_id = null, views_until = null
       where session_id = $1 and views_agent_id = $2 and views_until is not distinct from $3`,
      [operator.sessionId, view.agentId, view.until],
    )
    if (rowCount === 0) continue
    if (view.until !== null) await auditEnd(tx, operator, view, at, 'left')
    return view
  }
}

/** Puts the ends of views whose time is over, or whose session is, into the audit log: nobody leaves those any more. */
export async function endViews(pool: Pool, at: Date): Promise<'more' | 'done'> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<View & Operator & { isEarly: boolean }>(
      `select s.session_id::text as "sessionId", s.ip, s.views_until as until, u.user_id as "userId", u.email,
         u.role, a.agent_id as "agentId", a.app_id as "appId",
         coalesce(s.ended_at < s.views_until, false) as "isEarly"
       from sessions s join users u using (user_id) join agents a on a.agent_id = s.views_agent_id
       where s.views_until is not null and (s.views_until <= $1 or s.ended_at is not null)
       order by s.views_until limit 100`,
      [at],
    )
    for (const row of rows) {
      // Another process may be at it, too: whoever changes the row writes its end.
      const { rowCount } = await tx.query(
        'update sessions set views_until = null where session_id = $1 and views_until = $2',
        [row.sessionId, row.until],
      )
      if (rowCount === 1)
        await auditEnd(tx, row, row, at, row.isEarly ? 'session ended' : 'time over')
    }
    return rows.length === 100 ? 'more' : 'done'
  })
}

function auditEnd(
  tx: Tx,
  operator: Operator,
  { agentId, appId }: View,
  at: Date,
  ended: 'left' | 'time over' | 'session ended',
): Promise<void> {
  const subject = { kind: 'agent', id: appId }
  return writeAudit(tx, {
    ...{ at, operator, action: 'end_view_as_agent', subject, agentId },
    after: { ended },
  })
}

/** What somebody is who sees an agent's console: the agent's user, but for the audit log. */
export function asAgentUser(
  operator: Operator,
  view: { agentId: bigint; until: Date | null },
): Operator {
  const { agentId, until } = view
  return { ...operator, role: 'agent', agentId, view: { role: operator.role, until } }
}
