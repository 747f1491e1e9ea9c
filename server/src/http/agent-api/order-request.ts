import { parseIsoTime } from '../../lib/local-time.ts'
import { maxAmount, wholeNumber } from '../../lib/money.ts'
import type { FieldError } from '../../lib/problem.ts'
import { clockToleranceS } from '../../lib/signature.ts'
import type { OrderRequest } from '../../teller/desk.ts'
import { checker, invalidRequest, messageOf } from '../check.ts'
import { readJsonBody } from '../json-body.ts'
import { OrderRequest as OrderRequestSchema } from './schemas.ts'

const order = checker(OrderRequestSchema)
const maxExtraParamsBytes = 4096
const maxExtraParamsDepth = 5

/** Reads the order from a body, or throws a problem that names all bad fields at once. */
export function readOrderRequest(raw: Buffer, now: Date): OrderRequest {
  const { value, members } = readJsonBody(raw)
  const errors = order.errors(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest(errors)
  }
  const bad = (field: string) => errors.some((error) => error.field === field)
  const refuse = (field: keyof typeof OrderRequestSchema.properties): FieldError => ({
    field,
    message: messageOf(OrderRequestSchema.properties[field]),
  })

  const amount = wholeNumber(members.textOf.get('amount') ?? '')
  if (!bad('amount') && (amount === undefined || amount < 1n || amount > maxAmount)) {
    errors.push(refuse('amount'))
  }
  const fields = value as Record<string, string>
  if ('timestamp' in value && !bad('timestamp')) {
    const at = parseIsoTime(fields.timestamp ?? '')
    const offMs = at ? Math.abs(at.getTime() - now.getTime()) : Number.POSITIVE_INFINITY
    if (offMs > clockToleranceS * 1000) errors.push(refuse('timestamp'))
  }
  const sent = members.textOf.get('extraParams')
  const extraParams = sent === undefined || sent === 'null' ? null : sent
  if (
    extraParams !== null &&
    !bad('extraParams') &&
    (Buffer.byteLength(extraParams) > maxExtraParamsBytes ||
      (members.depthOf.get('extraParams') ?? 0) > maxExtraParamsDepth)
  ) {
    errors.push(refuse('extraParams'))
  }
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
