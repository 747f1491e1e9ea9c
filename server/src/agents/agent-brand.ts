import { createHash } from 'node:crypto'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const

export interface Logo {
  type: (typeof logoTypes)[number]
  bytes: Buffer
}

/** An agent's look on the payment page: a colour, a logo, both or neither. */
export interface AgentBrand {
  /** As #rrggbb. */
  colour: string | null
  logo: Logo | null
}

export const maxLogoBytes = 32_768

const unbranded: AgentBrand = { colour: null, logo: null }

/** The colour in its stored form, or undefined if it is not one. */
export function parseColour(text: string): string | undefined {
  return /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined
}

/** Reads a picture by its contents, not its name; returns what is wrong with it otherwise. */
export function parseLogo(bytes: Buffer): Logo | string {
  if (bytes.length > maxLogoBytes) return `has ${bytes.length} bytes; at most ${maxLogoBytes}`
  const startsWith = (text: string, at = 0) =>
    bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'))
  if (startsWith('\x89PNG\r\n\x1a\n')) return { type: 'image/png', bytes }
  if (startsWith('\xff\xd8\xff')) return { type: 'image/jpeg', bytes }
  if (startsWith('RIFF') && startsWith('WEBP', 8)) return { type: 'image/webp', bytes }
  return 'is not a PNG, JPEG or WebP picture'
}

/** A logo as an address that holds all of it. */
export function logoUrl({ type, bytes }: Logo): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

/** Describes a picture so that it can be distinguished from another. */
export function logoText({ type, bytes }: Logo): string {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return `${type}, ${bytes.length} bytes, sha256 ${digest}`
}

export async function findBrand(pool: Pool | Tx, agentId: bigint): Promise<AgentBrand> {
  const { rows } = await pool.query<{
    colour: string | null
    logo: Buffer | null
    logo_type: Logo['type'] | null
  }>('select colour, logo, logo_type from agent_brands where agent_id = $1', [agentId])
  const row = rows[0]
  if (!row) return unbranded
  const { colour, logo, logo_type: type } = row
  return { colour, logo: logo !== null && type !== null ? { type, bytes: logo } : null }
}

/** Sets the given fields and leaves the rest; null removes one. */
export async function saveBrand(
  pool: Pool | Tx,
  agentId: bigint,
  change: Partial<AgentBrand>,
  now: Date,
): Promise<AgentBrand> {
  const brand = { ...(await findBrand(pool, agentId)), ...change }
  await pool.query(
    `insert into agent_brands (agent_id, colour, logo, logo_type, updated_at)
     values ($1, $2, $3, $4, $5)
     on conflict (agent_id) do update set colour = excluded.colour, logo = excluded.logo,
       logo_type = excluded.logo_type, updated_at = excluded.updated_at`,
    [agentId, brand.colour, brand.logo?.bytes ?? null, brand.logo?.type ?? null, now],
  )
  return brand
}
