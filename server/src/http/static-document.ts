import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** A document that is identical for all readers. */
export interface StaticDocument {
  bytes: Buffer
  type: string
  /** Changes exactly when the bytes do. */
  etag: string
}

export function staticDocument(type: string, text: string): StaticDocument {
  const bytes = Buffer.from(text)
  const digest = createHash('sha256').update(bytes).digest('base64url')
  return { bytes, type, etag: `"${digest}"` }
}

/** Creates a value on first use and then keeps it. */
export function madeOnce<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export const anHour = 'public, max-age=3600'
/** For content that changes only with a new version and should then appear soon. */
export const fiveMinutes = 'public, max-age=300'

/** Sends a document, or 304 if the client already has it. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, type, etag }: StaticDocument,
  cacheControl: string,
): FastifyReply {
  reply.header('etag', etag).header('cache-control', cacheControl)
  const known = request.headers['if-none-match']?.split(',') ?? []
  const isKnown = known.some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')))
  return isKnown ? reply.code(304).send() : reply.type(type).send(bytes)
}
