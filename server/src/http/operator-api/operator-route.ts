import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TObject, type TSchema } from 'typebox'
import type { ActionName } from '../../approvals/actions.ts'
import { Problem } from '../../lib/problem.ts'
import type { Operator, Permission } from '../../operators/operator.ts'
import { type Checker, checker, invalidRequest, readQuery } from '../check.ts'
import { readJsonBody } from '../json-body.ts'
import { plainText } from '../printable-text.ts'
import type { ApprovalsDesk } from './approvals-desk.ts'
import { isXmlType, type OperatorDoor } from './door.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    takesXml?: boolean
    /** Whether it is taken from a session that sees an agent's console. */
    leavesView?: boolean
  }
}

/** Parses XML only on routes that accept it; all others still refuse it. */
export function takeXml(app: FastifyInstance): void {
  app.addContentTypeParser(
    ['application/xml', 'text/xml'],
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (request.routeOptions.config.takesXml === true) return done(null, body)
      done(
        new Problem('unsupported_media_type', 'Send the body as content-type: application/json.'),
        undefined,
      )
    },
  )
}

/** The app to register the console's routes on, and the routes registered so far. */
export interface OperatorApi {
  app: FastifyInstance
  door: OperatorDoor
  /** Runs what two people have decided on. */
  approvals: ApprovalsDesk
  routes: DescribedRoute[]
}

export const apiPath = '/console/api'

/** Where a request whose body is XML has its code. */
export const codeHeader = 'x-sluice-code'

/**
 * For the body of an action that cannot be undone. `operatorRoute` checks it wherever a schema requires it.
 */
export const Reason = plainText(3, 500, '3 to 500 characters that say why')

