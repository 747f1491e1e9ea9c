import type { ProblemCode } from './problem.ts'

/** What an agent should do about each refusal; used in the API reference and docs/errors.md. */
export const problemAdvice: Record<ProblemCode, string> = {
  malformed_request: 'Send HTTP/1.1 with a library; something in between may have cut the request.',
  malformed_json:
    'Write the body with a JSON library, in UTF-8; `detail` says where it breaks off.',
  duplicate_json_key: 'Send each key once; `detail` names the one that stands twice.',
  invalid_signature:
    'Check app id, secret and what is signed with `sluice sign --check`. An unknown app id is answered alike.',
  stale_signature:
    'Set the clock; sign each attempt anew, repeats too. `detail` tells the time of the service.',
  agent_suspended: 'Ask the operator. Reads, outcomes and callbacks go on.',
  ip_not_allowed:
    'Send from an address the operator knows, or have yours added; `detail` names it.',
  scope_missing:
    'Sign with a secret that has the scope which `detail` names, or have the operator make one.',
  order_not_found:
    'Look at the `txn_id` or `refId`, and whether it is of this agent. After a creation without an answer, repeat the creation instead.',
  not_found: 'Look at the path; `/openapi.json` lists them all.',
  method_not_allowed: 'Use a method that the header `allow` names.',
  request_timeout: 'Send the whole request within 30 seconds; repeat it.',
  body_too_large: 'A body has at most 16 KiB; keep what is larger on your side and send its key.',
  unsupported_media_type:
    'Send `content-type: application/json` and no `content-encoding`: bodies are not compressed.',
  expectation_failed: 'Send `expect: 100-continue` or no `expect` at all.',
  ref_id_conflict:
    'This `refId` is taken by an order with other contents. Read that order; take a new `refId` only for another payment.',
  order_not_cancellable:
    'It is over, or with a provider already; its outcome comes by callback. Read the order.',
  order_not_refundable:
    'Only a deposit that is PAID can be refunded; read the order. If `detail` says that it has changed, repeat.',
  invalid_transition: 'The order is in a state from which this cannot follow; read it first.',
  invalid_request: 'Correct every field that `errors` names, then send it again.',
  amount_out_of_range: 'Keep to the limits the operator has set for you; `detail` tells which.',
  unknown_bank_code:
    'Take a code from `GET /payment/banks`; closed banks are refused too. If that list is empty, send the BIC, or the IFSC of a bank in India.',
  refund_exceeds_payment:
    'Refunds that wait or are paid count against what was paid; `detail` tells what is left.',
  limit_exceeded:
    'A limit of the operator does not allow it: `limit` names it and tells when it frees. Repeat then, with the same `refId`; if `frees_at` is null, ask the operator.',
  provider_refused:
    'The order is FAILED, and a repeat is answered alike. `detail` says what the provider gives as its reason; correct it and send a new order with a new `refId`.',
  insufficient_balance: 'Wait for deposits or lower the amount: amount and fee must be available.',
  rate_limited: 'Wait for `retry-after` seconds; `ratelimit-*` headers tell how much is left.',
  headers_too_large: 'The headers of a request have at most 16 KiB together: send fewer cookies.',
  overloaded:
    'Repeat the same request after `retry-after` seconds: it may or may not have happened.',
  provider_unavailable:
    'Repeat after `retry-after` seconds. In live it can mean that no provider is set up for such an order.',
  http_version_not_supported: 'Send HTTP/1.1 or 1.0; HTTP/2 ends at the proxy in front.',
  internal:
    'Repeat the same request: it may or may not have happened. If it stays so, tell the operator the `request_id`.',
}
