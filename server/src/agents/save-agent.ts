import { randomBytes } from 'node:crypto'
import { heardBy } from '../alerts/alert.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import { modeOf } from '../db/deployment.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { noChange } from '../ledger/accounts.ts'
import { walletColumns } from '../ledger/book-columns.ts'
import { noHash } from '../lib/chain-hash.ts'
import { type SecretKeys, seal } from '../lib/secret-box.ts'
import { type Agent, type AgentRow, agentFromRow } from './agent.ts'
import { newAgentSecret } from './agent-secret.ts'
import { type CallbackTargets, callbackUrlFault } from './callback-url.ts'
import { joinEpoch } from './event-epochs.ts'
import { frameOriginMissing } from './frame-origins.ts'
import { columnOf, initialTerms, shapeFaults, type TermsFault, termNames, termOf } from './terms.ts'

/** The part of an agent that an operator sets. */
export type AgentTerms = Omit<Agent, 'agentId' | 'appId' | 'createdAt' | 'updatedAt'>

export const defaultTerms = { ...initialTerms, status: 'active' } satisfies Omit<
  AgentTerms,
  'currency'
>

/** Describes everything that is wrong with an agent's terms. */
export async function termsFaults(
  terms: AgentTerms,
  targets: CallbackTargets,
  before?: Pick<Agent, 'depositCallbackUrl' | 'withdrawCallbackUrl'>,
): Promise<TermsFault[]> {
  const faults = shapeFaults(terms, terms.currency)
  for (const name of ['depositCallbackUrl', 'withdrawCallbackUrl'] as const) {
    const url = terms[name]
    // An unchanged address must not prevent an agent from being suspended.
    if (url === null || url === before?.[name]) continue
    const message = await callbackUrlFault(url, targets)
    if (message !== undefined) faults.push({ field: termOf(name).field, message })
  }
  return faults
}

/** What a new agent must specify: in live mode, who may frame its payment page has no default. */
export function newTermsFaults(
  mode: 'sandbox' | 'live',
  frameOrigins: readonly string[] | undefined,
): TermsFault[] {
  if (mode === 'sandbox' || frameOrigins !== undefined) return []
  return [{ field: 'frame_origin', message: frameOriginMissing }]
}

export interface NewAgent {
  agent: Agent
  /** Shown only here, once. */
  secret: string
}

/** What else is written in the transaction that makes a secret. */
type Also = (tx: Tx, made: { appId: string; secret: string }) => Promise<void>

/** Creates an agent with an empty wallet and its first secret. */
export async function createAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: AgentTerms,
  now: Date,
  also?: Also,
): Promise<NewAgent> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await pool.query<{ next: bigint }>(
      'select coalesce(max(agent_id), 0) + 1 as next from agents',
    )
    const created = await insertAgent(pool, secretKeys, rows[0]?.next ?? 1n, terms, now, also)
    if (created) return created
    if (attempt >= 50) throw new Error('no number could be had for the agent; try again')
  }
}

/** Creates the first agent of an empty database; returns undefined if there is one already. */
export async function createFirstAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: AgentTerms,
  now: Date,
): Promise<NewAgent | undefined> {
  const { rows } = await pool.query('select 1 from agents limit 1')
  return rows.length > 0 ? undefined : insertAgent(pool, secretKeys, 1n, terms, now)
}

/** Returns undefined if another process has taken the number. */
async function insertAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  agentId: bigint,
  terms: AgentTerms,
  now: Date,
  also?: Also,
): Promise<NewAgent | undefined> {
  const appId = `app_${randomBytes(12).toString('hex')}`
  return inTransaction(pool, async (tx) => {
    const secret = newAgentSecret((await modeOf(tx)) ?? 'sandbox')
    const { rows } = await tx.query<AgentRow>(
      `insert into agents (agent_id, app_id, created_at, updated_at, ${columns.join(', ')})
       values ($1, $2, $3, $3, ${columns.map((_, at) => `$${at + 4}`).join(', ')})
       on conflict (agent_id) do nothing returning *`,
      [agentId, appId, now, ...valuesOf(terms)],
    )
    const [row] = rows
    if (!row) return undefined
    await tx.query(
      `insert into wallets (${walletColumns.names}) select * from ${walletColumns.unnest}`,
      walletColumns.values([
        { agentId, currency: terms.currency, seq: 0n, balances: noChange, hash: noHash },
      ]),
    )
    await tx.query(
      'insert into agent_keys (agent_id, slot, sealed_secret, created_at) values ($1, 1, $2, $3)',
      [agentId, seal(secretKeys, `agent ${agentId}`, secret), now],
    )
    await joinEpoch(tx, agentId)
    await also?.(tx, { appId, secret })
    await alertOfSecret(tx, { agentId, name: terms.name }, now)
    return { agent: agentFromRow(row), secret }
  })
}

/**
 * Changes an agent's terms, except the currency. Returns undefined if they were changed since they were read,
 * so that another change, such as a suspension, is not undone unseen. Whom it concerns is told of new addresses for
 * callbacks and of a new bank account, with the transaction.
 */
