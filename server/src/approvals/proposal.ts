import { createHash } from 'node:crypto'
import { raiseAlert } from '../alerts/raise-alert.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import { jsonText } from '../lib/json-text.ts'
import { writeAudit } from '../operators/audit.ts'
import { credentialInUse, nobody } from '../operators/credentials.ts'
import type { Permission } from '../operators/operator.ts'
import { titleOf } from './actions.ts'
import { rolesThatApprove } from './approvers.ts'

/** How long a proposal waits for a decision. */
export const proposalValidMs = 72 * 3_600_000

export type ProposalState =
  | 'open'
  | 'approved'
  | 'done'
  | 'refused'
  | 'declined'
  | 'withdrawn'
  | 'expired'

/** What a proposal asks for. */
export interface ProposedAction {
  action: string
  subject: { kind: string; id: string }
  agentId: bigint | null
  amount: { minor: bigint; currency: string } | null
  /** The request to run: method and path of the console's API, with its parameters and body. */
  route: string
  input: { params: unknown; body: unknown }
  /** What would change, as it is shown; values of which JSON can be made. */
  before: unknown
  after: unknown
  permission: Permission
  adminOnly: boolean
  reason: string | null
}

/** Who proposes or decides; `userId` is null for the command line. */
export interface Person {
  userId: bigint | null
  email: string
  sessionId?: string | undefined
  ip: string | null
}

/** A stored proposal, with what became of it. */
export interface Proposal {
  proposalId: string
  action: string
  subjectKind: string
  subjectId: string
  /** 0: no agent is concerned. */
  agentId: bigint
  amountMinor: bigint | null
  currency: string | null
  route: string
  /** JSON, as it was stored. */
  input: string
  before: string | null
  after: string | null
  permission: Permission
  adminOnly: boolean
  /** In hex. */
  digest: string
  /** 0: the command line, or an agent. */
  proposedBy: bigint
  proposer: string
  /** Which of the proposer's credentials they signed in with. */
  credential: number
  /** The user who reset the proposer, and so could be them; 0: nobody. */
  proposerResetBy: bigint
  sessionId: string | null
  ip: string | null
  reason: string | null
  proposedAt: Date
  expiresAt: Date
  verdict: 'approved' | 'declined' | 'withdrawn' | 'expired' | null
  decidedBy: bigint | null
  decider: string | null
  deciderSession: string | null
  deciderIp: string | null
  decisionReason: string | null
  decidedAt: Date | null
  /** Whether the action has written that it took effect. */
  hasEffect: boolean
  endState: 'done' | 'refused' | null
  problemCode: string | null
  problemDetail: string | null
  endedAt: Date | null
  /** Whether an answer is kept that its proposer has not seen. */
  hasAnswer: boolean
}

/** Stores a proposal and audits it. Nothing of it changes later. */
export async function propose(
  tx: Tx,
  asked: ProposedAction,
  by: Person,
  at: Date,
  options: { proposalId?: string; expiresAt?: Date } = {},
): Promise<string> {
  const proposalId = options.proposalId ?? newOrderId(at)
  const expiresAt = options.expiresAt ?? new Date(at.getTime() + proposalValidMs)
  const proposedBy = by.userId ?? nobody
  const { n, resetBy } = await credentialInUse(tx, proposedBy, at)
  const shown = {
    proposalId,
    ...asked,
    input: jsonText(asked.input),
    before: textOrNull(asked.before),
    after: textOrNull(asked.after),
    proposedBy,
    expiresAt,
  }
  await tx.query(
    `insert into proposals (proposal_id, action, subject_kind, subject_id, agent_id, amount,
       currency, route, input, before, after, permission, admin_only, digest, proposed_by, proposer,
       credential, proposer_reset_by, session_id, ip, reason, proposed_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       $20, $21, $22, $23)`,
    [
      proposalId,
      asked.action,
      asked.subject.kind,
      asked.subject.id,
      asked.agentId ?? 0n,
      asked.amount?.minor ?? null,
      asked.amount?.currency ?? null,
      asked.route,
      shown.input,
      shown.before,
      shown.after,
      asked.permission,
      asked.adminOnly,
      digestOf(shown),
      proposedBy,
      by.email,
      n,
      resetBy,
      by.sessionId ?? null,
      by.ip,
      asked.reason,
      at,
      expiresAt,
    ],
  )
  await writeAudit(tx, {
    at,
    operator: by,
    action: 'propose',
    subject: { kind: 'proposal', id: proposalId },
    agentId: asked.agentId,
    after: { action: asked.action, subject: asked.subject },
    reason: asked.reason,
  })
  const { action, permission, adminOnly, agentId } = asked
  await raiseAlert(tx, {
    kind: 'approval_waiting',
    subject: `${action} ${agentId ?? 0n} ${proposedBy} ${adminOnly}`,
    words: `${titleOf(action)}: this was proposed, and waits for a second person under Approvals.`,
    to: { roles: rolesThatApprove({ permission, adminOnly }), agentId, except: proposedBy },
    at,
  })
  return proposalId
}

