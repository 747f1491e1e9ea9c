import { timingSafeEqual } from 'node:crypto'
import { databaseTime } from '../db/database-time.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { type Pool, sqlState } from '../db/pool.ts'
import { type OperatorProblemCode, Problem, type ProblemCode } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import {
  type Credential,
  credentialInUse,
  credentialOf,
  credentialsOf,
  nobody,
  tieBetween,
} from '../operators/credentials.ts'
import { may, type Operator } from '../operators/operator.ts'
import { refuseEffect } from '../operators/take-effect.ts'
import { findProposal, isIntact, type Person, type Proposal, stateOf } from './proposal.ts'

/** Why an operator may not approve a proposal, or undefined if they may. */
export async function whyNotApprove(
  pool: Pool,
  proposal: Proposal,
  operator: Operator,
  now: Date,
): Promise<Problem | undefined> {
  return (await whyNotApproveEach(pool, [proposal], operator, now))[0]
}

/** The same of each of some proposals, in one look. */
export async function whyNotApproveEach(
  pool: Pool,
  proposals: readonly Proposal[],
  operator: Operator,
  now: Date,
): Promise<(Problem | undefined)[]> {
  const people = [operator.userId, ...proposals.map(({ proposedBy }) => proposedBy)]
  const credentials = await credentialsOf(pool, people)
  const since = await proposalsSince(pool, people)
  return proposals.map((each) => refusalOf(each, operator, credentials, since, now))
}

