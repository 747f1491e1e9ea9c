/** Every refusal that agents may get: a code for programs, the HTTP status and a title for people. */
export const problemCatalogue = {
  malformed_request: [400, 'This is not a request over HTTP'],
  malformed_json: [400, 'The body is not valid JSON'],
  duplicate_json_key: [400, 'A key stands twice in one object of the body'],
  invalid_signature: [401, 'The signature is not valid'],
  stale_signature: [401, 'The signature is too old or from the future'],
  agent_suspended: [403, 'The agent is suspended'],
  ip_not_allowed: [403, 'Requests from this address are not allowed'],
  scope_missing: [403, 'The secret may not do this'],
  order_not_found: [404, 'There is no such order'],
  not_found: [404, 'There is nothing here'],
  method_not_allowed: [405, 'This address does not take that method'],
  request_timeout: [408, 'The request did not arrive in time'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be plain application/json'],
  expectation_failed: [417, 'What the header expect asks for cannot be met'],
  ref_id_conflict: [409, 'This refId belongs to another order'],
  order_not_cancellable: [409, 'The order can no longer be cancelled'],
  order_not_refundable: [409, 'The order cannot be refunded'],
  invalid_transition: [409, 'The order cannot go to that state'],
  invalid_request: [422, 'The request is not valid'],
  amount_out_of_range: [422, 'The amount is outside the limits'],
  unknown_bank_code: [422, 'The bank code is not known'],
  refund_exceeds_payment: [422, 'More than was paid cannot be refunded'],
  limit_exceeded: [422, 'A limit of the operator does not allow this'],
  provider_refused: [422, 'Every payment provider has refused this'],
  insufficient_balance: [422, 'The balance does not cover amount and fee'],
  rate_limited: [429, 'Too many requests'],
  headers_too_large: [431, 'The headers are too large'],
  overloaded: [503, 'The service cannot take this now'],
  provider_unavailable: [503, 'No payment provider can take this now'],
  http_version_not_supported: [505, 'The service speaks HTTP/1.1'],
  internal: [500, 'Something went wrong here'],
} as const satisfies Record<string, readonly [number, string]>

/** Refusals that only console users get. Kept apart because agents' programs rely on the list above. */
export const operatorProblemCatalogue = {
  not_signed_in: [401, 'You are not signed in'],
  sign_in_refused: [401, 'Sign-in refused'],
  sso_refused: [403, 'Single sign-on refused'],
  code_required: [403, 'This asks for a fresh code'],
  code_refused: [403, 'The code is not valid, or was used already'],
  not_permitted: [403, 'Your role may not do this'],
  view_ended: [403, 'You no longer see the console of this agent'],
  csrf_refused: [403, 'The request did not come from the console'],
  same_person: [403, 'Another person has to decide on this'],
  changed_meanwhile: [409, 'It has changed since you read it'],
  digest_changed: [409, 'This is not what was shown'],
  already_decided: [409, 'It is decided already'],
  slip_used: [409, 'This slip was used before'],
  proposal_expired: [409, 'The proposal has expired'],
  last_admin: [409, 'There would be no admin left'],
  reason_required: [422, 'This asks for a reason'],
  sso_unavailable: [503, 'Single sign-on cannot be used now'],
} as const satisfies Record<string, readonly [number, string]>

const catalogue = { ...problemCatalogue, ...operatorProblemCatalogue }

export type ProblemCode = keyof typeof problemCatalogue
export type OperatorProblemCode = keyof typeof operatorProblemCatalogue

export interface FieldError {
  field: string
  message: string
}

export interface ProblemExtras {
  errors?: FieldError[]
  retryAfterS?: number
  limit?: LimitNamed
  /** For the log only; clients never see it. */
  cause?: unknown
}

/** The limit that an order goes beyond, and when the same order might be taken; null if never. */
export interface LimitNamed {
  name: string
  frees_at: string | null
}

/** A refusal that the client sees. `detail` says what to do. */
export class Problem extends Error {
  readonly code: ProblemCode | OperatorProblemCode
  readonly status: number
  readonly errors: FieldError[] | undefined
  readonly retryAfterS: number | undefined
  readonly limit: LimitNamed | undefined

  constructor(code: ProblemCode | OperatorProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, { cause: extras.cause })
    this.name = 'Problem'
    this.code = code
    this.status = catalogue[code][0]
    this.errors = extras.errors
    this.retryAfterS = extras.retryAfterS
    this.limit = extras.limit
  }

  toJSON(requestId: string) {
    return {
      type: `urn:sluice:problem:${this.code}`,
      title: catalogue[this.code][1],
      status: this.status,
      detail: this.message,
      code: this.code,
      request_id: requestId,
      ...(this.errors && { errors: this.errors }),
      ...(this.limit && { limit: this.limit }),
    }
  }
}

/** A refusal caused by one field of the request. */
export function fieldProblem(field: string, message: string): Problem {
  return new Problem('invalid_request', `Correct ${field} and send the request again.`, {
    errors: [{ field, message }],
  })
}
