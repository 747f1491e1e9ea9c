import {
  type OpenApi,
  type Operation,
  operations,
  queryOf,
  schemaIn,
  written,
} from '../../sdk/test/schemas-from-openapi.ts'

/** Writes `console/src/api-schemas.ts`: every operation of the console's API by its method and path. */
export function typesFromOpenApi(openapi: OpenApi): string {
  const types = operations(openapi)
    .map(([path, method, one]) => `'${method.toUpperCase()} ${path}': ${shapesOf(one)}`)
    .toSorted()
  return [
    '// Written from /console/api/openapi.json by server/test/console/console-schemas.test.ts; run it with -u after a change.',
    '',
    '/** What each operation takes and answers. */',
    `export interface Operations {\n${types.join('\n')}\n}`,
    '',
  ].join('\n')
}

type Schema = Parameters<typeof written>[0]

const nothing = 'Record<string, never>'

function isEmpty({ type, properties }: Schema): boolean {
  return type === 'object' && properties !== undefined && Object.keys(properties).length === 0
}

function shapesOf(operation: Operation): string {
  const typeOf = (schema: Schema): string => (isEmpty(schema) ? nothing : written(schema, typeOf))
  const [status = ''] = Object.keys(operation.responses).filter((each) => each !== 'default')
  const body = operation.requestBody && schemaIn(operation.requestBody.content)
  return `{
    query: ${typeOf(queryOf(operation))}
    body: ${body ? typeOf(body) : 'undefined'}
    answer: ${typeOf(schemaIn(operation.responses[status]?.content))}
  }`
}
