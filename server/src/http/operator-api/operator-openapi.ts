import type { TObject } from 'typebox'
import * as agentShapes from '../agent-api/schemas.ts'
import { about, nameSchemas } from '../name-schemas.ts'
import { apiPath, Code, codeHeader, type DescribedRoute } from './operator-route.ts'
import * as agentSecrets from './schemas/agent-secrets.ts'
import * as agents from './schemas/agents.ts'
import * as approvals from './schemas/approvals.ts'
import * as bankAccounts from './schemas/bank-accounts.ts'
import * as books from './schemas/books.ts'
import * as callbacks from './schemas/callbacks.ts'
import * as home from './schemas/home.ts'
import * as limits from './schemas/limits.ts'
import * as orders from './schemas/orders.ts'
import * as payments from './schemas/payments.ts'
import * as providers from './schemas/providers.ts'
import * as restores from './schemas/restores.ts'
import * as stops from './schemas/stops.ts'
import * as users from './schemas/users.ts'
import * as wallets from './schemas/wallets.ts'

const shapes = {
  ...{
    ...agentSecrets,
    ...agents,
    ...approvals,
    ...bankAccounts,
    ...books,
    ...callbacks,
    ...home,
    ...limits,
    ...orders,
    ...payments,
    ...providers,
    ...restores,
    ...stops,
    ...users,
    ...wallets,
  },
  ProblemBody: agentShapes.ProblemBody,
  FieldError: agentShapes.FieldError,
}

/**
 * The OpenAPI 3.1 document of the console's API, separate from the agents' API. The console's types are
 * generated from it.
 */
export function operatorOpenapi(
  routes: readonly DescribedRoute[],
  version: string,
  publicUrl: string,
): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = apiPath + route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))]
  return nameSchemas(
    {
      openapi: '3.1.0',
      info: {
        title: 'Sluice console',
        version,
        description: "The API of the console, for operators and for agents' own users.",
        ...about,
      },
      servers: [{ url: publicUrl }],
      tags: tags.map((name) => ({ name, description: `${name} in the console.` })),
      components: {
        securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sluice_session' } },
      },
      paths,
    },
    shapes,
  )
}

const problem = {
  description: 'a problem (RFC 9457)',
  content: { 'application/problem+json': { schema: agentShapes.ProblemBody } },
}

/** Browsers do not let other sites send this header: see OperatorDoor. */
const consoleMark = {
  name: 'x-sluice-console',
  in: 'header',
  required: true,
  description:
    '1: shows that the request comes from a page of the console and not from another site',
  schema: { type: 'string', enum: ['1'] },
}

/** A body that is XML has no field for it. */
const codeOfXml = {
  name: codeHeader,
  in: 'header',
  required: false,
  description: 'the code, if the body is XML',
  schema: Code,
}

function operationOf(route: DescribedRoute): object {
  const { params, querystring, body, response } = route.schema
  const answer = 'status' in response ? response : { status: 200, schema: response }
  const type = ('type' in answer && answer.type) || 'application/json'
  return {
    operationId: operationId(route),
    summary: route.summary,
    description: whoMay(route),
    tags: [route.tag],
    security: route.permission === null ? [] : [{ session: [] }],
    ...(route.permission !== null && {
      'x-permission': route.permission,
      'x-agents': route.agents,
      'x-needs-code': route.needsCode,
      ...(route.approval !== null && { 'x-approval': route.approval }),
    }),
    parameters: [
      ...parametersOf(params, 'path'),
      ...parametersOf(querystring, 'query'),
      ...(route.method === 'GET' ? [] : [consoleMark]),
      ...(route.takesXml ? [codeOfXml] : []),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: body },
          ...(route.takesXml && { 'application/xml': { schema: { type: 'string' } } }),
        },
      },
    }),
    responses: {
      [answer.status]: {
        description: 'success',
        content: { [type]: { schema: answer.schema ?? { type: 'string' } } },
      },
      ...(route.approval !== null && {
        202: {
          description: 'proposed: a second person has to approve it',
          content: { 'application/json': { schema: approvals.Proposed } },
        },
      }),
      401: problem,
      default: problem,
    },
  }
}

const codeWords = {
  always: ' Asks for a fresh code.',
  sometimes: ' Asks for a fresh code, except for what takes rights away.',
  never: '',
}

function whoMay({ permission, agents, needsCode }: DescribedRoute): string {
  if (permission === null) return 'For who is not signed in yet.'
  const own = agents === 'own' ? "an agent's own users see what is theirs" : 'not for agents'
  return `Needs the permission ${permission}; ${own}.${codeWords[needsCode]}`
}

/** `POST /orders/:txn_id/void` becomes `postOrderVoid`: a parameter makes the noun singular. */
function operationId({ method, url }: DescribedRoute): string {
  const parts = url.split('/').slice(1)
  const words = parts.flatMap((part, at) => {
    if (part.startsWith(':')) return []
    return parts[at + 1]?.startsWith(':') ? [part.replace(/s$/, '')] : [part]
  })
  const names = words.join('-').split(/[^a-z0-9]+/)
  return method.toLowerCase() + names.map((name) => name[0]?.toUpperCase() + name.slice(1)).join('')
}

function parametersOf(schema: TObject | undefined, where: 'path' | 'query'): object[] {
  const required: string[] = schema?.required ?? []
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }))
}
