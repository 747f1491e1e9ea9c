import { inTransaction } from '../../db/in-transaction.ts'
import { banksOf } from '../../lib/banks.ts'
import { type Currency, currencies, toMinor } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import {
  readRoutingTable,
  replaceRoutes,
  routeFault,
  versionOfRoutes,
} from '../../routing/providers.ts'
import { candidatesFor, type Route } from '../../routing/route-order.ts'
import { invalidRequest } from '../check.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { BankList, Routes, SetRoutesBody, TriedRoutes, TryRoutesBody } from './schemas/providers.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Enough for the largest permitted number of routes. */
const bodyLimit = 256 * 1024

/** The routes that decide which orders each provider gets. */
export function routingRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, providers, now } = deps.desk
  const look = { tag: 'Providers', permission: 'view', agents: 'none' } as const
  const change = { tag: 'Providers', permission: 'manage_providers', agents: 'none' } as const
  const isProvider = (name: string) => providers.find(name) !== undefined

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/provider-routes',
    summary: 'Which orders each provider gets',
    schema: { response: Routes },
    handler: async () => routesView((await readRoutingTable(pool)).routes),
  })

  twoPersonRoute(api, {
    ...change,
    method: 'PUT',
    url: '/provider-routes',
    summary: 'Put these routes in the place of all others',
    bodyLimit,
    schema: {
      body: SetRoutesBody,
      response: Routes,
    },
    approval: {
      action: 'set_routes',
      repeats: 'effect',
      view: async ({ body }) => {
        await providers.freshen()
        refuseFaults(body.routes.map(routeFromView), isProvider)
        const { version, routes } = routesView((await readRoutingTable(pool)).routes)
        if (version !== body.version) throw changedMeanwhile()
        const subject = { kind: 'provider_routes', id: 'all' }
        return { subject, agentId: null, before: { routes }, after: { routes: body.routes } }
      },
    },
    handler: async ({ operator, body }) => {
      const routes = body.routes.map(routeFromView)
      const at = now()
      await providers.freshen()
      refuseFaults(routes, isProvider)
      await inTransaction(pool, async (tx) => {
        const replaced = await replaceRoutes(tx, routes, body.version)
        if (!replaced) throw changedMeanwhile()
        await takeEffect(tx, operator, at)
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

  operatorRoute(api, {
    ...look,
    method: 'POST',
    url: '/provider-routes/try',
    summary: 'Who would get an order by these routes; nothing is changed',
    withoutCode: 'changes nothing',
    bodyLimit,
    schema: { body: TryRoutesBody, response: TriedRoutes },
    handler: async ({ body }) => {
      const routes = body.routes.map(routeFromView)
      await providers.freshen()
      refuseFaults(routes, isProvider)
      const { states } = await readRoutingTable(pool)
      // The schema allows only known values.
      const currency = body.currency as Currency
      const found = candidatesFor(
        {
          direction: body.direction as Route['direction'],
          currency,
          bankCode: body.bank_code,
          amountMinor: toMinor(BigInt(body.amount), currency),
        },
        providers.all,
        { states, routes },
      )
      const data = found
        .map(({ provider, route, preference, weight }) => {
          const equals = found.filter((each) => each.preference === preference)
          const whole = equals.reduce((sum, each) => sum + each.weight, 0)
          return { provider: provider.name, route, preference, share: weight / whole }
        })
        .sort((a, b) => a.preference - b.preference || b.share - a.share)
      return { data, next: null }
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/banks',
    summary: 'The banks of every currency',
    schema: { response: BankList },
    handler: async () => {
      const data = currencies.flatMap((currency) =>
        banksOf(currency).map(({ code, name, closed }) => ({ currency, code, name, closed })),
      )
      return { data, next: null }
    },
  })
}

function changedMeanwhile(): Problem {
  return new Problem(
    'changed_meanwhile',
    'The routes have changed since you read them. Read them again, then make your change.',
  )
}

/** Reports every invalid route and its faulty parts, named as in the request. */
function refuseFaults(routes: Route[], isProvider: (name: string) => boolean): void {
  const names = routes.map(({ provider, name }) => `${provider} ${name}`)
  const errors = routes.flatMap((route, at) => {
    const inRoute = (field: string, message: string) => [
      { field: `routes[${at}].${field}`, message },
    ]
    if (!isProvider(route.provider)) {
      return inRoute('provider', `there is no provider "${route.provider}"`)
    }
    if (names.indexOf(`${route.provider} ${route.name}`) !== at) {
      return inRoute('route', `${route.provider} has two routes "${route.name}"`)
    }
    const fault = routeFault(route)
    return fault ? inRoute(fieldOf[fault.part] ?? fault.part, fault.says) : []
  })
  if (errors.length > 0) throw invalidRequest(errors)
}

const fieldOf: Partial<Record<keyof Route, string>> = {
  name: 'route',
  minAmount: 'min_amount',
  maxAmount: 'max_amount',
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
  const { route: name, min_amount, max_amount, ...rest } = view
  return {
    ...rest,
    name,
    // The schema allows only known values.
    direction: view.direction as Route['direction'],
    currency: view.currency as Currency,
    minAmount: BigInt(min_amount),
    maxAmount: BigInt(max_amount),
  }
}

function routesView(routes: readonly Route[]) {
  return {
    version: versionOfRoutes(routes),
    routes: routes.map(({ name, minAmount, maxAmount: most, ...rest }) => ({
      route: name,
      ...rest,
      min_amount: Number(minAmount),
      max_amount: Number(most),
    })),
  }
}