/** For the body of every change that needs a code, as an optional field: `operatorRoute` asks for it. */
export const Code = Type.String({
  pattern: '^([0-9]{6}|pk_[A-Za-z0-9_-]{43})$',
  description:
    'the six digits the authenticator shows now, or what /me/passkeys/prove has just answered',
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RouteSchema<P extends TObject, Q extends TObject, B extends TObject> {
  params?: P
  querystring?: Q
  body?: B
  /** The response; a map if it is not a 200 or not JSON (`text/csv`). */
  response: TSchema | { status: number; type?: string; schema?: TSchema }
}

interface Described {
  method: Method
  /** The path below /console/api, such as /orders/:txn_id. */
  url: string
  summary: string
  tag: string
}

export interface DescribedRoute extends Described {
  /** Null if the route needs no session. */
  permission: Permission | null
  agents: 'own' | 'none'
  /** Whether a fresh code is required: sometimes, where it depends on the body. */
  needsCode: 'always' | 'sometimes' | 'never'
  /** The action that two people may have to decide on. */
  approval: ActionName | null
  takesXml: boolean
  schema: RouteSchema<TObject, TObject, TObject>
}

/** A request as a handler sees it, already checked against the schema. */
export interface Given<P extends TObject, Q extends TObject, B extends TObject> {
  request: FastifyRequest
  reply: FastifyReply
  params: Static<P>
  query: Static<Q>
  body: Static<B>
}

/** The answer: finished JSON text, a value, nothing, or the reply itself. */
type Handled = unknown

export interface OperatorRoute<P extends TObject, Q extends TObject, B extends TObject>
  extends Described {
  permission: Permission
  /**
   * own: an agent's users are admitted, and the handler shows them only their data; none: they are refused.
   */
  agents: 'own' | 'none'
  /**
   * Every route that is not a GET requires a fresh code, so that a session left open cannot change anything.
   * An exception says why it is one, for all requests or, as a function, for some: undefined for the others.
   */
  withoutCode?:
    | string
    | ((
        given: Pick<Given<P, Q, B>, 'params' | 'body'>,
      ) => string | undefined | Promise<string | undefined>)
  schema: RouteSchema<P, Q, B>
  bodyLimit?: number
  /** A body that is XML is taken too, for this field, in base64. */
  takesXml?: string
  /** What ends a session's view of an agent's console, which is all that it changes meanwhile. */
  leavesView?: true
  /** Set by `twoPersonRoute`. */
  approval?: ActionName
  handler: (given: Given<P, Q, B> & { operator: Operator; withCode: boolean }) => Promise<Handled>
}

export interface OpenRoute<P extends TObject, Q extends TObject, B extends TObject>
  extends Described {
  schema: RouteSchema<P, Q, B>
  handler: (given: Given<P, Q, B>) => Promise<Handled>
}

type NoFields = ReturnType<typeof Type.Object<Record<never, never>>>

const nothing = checker(Type.Object({}, { additionalProperties: false }))

/**
 * Registers a route that needs a session. Checks origin, session, role, shape, reason and code, in this
 * order, so that no handler has to.
 */
export function operatorRoute<
  P extends TObject = NoFields,
  Q extends TObject = NoFields,
  B extends TObject = NoFields,
>(api: OperatorApi, route: OperatorRoute<P, Q, B>): void {
  const { permission, agents, withoutCode, approval = null, handler } = route
  const needsCode = whenCodeIsNeeded(route)
  register(api, route, { permission, agents, needsCode, approval }, async (came) => {
    api.door.checkOrigin(came.request)
    const operator = await api.door.operatorOf(came.request)
    await api.door.checkRole(operator, route, `${route.method} ${route.url}`)
    const given = came.read()
    const why = typeof withoutCode === 'function' ? await withoutCode(given) : withoutCode
    const withCode = needsCode !== 'never' && why === undefined
    if (withCode) await api.door.checkCode(operator, Object(given.body).code)
    return handler({ ...given, operator, withCode })
  })
}

function whenCodeIsNeeded<P extends TObject, Q extends TObject, B extends TObject>(
  route: Pick<OperatorRoute<P, Q, B>, 'method' | 'url' | 'schema' | 'withoutCode'>,
): DescribedRoute['needsCode'] {
  const { method, url, schema, withoutCode } = route
  if (method === 'GET' || typeof withoutCode === 'string') return 'never'
  if (schema.body?.properties.code === undefined) {
    throw new Error(`${method} ${url} needs a code, so its body must have the field code`)
  }
  return withoutCode === undefined ? 'always' : 'sometimes'
}

/** Registers a route that needs no session. */
export function openRoute<
  P extends TObject = NoFields,
  Q extends TObject = NoFields,
  B extends TObject = NoFields,
>(api: OperatorApi, route: OpenRoute<P, Q, B>): void {
  const rule = { permission: null, agents: 'own', needsCode: 'never', approval: null } as const
  register(api, route, rule, async (came) => {
    api.door.checkOrigin(came.request)
    return route.handler(came.read())
  })
}

function register<P extends TObject, Q extends TObject, B extends TObject>(
  api: OperatorApi,
  route: Described & {
    schema: RouteSchema<P, Q, B>
    bodyLimit?: number
    takesXml?: string
    leavesView?: true
  },
  rule: Pick<DescribedRoute, 'permission' | 'agents' | 'needsCode' | 'approval'>,
  answer: (came: { request: FastifyRequest; read: () => Given<P, Q, B> }) => Promise<Handled>,
): void {
  const { method, url, summary, tag, schema } = route
  const takesXml = route.takesXml !== undefined
  api.routes.push({ method, url, summary, tag, schema, takesXml, ...rule })
  const checks = {
    params: schema.params ? checker(schema.params) : nothing,
    query: schema.querystring ? checker(schema.querystring) : nothing,
    body: schema.body && checker(schema.body),
  }
  const status = 'status' in schema.response ? schema.response.status : 200
  api.app.route({
    method,
    url: apiPath + url,
    // The console's API has its own description.
    schema: { hide: true },
    ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
    config: { takesXml, leavesView: route.leavesView === true },
    handler: async (request, reply) => {
      const read = () => ({
        request,
        reply,
        // Checked with the schemas that these types are derived from.
        params: readParams(request.params, checks.params) as Static<P>,
        query: withoutNul(Object.fromEntries(readQuery(request.query, checks.query))) as Static<Q>,
        body: (route.takesXml !== undefined && isXml(request)
          ? checkedBody(fieldsOfXml(request, route.takesXml), checks.body)
          : readBody(request.body, checks.body)) as Static<B>,
      })
      reply.code(status).header('cache-control', 'no-store')
      const handled = await answer({ request, read })
      if (handled === reply || reply.sent) return reply
      const json = typeof handled === 'string' ? handled : JSON.stringify(handled ?? {})
      return reply.type('application/json; charset=utf-8').send(json)
    },
  })
}

/** Checks the parameters and the body of a stored request as if it came now. */
export function inputReader<P extends TObject, B extends TObject>(schema: {
  params?: P
  body?: B
}): (input: { params: unknown; body: unknown }) => { params: Static<P>; body: Static<B> } {
  const params = schema.params ? checker(schema.params) : nothing
  const body = schema.body && checker(schema.body)
  return (input) => ({
    // Checked with the schemas that these types are derived from.
    params: readParams(input.params, params) as Static<P>,
    body: checkedBody(input.body, body) as Static<B>,
  })
}

function isXml({ headers }: FastifyRequest): boolean {
  return isXmlType(headers['content-type'])
}

/** The bytes as they came, in whatever encoding, as base64; the code is in a header. */
function fieldsOfXml({ body, headers }: FastifyRequest, field: string): object {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const code = headers[codeHeader]
  return { [field]: bytes.toString('base64'), ...(code !== undefined && { code }) }
}

/** A path with impossible parameters answers 404. */
function readParams(params: unknown, check: Checker): unknown {
  try {
    return withoutNul(Object.fromEntries(readQuery(params, check)))
  } catch {
    throw new Problem('not_found', 'There is nothing at this address.')
  }
}

function readBody(raw: unknown, check: Checker | undefined): unknown {
  const bytes = Buffer.isBuffer(raw) ? raw : Buffer.alloc(0)
  return checkedBody(bytes.length === 0 ? {} : readJsonBody(bytes).value, check)
}

function checkedBody(value: unknown, check: Checker | undefined): unknown {
  const errors = (check ?? nothing).errors(value)
  const [first] = errors
  if (first?.field === 'reason' && errors.length === 1) {
    throw new Problem('reason_required', `Say why: ${first.message}.`, { errors })
  }
  if (errors.length > 0) throw invalidRequest(errors)
  return withoutNul(Object(value))
}

/** PostgreSQL accepts no NUL, so no request may contain one. */
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
