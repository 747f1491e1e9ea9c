import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from '../ledger/commands.ts'
import type { Desk } from './desk.ts'

/**
 * Agents whose commands take long, as while a stopped process holds their wallet. Rounds of due work leave them out until
 * those commands have ended: nobody else's work waits for them.
 */
export class HeldUpAgents {
  private readonly underWay = new Map<bigint, number>()
  private readonly patienceMs: number | undefined

  /** Without a patience, a round waits for everybody. */
  constructor(patienceMs?: number) {
    this.patienceMs = patienceMs
  }

  get ids(): bigint[] {
    return [...this.underWay.keys()]
  }

  /** Runs commands, and waits for them, but not for long. Throws the first failure until then. */
  async run(teller: Desk['teller'], commands: readonly Command[]): Promise<void> {
    const failures: unknown[] = []
    const running = commands.map(async (command) => {
      const { agentId } = command
      this.underWay.set(agentId, (this.underWay.get(agentId) ?? 0) + 1)
      try {
        await teller.do(command)
      } catch (error) {
        failures.push(error)
      } finally {
        const left = (this.underWay.get(agentId) ?? 1) - 1
        if (left > 0) this.underWay.set(agentId, left)
        else this.underWay.delete(agentId)
      }
    })
    const timer = new AbortController()
    const { signal } = timer
    await Promise.race([
      Promise.all(running),
      ...(this.patienceMs === undefined
        ? []
        : [pause(this.patienceMs, undefined, { signal }).catch(() => {})]),
    ])
    timer.abort()
    // What fails later is due again in one of the next rounds.
    if (failures.length > 0) throw failures[0]
  }
}
