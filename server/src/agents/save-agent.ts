import { randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { parseFeeRule } from '../lib/fee.ts'
import { type Currency, maxAmount } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { type SecretKeys, seal } from '../lib/secret-box.ts'
import { type Agent, type AgentRow, agentFromRow } from './agent.ts'
import { callbackUrlFault } from './callback-url.ts'
import { frameOriginFaults, frameOriginMissing } from './frame-origins.ts'

/** What an operator may say of an agent. */
export type AgentTerms = Omit<Agent, 'agentId' | 'appId' | 'createdAt' | 'updatedAt'>

export const defaultTerms = {
  status: 'active',
  depositCallbackUrl: null,
  withdrawCallbackUrl: null,
  depositFee: '0%',
  withdrawFee: '0%',
  revertFee: 'return',
  lateMoney: 'review',
  method: 'link+qrcode+transfer',
  expiresInS: 900,
  minDeposit: 1n,
  maxDeposit: maxAmount,
  minWithdraw: 1n,
  maxWithdraw: maxAmount,
  rateLimit: 200,
  allowedIps: [],
  frameOrigins: [],
  support: null,
} satisfies Omit<AgentTerms, 'name' | 'currency'>

/** Something wrong with one of an agent's terms, under the name the API and the options have for it. */
export interface TermsFault {
  field: string
  message: string
}

/** Everything that is wrong with an agent's terms, in words. */
export async function termsFaults(
  terms: AgentTerms,
  mode: 'sandbox' | 'live',
  before?: Pick<Agent, 'depositCallbackUrl' | 'withdrawCallbackUrl'>,
): Promise<TermsFault[]> {
  const faults: TermsFault[] = []
  const require = (holds: boolean, field: string, message: string) =>
    holds || faults.push({ field, message })
  require(isPrintable(terms.name, 128), 'name', 'must be 1 to 128 printable characters')
  for (const [field, rule] of [
    ['deposit_fee', terms.depositFee],
    ['withdraw_fee', terms.withdrawFee],
  ] as const) {
    const parsed = parseFeeRule(rule, terms.currency)
    if (typeof parsed === 'string') faults.push({ field, message: parsed })
  }
  for (const [field, url, known] of [
    ['deposit_callback', terms.depositCallbackUrl, before?.depositCallbackUrl],
    ['withdraw_callback', terms.withdrawCallbackUrl, before?.withdrawCallbackUrl],
  ] as const) {
    // An address that stays as it is must not keep an agent from being suspended.
    const isNew = url !== null && url !== known
    const message = isNew ? await callbackUrlFault(url, mode) : undefined
    if (message !== undefined) faults.push({ field, message })
  }
  require(isWithin(terms.expiresInS, 1, 2_592_000), 'expires_in', 'must be 1 to 2592000 seconds')
  for (const [direction, min, max] of [
    ['deposit', terms.minDeposit, terms.maxDeposit],
    ['withdraw', terms.minWithdraw, terms.maxWithdraw],
  ] as const) {
    const holds = min >= 1n && min <= max && max <= maxAmount
    const message = `must be whole units, from 1 up to the largest ${direction}, which is at most ${maxAmount}`
    require(holds, `min_${direction}`, message)
  }
  require(isWithin(
    terms.rateLimit,
    0,
    1_000_000,
  ), 'rate_limit', 'must be 0 to 1000000 requests a second')
  for (const range of terms.allowedIps) {
    require(isCidr(range), 'allow_ip', `"${range}" is not an address or a CIDR range`)
  }
  for (const message of frameOriginFaults(terms.frameOrigins)) {
    faults.push({ field: 'frame_origin', message })
  }
  const isSupport = terms.support === null || isPrintable(terms.support, 500)
  require(isSupport, 'support', 'must be 1 to 500 printable characters')
  return faults
}

/** What must be said of a new agent: in live, nobody decides unasked who may frame its payment page. */
export function newTermsFaults(
  mode: 'sandbox' | 'live',
  frameOrigins: readonly string[] | undefined,
): TermsFault[] {
  if (mode === 'sandbox' || frameOrigins !== undefined) return []
  return [{ field: 'frame_origin', message: frameOriginMissing }]
}

function isWithin(number: number, min: number, max: number): boolean {
  return Number.isInteger(number) && number >= min && number <= max
}

export interface NewAgent {
  agent: Agent
  /** Shown once, here. */
  secret: string
}

/** Creates an agent with an empty wallet and its first secret. */
export async function createAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: AgentTerms,
  now: Date,
): Promise<NewAgent> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await pool.query<{ next: bigint }>(
      'select coalesce(max(agent_id), 0) + 1 as next from agents',
    )
    const created = await insertAgent(pool, secretKeys, rows[0]?.next ?? 1n, terms, now)
    if (created) return created
    if (attempt >= 50) throw new Error('no number could be had for the agent; try again')
  }
}

