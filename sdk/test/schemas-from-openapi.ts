/** Writes the types of `sdk/src/api-schemas.ts` from the service's `/openapi.json`. */

interface Schema {
  type?: string | string[]
  description?: string
  enum?: (string | null)[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

export interface Operation {
  parameters?: {
    name: string
    in: string
    required: boolean
    description?: string
    schema: Schema
  }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

/** The document with its shapes written out as types, under the names the client uses. */
export function schemasFromOpenApi(openapi: OpenApi): string {
  const operation = (method: string, path: string): Operation => {
    const found = openapi.paths[path]?.[method]
    if (!found) throw new Error(`the description has no ${method} ${path}`)
    return found
  }
  const answer = (method: string, path: string, status: number | 'default' = 200) =>
    schemaIn(operation(method, path).responses[status]?.content)
  const body = (path: string) => schemaIn(operation('post', path).requestBody?.content)
  const query = (path: string) => queryOf(operation('get', path))
  const variant = (schema: Schema, at: number) => must(schema.anyOf?.[at])
  const item = (schema: Schema) => must(schema.properties?.data?.items)

  const orders = answer('get', '/payment/orders')
  const named: [name: string, says: string, schema: Schema][] = [
    ['OrderRequest', 'A request for a deposit or a withdrawal.', body('/payment/deposit')],
    ['Deposit', 'A deposit as it was created.', answer('post', '/payment/deposit', 201)],
    ['Withdraw', 'A withdrawal as it was created.', answer('post', '/payment/withdraw', 201)],
    ['RefundRequest', 'A request for a refund.', body('/payment/orders/{txn_id}/refund')],
    ['DepositOrder', 'A deposit as it is now.', variant(item(variant(orders, 0)), 0)],
    ['WithdrawOrder', 'A withdrawal as it is now.', variant(item(variant(orders, 0)), 1)],
    ['OrderQuery', 'Which orders.', query('/payment/orders')],
    ['OrderPage', 'Orders, newest first.', variant(orders, 0)],
    ['Wallet', "The agent's wallet.", answer('get', '/payment/wallet')],
    ['Reserve', 'What is held back of deposits.', answer('get', '/payment/wallet/reserve')],
    ['SeqQuery', 'From where on, and how many.', query('/payment/wallet/entries')],
    ['EventQuery', 'From which outcome on, and how many.', query('/payment/events')],
    [
      'WalletEntry',
      "A row of the agent's journal.",
      item(answer('get', '/payment/wallet/entries')),
    ],
    ['WalletEntryPage', 'The journal, oldest first.', answer('get', '/payment/wallet/entries')],
    ['OutcomeEvent', 'An outcome and its callback.', item(answer('get', '/payment/events'))],
    ['EventPage', 'Outcomes, oldest first.', answer('get', '/payment/events')],
    ['Resent', 'What a resend answers.', answer('post', '/payment/events/{seq}/resend', 202)],
    ['Bank', "A bank of the agent's currency.", item(answer('get', '/payment/banks'))],
    ['BankList', 'All of them.', answer('get', '/payment/banks')],
    ['Trigger', 'What the bank of the sandbox is to say.', body('/sandbox/orders/{txn_id}')],
    ['Problem', 'Why a request was refused.', answer('get', '/payment/wallet', 'default')],
  ]
  const names = new Map(named.map(([name, , schema]) => [JSON.stringify(schema), name]))
  const typeOf = (schema: Schema) => names.get(JSON.stringify(schema)) ?? written(schema, typeOf)

  for (const [path, method, one] of operations(openapi)) {
    for (const schema of schemasOf(one)) {
      if (isKnown(schema, names)) continue
      throw new Error(`${method} ${path} has a shape without a name: ${JSON.stringify(schema)}`)
    }
  }
  return [
    '// Written from /openapi.json by server/test/sdk/sdk-schemas.test.ts; run it with -u after a change.',
    ...named.map(
      ([name, says, schema]) => `/** ${says} */\nexport type ${name} = ${written(schema, typeOf)}`,
    ),
    '',
  ].join('\n\n')
}

export function operations(openapi: OpenApi): [path: string, method: string, one: Operation][] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): [string, string, Operation] => [
      path,
      method,
      one,
    ]),
  )
}

function schemasOf(operation: Operation): Schema[] {
  const bodies = operation.requestBody ? [schemaIn(operation.requestBody.content)] : []
  const answers = Object.values(operation.responses).map(({ content }) => schemaIn(content))
  const query = queryOf(operation)
  return [...bodies, ...answers, ...(Object.keys(query.properties ?? {}).length > 0 ? [query] : [])]
}

function isKnown(schema: Schema, names: Map<string, string>): boolean {
  if (names.has(JSON.stringify(schema))) return true
  return schema.anyOf?.every((each) => isKnown(each, names)) ?? false
}

export function queryOf({ parameters = [] }: Operation): Schema {
  const inQuery = parameters.filter((each) => each.in === 'query')
  return {
    type: 'object',
    required: inQuery.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      inQuery.map(({ name, description, schema }) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    ),
  }
}

export function written(schema: Schema, typeOf: (schema: Schema) => string): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.enum) {
    return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ')
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => written({ ...schema, type }, typeOf)).join(' | ')
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'array':
      return `(${typeOf(must(schema.items))})[]`
    case 'object':
      return schema.properties ? fields(schema, typeOf) : 'Record<string, unknown>'
    case undefined:
      // Whatever it is: the schema says nothing but, at most, what it is for.
      if (Object.keys(schema).every((key) => key === 'description')) return 'unknown'
      throw new Error(`there is no type for ${JSON.stringify(schema)}`)
    default:
      throw new Error(`there is no type for ${JSON.stringify(schema)}`)
  }
}

function fields({ properties = {}, required = [] }: Schema, typeOf: (schema: Schema) => string) {
  const lines = Object.entries(properties).map(([name, property]) => {
    const says = property.description ?? property.anyOf?.[0]?.description
    const isRequired = required.includes(name)
    return [
      ...(says === undefined ? [] : [`/** ${says} */`]),
      `${name}${isRequired ? '' : '?'}: ${typeOf(property)}`,
    ].join('\n')
  })
  return `{\n${lines.join('\n')}\n}`
}

export function schemaIn(content: Record<string, { schema: Schema }> | undefined): Schema {
  return must(Object.values(content ?? {})[0]?.schema)
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the description has another shape than expected')
  return value
}
