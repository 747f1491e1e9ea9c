/** Every refusal the service gives: its code for programs, its status and its title for people. */
export const problemCatalogue = {
  malformed_request: [400, 'This is not a request over HTTP'],
  malformed_json: [400, 'The body is not valid JSON'],
  duplicate_json_key: [400, 'A key stands twice in one object of the body'],
  invalid_signature: [401, 'The signature is not valid'],
  stale_signature: [401, 'The signature is too old or from the future'],
  agent_suspended: [403, 'The agent is suspended'],
  ip_not_allowed: [403, 'Requests from this address are not allowed'],
  order_not_found: [404, 'There is no such order'],
  not_found: [404, 'There is nothing here'],
  method_not_allowed: [405, 'This address does not take that method'],
  request_timeout: [408, 'The request did not arrive in time'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be plain application/json'],
  ref_id_conflict: [409, 'This refId belongs to another order'],
  order_not_cancellable: [409, 'The order can no longer be cancelled'],
  invalid_transition: [409, 'The order cannot go to that state'],
  invalid_request: [422, 'The request is not valid'],
  amount_out_of_range: [422, 'The amount is outside the limits'],
  unknown_bank_code: [422, 'The bank code is not known'],
  insufficient_balance: [422, 'The balance does not cover amount and fee'],
  rate_limited: [429, 'Too many requests'],
  headers_too_large: [431, 'The headers are too large'],
  overloaded: [503, 'The service cannot take this now'],
  provider_unavailable: [503, 'No payment provider can take this now'],
  internal: [500, 'Something went wrong here'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof problemCatalogue

export interface FieldError {
  field: string
  message: string
}

export interface ProblemExtras {
  errors?: FieldError[]
  retryAfterS?: number
  /** For the log alone; never told to the client. */
  cause?: unknown
}

/** A refusal that is told to whoever asked. `detail` says what to do. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly errors: FieldError[] | undefined
  readonly retryAfterS: number | undefined

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, { cause: extras.cause })
    this.name = 'Problem'
    this.code = code
    this.status = problemCatalogue[code][0]
    this.errors = extras.errors
    this.retryAfterS = extras.retryAfterS
  }

  toJSON(requestId: string) {
    return {
      type: `urn:sluice:problem:${this.code}`,
      title: problemCatalogue[this.code][1],
      status: this.status,
      detail: this.message,
      code: this.code,
      request_id: requestId,
      ...(this.errors && { errors: this.errors }),
    }
  }
}
