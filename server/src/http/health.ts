import type { FastifyInstance } from 'fastify'
import { type Pool, reach } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'

/** `/healthz`: the process is alive. `/readyz`: it can accept orders now. */
export function healthRoutes(app: FastifyInstance, pool: Pool, isDraining: () => boolean): void {
  // Load balancers also use HEAD.
  const withHead = { exposeHeadRoute: true }
  app.get('/healthz', withHead, async (_request, reply) => reply.send({ status: 'ok' }))
  app.get('/readyz', withHead, async (_request, reply) => {
    if (isDraining()) throw new Problem('overloaded', 'Shutting down.', { retryAfterS: 5 })
    await reach(pool).catch((cause) => {
      throw new Problem('overloaded', 'The database cannot be reached.', { retryAfterS: 1, cause })
    })
    return reply.send({ status: 'ready' })
  })
}
