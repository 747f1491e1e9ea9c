import Type, { type TSchema } from 'typebox'
import { currencies } from '../../../lib/money.ts'
import { Code, Reason } from '../operator-route.ts'

/** The building blocks of the operators' API shapes. Times are ISO 8601 in UTC, amounts exact decimals. */

export const oneOf = (values: readonly string[], description: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], description })

export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])

export const isoTime = (description: string) => Type.String({ maxLength: 40, description })

export const money = (description: string) => Type.Number({ description })

export const currency = oneOf(
  currencies,
  new Intl.ListFormat('en', { type: 'disjunction' }).format(currencies),
)
export const appId = Type.String({ maxLength: 64, description: "an agent's app id" })
export const seq = Type.Integer({ minimum: 1, description: 'a number of the journal' })

export const reason = Reason
export const code = Code

export const page = (item: TSchema) =>
  Type.Object({
    data: Type.Array(item),
    next: orNull(Type.String({ description: 'pass as cursor; null at the end' })),
  })

export const paging = {
  cursor: Type.Optional(Type.String({ maxLength: 300, description: 'next from the page before' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '1 to 200' })),
}

export const strict = { additionalProperties: false }

/** An amount that a person gives, in decimals. */
export const decimal = (description: string) =>
  Type.String({ pattern: '^[0-9]{1,15}(\\.[0-9]{1,2})?$', description })
