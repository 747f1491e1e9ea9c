import type {
  BankList,
  Deposit,
  DepositOrder,
  EventPage,
  EventQuery,
  OrderPage,
  OrderQuery,
  OrderRequest,
  OutcomeEvent,
  RefundRequest,
  Resent,
  Reserve,
  SeqQuery,
  Trigger,
  Wallet,
  WalletEntry,
  WalletEntryPage,
  Withdraw,
  WithdrawOrder,
} from './api-schemas.ts'
import { type Call, type Connection, sendRequest } from './send-request.ts'

export interface ClientOptions {
  /** The service's address, including its path if any: https://pay.example or https://example.com/pay. */
  baseUrl: string
  appId: string
  /** The secret, exactly as the service showed it. */
  secret: string
  /** How long one attempt may take, from the first byte to the last; 10 seconds by default. */
  timeoutMs?: number
  /** How many times to repeat a call after a temporary failure; 3 by default, 0 for never. */
  retries?: number
  /** Replaces the runtime's fetch. */
  fetch?: Connection['fetch']
}

export interface CallOptions {
  /** Aborts the call. A creation that was already sent then rejects with an unknown outcome. */
  signal?: AbortSignal | undefined
}

/** A deposit or withdrawal to create. The client sets the timestamp when it sends the request. */
export type NewOrder = Omit<OrderRequest, 'timestamp' | 'amount'> & {
  /** In whole units: 250 is 250 baht. From 1 to 10^12. */
  amount: number | bigint
}

/** A refund to create. It goes back to the payer: its destination cannot be chosen. */
export type NewRefund = Omit<RefundRequest, 'timestamp' | 'amount'> & {
  /** The whole payment or a part of it, such as 250 or 99.5. */
  amount: number | bigint
}

export interface Created<T> {
  order: T
  /** Whether the order existed already, with the same refId and contents; this is then its first answer. */
  replayed: boolean
  /** The service's id of the request. */
  requestId: string | undefined
}

/** An order in its current state; `kind` says whether it is a deposit or a withdrawal. */
export type Order = DepositOrder | WithdrawOrder

export type OrderFilter = Omit<OrderQuery, 'refId' | 'from' | 'to'> & {
  /** Only orders created at this time or later. */
  from?: Date | string
  /** Only orders created before this time. */
  to?: Date | string
}

export interface Page<Item, Cursor> {
  data: Item[]
  /** Pass it as `after` to get the next page; null on the last page. */
  next: Cursor | null
}

export type SluiceClient = ReturnType<typeof createClient>

