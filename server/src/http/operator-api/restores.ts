import { inTransaction } from '../../db/in-transaction.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { differencesOf, holdToRelease, openHold, releaseHold } from '../../payouts/restore-hold.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { HoldList, HoldParams } from './schemas/restores.ts'
import { GoBody } from './schemas/stops.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** What holds payouts back after the database was restored, and how two people let them go on. */
export function restoreRoutes(api: OperatorApi, { pool, now }: Desk): void {
  const common = { tag: 'Stops', agents: 'none' } as const

  const view = async () => {
    const hold = await openHold(pool)
    if (!hold) return { data: [] }
    return {
      data: [
        {
          id: hold.restoreId,
          since: hold.since.toISOString(),
          at: hold.markedAt.toISOString(),
          found: hold.found,
          epoch: Number(hold.epoch),
          asked_at: hold.askedAt?.toISOString() ?? null,
          differences: await differencesOf(pool, hold.restoreId),
        },
      ],
    }
  }

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/restores',
    summary: 'What holds payouts back since the database was restored',
    permission: 'view',
    schema: { response: HoldList },
    handler: view,
  })

  twoPersonRoute(api, {
    ...common,
    method: 'POST',
    url: '/restores/:id/release',
    summary: 'After a restore: say, with evidence, that what left since is known; payouts go on',
    permission: 'act_on_orders',
    schema: { params: HoldParams, body: GoBody, response: HoldList },
    approval: {
      action: 'release_hold',
      repeats: 'keyed',
      view: async ({ params }) => {
        const hold = await holdToRelease(pool, params.id)
        const differences = await differencesOf(pool, hold.restoreId)
        return {
          subject: { kind: 'restore', id: hold.restoreId },
          agentId: null,
          before: {
            held_since: hold.markedAt,
            backup_of: hold.since,
            because: hold.found,
            differences: differences.map(({ words }) => words),
          },
          after: { held_since: null },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const at = now()
      await inTransaction(pool, async (tx) => {
        const hold = await holdToRelease(tx, params.id)
        await releaseHold(tx, hold, { by: operator, evidence: body.reason, at })
        await takeEffect(tx, operator, at)
      })
      return view()
    },
  })
}
