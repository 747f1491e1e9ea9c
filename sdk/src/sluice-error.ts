import type { Problem } from './api-schemas.ts'

/** The service's error codes; its API reference has a table of them. */
export const problemCodes = [
  'malformed_request',
  'malformed_json',
  'duplicate_json_key',
  'invalid_signature',
  'stale_signature',
  'agent_suspended',
  'ip_not_allowed',
  'scope_missing',
  'order_not_found',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'expectation_failed',
  'ref_id_conflict',
  'order_not_cancellable',
  'order_not_refundable',
  'invalid_transition',
  'invalid_request',
  'amount_out_of_range',
  'unknown_bank_code',
  'refund_exceeds_payment',
  'limit_exceeded',
  'provider_refused',
  'insufficient_balance',
  'rate_limited',
  'headers_too_large',
  'overloaded',
  'provider_unavailable',
  'http_version_not_supported',
  'internal',
] as const

/** The service's codes, and the client's own codes for failures without an answer from the service. */
export type SluiceErrorCode =
  | (typeof problemCodes)[number]
  /** There was no answer: the connection failed or timed out. */
  | 'no_answer'
  /** The answer did not come from the service, such as a proxy's error page. */
  | 'bad_answer'
  /** The order may or may not exist: repeat the request with the same refId. */
  | 'unknown_outcome'

export type FieldError = NonNullable<Problem['errors']>[number]

export interface SluiceErrorParts {
  code: string
  message: string
  status?: number | undefined
  requestId?: string | undefined
  errors?: FieldError[] | undefined
  retryable: boolean
  retryAfterS?: number | undefined
  refId?: string | undefined
  cause?: unknown
}

/** Why a call failed. `code` is for programs, `message` for people. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /** One of SluiceErrorCode, or a code that is newer than this package. */
  readonly code: SluiceErrorCode | (string & {})
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** The service's id of the request; include it when you ask for help. */
  readonly requestId: string | undefined
  /** All invalid fields. */
  readonly errors: FieldError[]
  /** Whether the same call may succeed later. */
  readonly retryable: boolean
  /** How long the service asked to wait, if it did. */
  readonly retryAfterS: number | undefined
  /** The refId of a creation whose outcome is unknown. */
  readonly refId: string | undefined

  constructor(parts: SluiceErrorParts) {
    super(parts.message, { cause: parts.cause })
    this.code = parts.code
    this.status = parts.status
    this.requestId = parts.requestId
    this.errors = parts.errors ?? []
    this.retryable = parts.retryable
    this.retryAfterS = parts.retryAfterS
    this.refId = parts.refId
  }
}

/** A creation that may or may not have happened. `last` is the error of its last attempt. */
export function unknownOutcome(refId: string, last: unknown): SluiceError {
  const why = last instanceof Error ? last.message : String(last)
  const { status, requestId, retryAfterS } = last instanceof SluiceError ? last : {}
  return new SluiceError({
    code: 'unknown_outcome',
    message: `The outcome of refId ${JSON.stringify(refId)} is unknown: there may be an order, or not. Repeat the call with the same refId and contents until it is answered; another refId could make a second order. The last attempt: ${why}`,
    status,
    requestId,
    retryAfterS,
    retryable: true,
    refId,
    cause: last,
  })
}
