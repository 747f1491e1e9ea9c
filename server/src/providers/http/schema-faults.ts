import { Compile } from 'typebox/schema'
import { ConnectorDocument } from './connector-document.ts'

/** A fault of a document, and where in it. */
export interface DocumentFault {
  at: string
  says: string
}

/** The part of JSON Schema that the document's schema is made of. */
interface Schema {
  type?: string
  anyOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  items?: Schema
}

const whole: Schema = JSON.parse(JSON.stringify(ConnectorDocument))
const mostShown = 20

/** Where a value does not fit the schema of documents: one fault for each thing that is wrong. */
export function schemaFaults(value: unknown): DocumentFault[] {
  const faults = faultsIn(whole, value, '')
  if (faults.length <= mostShown) return faults
  const more = faults.length - mostShown
  return [...faults.slice(0, mostShown), { at: '', says: `has ${more} more faults` }]
}

function faultsIn(schema: Schema, value: unknown, at: string): DocumentFault[] {
  const checked = Compile(schema)
  const isRight: boolean = checked.Check(value)
  if (isRight) return []
  const inside = schema.anyOf
    ? faultsOfVariant(schema.anyOf, value, at)
    : isObject(value)
      ? faultsOfMembers(schema, value, at)
      : Array.isArray(value)
        ? value.flatMap((each, n) => faultsIn(schema.items ?? {}, each, `${at}/${n}`))
        : []
  if (inside.length > 0) return inside
  const [, [first]] = checked.Errors(value)
  return [{ at: at + (first?.instancePath ?? ''), says: first?.message ?? 'does not fit' }]
}

/** Of several shapes, the faults of the one that is meant: the one that its kind names, or else that is nearest. */
function faultsOfVariant(variants: readonly Schema[], value: unknown, at: string): DocumentFault[] {
  let meant = variants.filter((each) => each.type === undefined || each.type === typeOf(value))
  if (isObject(value)) {
    for (const name of ['kind', 'type', 'means']) {
      const known = variants.flatMap((each) => wordsOf(each.properties?.[name]))
      if (known.length === 0) continue
      meant = meant.filter((each) => wordsOf(each.properties?.[name]).includes(value[name]))
      if (meant.length > 0) continue
      return [{ at: `${at}/${name}`, says: `must be one of ${known.join(', ')}` }]
    }
  }
  const [nearest] = meant
    .map((each) => faultsIn(each, value, at))
    .sort((a, b) => a.length - b.length)
  return nearest ?? []
}

function faultsOfMembers(
  schema: Schema,
  value: Record<string, unknown>,
  at: string,
): DocumentFault[] {
  const { properties = {}, patternProperties = {}, additionalProperties, required = [] } = schema
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ at: `${at}/${name}`, says: 'is required' }))
  const inside = Object.entries(value).flatMap(([name, each]) => {
    const where = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined
    const byPattern = Object.entries(patternProperties).find(([pattern]) =>
      new RegExp(pattern, 'u').test(name),
    )
    const rule = own ?? byPattern?.[1] ?? additionalProperties
    if (rule === false) return [{ at: where, says: 'is not known here' }]
    return typeof rule === 'object' ? faultsIn(rule, each, where) : []
  })
  return [...missing, ...inside]
}

/** The values that a schema of constants allows. */
function wordsOf(schema: Schema | undefined): unknown[] {
  if (!schema) return []
  if (schema.const !== undefined) return [schema.const]
  return schema.enum ?? schema.anyOf?.flatMap(wordsOf) ?? []
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}
