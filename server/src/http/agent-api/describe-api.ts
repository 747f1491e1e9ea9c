import type { TSchema } from 'typebox'
import { type Fields, fieldsOf } from '../reference-schema.ts'
import { examples } from './examples.ts'
import { DepositCallback, WithdrawCallback } from './schemas.ts'

/** A request to the agents' API and what the service answered. */
export interface Example {
  /** With its query, as it was sent. */
  path: string
  body?: string
  status: number
  answer: unknown
}

/** The OpenAPI document with what fastify does not know: examples, and what the service itself sends. */
export function describeApi<Document extends { paths?: object }>(document: Document) {
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(fieldsOf(methods)).map(([method, operation]) => {
        const example = examples[`${method.toUpperCase()} ${path}`]
        return [method, example ? withExample(fieldsOf(operation), example) : operation]
      }),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths), webhooks }
}

function withExample(operation: Fields, { path, body, answer }: Example): Fields {
  // A repeat is answered like the first request, with another status.
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
    tags: ['What you are sent'],
    summary: `Outcome of a ${kind}`,
    description: `Sent to the agent's ${kind} callback address until it answers 200, 201 or 202. Signed over t + "." + raw body.`,
    parameters: [
      ['x-appid', 'the agent'],
      ['x-signature', 't=<unix seconds>,v1=<hex>[,v1=<hex>]'],
      ['x-event-seq', "number of the outcome in the agent's journal; not signed"],
      ['x-attempt', 'counts the attempts from 1; not signed'],
    ].map(([name, description]) => ({
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
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
  depositCallback: callback('deposit', DepositCallback, examples['deposit callback']?.answer),
  withdrawCallback: callback('withdraw', WithdrawCallback, examples['withdraw callback']?.answer),
}
