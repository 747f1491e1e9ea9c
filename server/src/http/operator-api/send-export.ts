import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type AuditEntry, writeAudit } from '../../operators/audit.ts'
import type { Desk } from '../../teller/desk.ts'

/** How long a file may take to leave, and how long its reader may take for one piece of it. */
export interface ExportLimits {
  wholeMs: number
  idleMs: number
}

export const exportLimits: ExportLimits = { wholeMs: 30 * 60_000, idleMs: 2 * 60_000 }

export interface Export {
  name: string
  type: string
  /** Made as it is read. */
  content: AsyncIterable<string | Buffer>
  /** Whether whoever asked may still have it; asked before every piece. */
  stillMay: () => Promise<unknown>
  /** Who takes what, in words of the log. */
  entry: Omit<AuditEntry, 'at' | 'outcome' | 'after'>
}

/**
 * Sends a file while it is made: the next piece when the reader has taken the last. Who asked for it is on
 * record before it leaves, and that it was made to its end after. One that takes too long is broken off,
 * which its reader sees: a body without its end.
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
      // Between two pieces it is the reader who takes their time; looking for the next may take ours.
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
