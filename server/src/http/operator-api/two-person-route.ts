import type { Static, TObject } from 'typebox'
import type { ActionName } from '../../approvals/actions.ts'
import type { Operator } from '../../operators/operator.ts'
import type { ActionView, Beside, Input, RunnableRoute } from './approvals-desk.ts'
import {
  inputReader,
  type OperatorApi,
  type OperatorRoute,
  operatorRoute,
} from './operator-route.ts'

/** A request that may run later, without the connection it came on. */
export interface Asked<P extends TObject, B extends TObject> {
  operator: Operator
  params: Static<P>
  body: Static<B>
  /** False for an exception of `withoutCode`, which one person may do at any time. */
  withCode: boolean
}

export interface Approval<P extends TObject, B extends TObject>
  extends Pick<RunnableRoute, 'repeats' | 'refusedOf' | 'kept'> {
  action: ActionName
  /** Actions that some requests do as well. */
  also?: (body: Static<B>) => ActionName[]
  /** The answer holds a secret: its proposer sees it once. */
  hasSecret?: boolean
  /** Whether the keyed command of a request was taken by an earlier run. */
  isDone?: (asked: Asked<P, B>) => Promise<boolean>
  /** What helps to decide, and is no part of what is approved. */
  beside?: (asked: Asked<P, B>) => Promise<Beside | null>
  /** Refuses what cannot be done, and tells what would change. */
  view: (asked: Asked<P, B>) => Promise<ActionView>
}

type NoFields = TObject<Record<never, never>>

/**
 * Registers a route whose action two people may have to decide on. If they do, the request is stored as a
 * proposal and answered with 202; its handler runs when somebody else approves. What needs no code needs no second
 * person either: one may stop money from moving at any time.
 */
export function twoPersonRoute<B extends TObject, P extends TObject = NoFields>(
  api: OperatorApi,
  route: Omit<OperatorRoute<P, NoFields, B>, 'handler' | 'approval'> & {
    approval: Approval<P, B>
    handler: (asked: Asked<P, B>) => Promise<unknown>
  },
): void {
  const { approval, handler } = route
  const name = `${route.method} ${route.url}`
  const read = inputReader(route.schema)
  const asked = (operator: Operator, input: Input) => ({ operator, ...read(input), withCode: true })
  api.approvals.add(name, {
    actions: (input) => [approval.action, ...(approval.also?.(read(input).body) ?? [])],
    permission: route.permission,
    repeats: approval.repeats,
    hasSecret: approval.hasSecret ?? false,
    isDone:
      approval.isDone &&
      (async (operator, input) => approval.isDone?.(asked(operator, input)) ?? false),
    view: async (operator, input) => approval.view(asked(operator, input)),
    beside:
      approval.beside &&
      (async (operator, input) => approval.beside?.(asked(operator, input)) ?? null),
    run: async (operator, input) => handler(asked(operator, input)),
    refusedOf: approval.refusedOf,
    kept: approval.kept,
  })
  operatorRoute(api, {
    ...route,
    approval: approval.action,
    handler: async ({ operator, params, body, withCode, reply }) => {
      const proposed =
        withCode && (await api.approvals.proposeInstead(name, operator, { params, body }))
      if (!proposed) return handler({ operator, params, body, withCode })
      reply.code(202)
      return proposed
    },
  })
}