/** The API of one agent. Answers have the service's own format; every failure is a SluiceError. */
export function createClient(options: ClientOptions) {
  const connection = connect(options)

  async function ask<T>(call: Call): Promise<T> {
    return (await sendRequest<T>(connection, call)).value
  }
  const get = <T>(path: string, query: Query, { signal }: CallOptions) =>
    ask<T>({ method: 'GET', path: path + queryText(query), signal })

  async function create<T>(path: string, order: NewOrder | NewRefund, { signal }: CallOptions) {
    const { refId } = order
    const call: Call = { method: 'POST', path, body: orderBody(order), refId, signal }
    const { value, headers } = await sendRequest<T>(connection, call)
    const created: Created<T> = {
      order: value,
      replayed: headers.get('idempotent-replayed') === 'true',
      requestId: headers.get('x-request-id') ?? undefined,
    }
    return created
  }

  const listOrders = (filter: OrderFilter = {}, options: CallOptions = {}) =>
    get<Page<Order, NonNullable<OrderPage['next']>>>('/payment/orders', filter, options)
  const listEvents = (query: EventQuery = {}, options: CallOptions = {}) =>
    get<EventPage>('/payment/events', query, options)
  const listWalletEntries = (query: SeqQuery = {}, options: CallOptions = {}) =>
    get<WalletEntryPage>('/payment/wallet/entries', query, options)

  return {
    /** Creates a deposit, to collect money from a payer. Safe to repeat with the same refId. */
    createDeposit: (order: NewOrder, options: CallOptions = {}) =>
      create<Deposit>('/payment/deposit', order, options),

    /** Creates a withdrawal, to pay out to a bank account. Safe to repeat with the same refId. */
    createWithdraw: (order: NewOrder, options: CallOptions = {}) =>
      create<Withdraw>('/payment/withdraw', order, options),

    /**
     * Refunds a deposit that is PAID, whole or in part: a withdrawal to the payer, with its own refId. Safe to
     * repeat with the same refId.
     */
    refundOrder: (txnId: string, refund: NewRefund, options: CallOptions = {}) =>
      create<Withdraw>(`/payment/orders/${encodeURIComponent(txnId)}/refund`, refund, options),

    getOrder: (txnId: string, options: CallOptions = {}) =>
      get<Order>(`/payment/orders/${encodeURIComponent(txnId)}`, {}, options),

    getOrderByRefId: (refId: string, options: CallOptions = {}) =>
      get<Order>('/payment/orders', { refId }, options),

    /** One page of orders, newest first. */
    listOrders,

    /** Iterates over all matching orders, newest first, fetching pages as needed. */
    eachOrder: (filter: OrderFilter = {}, options: CallOptions = {}): AsyncGenerator<Order> =>
      eachOf(filter, (query) => listOrders(query, options)),

    /** Cancels a waiting order: a withdrawal becomes CANCEL, a deposit VOID. Safe to repeat. */
    cancelOrder: (txnId: string, { signal }: CallOptions = {}) =>
      ask<Order>({
        method: 'POST',
        path: `/payment/orders/${encodeURIComponent(txnId)}/cancel`,
        signal,
      }),

    getWallet: (options: CallOptions = {}) => get<Wallet>('/payment/wallet', {}, options),

    /** What is held back of deposits until its days are over. It is not in the balance. */
    getReserve: (options: CallOptions = {}) => get<Reserve>('/payment/wallet/reserve', {}, options),

    /** One page of the wallet's journal, oldest first. */
    listWalletEntries,

    /** Iterates over the wallet's journal after a seq, oldest first. */
    eachWalletEntry: (
      query: SeqQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<WalletEntry> => eachOf(query, (from) => listWalletEntries(from, options)),

    /** The banks of the agent's currency. */
    listBanks: async (options: CallOptions = {}) =>
      (await get<BankList>('/payment/banks', {}, options)).data,

    /** One page of outcomes, oldest first. */
    listEvents,

    /**
     * Iterates over the outcomes after a seq, oldest first, up to now. Use it to catch up after downtime. With the epoch
     * of that seq, outcomes are told that took the numbers of others when the service was restored from a backup.
     */
    eachEvent: (
      query: EventQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<OutcomeEvent> => {
      let { epoch } = query
      return eachOf(query, async (from) => {
        const page = await listEvents({ ...from, ...(epoch !== undefined && { epoch }) }, options)
        epoch = page.data.at(-1)?.epoch ?? epoch
        return page
      })
    },

    /** Sends a callback again. */
    resendEvent: (seq: number, { signal }: CallOptions = {}) =>
      ask<Resent>({ method: 'POST', path: `/payment/events/${seq}/resend`, signal }),

    /**
     * Sandbox only: makes the sandbox's bank report an outcome. The client does not retry this call, because
     * a repeat could pay the order twice.
     */
    triggerOutcome: (txnId: string, trigger: Trigger, { signal }: CallOptions = {}) =>
      ask<Order>({
        method: 'POST',
        path: `/sandbox/orders/${encodeURIComponent(txnId)}`,
        body: () => JSON.stringify(trigger),
        once: true,
        signal,
      }),
  }
}

function connect(options: ClientOptions): Connection {
  const { appId, secret, timeoutMs = 10_000, retries = 3 } = options
  const baseUrl = new URL(options.baseUrl)
  if (!/^https?:$/.test(baseUrl.protocol) || baseUrl.search !== '' || baseUrl.hash !== '') {
    throw new TypeError('baseUrl must be an http or https address without a query')
  }
  if (!appId) throw new TypeError('appId is missing')
  if (!secret) throw new TypeError('secret is missing')
  if (secret !== secret.trim()) throw new TypeError('secret has white space around it')
  return {
    baseUrl,
    appId,
    secret,
    timeoutMs,
    retries,
    // Some runtimes refuse to run their fetch as the method of another object.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  }
}

/** The body of a creation. All attempts share everything but the timestamp. */
function orderBody(order: NewOrder | NewRefund): () => string {
  const fields = Object.entries(order)
    .filter(([name, value]) => name !== 'timestamp' && value !== undefined)
    .map(([name, value]) => {
      // A bigint is written as its digits, because a double cannot hold every JSON number.
      const text = typeof value === 'bigint' ? String(value) : JSON.stringify(value)
      return `${JSON.stringify(name)}:${text},`
    })
    .join('')
  return () => `{${fields}"timestamp":"${new Date().toISOString()}"}`
}

type Query = Record<string, string | number | Date | undefined>

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    return [[name, value instanceof Date ? value.toISOString() : String(value)]]
  })
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

async function* eachOf<Q extends { after?: C }, Item, C>(
  query: Q,
  list: (query: Q) => Promise<Page<Item, C>>,
): AsyncGenerator<Item, void, undefined> {
  for (let page = await list(query); ; ) {
    yield* page.data
    if (page.next === null) return
    page = await list({ ...query, after: page.next })
  }
}
