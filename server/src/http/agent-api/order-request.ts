import type { JsonMembers } from '../../lib/json-members.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import {
  type Currency,
  decimalText,
  maxAmount,
  parseDecimal,
  toMinor,
  wholeNumber,
} from '../../lib/money.ts'
import type { FieldError } from '../../lib/problem.ts'
import { clockToleranceS } from '../../lib/signature.ts'
import type { OrderRequest, RefundRequest } from '../../teller/desk.ts'
import { checker, invalidRequest, messageOf } from '../check.ts'
import { readJsonBody } from '../json-body.ts'
import { OrderRequest as OrderRequestSchema, RefundShape } from './schemas.ts'

const order = checker(OrderRequestSchema)
const refund = checker(RefundShape)
const maxExtraParamsBytes = 4096
const maxExtraParamsDepth = 5

/** Reads the order from a body, or throws a problem that names all bad fields at once. */
export function readOrderRequest(raw: Buffer, now: Date): OrderRequest {
  const { value, members } = readJsonBody(raw)
  const errors = order.errors(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest(errors)
  }
  const amount = wholeNumber(members.textOf.get('amount') ?? '')
  const isBad = errors.some(({ field }) => field === 'amount')
  if (!isBad && (amount === undefined || amount < 1n || amount > maxAmount)) {
    errors.push(refuse('amount'))
  }
  const fields = value as Record<string, string>
  checkTimestamp(fields, now, errors)
  const extraParams = extraParamsIn(members, errors)
  if (errors.length > 0 || amount === undefined) throw invalidRequest(errors)
  return {
    refId: fields.refId ?? '',
    userId: fields.userId ?? '',
    amount,
    accountName: fields.accountName ?? '',
    // Stored without separators, so that a repeat is recognised however the number is grouped.
    accountNo: (fields.accountNo ?? '').replace(/[ -]/g, ''),
    bankCode: fields.bankCode ?? '',
    extraParams,
  }
}

/** The same for a refund; its amount may be any that the currency has. */
export function readRefundRequest(raw: Buffer, currency: Currency, now: Date): RefundRequest {
  const { value, members } = readJsonBody(raw)
  const errors = refund.errors(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest(errors)
  }
  const amountMinor = minorOf(members.textOf.get('amount') ?? '', currency)
  if (!errors.some(({ field }) => field === 'amount') && !amountMinor) {
    const message = `must be a positive multiple of ${decimalText(1n, currency)}`
    errors.push({ field: 'amount', message })
  }
  const fields = value as Record<string, string>
  checkTimestamp(fields, now, errors)
  const extraParams = extraParamsIn(members, errors)
  if (errors.length > 0 || amountMinor === undefined) throw invalidRequest(errors)
  return { refId: fields.refId ?? '', amountMinor, extraParams }
}

/** The amount in minor units, from the literal text of a JSON number in any notation. */
export function minorOf(text: string, currency: Currency): bigint | undefined {
  const whole = wholeNumber(text)
  return whole === undefined ? parseDecimal(text, currency) : toMinor(whole, currency)
}

function refuse(field: keyof typeof OrderRequestSchema.properties): FieldError {
  return { field, message: messageOf(OrderRequestSchema.properties[field]) }
}

function checkTimestamp(fields: Record<string, string>, now: Date, errors: FieldError[]): void {
  if (!('timestamp' in fields) || errors.some(({ field }) => field === 'timestamp')) return
  const at = parseIsoTime(fields.timestamp ?? '')
  const offMs = at ? Math.abs(at.getTime() - now.getTime()) : Number.POSITIVE_INFINITY
  if (offMs > clockToleranceS * 1000) errors.push(refuse('timestamp'))
}

/** The very text that was sent; null for none. */
function extraParamsIn({ textOf, depthOf }: JsonMembers, errors: FieldError[]): string | null {
  const sent = textOf.get('extraParams')
  if (sent === undefined || sent === 'null') return null
  if (
    !errors.some(({ field }) => field === 'extraParams') &&
    (Buffer.byteLength(sent) > maxExtraParamsBytes ||
      (depthOf.get('extraParams') ?? 0) > maxExtraParamsDepth)
  ) {
    errors.push(refuse('extraParams'))
  }
  return sent
}
