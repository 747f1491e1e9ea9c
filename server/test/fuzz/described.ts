/** What of an OpenAPI document is needed to make requests up and to judge answers. */
export interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  maxLength?: number
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
}

interface Content {
  content?: Record<string, { schema: Schema }>
}

export interface Operation {
  method: string
  /** With its parameters in braces. */
  path: string
  pathParameters: string[]
  query: Record<string, Schema>
  body: Schema | undefined
  /** By status, and `default`. */
  answers: Record<string, Record<string, Schema>>
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { in: string; name: string; schema: Schema }[]
        requestBody?: Content
        responses: Record<string, Content>
      }
    >
  >
}

/** Every operation of a description. */
export function operationsOf({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { parameters = [], requestBody, responses } = described
      const named = (place: string) => parameters.filter((each) => each.in === place)
      return {
        method: method.toUpperCase(),
        path,
        pathParameters: named('path').map(({ name }) => name),
        query: Object.fromEntries(named('query').map(({ name, schema }) => [name, schema])),
        body: requestBody?.content?.['application/json']?.schema,
        answers: Object.fromEntries(
          Object.entries(responses).map(([status, { content = {} }]) => [
            status,
            Object.fromEntries(Object.entries(content).map(([type, c]) => [type, c.schema])),
          ]),
        ),
      }
    }),
  )
}
