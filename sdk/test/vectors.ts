import { readFileSync } from 'node:fs'
import type { RefusalReason } from '../src/verify-callback.ts'

export interface SignedVector {
  name: string
  kind: 'request' | 'callback'
  secrets: string[]
  t: string
  method?: string
  path?: string
  body: string
  header: string
}

export interface RefusedVector {
  name: string
  reason: RefusalReason
  secrets: string[]
  now: string
  header: string
  body: string
}

/** What every implementation of the signature must agree on. */
export const vectors: { signed: SignedVector[]; refused: RefusedVector[] } = JSON.parse(
  readFileSync(new URL('../../docs/examples/vectors.json', import.meta.url), 'utf8'),
)
