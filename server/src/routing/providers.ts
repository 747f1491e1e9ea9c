import { createHash } from 'node:crypto'
import { hasRuleOfTwo } from '../approvals/approval-rules.ts'
import { type BankAccount, readBankAccounts } from '../bank-accounts/bank-account.ts'
import type { ConnectorsInUse } from '../connectors/connectors-in-use.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { OrderKind } from '../ledger/book.ts'
import { hasChecks } from '../ledger/limits-store.ts'
import { findBank } from '../lib/banks.ts'
import { lesser } from '../lib/lesser.ts'
import type { Currency } from '../lib/money.ts'
import { findPaymentFormat, payeeProblem } from '../payment-files/render-payment-file.ts'
import {
  type AccountToPay,
  makeBankAccountProvider,
} from '../providers/bank-account/bank-account-provider.ts'
import type { Provider } from '../providers/provider.ts'
import {
  isTakenBySome,
  type OrderToRoute,
  type ProviderState,
  type Route,
  type RoutingTable,
  routeOrder,
} from './route-order.ts'
import { readStops, type Stop } from './stops.ts'

/** The routing table is read again once it is older than this, and not used once it is twice as old. */
const freshMs = 500

/** The configured providers, and the operator's rules for routing orders to them. */
export class Providers {
  private readonly fixed: readonly Provider[]
  private readonly pool: Pool
  private readonly onError: (error: unknown) => void
  private table: RoutingTable = { states: new Map(), routes: [] }
  private stops: readonly Stop[] = []
  /** Whether some payouts wait for a second person, or for a time. */
  asksBeforePayouts = false
  /** The bank accounts, each as it was when its row was read last. */
  private accounts = new Map<string, { version: number; provider: Provider }>()
  /** Payment companies that are connected by a document. */
  readonly connectors: ConnectorsInUse | undefined
  private known: readonly Provider[]
  private readAt = Number.NEGATIVE_INFINITY
  private reading: Promise<void> | undefined

  /** The given providers are beside the bank accounts and connectors, which come from the database. */
  constructor(
    fixed: readonly Provider[],
    pool: Pool,
    onError: (error: unknown) => void,
    connectors?: ConnectorsInUse,
  ) {
    this.fixed = fixed
    this.connectors = connectors
    this.known = fixed
    this.pool = pool
    this.onError = onError
  }

  /** All providers that are known; `freshen` reads those that other processes have made. */
  get all(): readonly Provider[] {
    return this.known
  }

  /** Whether a name is that of a provider made in code. */
  isMadeInCode(name: string): boolean {
    return this.fixed.some((provider) => provider.name === name)
  }

  find(name: string | null): Provider | undefined {
    return this.all.find((provider) => provider.name === name)
  }

  async stateOf(name: string): Promise<ProviderState> {
    await this.freshen()
    return this.table.states.get(name) ?? 'on'
  }

  /**
   * The providers that may take the order, first choice first. The table in use is at most about a second
   * old.
   */
  async candidates(order: OrderToRoute): Promise<Provider[]> {
    await this.freshen()
    if (this.isStopped(order)) return []
    return routeOrder(order, this.confirmed(), this.table, drawsOf(order))
  }

  /** Whether orders like this find a provider at all; if not, every one of them is answered with 503. */
  async takes(direction: OrderKind, currency: Currency): Promise<boolean> {
    await this.freshen()
    return isTakenBySome({ direction, currency }, this.confirmed(), this.table)
  }

  private confirmed(): Provider[] {
    return this.known.filter(({ isConfirmed = true }) => isConfirmed)
  }

  private isStopped({ agentId, direction }: OrderToRoute): boolean {
    return this.stops.some(
      (stop) =>
        (stop.agentId === 0n || stop.agentId === agentId) &&
        (direction === 'withdraw' || stop.deposits),
    )
  }

  /**
   * Reads routes, states, stops, bank accounts and connectors again if they are old. Under steady load no order waits for this;
   * only the first one after a quiet period does.
   */
  async freshen(): Promise<void> {
    const ageMs = performance.now() - this.readAt
    if (ageMs <= freshMs) return
    const reading = this.refresh()
    if (ageMs > 2 * freshMs) await reading
    else reading.catch(this.onError)
  }

  private refresh(): Promise<void> {
    this.reading ??= Promise.all([
      readRoutingTable(this.pool),
      readBankAccounts(this.pool),
      readStops(this.pool),
      hasRuleOfTwo(this.pool, ['pay_out']),
      hasChecks(this.pool),
      this.connectors?.read(),
    ])
      .then(([table, accounts, stops, hasRule, hasLimits, connectors]) => {
        this.table = table
        this.stops = stops
        this.asksBeforePayouts = hasRule || hasLimits
        this.take(accounts, connectors ?? [])
        this.readAt = performance.now()
      })
      .finally(() => {
        this.reading = undefined
      })
    return this.reading
  }

  private take(accounts: readonly BankAccount[], connectors: readonly Provider[]): void {
    this.accounts = new Map(
      accounts.map((account) => {
        const before = this.accounts.get(account.name)
        if (before?.version === account.version) return [account.name, before]
        const provider = makeBankAccountProvider(accountToPay(account))
        return [account.name, { version: account.version, provider }]
      }),
    )
    const ofAccounts = [...this.accounts.values()].map(({ provider }) => provider)
    this.known = [...this.fixed, ...ofAccounts, ...connectors]
  }
}

/**
 * The draws among equal routes. Those of an order that waits fall the same way each time: it must not go elsewhere
 * while a file is made that it is in.
 */
