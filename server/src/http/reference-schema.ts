import { defaultCurrency } from '../lib/money.ts'

/** Reads JSON Schemas for the reference page. Nothing here depends on HTML. */

export type Fields = Readonly<Record<string, unknown>>

export interface FieldRow {
  /** The path of the enclosing fields, ending in a dot: `data[].`. */
  within: string
  name: string
  depth: number
  isRequired: boolean
  schema: Fields
}

/** A heading for the fields of one form, if a value can have several. */
export interface FormRow {
  form: string
  depth: number
}

export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The alternatives of a schema, including nested unions; the schema itself if it has none. */
function variantsOf(schema: Fields): readonly Fields[] {
  const variants = [...listOf(schema.anyOf), ...listOf(schema.oneOf)].map(fieldsOf)
  return variants.length === 0 ? [schema] : variants.flatMap(variantsOf)
}

export function typeOf(schema: Fields): string {
  const names = variantsOf(schema).flatMap(({ type, items }) => {
    if (type === 'array') return [`array of ${typeOf(fieldsOf(items))}`]
    return Array.isArray(type) ? type.map(String) : [textOf(type) || 'any']
  })
  return [...new Set(names)].join(' or ')
}

/** All fields of a schema; those of a nested object follow the field that contains it. */
export function fieldRows(schema: Fields, depth = 0, within = ''): (FieldRow | FormRow)[] {
  const forms = variantsOf(schema)
    .flatMap((form) => (form.type === 'array' ? variantsOf(fieldsOf(form.items)) : [form]))
    .filter(({ properties }) => Object.keys(fieldsOf(properties)).length > 0)
  return forms.flatMap((form, at) => {
    const rows = Object.entries(fieldsOf(form.properties)).flatMap(([name, property]) => {
      const field = fieldsOf(property)
      const isRequired = listOf(form.required).includes(name)
      const holder = `${within}${name}${typeOf(field).startsWith('array') ? '[]' : ''}.`
      return [
        { within, name, depth, isRequired, schema: field },
        ...fieldRows(field, depth + 1, holder),
      ]
    })
    return forms.length === 1 ? rows : [{ form: formName(forms, at), depth }, ...rows]
  })
}

/** Names a form after the fields that no other form has. */
function formName(forms: readonly Fields[], at: number): string {
  const names = forms.map(({ properties }) => Object.keys(fieldsOf(properties)))
  const own = (names[at] ?? []).filter((name) =>
    names.every((others, other) => other === at || !others.includes(name)),
  )
  const ordinal = `Form ${at + 1} of ${forms.length}`
  return own.length === 0 ? ordinal : `${ordinal}, with ${own.join(', ')}`
}

const limits: readonly [string, (limit: string) => string][] = [
  ['minimum', (limit) => `at least ${limit}`],
  ['exclusiveMinimum', (limit) => `more than ${limit}`],
  ['maximum', (limit) => `at most ${limit}`],
  ['exclusiveMaximum', (limit) => `less than ${limit}`],
  ['minLength', (limit) => `at least ${limit} characters`],
  ['maxLength', (limit) => `at most ${limit} characters`],
  ['minItems', (limit) => `at least ${limit} items`],
  ['maxItems', (limit) => `at most ${limit} items`],
  ['default', (value) => `${value} by default`],
]

/** What a value must be: its description, then the constraints that the description omits. */
export function rulesOf(schema: Fields) {
  const rule = variantsOf(schema).find(({ type }) => type !== 'null') ?? schema
  const text = textOf(schema.description) || textOf(rule.description)
  const told = new Set(text.split(/[^\w.+-]+/).map((word) => word.replace(/\.$/, '')))
  const values = listOf(rule.enum).map(String)
  return {
    text,
    values: values.every((value) => told.has(value)) ? [] : values,
    limits: limits
      .filter(([key]) => rule[key] !== undefined && !told.has(String(rule[key])))
      .map(([key, inWords]) => inWords(String(rule[key]))),
    pattern: textOf(rule.pattern),
  }
}

const txnId = '1-019c12f2a4c07b3e9d5f60718293a4b5'
const link = 'https://pay.example/pay/9f3c1b7e'

/** A plausible order by field name, so that the examples are consistent. */
const samples = new Map<string, unknown>(
  Object.entries({
    refId: 'order-1001',
    ref_id: 'order-1001',
    userId: 'user-42',
    user_id: 'user-42',
    txn_id: txnId,
    amount: 500,
    fee: 7.5,
    paid_amount: 500,
    paidAmount: 500,
    accountName: 'Somchai Jaidee',
    account_name: 'Somchai Jaidee',
    accountNo: '1234567890',
    account_number: '1234567890',
    payerAccountNo: '1234567890',
    bankCode: 'KBANK',
    bank_code: 'KBANK',
    timestamp: '2026-01-31T08:30:00Z',
    extraParams: { basket: 'B-7' },
    method: 'link+qrcode+transfer',
    link,
    qrcode_text: '00020101021230570016A000000677010111',
    qrcode_date_url: 'data:image/png;base64,iVBORw0KGgo…',
    expires_in: 900,
    status: 'PAID',
    created_at: '2026-01-31 08:30:00',
    completed_at: '2026-01-31 08:32:10',
    at: '2026-01-31 08:32:10',
    currency: defaultCurrency,
    balance: 12992.5,
    held: 0,
    reserve: 0,
    held_change: 0,
    seq: 42,
    event: 'deposit_paid',
    reason: null,
    delivery: 'delivered',
    body: `{"refId":"order-1001","transactionId":"${txnId}","userId":"user-42","amount":500,"fee":7.5,"status":"PAID","extParams":{"basket":"B-7"},"successAt":"2026-01-31 08:32:10","wallet":{"balance":12992.5}}`,
    next: null,
    code: 'KBANK',
    name: 'Kasikornbank',
    numeric_code: '004',
    swift: 'KASITHBK',
    aliases: ['004'],
    closed: false,
  }),
)

/** A value that the schema allows; the sample for its name if it fits. */
export function exampleOf(schema: Fields, name = ''): unknown {
  if (schema.example !== undefined) return schema.example
  const sample = samples.get(name)
  const variants = variantsOf(schema)
  if (sample !== undefined && variants.some((variant) => allows(variant, sample))) return sample
  const rule = variants.find(({ type }) => type !== 'null') ?? schema
  const given = [rule.example, rule.const, listOf(rule.enum)[0], rule.default]
  return given.find((value) => value !== undefined) ?? madeUp(rule, name)
}

function madeUp(schema: Fields, name: string): unknown {
  switch (listOf(schema.type)[0] ?? schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(fieldsOf(schema.properties)).map(([field, property]) => [
          field,
          exampleOf(fieldsOf(property), field),
        ]),
      )
    case 'array':
      return [exampleOf(fieldsOf(schema.items), name)]
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return true
    case 'string':
      return 'text'
    default:
      return null
  }
}

function allows(schema: Fields, value: unknown): boolean {
  if (schema.enum !== undefined && !listOf(schema.enum).includes(value)) return false
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && new RegExp(textOf(schema.pattern), 'u').test(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isFields(value) && schema.properties === undefined
    default:
      return false
  }
}
