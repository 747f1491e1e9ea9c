import type { TSchema } from 'typebox'
import { about, nameSchemas } from '../name-schemas.ts'
import { type Fields, fieldsOf, textOf } from '../reference-schema.ts'
import type { Example } from './example.ts'
import { examples } from './examples.ts'
import * as shapes from './schemas.ts'

/**
 * Adds to the OpenAPI document what fastify does not know: names, examples, headers, and the requests that
 * the service itself sends.
 */
export function describeApi<
  Document extends { paths?: object; info?: object; components?: object },
>(document: Document): Document & { webhooks: object } {
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(fieldsOf(methods)).map(([method, operation]) => {
        const example = examples[`${method.toUpperCase()} ${path}`]
        const described = withHeaders(fieldsOf(operation))
        return [method, example ? withExample(described, example) : described]
      }),
    ),
  ])
  const securitySchemes = {
    ...fieldsOf(fieldsOf(document.components).securitySchemes),
    ...ofCallbacks,
  }
  return nameSchemas(
    {
      ...document,
      info: { ...document.info, ...about },
      tags,
      components: { ...document.components, securitySchemes, headers },
      paths: Object.fromEntries(paths),
      webhooks,
    },
    shapes,
  )
}

const tags = [
  {
    name: 'Orders',
    description: 'Create, read and cancel deposits and withdrawals, and refund deposits.',
  },
  { name: 'Wallet', description: "The agent's money, and the banks of its currency." },
  {
    name: 'Callbacks',
    description:
      'The outcomes of your orders and their callbacks, to catch up after a time offline.',
  },
  { name: 'Sandbox', description: 'Makes the sandbox bank pay, refuse or return an order.' },
  {
    name: 'Webhooks',
    description: "The requests that the service sends to the agent's callback addresses.",
  },
]

const ofCallbacks = {
  callbackSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'x-signature',
    description:
      't=<unix seconds>,v1=<hex>[,v1=<hex>]: HMAC-SHA256 of t + "." + raw body, keyed with each live secret, newest first',
  },
}

const header = (type: 'string' | 'integer', description: string) => ({
  description,
  schema: { type, ...(type === 'integer' && { format: 'int64' }) },
})

const headers = {
  'x-request-id': header('string', 'identifies the request; quote it when you ask for help'),
  'idempotent-replayed': {
    description:
      'true: the order exists already, and the body is that of the first answer, byte for byte',
    schema: { type: 'string', enum: ['true'] },
  },
  'ratelimit-limit': header('integer', 'requests a second'),
  'ratelimit-remaining': header('integer', 'requests that are left now'),
  'ratelimit-reset': header('integer', 'seconds until all are there again'),
  'retry-after': header('integer', 'with 429 and 503: seconds to wait'),
}

/** Adds the headers of each answer; a 401 carries no rate limit. */
function withHeaders(operation: Fields): Fields {
  const creates = textOf(operation.operationId).startsWith('create')
  const responses = Object.entries(fieldsOf(operation.responses)).map(([status, answer]) => {
    const told = [
      'x-request-id',
      ...(status === '200' && creates ? ['idempotent-replayed'] : []),
      ...(status === 'default' ? ['retry-after'] : []),
      ...(status === '401' ? [] : ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']),
    ]
    const named = told.map((name) => [name, { $ref: `#/components/headers/${name}` }])
    return [status, { ...fieldsOf(answer), headers: Object.fromEntries(named) }]
  })
  return { ...operation, responses: Object.fromEntries(responses) }
}

function withExample(operation: Fields, { path, body, answer }: Example): Fields {
  // A repeat gets the same answer as the first request, with a different status.
  const responses = Object.entries(fieldsOf(operation.responses)).map(([status, described]) => [
    status,
    status.startsWith('2') ? withContent(fieldsOf(described), answer) : described,
  ])
  const request = fieldsOf(operation.requestBody)
  return {
    ...operation,
    ...(body !== undefined && { requestBody: withContent(request, JSON.parse(body)) }),
    responses: Object.fromEntries(responses),
    'x-example-request': { path, ...(body !== undefined && { body }) },
  }
}

function withContent(described: Fields, example: unknown): Fields {
  const content = Object.entries(fieldsOf(described.content)).map(([type, one]) => [
    type,
    { ...fieldsOf(one), example },
  ])
  return { ...described, content: Object.fromEntries(content) }
}

const callback = (kind: string, schema: TSchema, example: unknown) => ({
  post: {
    operationId: `${kind}Callback`,
    tags: ['Webhooks'],
    summary: `Outcome of a ${kind}`,
    description: `Sent to the agent's ${kind} callback address until it answers 200, 201 or 202. Signed over t + "." + raw body.`,
    security: [{ appId: [], callbackSignature: [] }],
    parameters: [
      {
        name: 'x-event',
        in: 'header',
        required: true,
        description: 'the kind of order and its new state, such as deposit.paid; not signed',
        schema: { type: 'string' },
      },
      ...[
        ['x-event-seq', 1, "number of the outcome in the agent's journal; not signed"],
        [
          'x-event-epoch',
          0,
          'numbers count within it; 0 unless the service was restored from a backup, and rises then; not signed',
        ],
        ['x-attempt', 1, 'counts the attempts from 1; not signed'],
      ].map(([name, minimum, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'integer', minimum },
      })),
    ],
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      200: {
        description:
          "accepted; 201 and 202 will do, whatever the body says. Of every answer, status, headers and at most 16 KiB of the body are kept and shown to the service's operators: put nothing secret into it",
      },
    },
  },
})

const webhooks = {
  depositCallback: callback(
    'deposit',
    shapes.DepositCallback,
    examples['deposit callback']?.answer,
  ),
  withdrawCallback: callback(
    'withdraw',
    shapes.WithdrawCallback,
    examples['withdraw callback']?.answer,
  ),
}
