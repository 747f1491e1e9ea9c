/** What the package exports. */

export type { CallbackHandlerOptions, CallbackInfo } from './answer-callback.ts'
export type * from './api-schemas.ts'
export {
  type Callback,
  type DepositCallback,
  parseCallback,
  type WithdrawCallback,
} from './callback.ts'
export { expressCallbacks } from './express-callbacks.ts'
export { type FastifyCallbackOptions, fastifyCallbacks } from './fastify-callbacks.ts'
export { fetchCallbacks } from './fetch-callbacks.ts'
export { type MadeCallback, type MakeCallbackOptions, makeCallback } from './make-callback.ts'
export {
  type CallOptions,
  type ClientOptions,
  type Created,
  createClient,
  type NewOrder,
  type NewRefund,
  type Order,
  type OrderFilter,
  type Page,
  type SluiceClient,
} from './sluice-client.ts'
export { type FieldError, SluiceError, type SluiceErrorCode } from './sluice-error.ts'
export {
  type CallbackHeaders,
  CallbackRefused,
  type RefusalReason,
  type VerifyOptions,
  verifyCallback,
} from './verify-callback.ts'
