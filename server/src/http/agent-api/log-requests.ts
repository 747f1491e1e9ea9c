import type { FastifyInstance } from 'fastify'
import type { ApiLog } from '../../agents/api-log.ts'
import type { Clock } from '../../lib/clock.ts'
import { withoutPersons } from '../operator-api/personal-data.ts'

const longestPath = 500
const largestBody = 8_000
const longestDetail = 1_000

/** Notes every request that names an agent, once it is answered. */
export function logRequests(
  app: FastifyInstance,
  log: ApiLog,
  { now, publicPath }: { now: Clock; publicPath: () => string },
): void {
  app.addHook('onResponse', async (request, reply) => {
    const { askedBy, body } = request
    if (askedBy === undefined) return
    log.note({
      agentId: askedBy,
      at: now(),
      requestId: request.id,
      method: request.method,
      path: (publicPath() + request.url).slice(0, longestPath),
      status: reply.statusCode,
      code: request.problem?.code ?? null,
      detail: request.problem?.message.slice(0, longestDetail) ?? null,
      durationMs: reply.elapsedTime,
      ip: request.ip,
      isProved: request.appId !== undefined,
      readBody: () => (Buffer.isBuffer(body) ? maskedBody(body) : null),
    })
  })
}

/** A body without what would name a person; null if it is not JSON, of which nobody knows what is in it. */
function maskedBody(body: Buffer): string | null {
  if (body.length === 0) return null
  try {
    const text = JSON.stringify(withoutPersons(JSON.parse(body.toString())))
    return Buffer.byteLength(text) <= largestBody ? text : null
  } catch {
    return null
  }
}
