import type { FastifyReply, FastifySchema } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { checker, readQuery } from '../check.ts'
import { NoQuery, ProblemBody } from './schemas.ts'

const problem = {
  description: 'a problem (RFC 9457)',
  content: { 'application/problem+json': { schema: ProblemBody } },
}

/** Describes an endpoint for the OpenAPI document. */
export function operation(described: {
  /** The name of the function in generated clients. */
  id: string
  summary: string
  description?: string
  tag: string
  params?: TObject
  query?: TObject
  body?: TObject
  answers: Record<number, TSchema>
}): FastifySchema {
  const { params, query, body, answers } = described
  return {
    operationId: described.id,
    summary: described.summary,
    ...(described.description !== undefined && { description: described.description }),
    tags: [described.tag],
    security: [{ appId: [], signature: [] }],
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [
          status,
          { description: 'as asked', content: { 'application/json': { schema } } },
        ]),
      ),
      401: problem,
      default: problem,
    },
  }
}

/** Sends finished JSON text. */
export function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(json)
}

const noQuery = checker(NoQuery)

/**
 * For endpoints without query parameters: a client that sends one expects something that would not happen.
 */
export function refuseQuery(query: unknown): void {
  readQuery(query, noQuery)
}
