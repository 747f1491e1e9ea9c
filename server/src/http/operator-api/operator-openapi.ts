import type { TObject } from 'typebox'
import { ProblemBody } from '../agent-api/schemas.ts'
import { apiPath, type DescribedRoute } from './operator-route.ts'

/** The console's API in OpenAPI 3.1, apart from the agents': from it the console's types are made. */
export function operatorOpenapi(routes: readonly DescribedRoute[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = apiPath + route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice console', version },
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sluice_session' } },
    },
    paths,
  }
}

function operationOf(route: DescribedRoute): object {
  const { params, querystring, body, response } = route.schema
  const answer = 'status' in response ? response : { status: 200, schema: response }
  const type = ('type' in answer && answer.type) || 'application/json'
  return {
    summary: route.summary,
    tags: [route.tag],
    security: route.permission === null ? [] : [{ session: [] }],
    ...(route.permission !== null && {
      'x-permission': route.permission,
      'x-agents': route.agents,
      'x-moves-money': route.movesMoney,
    }),
    parameters: [...parametersOf(params, 'path'), ...parametersOf(querystring, 'query')],
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      [answer.status]: {
        description: 'as asked',
        content: { [type]: { schema: answer.schema ?? {} } },
      },
      default: {
        description: 'a problem (RFC 9457)',
        content: { 'application/problem+json': { schema: ProblemBody } },
      },
    },
  }
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
