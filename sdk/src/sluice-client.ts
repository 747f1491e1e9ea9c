import type {
  BankList,
  Deposit,
  DepositOrder,
  EventPage,
  OrderPage,
  OrderQuery,
  OrderRequest,
  OutcomeEvent,
  Resent,
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
  /** Where the service is, with its path if it has one: https://pay.example or https://example.com/pay. */
  baseUrl: string
  appId: string
  /** Exactly as it was shown. */
  secret: string
  /** How long one attempt may take, from the first byte to the last; 10 seconds unless told. */
  timeoutMs?: number
  /** How often a call that failed in passing is repeated; 3 times unless told, 0 for never. */
  retries?: number
  /** Instead of the fetch of the runtime. */
  fetch?: Connection['fetch']
}

export interface CallOptions {
  /** Gives the call up. A creation that was sent has an unknown outcome then, and says so. */
  signal?: AbortSignal | undefined
}

/** A deposit or a withdrawal to be made. The timestamp is set when it is sent. */
export type NewOrder = Omit<OrderRequest, 'timestamp' | 'amount'> & {
  /** In whole units: 250 is 250 baht. From 1 to 10^12. */
  amount: number | bigint
}

export interface Created<T> {
  order: T
  /** The refId was known with the same contents: this is the answer of the first time. */
  replayed: boolean
  /** The service's name for the request. */
  requestId: string | undefined
}

/** An order as it is now; `kind` tells which of the two. */
export type Order = DepositOrder | WithdrawOrder

export type OrderFilter = Omit<OrderQuery, 'refId' | 'from' | 'to'> & {
  /** Created then or later. */
  from?: Date | string
  /** Created before it. */
  to?: Date | string
}

export interface Page<Item, Cursor> {
  data: Item[]
  /** To be passed as `after`; null on the last page. */
  next: Cursor | null
}

export type SluiceClient = ReturnType<typeof createClient>

/** The API of one agent. Every answer is as the service gives it; every failure is a SluiceError. */
export function createClient(options: ClientOptions) {
  const connection = connect(options)

  async function ask<T>(call: Call): Promise<T> {
    return (await sendRequest<T>(connection, call)).value
  }
  const get = <T>(path: string, query: Query, { signal }: CallOptions) =>
    ask<T>({ method: 'GET', path: path + queryText(query), signal })

  async function create<T>(path: string, order: NewOrder, { signal }: CallOptions) {
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
  const listEvents = (query: SeqQuery = {}, options: CallOptions = {}) =>
    get<EventPage>('/payment/events', query, options)
  const listWalletEntries = (query: SeqQuery = {}, options: CallOptions = {}) =>
    get<WalletEntryPage>('/payment/wallet/entries', query, options)

  return {
    /** Asks for money from a payer. Safe to repeat with the same refId. */
    createDeposit: (order: NewOrder, options: CallOptions = {}) =>
      create<Deposit>('/payment/deposit', order, options),

    /** Pays out to a bank account. Safe to repeat with the same refId. */
    createWithdraw: (order: NewOrder, options: CallOptions = {}) =>
      create<Withdraw>('/payment/withdraw', order, options),

    getOrder: (txnId: string, options: CallOptions = {}) =>
      get<Order>(`/payment/orders/${encodeURIComponent(txnId)}`, {}, options),

    getOrderByRefId: (refId: string, options: CallOptions = {}) =>
      get<Order>('/payment/orders', { refId }, options),

    /** One page of orders, newest first. */
    listOrders,

    /** All orders that fit, newest first, page by page as they are asked for. */
    eachOrder: (filter: OrderFilter = {}, options: CallOptions = {}): AsyncGenerator<Order> =>
      eachOf(filter, (query) => listOrders(query, options)),

    /** A waiting withdrawal becomes CANCEL, a waiting deposit VOID. Safe to repeat. */
    cancelOrder: (txnId: string, { signal }: CallOptions = {}) =>
      ask<Order>({
        method: 'POST',
        path: `/payment/orders/${encodeURIComponent(txnId)}/cancel`,
        signal,
      }),

    getWallet: (options: CallOptions = {}) => get<Wallet>('/payment/wallet', {}, options),

    /** One page of the wallet's journal, oldest first. */
    listWalletEntries,

    /** The wallet's journal after a seq, oldest first. */
    eachWalletEntry: (
      query: SeqQuery = {},
      options: CallOptions = {},
    ): AsyncGenerator<WalletEntry> => eachOf(query, (from) => listWalletEntries(from, options)),

    /** The banks of the agent's currency. */
    listBanks: async (options: CallOptions = {}) =>
      (await get<BankList>('/payment/banks', {}, options)).data,

    /** One page of outcomes, oldest first. */
    listEvents,

    /** The outcomes after a seq, oldest first, up to now: what an agent that was down has missed. */
    eachEvent: (query: SeqQuery = {}, options: CallOptions = {}): AsyncGenerator<OutcomeEvent> =>
      eachOf(query, (from) => listEvents(from, options)),

    /** Sends a callback again. */
    resendEvent: (seq: number, { signal }: CallOptions = {}) =>
      ask<Resent>({ method: 'POST', path: `/payment/events/${seq}/resend`, signal }),

    /**
     * Only in the sandbox: makes its bank say that something happened. Not repeated by itself, because
     * two payments are two payments.
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

/** The body of a creation. Everything but the timestamp is written down once, for all attempts. */
function orderBody(order: NewOrder): () => string {
  const fields = Object.entries(order)
    .filter(([name, value]) => name !== 'timestamp' && value !== undefined)
    .map(([name, value]) => {
      // A bigint as its digits: a JSON number may be longer than a double can hold.
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
