import Type from 'typebox'
import { listAgents } from '../../agents/find-agent.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { openPayoutsByProvider } from '../../reports/home-figures.ts'
import { providerFigures } from '../../reports/provider-figures.ts'
import { lockProviderState, readRoutingTable, saveProviderState } from '../../routing/providers.ts'
import { isHeldBack } from '../../routing/route-order.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, operatorRoute, Reason } from './operator-route.ts'
import { FiguresQuery, ProviderFigures, ProviderView, state } from './schemas/providers.ts'
import { strict } from './schemas/shapes.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** The providers and their states. */
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
      await providers.freshen()
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
    ...look,
    method: 'GET',
    url: '/provider-figures',
    summary: 'How the providers did in the last hours',
    schema: { querystring: FiguresQuery, response: ProviderFigures },
    handler: async ({ query }) => {
      await providers.freshen()
      const from = new Date(now().getTime() - (query.hours ?? 24) * 3_600_000)
      const [{ since, isWhole, figures }, open] = await Promise.all([
        providerFigures(pool, await listAgents(pool), from),
        openPayoutsByProvider(pool),
      ])
      const names = [...providers.all.map(({ name }) => name), ...open.keys()]
      const data = [...new Set(names)].sort().map((provider) => {
        const own = figures.filter((figure) => figure.provider === provider)
        return {
          provider,
          deposits: successOf(own.find(({ kind }) => kind === 'deposit')),
          payouts: successOf(own.find(({ kind }) => kind === 'withdraw')),
          open: open.get(provider)?.open ?? 0,
          unknown: open.get(provider)?.unknown ?? 0,
        }
      })
      return { since: since.toISOString(), complete: isWhole, data, next: null }
    },
  })

  const stateNow = async (name: string) => {
    await providers.freshen()
    if (!providers.find(name)) throw new Problem('not_found', 'There is no such provider.')
    return (await readRoutingTable(pool)).states.get(name) ?? 'on'
  }

  twoPersonRoute(api, {
    ...change,
    method: 'PATCH',
    url: '/providers/:id',
    summary: 'Switch a provider on or off, or drain it',
    withoutCode: async ({ params, body }) => {
      const now = (await readRoutingTable(pool)).states.get(params.id) ?? 'on'
      return isHeldBack(now, body.state)
        ? 'giving a provider no more orders must be quick'
        : undefined
    },
    schema: {
      params: Type.Object({ id: Type.String() }),
      body: Type.Object({ state, reason: Reason, code: Type.Optional(Code) }, strict),
      response: Type.Object({ name: Type.String(), state }),
    },
    approval: {
      action: 'set_provider',
      repeats: 'effect',
      view: async ({ params: { id }, body }) => ({
        subject: { kind: 'provider', id },
        agentId: null,
        before: { state: await stateNow(id) },
        after: { state: body.state },
      }),
    },
    handler: async ({ operator, params: { id: name }, body, withCode }) => {
      await stateNow(name)
      const at = now()
      const asked = body.state
      await inTransaction(pool, async (tx) => {
        const before = await lockProviderState(tx, name, at)
        if (!withCode && !isHeldBack(before, asked)) {
          throw new Problem('changed_meanwhile', 'It was switched off: read it again.')
        }
        await saveProviderState(tx, name, asked, at)
        await takeEffect(tx, operator, at)
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

function successOf({ paid, ended }: { paid: number; ended: number } = { paid: 0, ended: 0 }) {
  return { paid, ended, success_rate: ended === 0 ? null : Math.round((paid / ended) * 1e4) / 1e4 }
}
