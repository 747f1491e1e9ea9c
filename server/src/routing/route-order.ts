import type { OrderKind } from '../ledger/book.ts'
import { type Currency, toMinor } from '../lib/money.ts'
import type { Provider } from '../providers/provider.ts'

export type ProviderState = 'on' | 'draining' | 'off'

/**
 * Whether a change of state lets a provider do no more than before, so that one person may make it at any time. From
 * off, draining is a way up: payouts that wait are sent, and approved files leave.
 */
export function isHeldBack(from: ProviderState, to: ProviderState): boolean {
  return to === 'off' || (to === 'draining' && from !== 'off')
}

/** A rule for which orders a provider gets. */
export interface Route {
  provider: string
  name: string
  direction: OrderKind
  currency: Currency
  /** Null means every bank. */
  banks: string[] | null
  /** In whole currency units. */
  minAmount: bigint
  maxAmount: bigint
  /** Lower values are tried first; among equals, weighted chance decides. */
  preference: number
  weight: number
}

export interface RoutingTable {
  /** A provider that is missing here is on. */
  states: ReadonlyMap<string, ProviderState>
  routes: readonly Route[]
}

export interface OrderToRoute {
  /** Whose order it is; an agent's may be stopped. */
  agentId?: bigint
  /** Set if the order has one already. */
  orderId?: string
  direction: OrderKind
  currency: Currency
  bankCode: string
  amountMinor: bigint
}

/** A provider that may take an order, and its matching route; null if it has no routes. */
export interface Candidate {
  provider: Provider
  route: string | null
  preference: number
  weight: number
}

/**
 * The providers that may take an order. A provider without routes for a direction takes everything it can.
 */
export function candidatesFor(
  order: OrderToRoute,
  providers: readonly Provider[],
  { states, routes }: RoutingTable,
): Candidate[] {
  const { direction, currency, bankCode, amountMinor } = order
  return providers.flatMap((provider): Candidate[] => {
    if (!isAble(provider, order, states)) return []
    const own = routesOf(provider, direction, routes)
    if (own.length === 0) return [{ provider, route: null, preference: 100, weight: 1 }]
    const [best] = own
      .filter(
        (route) =>
          route.currency === currency &&
          (route.banks === null || route.banks.includes(bankCode)) &&
          amountMinor >= toMinor(route.minAmount, currency) &&
          amountMinor <= toMinor(route.maxAmount, currency),
      )
      .sort((a, b) => a.preference - b.preference)
    return best ? [{ ...best, provider, route: best.name }] : []
  })
}

/** Whether some order of this direction and currency would find a provider, whatever its amount and bank. */
export function isTakenBySome(
  order: Pick<OrderToRoute, 'direction' | 'currency'>,
  providers: readonly Provider[],
  { states, routes }: RoutingTable,
): boolean {
  return providers.some((provider) => {
    if (!isAble(provider, order, states)) return false
    const own = routesOf(provider, order.direction, routes)
    return own.length === 0 || own.some(({ currency }) => currency === order.currency)
  })
}

function isAble(
  { name, can }: Provider,
  { direction, currency }: Pick<OrderToRoute, 'direction' | 'currency'>,
  states: RoutingTable['states'],
): boolean {
  return (
    (direction === 'deposit' ? can.deposits : can.payouts) &&
    (states.get(name) ?? 'on') === 'on' &&
    can.currencies.includes(currency)
  )
}

function routesOf({ name }: Provider, direction: OrderKind, routes: readonly Route[]): Route[] {
  return routes.filter((route) => route.provider === name && route.direction === direction)
}

/** People bring files to a bank: without a route of its own, such an account pays only what no other can pay. */
function isLastResort({ direction }: OrderToRoute, { provider, route }: Candidate): boolean {
  return direction === 'withdraw' && provider.paysByFile === true && route === null
}

/** The providers that may take an order, first choice first. `random` returns numbers from 0 up to 1. */
export function routeOrder(
  order: OrderToRoute,
  providers: readonly Provider[],
  table: RoutingTable,
  random: () => number,
): Provider[] {
  // A heavier weight tends to draw a smaller number, which gives a weighted shuffle in one pass.
  return candidatesFor(order, providers, table)
    .map((candidate) => ({
      ...candidate,
      draw: -Math.log(1 - random()) / candidate.weight,
    }))
    .sort(
      (a, b) =>
        Number(isLastResort(order, a)) - Number(isLastResort(order, b)) ||
        a.preference - b.preference ||
        a.draw - b.draw,
    )
    .map(({ provider }) => provider)
}