/** Creates the first agent of an empty database; undefined where there is one already. */
export async function createFirstAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  terms: AgentTerms,
  now: Date,
): Promise<NewAgent | undefined> {
  const { rows } = await pool.query('select 1 from agents limit 1')
  return rows.length > 0 ? undefined : insertAgent(pool, secretKeys, 1n, terms, now)
}

/** Undefined where another process has taken the number. */
async function insertAgent(
  pool: Pool,
  secretKeys: SecretKeys,
  agentId: bigint,
  terms: AgentTerms,
  now: Date,
): Promise<NewAgent | undefined> {
  const appId = `app_${randomBytes(12).toString('hex')}`
  const secret = newSecret()
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<AgentRow>(
      `insert into agents (agent_id, app_id, name, currency, status, deposit_callback_url,
         withdraw_callback_url, deposit_fee, withdraw_fee, revert_fee, late_money, method,
         expires_in_s, min_deposit, max_deposit, min_withdraw, max_withdraw, rate_limit,
         allowed_ips, frame_origins, support, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
         $19, $20, $21, $22, $22) on conflict (agent_id) do nothing returning *`,
      [agentId, appId, ...termsValues(terms), now],
    )
    const row = rows[0]
    if (row) {
      await client.query('insert into wallets values ($1, 0, 0, 0, 0, 0, 0)', [agentId])
      await client.query(
        'insert into agent_keys (agent_id, slot, sealed_secret, created_at) values ($1, 1, $2, $3)',
        [agentId, seal(secretKeys, `agent ${agentId}`, secret), now],
      )
    }
    await client.query('commit')
    return row && { agent: agentFromRow(row), secret }
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

/**
 * Changes an agent's terms; the currency never changes. Undefined where somebody else has changed
 * them since they were read: what that was, a suspension perhaps, must not be undone unseen.
 */
export async function updateAgent(
  db: Pool | Tx,
  { agentId, updatedAt }: Pick<Agent, 'agentId' | 'updatedAt'>,
  terms: AgentTerms,
  now: Date,
): Promise<Agent | undefined> {
  const { rows } = await db.query<AgentRow>(
    `update agents set name = $2, status = $4, deposit_callback_url = $5,
       withdraw_callback_url = $6, deposit_fee = $7, withdraw_fee = $8, revert_fee = $9,
       late_money = $10, method = $11, expires_in_s = $12, min_deposit = $13, max_deposit = $14,
       min_withdraw = $15, max_withdraw = $16, rate_limit = $17, allowed_ips = $18,
       frame_origins = $19, support = $20, updated_at = $21
     where agent_id = $1 and currency = $3 and updated_at = $22 returning *`,
    // A clock that stands still or goes back must not make two changes look alike.
    [
      agentId,
      ...termsValues(terms),
      new Date(Math.max(now.getTime(), updatedAt.getTime() + 1)),
      updatedAt,
    ],
  )
  return rows[0] && agentFromRow(rows[0])
}

/** Makes a new secret. The one before it stays valid for the overlap, any older one ends now. */
export async function rotateKey(
  pool: Pool,
  secretKeys: SecretKeys,
  agentId: bigint,
  overlapS: number,
  now: Date,
): Promise<string> {
  const secret = newSecret()
  const client = await pool.connect()
  try {
    await client.query('begin')
    // Two rotations at once take turns; otherwise one would overwrite the secret the other has shown.
    await client.query('select 1 from agents where agent_id = $1 for no key update', [agentId])
    const { rows } = await client.query<{ slot: number }>(
      'select slot from agent_keys where agent_id = $1 order by created_at desc, slot desc for update',
      [agentId],
    )
    const current = rows[0]?.slot
    await client.query(
      `update agent_keys set expires_at = least(expires_at, $3)
       where agent_id = $1 and slot = $2`,
      [agentId, current, new Date(now.getTime() + overlapS * 1000)],
    )
    await client.query(
      `insert into agent_keys (agent_id, slot, sealed_secret, created_at) values ($1, $2, $3, $4)
       on conflict (agent_id, slot) do update set sealed_secret = excluded.sealed_secret,
         created_at = excluded.created_at, expires_at = null, last_used_at = null`,
      [agentId, current === 1 ? 2 : 1, seal(secretKeys, `agent ${agentId}`, secret), now],
    )
    await client.query('commit')
    return secret
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

function newSecret(): string {
  return `sk_${randomBytes(32).toString('hex')}`
}

function termsValues(terms: AgentTerms): unknown[] {
  return [
    terms.name,
    terms.currency satisfies Currency,
    terms.status,
    terms.depositCallbackUrl,
    terms.withdrawCallbackUrl,
    terms.depositFee,
    terms.withdrawFee,
    terms.revertFee,
    terms.lateMoney,
    terms.method,
    terms.expiresInS,
    terms.minDeposit,
    terms.maxDeposit,
    terms.minWithdraw,
    terms.maxWithdraw,
    terms.rateLimit,
    terms.allowedIps,
    terms.frameOrigins,
    terms.support,
  ]
}

function isCidr(range: string): boolean {
  return ipaddr.isValid(range) || ipaddr.isValidCIDR(range)
}
