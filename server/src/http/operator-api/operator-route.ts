import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { Problem } from '../../lib/problem.ts'
import type { Operator, Permission } from '../../operators/operator.ts'
import { type Checker, checker, invalidRequest, readQuery } from '../check.ts'
import { readJsonBody } from '../json-body.ts'
import { plainText } from '../printable-text.ts'
import type { OperatorDoor } from './door.ts'

/** Where the console's routes are put, and what has been put there. */
export interface OperatorApi {
  app: FastifyInstance
  door: OperatorDoor
  routes: DescribedRoute[]
}

export const apiPath = '/console/api'

/** For the body of what cannot be undone. `operatorRoute` asks for it wherever a schema requires it. */
export const Reason = plainText(3, 500, '3 to 500 characters that say why')

/** For the body of what moves money. */
export const Code = Type.String({
  pattern: '^[0-9]{6}$',
  description: 'the six digits the authenticator shows now',
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteSchema<P extends TObject, Q extends TObject, B extends TObject> {
  params?: P
  querystring?: Q
  body?: B
  /** What is answered; a map where it is not a 200, or not JSON (`text/csv`). */
  response: TSchema | { status: number; type?: string; schema?: TSchema }
}

interface Described {
  method: Method
  /** Under /console/api, such as /orders/:txn_id. */
  url: string
  summary: string
  tag: string
}

export interface DescribedRoute extends Described {
  /** Null where nobody has to be signed in. */
  permission: Permission | null
  agents: 'own' | 'none'
  movesMoney: boolean
  schema: RouteSchema<TObject, TObject, TObject>
}

/** A request as a handler sees it: what was sent has the shape that the schema says. */
export interface Given<P extends TObject, Q extends TObject, B extends TObject> {
  request: FastifyRequest
  reply: FastifyReply
  params: Static<P>
  query: Static<Q>
  body: Static<B>
}

/** What is answered: JSON text that is put together already, a value, nothing, or the reply itself. */
type Handled = unknown

export interface OperatorRoute<P extends TObject, Q extends TObject, B extends TObject>
  extends Described {
  permission: Permission
  /** own: users of an agent come in, and the handler shows them what is theirs; none: they do not. */
  agents: 'own' | 'none'
  /** Asks for the code again, always or for some requests. */
  movesMoney?: boolean | ((given: Pick<Given<P, Q, B>, 'params' | 'body'>) => boolean)
  schema: RouteSchema<P, Q, B>
  bodyLimit?: number
  handler: (given: Given<P, Q, B> & { operator: Operator }) => Promise<Handled>
}

export interface OpenRoute<P extends TObject, Q extends TObject, B extends TObject>
  extends Described {
  schema: RouteSchema<P, Q, B>
  handler: (given: Given<P, Q, B>) => Promise<Handled>
}

type NoFields = ReturnType<typeof Type.Object<Record<never, never>>>

const nothing = checker(Type.Object({}, { additionalProperties: false }))

/**
 * Registers a route for somebody who is signed in. Checks origin, session, role, shape, reason and
 * code, in this order, so that no handler has to.
 */
export function operatorRoute<
  P extends TObject = NoFields,
  Q extends TObject = NoFields,
  B extends TObject = NoFields,
>(api: OperatorApi, route: OperatorRoute<P, Q, B>): void {
  const { permission, agents, movesMoney = false, handler } = route
  register(api, route, { permission, agents, movesMoney: movesMoney !== false }, async (came) => {
    api.door.checkOrigin(came.request)
    const operator = await api.door.operatorOf(came.request)
    await api.door.checkRole(operator, route, `${route.method} ${route.url}`)
    const given = came.read()
    const asksCode = typeof movesMoney === 'function' ? movesMoney(given) : movesMoney
    if (asksCode) await api.door.checkCode(operator, Object(given.body).code)
    return handler({ ...given, operator })
  })
}

/** Registers a route for who is not signed in yet. */
export function openRoute<
  P extends TObject = NoFields,
  Q extends TObject = NoFields,
  B extends TObject = NoFields,
>(api: OperatorApi, route: OpenRoute<P, Q, B>): void {
  register(api, route, { permission: null, agents: 'own', movesMoney: false }, async (came) => {
    api.door.checkOrigin(came.request)
    return route.handler(came.read())
  })
}

function register<P extends TObject, Q extends TObject, B extends TObject>(
  api: OperatorApi,
  route: Described & { schema: RouteSchema<P, Q, B>; bodyLimit?: number },
  rule: Pick<DescribedRoute, 'permission' | 'agents' | 'movesMoney'>,
  answer: (came: { request: FastifyRequest; read: () => Given<P, Q, B> }) => Promise<Handled>,
): void {
  const { method, url, summary, tag, schema } = route
  api.routes.push({ method, url, summary, tag, schema, ...rule })
  const checks = {
    params: schema.params ? checker(schema.params) : nothing,
    query: schema.querystring ? checker(schema.querystring) : nothing,
    body: schema.body && checker(schema.body),
  }
  const status = 'status' in schema.response ? schema.response.status : 200
  api.app.route({
    method,
    url: apiPath + url,
    // The console's API has a description of its own.
    schema: { hide: true },
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    handler: async (request, reply) => {
      const read = () => ({
        request,
        reply,
        // Compiled from the very schemas these are the types of.
        params: readParams(request.params, checks.params) as Static<P>,
        query: withoutNul(Object.fromEntries(readQuery(request.query, checks.query))) as Static<Q>,
        body: readBody(request.body, checks.body) as Static<B>,
      })
      reply.code(status)
      const handled = await answer({ request, read })
      if (handled === reply || reply.sent) return reply
      const json = typeof handled === 'string' ? handled : JSON.stringify(handled ?? {})
      return reply.type('application/json; charset=utf-8').send(json)
    },
  })
}

/** A path that cannot be one of ours leads nowhere. */
function readParams(params: unknown, check: Checker): unknown {
  try {
    return withoutNul(Object.fromEntries(readQuery(params, check)))
  } catch {
    throw new Problem('not_found', 'There is nothing at this address.')
  }
}

function readBody(raw: unknown, check: Checker | undefined): unknown {
  const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0)
  const value = bytes.length === 0 ? {} : readJsonBody(bytes).value
  const errors = (check ?? nothing).errors(value)
  const [first] = errors
  if (first?.field === 'reason' && errors.length === 1) {
    throw new Problem('reason_required', `Say why: ${first.message}.`, { errors })
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return withoutNul(Object(value))
}

/** PostgreSQL takes no NUL, so nothing that is asked for has one. */
function withoutNul<T extends object>(given: T): T {
  const errors = Object.entries(given)
    .filter(([, value]) => holdsNul(value))
    .map(([field]) => ({ field, message: 'must not hold the character NUL' }))
  if (errors.length > 0) throw invalidRequest(errors)
  return given
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNul)
}