/** The SHA-256 over everything that a proposal asks for and shows. */
function digestOf(shown: {
  proposalId: string
  action: string
  subject: { kind: string; id: string }
  agentId: bigint | null
  amount: { minor: bigint; currency: string } | null
  route: string
  input: string
  before: string | null
  after: string | null
  permission: string
  adminOnly: boolean
  proposedBy: bigint
  reason: string | null
  expiresAt: Date
}): Buffer {
  const parts = [
    shown.proposalId,
    shown.action,
    shown.subject.kind,
    shown.subject.id,
    String(shown.agentId ?? 0n),
    shown.amount === null ? null : `${shown.amount.minor} ${shown.amount.currency}`,
    shown.route,
    shown.input,
    shown.before,
    shown.after,
    shown.permission,
    shown.adminOnly,
    String(shown.proposedBy),
    shown.reason,
    shown.expiresAt.toISOString(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/** Whether a stored proposal still is what its digest was made of. */
export function isIntact(proposal: Proposal): boolean {
  const { subjectKind: kind, subjectId: id, amountMinor: minor, currency } = proposal
  const amount = minor === null || currency === null ? null : { minor, currency }
  const digest = digestOf({ ...proposal, subject: { kind, id }, amount })
  return digest.toString('hex') === proposal.digest
}

export function stateOf(proposal: Proposal, now: Date): ProposalState {
  if (proposal.endState !== null) return proposal.endState
  if (proposal.verdict !== null) return proposal.verdict
  return proposal.expiresAt <= now ? 'expired' : 'open'
}

const selected = `p.proposal_id as "proposalId", p.action, p.subject_kind as "subjectKind",
  p.subject_id as "subjectId", p.agent_id as "agentId", p.amount as "amountMinor", p.currency,
  p.route, p.input::text as input, p.before::text as before, p.after::text as after, p.permission,
  p.admin_only as "adminOnly", encode(p.digest, 'hex') as digest, p.proposed_by as "proposedBy",
  p.proposer, p.credential, p.proposer_reset_by as "proposerResetBy", p.session_id as "sessionId", p.ip, p.reason,
  p.proposed_at as "proposedAt", p.expires_at as "expiresAt", d.verdict,
  d.decided_by as "decidedBy", d.decider, d.session_id as "deciderSession", d.ip as "deciderIp",
  d.reason as "decisionReason", d.decided_at as "decidedAt", f.at is not null as "hasEffect",
  e.state as "endState", e.code as "problemCode", e.detail as "problemDetail", e.at as "endedAt",
  a.proposal_id is not null as "hasAnswer"`

const tables = `proposals p left join proposal_decisions d using (proposal_id)
  left join proposal_effects f using (proposal_id) left join proposal_ends e using (proposal_id)
  left join proposal_answers a using (proposal_id)`

export async function findProposal(
  db: Pool | Tx,
  proposalId: string,
): Promise<Proposal | undefined> {
  const { rows } = await db.query<Proposal>(
    `select ${selected} from ${tables} where p.proposal_id = $1`,
    [proposalId],
  )
  return rows[0]
}

/** The id of an open proposal of the same request by the same user. */
export async function findSame(
  pool: Pool,
  { route, input }: Pick<ProposedAction, 'route' | 'input'>,
  proposedBy: bigint,
  now: Date,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ proposal_id: string }>(
    `select p.proposal_id from proposals p left join proposal_decisions d using (proposal_id)
     where p.proposed_by = $1 and p.route = $2 and p.input::text = $3 and d.verdict is null
       and p.expires_at > $4 and p.proposed_at >= $5 limit 1`,
    [proposedBy, route, jsonText(input), now, oldestOpen(now)],
  )
  return rows[0]?.proposal_id
}

export interface ProposalSearch {
  /** open: waits for a decision or for its action; ended: everything else. */
  state: 'open' | 'ended'
  agentId: bigint | null
  proposedBy: bigint | null
  /** The id of the last one of the page before. */
  before: string | null
  /** Which come first; newest if not said. */
  first?: 'newest' | 'oldest'
  now: Date
  limit: number
}

/** Nothing waits for a decision longer than this, so that looking for what waits reads few rows. */
const longestMs = 30 * 86_400_000

function oldestOpen(now: Date): Date {
  return new Date(now.getTime() - longestMs)
}

/** Proposals, newest first unless it is asked otherwise. */
export async function searchProposals(pool: Pool, search: ProposalSearch): Promise<Proposal[]> {
  const isOpen = `(d.verdict is null and p.expires_at > $5 or d.verdict = 'approved' and e.state is null)`
  const { rows } = await pool.query<Proposal>(
    `select ${selected} from ${tables}
     where ${search.state === 'open' ? isOpen : `not ${isOpen}`}
       and ($1::bigint is null or p.agent_id = $1) and ($2::bigint is null or p.proposed_by = $2)
       and ($3::uuid is null or p.proposal_id < $3) and p.proposed_at >= $6
     order by p.proposal_id ${search.first === 'oldest' ? 'asc' : 'desc'} limit $4`,
    [
      search.agentId,
      search.proposedBy,
      search.before,
      search.limit,
      search.now,
      search.state === 'open' ? oldestOpen(search.now) : new Date(0),
    ],
  )
  return rows
}

/**
 * Approved proposals whose action has not ended, decided before a moment. This and the two below have names, so that they
 * are planned once: they are asked every other second, and to plan them took a third of what an idle service took of
 * PostgreSQL.
 */
export async function findUnfinished(pool: Pool, before: Date): Promise<Proposal[]> {
  const { rows } = await pool.query<Proposal>({
    name: 'unfinished-proposals',
    text: `select ${selected} from ${tables}
     where d.verdict = 'approved' and e.state is null and d.decided_at <= $1
       and p.proposed_at >= $2 order by p.proposed_at limit 50`,
    values: [before, oldestOpen(before)],
  })
  return rows
}

/** Open proposals of payouts whose order waits no more: its agent has cancelled it. */
export async function findPayoutsThatEnded(pool: Pool, now: Date): Promise<Proposal[]> {
  const { rows } = await pool.query<Proposal>({
    name: 'proposals-of-ended-payouts',
    text: `select ${selected} from ${tables}
     where p.action = 'pay_out' and d.verdict is null and p.expires_at > $1 and p.proposed_at >= $2
       and (select o.status from orders o
         where o.agent_id = p.agent_id and o.order_id = p.proposal_id) <> 'WAITING'
     order by p.proposed_at limit 50`,
    values: [now, oldestOpen(now)],
  })
  return rows
}

/** Proposals that nobody decided on in time and that are not marked as expired yet. */
export async function findOverdue(pool: Pool, now: Date): Promise<Proposal[]> {
  const { rows } = await pool.query<Proposal>({
    name: 'overdue-proposals',
    text: `select ${selected} from ${tables} where d.verdict is null and p.expires_at <= $1
       and p.proposed_at >= $2 order by p.proposed_at limit 50`,
    values: [now, oldestOpen(now)],
  })
  return rows
}

function textOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : jsonText(value)
}
