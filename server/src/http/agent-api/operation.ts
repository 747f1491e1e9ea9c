import type { FastifyReply, FastifySchema } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { type Checker, checker, invalidRequest, messageOf } from '../check.ts'
import { NoQuery, ProblemBody } from './schemas.ts'

/** How an endpoint is described in the OpenAPI document. */
export function operation(described: {
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
      default: {
        description: 'a problem (RFC 9457)',
        content: { 'application/problem+json': { schema: ProblemBody } },
      },
    },
  }
}

/** Answers with JSON that has been put together already. */
export function sendJson(reply: FastifyReply, status: number, json: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(json)
}

/**
 * The query of a request with whole numbers as numbers, or a problem that names every bad one.
 * `alsoBad` tells of a name whether its text, of the right shape, is wrong all the same.
 */
export function readQuery(
  query: unknown,
  { schema, errors }: Checker,
  alsoBad: (name: string, value: unknown) => boolean = () => false,
): Map<string, unknown> {
  const given = Object.entries(query ?? {}).map(([name, text]): [string, unknown] => {
    const property = schema.properties[name]
    const isWhole = property && 'type' in property && property.type === 'integer'
    return [name, isWhole && /^\d{1,15}$/.test(String(text)) ? Number(text) : text]
  })
  const faults = errors(Object.fromEntries(given))
  for (const [name, value] of given) {
    const property = schema.properties[name]
    if (!property || faults.some(({ field }) => field === name) || !alsoBad(name, value)) continue
    faults.push({ field: name, message: messageOf(property) })
  }
  if (faults.length > 0) throw invalidRequest(faults)
  return new Map(given)
}

const noQuery = checker(NoQuery)

/** For what takes no query: whoever sends one expects something that would not happen. */
export function refuseQuery(query: unknown): void {
  readQuery(query, noQuery)
}
