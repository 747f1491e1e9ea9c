import type { Pool } from '../db/pool.ts'
import { credentialsOf, tieBetween } from '../operators/credentials.ts'
import { type Permission, permissionsOf, type Role, roles } from '../operators/operator.ts'

/** The roles whose users could approve a proposal. */
export function rolesThatApprove({
  permission,
  adminOnly,
}: {
  permission: Permission
  adminOnly: boolean
}): Role[] {
  return roles.filter(
    (role) => permissionsOf[role].includes(permission) && (!adminOnly || role === 'admin'),
  )
}

/** How many users other than the proposer, and not tied to them, could approve a proposal, as far as their roles go. */
export async function countApprovers(
  pool: Pool,
  needs: {
    permission: Permission
    adminOnly: boolean
    agentId: bigint | null
    proposedBy: bigint | null
  },
): Promise<number> {
  const { permission, adminOnly, agentId, proposedBy } = needs
  const able = rolesThatApprove({ permission, adminOnly })
  const { rows } = await pool.query<{ user_id: bigint }>(
    `select user_id from users
     where role = any ($1) and (agent_id is null or agent_id = $2) and disabled_at is null
       and sealed_totp_secret is not null and user_id is distinct from $3`,
    [able, agentId, proposedBy],
  )
  const others = rows.map(({ user_id }) => user_id)
  if (proposedBy === null) return others.length
  const credentials = await credentialsOf(pool, [proposedBy, ...others])
  const signed = (userId: bigint) => ({ userId, resetBy: credentials(userId).resetBy })
  const proposer = signed(proposedBy)
  return others.filter((each) => tieBetween(proposer, signed(each), 'them') === undefined).length
}

/** What a proposer is told: who can approve, and until when. */
export function waitingWords(approvers: number, expiresAt: Date): string {
  if (approvers === 0) {
    return 'It waits for a second person, and nobody else can approve it yet: invite somebody under Users, or with "sluice user create".'
  }
  const who = approvers === 1 ? 'One other person' : `${approvers} other people`
  return `${who} can approve it under Approvals, until ${expiresAt.toISOString()}.`
}