function drawsOf({ orderId, direction }: OrderToRoute): () => number {
  if (orderId === undefined || direction === 'deposit') return Math.random
  let drawn = 0
  return () =>
    createHash('sha256').update(`${orderId} ${drawn++}`).digest().readUInt32BE() / 2 ** 32
}

/** What the provider of an account needs to know of it. */
function accountToPay(account: BankAccount): AccountToPay {
  return {
    ...account,
    qr: { kind: account.qrKind, value: account.qrValue },
    isConfirmed: account.confirmedAt !== null,
    payeeFault: payeeFaultOf(account),
    nameFault: (name) => findPaymentFormat(account.payoutFormat ?? '')?.breakOut(name) ?? null,
    mostPerPayoutMinor: lesser(account.payoutFileLimitMinor, account.payoutDayLimitMinor),
    recognises: {
      by: account.match,
      codeForm: account.codeForm,
      surplusSteps: account.surplusSteps,
      holdMs: account.holdS * 1_000,
      dayLimitMinor: account.dayLimitMinor,
      deductionMinor: account.expectedDeductionMinor,
      zone: account.zone,
    },
  }
}

function payeeFaultOf({
  payout,
  payoutFormat,
  payoutCharacters,
}: BankAccount): AccountToPay['payeeFault'] {
  if (payout === 'none' || payoutFormat === null) return null
  return ({ accountName, accountNo, bankCode }, currency) =>
    payeeProblem(
      payoutFormat,
      { name: accountName, accountNo, bankCode },
      currency,
      payoutCharacters,
    )
}

interface RouteRow {
  provider: string
  route: string
  direction: OrderKind
  currency: Currency
  banks: string[] | null
  min_amount: bigint
  max_amount: bigint
  preference: number
  weight: number
}

export async function readRoutingTable(pool: Pool | Tx): Promise<RoutingTable> {
  const { rows: states } = await pool.query<{ name: string; state: ProviderState }>(
    'select name, state from providers',
  )
  const { rows: routes } = await pool.query<RouteRow>(
    'select * from provider_routes order by provider, route',
  )
  return {
    states: new Map(states.map(({ name, state }) => [name, state])),
    routes: routes.map((row) => ({
      provider: row.provider,
      name: row.route,
      direction: row.direction,
      currency: row.currency,
      banks: row.banks,
      minAmount: row.min_amount,
      maxAmount: row.max_amount,
      preference: row.preference,
      weight: row.weight,
    })),
  }
}

/** The state of a provider, which nobody else changes until the transaction ends. */
export async function lockProviderState(tx: Tx, name: string, at: Date): Promise<ProviderState> {
  const { rows } = await tx.query<{ state: ProviderState }>(
    `insert into providers (name, state, updated_at) values ($1, 'on', $2)
     on conflict (name) do update set name = excluded.name returning state`,
    [name, at],
  )
  return rows[0]?.state ?? 'on'
}

export async function saveProviderState(
  pool: Pool | Tx,
  name: string,
  state: ProviderState,
  at: Date,
): Promise<void> {
  await pool.query(
    `insert into providers (name, state, updated_at) values ($1, $2, $3)
     on conflict (name) do update set state = excluded.state, updated_at = excluded.updated_at`,
    [name, state, at],
  )
}

export async function saveRoute(pool: Pool | Tx, route: Route): Promise<void> {
  await pool.query(
    `insert into provider_routes (provider, route, direction, currency, banks, min_amount,
       max_amount, preference, weight)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (provider, route) do update set direction = excluded.direction,
       currency = excluded.currency, banks = excluded.banks, min_amount = excluded.min_amount,
       max_amount = excluded.max_amount, preference = excluded.preference, weight = excluded.weight`,
    [
      route.provider,
      route.name,
      route.direction,
      route.currency,
      route.banks,
      route.minAmount,
      route.maxAmount,
      route.preference,
      route.weight,
    ],
  )
}

/** Describes what is wrong with a route, and with which part of it. */
export function routeFault(route: Route): { part: keyof Route; says: string } | undefined {
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(route.name)) {
    return {
      part: 'name',
      says: `"${route.name}" must be 1 to 32 small letters, digits and dashes`,
    }
  }
  if (route.banks?.length === 0) return { part: 'banks', says: 'a list of no banks fits no order' }
  const strange = route.banks?.find((code) => findBank(route.currency, code)?.code !== code)
  if (strange !== undefined) {
    return { part: 'banks', says: `no ${route.currency} bank has the code "${strange}"` }
  }
  if (route.minAmount <= route.maxAmount) return undefined
  return { part: 'maxAmount', says: 'the smallest amount is above the largest' }
}

/** Identifies a state of all routes, to tell whether they have changed since they were read. */
export function versionOfRoutes(routes: readonly Route[]): string {
  const text = JSON.stringify(routes, (_key, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Replaces all routes with these; returns undefined if the routes have changed since they were read. */
export async function replaceRoutes(
  tx: Tx,
  routes: readonly Route[],
  versionRead: string,
): Promise<{ before: readonly Route[] } | undefined> {
  await tx.query('lock table provider_routes in share row exclusive mode')
  const { routes: before } = await readRoutingTable(tx)
  if (versionOfRoutes(before) !== versionRead) return undefined
  await tx.query('delete from provider_routes')
  for (const route of routes) await saveRoute(tx, route)
  return { before }
}

export async function removeRoute(pool: Pool, provider: string, route: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'delete from provider_routes where provider = $1 and route = $2',
    [provider, route],
  )
  return rowCount === 1
}
