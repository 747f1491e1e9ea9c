import type { Answer } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import type { api } from '../../paths.ts'

export type Route = Answer<typeof api.providerRoutes>['routes'][number]

/** A route in the form. An empty list of banks means all banks. */
export interface RouteDraft {
  /** Identifies the row within the form, while rows are added, removed and moved. */
  id: number
  provider: string
  route: string
  direction: Route['direction']
  currency: Route['currency']
  banks: string[]
  min_amount: string
  max_amount: string
  preference: string
  weight: string
}

export type RouteField = Exclude<keyof RouteDraft, 'id'>

/** Deposits first; within each kind, in the order in which the routes are tried. */
export function inTurn(routes: Route[]): Route[] {
  return routes.toSorted(
    (a, b) => a.direction.localeCompare(b.direction) || a.preference - b.preference,
  )
}

export function draftsOf(routes: Route[]): RouteDraft[] {
  return inTurn(routes).map((route, at) => ({
    ...route,
    id: at + 1,
    banks: route.banks ?? [],
    min_amount: String(route.min_amount),
    max_amount: String(route.max_amount),
    preference: String(route.preference),
    weight: String(route.weight),
  }))
}

/** Adds one route with default values. */
export function withNew(
  drafts: RouteDraft[],
  provider: string,
  currency: Route['currency'],
): RouteDraft[] {
  const draft: RouteDraft = {
    id: Math.max(0, ...drafts.map(({ id }) => id)) + 1,
    provider,
    route: '',
    direction: 'deposit',
    currency,
    banks: [],
    min_amount: '1',
    max_amount: '1000000',
    preference: '100',
    weight: '1',
  }
  return [...drafts, draft]
}

/** The routes in the service's format. The service reports values that are not numbers. */
export function routesOf(drafts: RouteDraft[]): Route[] {
  return drafts.map(({ id: _, ...draft }) => ({
    ...draft,
    route: draft.route.trim(),
    banks: draft.banks.length === 0 ? null : draft.banks,
    min_amount: Number(plainNumber(draft.min_amount)),
    max_amount: Number(plainNumber(draft.max_amount)),
    preference: Number(draft.preference),
    weight: Number(draft.weight),
  }))
}

/**
 * Swaps the route with the one above it, including their preferences. If both have the same preference, the
 * preferences of the one above and of all routes of this kind after it increase by one.
 */
export function movedUp(drafts: RouteDraft[], at: number): RouteDraft[] {
  const [above, moved] = [drafts[at - 1], drafts[at]]
  if (!above || !moved) return drafts
  const isEqual = above.preference === moved.preference
  const later = (draft: RouteDraft) =>
    isEqual && draft.direction === moved.direction
      ? { ...draft, preference: String(Number(draft.preference) + 1) }
      : draft
  return [
    ...drafts.slice(0, at - 1),
    { ...moved, preference: above.preference },
    later({ ...above, preference: moved.preference }),
    ...drafts.slice(at + 1).map(later),
  ]
}

/** Whether the route above is of the same kind, so that the two can be swapped. */
export function canMoveUp(drafts: RouteDraft[], at: number): boolean {
  return at > 0 && drafts[at - 1]?.direction === drafts[at]?.direction
}

export type RouteErrors = Partial<Record<RouteField, string>>
