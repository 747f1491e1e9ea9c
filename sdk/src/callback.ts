interface CallbackFields {
  /** The agent's own id of the order. */
  refId: string
  /** The service's id of the order: `txn_id` in the API. */
  transactionId: string
  userId: string
  /** For a PAID deposit, the amount actually paid; otherwise the amount of the order. */
  amount: number
  /** The order's fee as of this outcome. */
  fee: number
  /** The extraParams of the order. */
  extParams: Record<string, unknown>
  /** When the outcome became known: YYYY-MM-DD HH:mm:ss in the service's time zone. */
  successAt: string
  /** The available balance as of this outcome. */
  wallet: { balance: number }
}

export const depositStatuses = ['PAID', 'FAILED', 'EXPIRED', 'VOID'] as const
export const withdrawStatuses = ['PAID', 'FAILED', 'REVERT', 'CANCEL'] as const

/** The outcome of a deposit. */
export interface DepositCallback extends CallbackFields {
  status: (typeof depositStatuses)[number]
  /** True if the payer's account is not the order's. Only some providers report it. */
  flag_incorrect_payee?: boolean
  /** The payer. Only some providers report it. */
  payee?: { account_no: string | null; account_name: string | null; bank_code: string | null }
}

/** The outcome of a withdrawal. */
export interface WithdrawCallback extends CallbackFields {
  status: (typeof withdrawStatuses)[number]
}

export type Callback = DepositCallback | WithdrawCallback

const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const statuses = new Set<unknown>([...depositStatuses, ...withdrawStatuses])

/** The fields of every callback, with the check for each. */
export const callbackFields: Record<keyof Callback, (value: unknown) => boolean> = {
  refId: isText,
  transactionId: isText,
  userId: isText,
  amount: isNumber,
  fee: isNumber,
  status: (value) => statuses.has(value),
  extParams: isObject,
  successAt: isText,
  wallet: (value) => isObject(value) && isNumber(value.balance),
}

/** Reads the body of a callback, or of an event from the API. Throws if it is not one. */
export function parseCallback(body: string): Callback {
  const value: unknown = JSON.parse(body)
  if (!isObject(value)) throw new TypeError('it is not a JSON object')
  const bad = Object.entries(callbackFields)
    .filter(([name, fits]) => !fits(value[name]))
    .map(([name]) => name)
  if (bad.length > 0) throw new TypeError(`${bad.join(', ')} is missing or of another type`)
  // Every field was checked above.
  return value as unknown as Callback
}
