import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type AuditEntry, writeAudit } from '../../operators/audit.ts'
import type { Desk } from '../../teller/desk.ts'

/** How long a whole export may take, and how long its reader may take for one piece. */
export interface ExportLimits {
  wholeMs: number
  idleMs: number
}

export const exportLimits: ExportLimits = { wholeMs: 30 * 60_000, idleMs: 2 * 60_000 }

export interface Export {
  name: string
  type: string
  /** Generated as it is read. */
  content: AsyncIterable<string | Buffer>
  /** Checks before every piece that the requester may still have the file. */
  stillMay: () => Promise<unknown>
  /** The audit entry: who exports what. */
  entry: Omit<AuditEntry, 'at' | 'outcome' | 'after'>
}

/** A check for files that come in many small pieces: it is made once a second, and not for each of them. */
export function onceASecond(check: () => Promise<unknown>): () => Promise<void> {
  let checkedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - checkedAt < 1_000) return
    await check()
    checkedAt = performance.now()
  }
}

/**
 * Sends a file while it is being generated; the next piece follows when the reader has taken the last. The
 * request is audited before anything is sent, and the completion afterwards. An export that takes too long is
 * aborted, which the reader notices because the body has no end.
 */
export async function sendExport(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  reply: FastifyReply,
  { name, type, content, stillMay, entry }: Export,
  { wholeMs, idleMs }: ExportLimits,
): Promise<FastifyReply> {
  await writeAudit(pool, { ...entry, at: now(), outcome: 'asked' })
  const { raw } = reply
  const breakOff = () => raw.destroy()
  const tooLong = setTimeout(breakOff, wholeMs)
  raw.once('close', () => clearTimeout(tooLong))
  async function* pieces(): AsyncGenerator<string | Buffer> {
    let bytes = 0
    for await (const piece of content) {
      await stillMay()
      bytes += Buffer.byteLength(piece)
      // Limits only the time that the reader takes for a piece, not the time to generate the next one.
      const stopped = setTimeout(breakOff, idleMs)
      try {
        yield piece
      } finally {
        clearTimeout(stopped)
      }
    }
    await writeAudit(pool, { ...entry, at: now(), outcome: 'done', after: { bytes } })
  }
  return reply
    .type(type)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(pieces(), { objectMode: false }))
}
