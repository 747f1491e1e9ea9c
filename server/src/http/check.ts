import { IsArray, IsObject, type TObject, type TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { type FieldError, Problem } from '../lib/problem.ts'

/** A compiled object schema, whose properties say in `description` what they must be. */
export interface Checker {
  schema: TObject
  errors: (value: unknown) => FieldError[]
}

/** Each schema is compiled once: a bad request is checked field by field, and compiling takes far longer. */
const compiled = new WeakMap<TSchema, { Check(value: unknown): boolean }>()

function fits(schema: TSchema, value: unknown): boolean {
  const known = compiled.get(schema)
  const validator = known ?? Compile(schema)
  if (!known) compiled.set(schema, validator)
  return validator.Check(value)
}

/** Makes a check of a schema that reports every bad field at once, in the schema's own words. */
export function checker(schema: TObject): Checker {
  return {
    schema,
    errors(value) {
      if (fits(schema, value)) return []
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return [{ field: '', message: 'must be a JSON object' }]
      }
      const given = new Map(Object.entries(value))
      const required: string[] = schema.required ?? []
      const unknown = [...given.keys()]
        .filter((name) => !Object.hasOwn(schema.properties, name))
        .map((field) => ({ field, message: 'is not a field of this request' }))
      const bad = Object.entries(schema.properties).flatMap(([field, property]) => {
        if (!given.has(field)) {
          return required.includes(field) ? [{ field, message: 'is required' }] : []
        }
        return fits(property, given.get(field)) ? [] : faultsIn(field, property, given.get(field))
      })
      return [...bad, ...unknown]
    },
  }
}

/** The errors in one field; in a list of objects, those of each object's fields. */
function faultsIn(field: string, schema: TSchema, value: unknown): FieldError[] {
  const inside =
    IsArray(schema) && IsObject(schema.items) && Array.isArray(value)
      ? listFaults(field, checker(schema.items), value)
      : []
  return inside.length > 0 ? inside : [{ field, message: messageOf(schema) }]
}

function listFaults(field: string, { errors }: Checker, items: unknown[]): FieldError[] {
  return items.flatMap((item, at) =>
    errors(item).map((each) => ({
      field: each.field === '' ? `${field}[${at}]` : `${field}[${at}].${each.field}`,
      message: each.message,
    })),
  )
}

export function messageOf(schema: TSchema): string {
  return 'description' in schema ? `must be ${String(schema.description)}` : 'has the wrong shape'
}

export function invalidRequest(errors: FieldError[]): Problem {
  const names = errors.map(({ field }) => field).filter((field) => field !== '')
  const detail =
    names.length === 0
      ? (errors[0]?.message ?? 'The request is not valid.')
      : `Correct ${names.join(', ')} and send the request again.`
  return new Problem('invalid_request', detail, { errors })
}

/**
 * Reads a request's query, with whole numbers as numbers, or throws a problem that names every bad parameter.
 * `alsoBad` says whether a parameter is wrong although its text has the right shape.
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
