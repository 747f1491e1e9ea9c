import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Bytes that are the same for everybody who asks. */
export interface StaticDocument {
  bytes: Buffer
  type: string
  /** Changes with the bytes, and only with them. */
  etag: string
}

export function staticDocument(type: string, text: string): StaticDocument {
  const bytes = Buffer.from(text)
  const digest = createHash('sha256').update(bytes).digest('base64url')
  return { bytes, type, etag: `"${digest}"` }
}

/** Makes something when it is first asked for, and never again. */
export function madeOnce<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export const anHour = 'public, max-age=3600'
/** For what changes with a new version alone, and should be seen soon then. */
export const fiveMinutes = 'public, max-age=300'

/** Sends a document, or 304 to whoever has these very bytes. */
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
