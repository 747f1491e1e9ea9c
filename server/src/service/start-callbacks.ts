import type { AgentFinder } from '../agents/agent-finder.ts'
import type { CallbackPoster } from '../callbacks/post-callback.ts'
import { CallbackSender } from '../callbacks/sender.ts'
import { listen, WakeUp } from '../callbacks/wake-up.ts'
import type { Pool } from '../db/pool.ts'
import { version } from '../version.ts'
import type { Ground } from './ground.ts'

/**
 * Starts the callback sender, which other processes wake after their commits. A process of the role `api`
 * has no sender and wakes those of other processes instead. The worker stops the sender.
 */
export function startCallbacks(
  { config, backend, clock, metrics, tracer, closing, onError }: Ground,
  pool: Pool,
  agents: AgentFinder,
  poster: CallbackPoster,
): { sender: CallbackSender | undefined; wake: (agentIds: Iterable<bigint>) => void } {
  if (config.role === 'api') {
    const others = new WakeUp(backend.pool, onError)
    return { sender: undefined, wake: (agentIds) => others.tell(agentIds) }
  }
  const sender = new CallbackSender({
    pool,
    agents,
    poster,
    now: clock,
    random: Math.random,
    version,
    widest: config.callbacksPerAgent,
    maxInFlight: 1_000,
    isClosing: () => closing.hasBegun,
    onError,
    tracer,
    onAttempt: ({ startedAt, durationMs, error, reason }, { createdAtMs }, span) =>
      metrics.callback(
        reason,
        error === null ? (startedAt.getTime() + durationMs - createdAtMs) / 1000 : undefined,
        span,
      ),
  })
  const listening = listen(
    backend.directUrl,
    (agentIds) => {
      if (agentIds.length > 0) sender.wake(agentIds)
      else sender.poll().catch(onError)
    },
    onError,
  )
  closing.add(() => listening.stop())
  return { sender, wake: (agentIds) => sender.wake(agentIds) }
}
