import Type from 'typebox'
import { inTransaction } from '../../db/in-transaction.ts'
import { type Currency, currencies, maxAmount } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import {
  readRoutingTable,
  replaceRoutes,
  routeFault,
  saveProviderState,
  versionOfRoutes,
} from '../../orders/providers.ts'
import type { ProviderState, Route } from '../../orders/route-order.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute, Reason } from './operator-route.ts'
import type { OperatorDeps } from './operator-routes.ts'
import { oneOf, strict } from './schemas/shapes.ts'

const state = oneOf(['on', 'draining', 'off'], 'on, draining (takes nothing new) or off')
const units = Type.Integer({
  minimum: 1,
  maximum: Number(maxAmount),
  description: `a whole number from 1 to ${maxAmount}`,
})
const share = Type.Integer({ minimum: 1, maximum: 1000, description: '1 to 1000' })

const RouteView = Type.Object(
  {
    provider: Type.String({ maxLength: 64 }),
    route: Type.String({ maxLength: 32, description: 'its name' }),
    direction: oneOf(['deposit', 'withdraw'], 'deposit or withdraw'),
    currency: oneOf(currencies, 'THB or VND'),
    banks: Type.Union([Type.Array(Type.String({ maxLength: 16 })), Type.Null()], {
      description: 'a list of bank codes, or null for all',
    }),
    min_amount: units,
    max_amount: units,
    preference: share,
    weight: share,
  },
  strict,
)

const ProviderView = Type.Object({
  name: Type.String(),
  state,
  currencies: Type.Array(Type.String()),
  deposits: Type.Boolean(),
  payouts: Type.Boolean(),
})

const Routes = Type.Object({
  version: Type.String({ description: 'send it with a change' }),
  routes: Type.Array(RouteView),
})

/** Who moves the money, and who gets which orders. */
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

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/provider-routes',
    summary: 'Which orders each provider gets',
    schema: { response: Routes },
    handler: async () => routesView((await readRoutingTable(pool)).routes),
  })

  operatorRoute(api, {
    ...change,
    method: 'PUT',
    url: '/provider-routes',
    summary: 'Put these routes in the place of all others',
    bodyLimit: 256 * 1024,
    schema: {
      body: Type.Object(
        {
          version: Type.String({ maxLength: 16, description: 'version of the routes as read' }),
          routes: Type.Array(RouteView, {
            maxItems: 500,
            description: 'a list of at most 500 routes, each with all its fields',
          }),
          reason: Reason,
        },
        strict,
      ),
      response: Routes,
    },
    handler: async ({ operator, body }) => {
      const routes = body.routes.map(routeFromView)
      const at = now()
      refuseFaults(routes, (name) => providers.find(name) !== undefined)
      await inTransaction(pool, async (tx) => {
        const replaced = await replaceRoutes(tx, routes, body.version)
        if (!replaced) {
          throw new Problem('changed_meanwhile', 'Read the routes again and change those.')
        }
        await writeAudit(tx, {
          at,
          operator,
          action: 'set_routes',
          subject: { kind: 'provider_routes', id: 'all' },
          agentId: null,
          before: routesView(replaced.before).routes,
          after: body.routes,
          reason: body.reason,
        })
      })
      return routesView((await readRoutingTable(pool)).routes)
    },
  })
}

function refuseFaults(routes: Route[], isProvider: (name: string) => boolean): void {
  const names = routes.map(({ provider, route }) => `${provider} ${route}`)
  const errors = routes.flatMap((route, at) => {
    const fault = !isProvider(route.provider)
      ? `there is no provider "${route.provider}"`
      : names.indexOf(`${route.provider} ${route.route}`) !== at
        ? `${route.provider} has two routes "${route.route}"`
        : routeFault(route)
    return fault === undefined ? [] : [{ field: `routes[${at}]`, message: fault }]
  })
  if (errors.length > 0) throw invalidRequest(errors)
}

interface RouteBody {
  provider: string
  route: string
  direction: string
  currency: string
  banks: string[] | null
  min_amount: number
  max_amount: number
  preference: number
  weight: number
}

function routeFromView(view: RouteBody): Route {
  const { min_amount, max_amount, ...route } = view
  return {
    ...route,
    // Of the values that its shape allows.
    direction: view.direction as Route['direction'],
    currency: view.currency as Currency,
    minAmount: BigInt(min_amount),
    maxAmount: BigInt(max_amount),
  }
}

function routesView(routes: readonly Route[]) {
  return {
    version: versionOfRoutes(routes),
    routes: routes.map(({ minAmount, maxAmount: most, ...route }) => ({
      ...route,
      min_amount: Number(minAmount),
      max_amount: Number(most),
    })),
  }
}
