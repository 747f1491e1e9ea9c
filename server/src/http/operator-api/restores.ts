import type { Static } from 'typebox'
import { inTransaction } from '../../db/in-transaction.ts'
import { txnId } from '../../lib/ids.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { handToWhoHasIt, refuseUnlessAllNamed } from '../../payouts/ask-after-restore.ts'
import {
  type DifferenceFinding,
  differencesOf,
  holdToRelease,
  openHold,
  releaseHold,
} from '../../payouts/restore-hold.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { HoldList, HoldParams, ReleaseBody } from './schemas/restores.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** What holds payouts back after the database was restored, and how two people let them go on. */
export function restoreRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, now } = desk
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
          differences: (await differencesOf(pool, hold.restoreId)).map(
            ({ subject, words, order, at, isOpen }) => ({
              ...{ subject, words },
              txn_id: order ? txnId(order.agentId, order.orderId) : null,
              provider: at?.provider ?? null,
              references: at?.references ?? [],
              open: isOpen,
            }),
          ),
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
    summary: 'After a restore: say of each open difference what was found; payouts go on',
    permission: 'act_on_orders',
    schema: { params: HoldParams, body: ReleaseBody, response: HoldList },
    bodyLimit: 512 * 1024,
    approval: {
      action: 'release_hold',
      repeats: 'keyed',
      view: async ({ params, body }) => {
        const hold = await holdToRelease(pool, params.id)
        const differences = await differencesOf(pool, hold.restoreId)
        const findings = findingsIn(body)
        refuseUnlessAllNamed(differences, findings)
        return {
          subject: { kind: 'restore', id: hold.restoreId },
          agentId: null,
          before: {
            held_since: hold.markedAt,
            backup_of: hold.since,
            because: hold.found,
            differences: differences.filter(({ isOpen }) => isOpen).map(({ words }) => words),
          },
          after: { held_since: null, differences: findings.map(inWords) },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const at = now()
      const findings = findingsIn(body)
      const { restoreId } = await holdToRelease(pool, params.id)
      const differences = await differencesOf(pool, restoreId)
      refuseUnlessAllNamed(differences, findings)
      // Before anything may leave again.
      await handToWhoHasIt(desk, differences, findings)
      await inTransaction(pool, async (tx) => {
        const hold = await holdToRelease(tx, params.id)
        await releaseHold(tx, hold, { by: operator, evidence: body.reason, findings, at })
        await takeEffect(tx, operator, at)
      })
      return view()
    },
  })
}

function findingsIn({ differences = [] }: Static<typeof ReleaseBody>): DifferenceFinding[] {
  return differences.map(({ subject, finding, reference }) => ({ subject, finding, reference }))
}

function inWords({ subject, finding, reference }: DifferenceFinding): string {
  switch (finding) {
    case 'has_it':
      return `${subject}: it has ${reference}, and is asked about it`
    case 'not_paid':
      return `${subject}: not paid, it leaves again`
    default:
      return `${subject}: seen`
  }
}