export async function updateAgent(
  db: Pool | Tx,
  before: Agent,
  terms: AgentTerms,
  now: Date,
): Promise<Agent | undefined> {
  const { agentId, updatedAt } = before
  // Skips the first column, the currency, which never changes.
  const set = columns.map((column, at) => `${column} = $${at + 4}`).slice(1)
  const { rows } = await db.query<AgentRow>(
    `update agents set updated_at = $2, ${set.join(', ')}
     where agent_id = $1 and updated_at = $3 and currency = $4 returning *`,
    // If the clock stands still or goes back, two changes must still have different times.
    [
      agentId,
      new Date(Math.max(now.getTime(), updatedAt.getTime() + 1)),
      updatedAt,
      ...valuesOf(terms),
    ],
  )
  const changed = rows[0] && agentFromRow(rows[0])
  if (changed) await alertOfChange(db, before, changed, now)
  return changed
}

async function alertOfChange(db: Pool | Tx, before: Agent, after: Agent, at: Date): Promise<void> {
  const { agentId, name } = after
  const common = { subject: `agent ${agentId}`, to: toldOf(agentId), at }
  const isElsewhere =
    before.depositCallbackUrl !== after.depositCallbackUrl ||
    before.withdrawCallbackUrl !== after.withdrawCallbackUrl
  if (isElsewhere) {
    const words = `The addresses that callbacks of ${name} are sent to were changed.`
    await raiseAlert(db, { ...common, kind: 'callback_changed', words })
  }
  if (before.settleTo !== after.settleTo) {
    const words = `The bank account that the balance of ${name} is paid out to was changed.`
    await raiseAlert(db, { ...common, kind: 'bank_account_changed', words })
  }
}

/** Whoever can do something about an agent's secrets and addresses: admins, and the agent's own users. */
export function toldOf(agentId: bigint) {
  return { roles: heardBy.new_secret, agentId }
}

/** Creates a new secret. The previous one stays valid for the overlap; any older one ends now. */
export async function rotateKey(
  pool: Pool,
  secretKeys: SecretKeys,
  agentId: bigint,
  overlapS: number,
  now: Date,
  also?: (tx: Tx, made: { secret: string }) => Promise<void>,
): Promise<string> {
  return inTransaction(pool, async (tx) => {
    const secret = newAgentSecret((await modeOf(tx)) ?? 'sandbox')
    // Concurrent rotations take turns; otherwise one would overwrite the secret that the other has shown.
    const name = await lockAgent(tx, agentId)
    const { rows } = await tx.query<{ slot: number }>(
      'select slot from agent_keys where agent_id = $1 order by created_at desc, slot desc for update',
      [agentId],
    )
    const current = rows[0]?.slot
    await tx.query(
      `update agent_keys set expires_at = least(expires_at, $3)
       where agent_id = $1 and slot = $2`,
      [agentId, current, new Date(now.getTime() + overlapS * 1000)],
    )
    await tx.query(
      `insert into agent_keys (agent_id, slot, sealed_secret, created_at) values ($1, $2, $3, $4)
       on conflict (agent_id, slot) do update set sealed_secret = excluded.sealed_secret,
         created_at = excluded.created_at, expires_at = null, last_used_at = null`,
      [agentId, current === 1 ? 2 : 1, seal(secretKeys, `agent ${agentId}`, secret), now],
    )
    await also?.(tx, { secret })
    await alertOfSecret(tx, { agentId, name }, now)
    return secret
  })
}

/**
 * Ends one of the secrets that may do everything at once, in every process, though it is the last: callbacks then wait
 * for the next one, unless a secret is made for them. Returns false if it has ended before.
 */
export async function revokeKey(
  tx: Tx,
  agentId: bigint,
  slot: number,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update agent_keys set expires_at = $3
     where agent_id = $1 and slot = $2 and (expires_at is null or expires_at > $3)`,
    [agentId, slot, now],
  )
  return rowCount === 1
}

/** Locks an agent, so that its secrets, or its rules, are made one after the other. */
export async function lockAgent(tx: Tx, agentId: bigint): Promise<string> {
  const { rows } = await tx.query<{ name: string }>(
    'select name from agents where agent_id = $1 for no key update',
    [agentId],
  )
  return rows[0]?.name ?? ''
}

export async function alertOfSecret(
  tx: Tx,
  { agentId, name }: Pick<Agent, 'agentId' | 'name'>,
  at: Date,
): Promise<void> {
  await raiseAlert(tx, {
    kind: 'new_secret',
    subject: `agent ${agentId}`,
    words: `A new secret of ${name} was made.`,
    to: toldOf(agentId),
    at,
  })
}

/** The columns of the terms, and the values stored in them. */
const columns = ['currency', 'status', ...termNames.map(columnOf)]

function valuesOf(terms: AgentTerms): unknown[] {
  return [terms.currency, terms.status, ...termNames.map((name) => terms[name])]
}
