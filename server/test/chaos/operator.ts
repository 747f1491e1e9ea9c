import { setTimeout as pause } from 'node:timers/promises'
import { command } from '../support/process.ts'
import type { World } from './world.ts'

/** An operator who decides on payments that wait, on the command line, whatever breaks. */
export class ChaosOperator {
  /** Decisions by what became of them. */
  readonly decisions = new Map<string, number>()
  private readonly working: Promise<void>
  private stopping = false

  constructor(world: World, random: () => number) {
    this.working = this.work(world, random)
    this.working.catch(() => {})
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.working
  }

  private async work(world: World, random: () => number): Promise<void> {
    while (!this.stopping) {
      const payment = await waitingPayment(world).catch(() => undefined)
      if (payment) {
        const does = random() < 0.6 ? 'credit' : 'return'
        const how =
          does === 'credit' ? ['--order', payment.txn_id] : ['--evidence', 'The payer has it.']
        const { code, stderr } = await command(
          ['payments', does, payment.payment_id, ...how],
          world.env,
        )
        const why = stderr.trim().split('\n').at(-1) ?? ''
        const what = code === 0 ? `payments ${does}ed` : `not ${does}ed: ${why}`
        this.decisions.set(what, (this.decisions.get(what) ?? 0) + 1)
      }
      await pause(100)
    }
  }
}

async function waitingPayment(
  world: World,
): Promise<{ payment_id: string; txn_id: string } | undefined> {
  const { rows } = await world.asOwner((owner) =>
    owner.query<{ payment_id: string; txn_id: string }>(
      `select payment_id, agent_id || '-' || replace(order_id::text, '-', '') as txn_id
       from sluice.payments where state = 'waiting' and order_id is not null
       order by random() limit 1`,
    ),
  )
  return rows[0]
}
