import Type from 'typebox'
import { inTransaction } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { readRoutingTable, saveProviderState } from '../../orders/providers.ts'
import type { ProviderState } from '../../orders/route-order.ts'
import { type OperatorApi, operatorRoute, Reason } from './operator-route.ts'
import type { OperatorDeps } from './operator-routes.ts'
import { ProviderView, state } from './schemas/providers.ts'
import { strict } from './schemas/shapes.ts'

/** Who moves the money. */
export function providerRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, providers, now } = deps.desk
  const look = { tag: 'Providers', permission: 'view', agents: 'none' } as const
  const change = { tag: 'Providers', permission: 'manage_providers', agents: 'none' } as const

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/providers',
    summary: 'The providers that are set up',
    schema: { response: Type.Object({ data: Type.Array(ProviderView), next: Type.Null() }) },
    handler: async () => {
      const { states } = await readRoutingTable(pool)
      const data = providers.all.map(({ name, can }) => ({
        name,
        state: states.get(name) ?? 'on',
        currencies: can.currencies,
        deposits: can.deposits,
        payouts: can.payouts,
      }))
      return { data, next: null }
    },
  })

  operatorRoute(api, {
    ...change,
    method: 'PATCH',
    url: '/providers/:id',
    summary: 'Switch a provider on or off, or drain it',
    schema: {
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({ state, reason: Reason }, strict),
      response: Type.Object({ name: Type.String(), state }),
    },
    handler: async ({ operator, params: { id: name }, body }) => {
      if (!providers.find(name)) throw new Problem('not_found', 'There is no such provider.')
      const at = now()
      // One of the three, as its shape says.
      const asked = body.state as ProviderState
      await inTransaction(pool, async (tx) => {
        const before = (await readRoutingTable(tx)).states.get(name) ?? 'on'
        await saveProviderState(tx, name, asked, at)
        await writeAudit(tx, {
          at,
          operator,
          action: 'set_provider',
          subject: { kind: 'provider', id: name },
          agentId: null,
          before: { state: before },
          after: { state: asked },
          reason: body.reason,
        })
      })
      return { name, state: asked }
    },
  })
}