/** Since when what users propose is theirs for certain, of those whose sessions somebody else may have had before. */
async function proposalsSince(
  pool: Pool,
  userIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, Date>> {
  const { rows } = await pool.query<{ user_id: bigint; since: Date }>(
    `select user_id, proposals_since as since from users
     where user_id = any($1) and proposals_since is not null`,
    [[...new Set(userIds)]],
  )
  return new Map(rows.map(({ user_id, since }) => [user_id, since]))
}

function refusalOf(
  proposal: Proposal,
  operator: Operator,
  credentials: (userId: bigint) => Credential,
  since: ReadonlyMap<bigint, Date>,
  now: Date,
): Problem | undefined {
  const state = stateOf(proposal, now)
  if (state === 'expired') {
    return new Problem('proposal_expired', 'Nobody decided in time. It has to be proposed again.')
  }
  if (state !== 'open') {
    return new Problem('already_decided', `It is ${state}: read it again.`)
  }
  const isAgents = operator.agentId !== null && operator.agentId !== proposal.agentId
  const isAdminMissing = proposal.adminOnly && operator.role !== 'admin'
  if (isAgents || isAdminMissing || !may(operator, proposal.permission)) {
    const who = isAdminMissing ? 'Only an admin' : `Only who has ${proposal.permission}`
    return new Problem('not_permitted', `${who} may approve this.`)
  }
  if (proposal.proposedBy === operator.userId) {
    return new Problem('same_person', 'You proposed this: another person has to decide.')
  }
  const tie = tieBetween(
    { userId: proposal.proposedBy, resetBy: proposal.proposerResetBy },
    { userId: operator.userId, resetBy: credentials(operator.userId).resetBy },
    'the proposer',
  )
  if (tie !== undefined) return new Problem('same_person', tie)
  // What is decided on there is a withdrawal, whoever has caused it.
  if (proposal.action === 'pay_out') return undefined
  if (credentials(proposal.proposedBy).n !== proposal.credential) {
    return new Problem(
      'changed_meanwhile',
      'The proposer was reset since then, and may not have proposed this. Let them propose it again.',
    )
  }
  const ownSince = since.get(proposal.proposedBy)
  if (ownSince && proposal.proposedAt <= ownSince) {
    return new Problem(
      'changed_meanwhile',
      'The proposer has a new password since then, or their sessions were ended for wrong codes: somebody else may have proposed this. Let them propose it again.',
    )
  }
  return undefined
}

/** Whether the proposer still signs in with what they proposed with. */
export async function hasSameCredentials(pool: Pool, proposal: Proposal): Promise<boolean> {
  return (await credentialOf(pool, proposal.proposedBy)).n === proposal.credential
}

/** Approves a proposal: what is approved is what its digest names. The action runs afterwards. */
export async function approve(
  pool: Pool,
  proposal: Proposal,
  operator: Operator,
  digest: string,
  at: Date,
): Promise<Proposal> {
  const refusal = await whyNotApprove(pool, proposal, operator, at)
  if (refusal) throw refusal
  if (!isSameDigest(proposal.digest, digest) || !isIntact(proposal)) {
    throw new Problem('digest_changed', 'Read the proposal again, and approve what it shows now.')
  }
  return decide(pool, proposal, 'approved', operator, null, at)
}

/** Declines a proposal. */
export async function decline(
  pool: Pool,
  proposal: Proposal,
  operator: Operator,
  reason: string,
  at: Date,
): Promise<Proposal> {
  const refusal = await whyNotApprove(pool, proposal, operator, at)
  // Who must not approve may still say no, unless it is their own: that they withdraw.
  const isOwn = proposal.proposedBy === operator.userId
  if (refusal && (refusal.code !== 'same_person' || isOwn)) throw refusal
  return decide(pool, proposal, 'declined', operator, reason, at)
}

const agent = { userId: null, email: 'the agent', ip: null }

/** Takes the proposal of a payout back, which its agent has cancelled. */
export async function withdrawCancelled(pool: Pool, proposal: Proposal, at: Date): Promise<void> {
  await decide(pool, proposal, 'withdrawn', agent, null, at)
}

/** Takes a proposal back. Only who made it may, or the command line what the command line made. */
export async function withdraw(
  pool: Pool,
  proposal: Proposal,
  person: Person,
  at: Date,
): Promise<Proposal> {
  if (proposal.proposedBy !== (person.userId ?? nobody)) {
    throw new Problem('not_permitted', 'Only who proposed it takes it back.')
  }
  const state = stateOf(proposal, at)
  if (state === 'expired') throw new Problem('proposal_expired', 'It has ended already.')
  if (state !== 'open') throw new Problem('already_decided', `It is ${state}: read it again.`)
  return decide(pool, proposal, 'withdrawn', person, null, at)
}

const clock = { userId: null, email: 'the clock', ip: null }

/** Marks a proposal as expired. Returns undefined if somebody decided on it before. */
export async function expire(
  pool: Pool,
  proposal: Proposal,
  at: Date,
): Promise<Proposal | undefined> {
  try {
    return await decide(pool, proposal, 'expired', clock, null, at)
  } catch (error) {
    if (error instanceof Problem && error.code === 'already_decided') return undefined
    throw error
  }
}

/** The words of the database's rules, for a request that came past the checks above. */
const refusals: Record<string, [OperatorProblemCode, string]> = {
  proposal_decisions_pkey: ['already_decided', 'Somebody was first: read it again.'],
  decisions_by_another: ['same_person', 'Another person has to decide.'],
  decisions_independent: ['same_person', 'Somebody else has to decide.'],
  decisions_in_time: ['proposal_expired', 'Nobody decided in time.'],
}

/** Writes the decision and its audit row. The first one counts. */
async function decide(
  pool: Pool,
  proposal: Proposal,
  verdict: NonNullable<Proposal['verdict']>,
  person: Person | Operator,
  reason: string | null,
  at: Date,
): Promise<Proposal> {
  const { proposalId } = proposal
  const decidedBy = person.userId ?? nobody
  try {
    await inTransaction(pool, async (tx) => {
      const { n, resetBy } = await credentialInUse(tx, decidedBy, at)
      await tx.query(
        `insert into proposal_decisions (proposal_id, digest, proposed_by, proposer_reset_by,
           expires_at, verdict, decided_by, decider, credential, reset_by, session_id, ip, reason,
           decided_at)
         select proposal_id, $2, proposed_by, proposer_reset_by, expires_at, $3, $4, $5, $6, $7, $8, $9, $10,
           $11 from proposals where proposal_id = $1`,
        [
          proposalId,
          Buffer.from(proposal.digest, 'hex'),
          verdict,
          decidedBy,
          person.email,
          n,
          resetBy,
          person.sessionId ?? null,
          person.ip,
          reason,
          at,
        ],
      )
      await writeAudit(tx, {
        at,
        operator: person,
        action: verbs[verdict],
        subject: { kind: 'proposal', id: proposalId },
        agentId: proposal.agentId === 0n ? null : proposal.agentId,
        before: { action: proposal.action, proposer: proposal.proposer },
        after: { state: verdict, digest: proposal.digest },
        reason,
      })
    })
  } catch (error) {
    const constraint = error instanceof Error && 'constraint' in error ? error.constraint : ''
    // On a distributed table the name of a constraint ends in the number of the shard.
    const refusal = Object.entries(refusals).find(([name]) =>
      String(constraint).startsWith(name),
    )?.[1]
    if (refusal && ['23505', '23514'].includes(sqlState(error) ?? '')) throw new Problem(...refusal)
    throw error
  }
  return existing(pool, proposalId)
}

const verbs = {
  approved: 'approve_proposal',
  declined: 'decline_proposal',
  withdrawn: 'withdraw_proposal',
  expired: 'expire_proposal',
}

/** The refusal that ends an approved proposal. */
export interface EndProblem {
  code: ProblemCode | OperatorProblemCode
  detail: string
}

/**
 * Writes what became of an approved proposal; the first end counts. A refusal takes the place of the effect, so
 * that a run that is still under way has none; if the effect is there already, it was done.
 */
export async function endProposal(
  pool: Pool,
  proposalId: string,
  problem: EndProblem | null,
  at: Date,
  partly: string | null = null,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const refused = problem && (await refuseEffect(tx, proposalId, at)) ? problem : null
    await tx.query(
      `insert into proposal_ends (proposal_id, verdict, state, code, detail, at)
       values ($1, 'approved', $2, $3, $4, $5) on conflict do nothing`,
      [
        proposalId,
        refused ? 'refused' : 'done',
        refused?.code ?? null,
        (refused?.detail ?? partly)?.slice(0, 2000) ?? null,
        at,
      ],
    )
  })
}

/**
 * Takes the turn to run an approved proposal's action. Returns its number, or undefined while another process
 * has it, by the database's time. Whatever the clocks say, an action has one effect: proposal_effects has its key.
 */
export async function takeRun(
  pool: Pool,
  proposalId: string,
  at: Date | null,
  leaseMs: number,
): Promise<number | undefined> {
  const now = databaseTime('$2')
  const { rows } = await pool.query<{ n: number }>(
    `insert into proposal_runs (proposal_id, n, at)
     select $1, coalesce(max(n), 0) + 1, ${now} from proposal_runs where proposal_id = $1
     having max(at) is null or max(at) <= ${now} - $3 * interval '1 millisecond'
     on conflict do nothing returning n`,
    [proposalId, at, leaseMs],
  )
  return rows[0]?.n
}

async function existing(pool: Pool, proposalId: string): Promise<Proposal> {
  const proposal = await findProposal(pool, proposalId)
  if (!proposal) throw new Problem('not_found', 'There is no such proposal.')
  return proposal
}

function isSameDigest(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
