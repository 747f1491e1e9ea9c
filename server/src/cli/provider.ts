import { Command, Option } from 'commander'
import { orderKinds } from '../ledger/book.ts'
import { type Currency, currencies, maxAmount } from '../lib/money.ts'
import {
  readRoutingTable,
  removeRoute,
  routeFault,
  saveProviderState,
  saveRoute,
  versionOfRoutes,
} from '../routing/providers.ts'
import { isHeldBack, type ProviderState, type Route } from '../routing/route-order.ts'
import { withDesk } from './command.ts'
import { addConnectorCommands, connectorRows, switchOn } from './connector.ts'
import { onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

export function providerCommand(): Command {
  const provider = new Command('provider')

  provider
    .command('list')
    .description('list providers with their routes')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withDesk(async ({ providers, pool }) => {
        const { states, routes } = await readRoutingTable(pool)
        const rows = providers.all.map(({ name, can }) => ({
          name,
          state: states.get(name) ?? 'on',
          currencies: can.currencies,
          deposits: can.deposits,
          payouts: can.payouts,
          routes: routes.filter((route) => route.provider === name).map(routeView),
        }))
        const connectors = await connectorRows(pool)
        const unused = connectors.filter(({ version }) => version === null)
        const faults = providers.connectors?.allFaults ?? new Map<string, string>()
        if (options.json) {
          const known = [...rows, ...unused]
          const lost = [...faults.keys()].filter(
            (name) => !known.some((each) => each.name === name),
          )
          const all = [...known, ...lost.map((name) => ({ name, state: states.get(name) ?? 'on' }))]
          return printJson(all.map((each) => ({ ...each, fault: faults.get(each.name) ?? null })))
        }
        if (rows.length + connectors.length === 0) return print('No provider is set up.')
        for (const [name, fault] of faults) print(`${name}: cannot be used: ${fault}`)
        for (const { name, newest_version } of unused) {
          print(`${name}: a connector that is not used; its newest version is ${newest_version}`)
        }
        for (const row of rows) {
          const takes = [row.deposits && 'deposits', row.payouts && 'payouts'].filter(Boolean)
          print(`${row.name}: ${row.state}; ${takes.join(' and ')} in ${row.currencies.join(', ')}`)
          if (row.routes.length === 0) print('  takes everything it can')
          else print(table(Object.keys(row.routes[0] ?? {}), row.routes.map(cells)))
        }
      })
    })

  withBreakGlass(
    provider
      .command('set <name> <state>')
      .description('on; draining: takes nothing new; off: is not called at all'),
  )
    .option('--json', 'as JSON')
    .action(async (name: string, state: string, options: ProposeOptions) => {
      if (!isState(state)) throw new UsageError(`"${state}" is not one of on, draining, off`)
      await withDesk(async (desk, backend, config) => {
        const { providers, pool, now } = desk
        // A connector that is not used yet is no provider: switching it on uses its newest version.
        const switched =
          state === 'on' ? await switchOn(desk, backend, config, name, options) : 'was used'
        if (switched === 'proposed') return
        if (switched === 'was used') named(providers.all, name)
        const request = {
          route: 'PATCH /providers/:id',
          params: { id: name },
          body: { state, reason: options.reason },
        }
        const before = (await readRoutingTable(pool)).states.get(name) ?? 'on'
        // One person may stop money from moving at any time.
        if (!isHeldBack(before, state) && (await isProposed(config, backend, options, request))) {
          return
        }
        await onRecord(
          pool,
          {
            action: 'set_provider',
            subject: { kind: 'provider', id: name },
            agentId: null,
            before: { state: before },
          },
          () => saveProviderState(pool, name, state, now()),
          () => ({ state }),
        )
        if (options.json) return printJson({ name, state })
        print(`${name} is ${state}`)
      })
    })

  withBreakGlass(
    provider
      .command('route <name> <route>')
      .description('make, change or remove a route: which orders the provider gets'),
  )
    .addOption(new Option('--direction <direction>').choices(orderKinds))
    .addOption(new Option('--currency <currency>').choices([...currencies]))
    .option('--bank <code...>', 'only these banks')
    .option('--min <amount>', 'from this amount, in whole units', '1')
    .option('--max <amount>', 'up to this amount', String(maxAmount))
    .option('--preference <number>', 'the lowest is tried first (1 to 1000)', '100')
    .option('--weight <number>', 'among equals, how often (1 to 1000)', '1')
    .option('--remove', 'remove it')
    .option('--json', 'as JSON')
    .action(async (name: string, route: string, options: RouteOptions) => {
      await withDesk(async ({ providers, pool }, backend, config) => {
        named(providers.all, name)
        const subject = { kind: 'provider', id: name }
        const { routes } = await readRoutingTable(pool)
        const before = routes.find((each) => each.provider === name && each.name === route)
        const entry = { subject, agentId: null, before: before && routeView(before) }
        const isOther = (each: Route) => each.provider !== name || each.name !== route
        const asked = options.remove ? [] : [routeOf(name, route, options)]
        const request = {
          route: 'PUT /provider-routes',
          body: {
            routes: [...routes.filter(isOther), ...asked].map(routeBody),
            version: versionOfRoutes(routes),
            reason: options.reason,
          },
        }
        if (options.remove && !before) throw new UsageError(`${name} has no route "${route}"`)
        if (await isProposed(config, backend, options, request)) return
        if (options.remove) {
          await onRecord(pool, { ...entry, action: 'remove_route' }, () =>
            removeRoute(pool, name, route),
          )
          return options.json ? printJson({ removed: route }) : print(`${route} is removed`)
        }
        const made = routeOf(name, route, options)
        await onRecord(
          pool,
          { ...entry, action: 'set_route' },
          () => saveRoute(pool, made),
          () => routeView(made),
        )
        if (options.json) return printJson(routeView(made))
        print(`${name} has the route ${route}`)
      })
    })
  addConnectorCommands(provider)
  return provider
}

interface RouteOptions extends ProposeOptions {
  direction?: Route['direction']
  currency?: Currency
  bank?: string[]
  min: string
  max: string
  preference: string
  weight: string
  remove?: boolean
}

function routeOf(provider: string, route: string, options: RouteOptions): Route {
  const { direction, currency, bank } = options
  if (!direction || !currency) throw new UsageError('a route needs --direction and --currency')
  const whole = (name: string, text: string, most: bigint) => {
    const value = /^\d{1,13}$/.test(text) ? BigInt(text) : 0n
    if (value >= 1n && value <= most) return value
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}`)
  }
  const made: Route = {
    provider,
    name: route,
    direction,
    currency,
    banks: bank ?? null,
    minAmount: whole('min', options.min, maxAmount),
    maxAmount: whole('max', options.max, maxAmount),
    preference: Number(whole('preference', options.preference, 1000n)),
    weight: Number(whole('weight', options.weight, 1000n)),
  }
  const fault = routeFault(made)
  if (fault !== undefined) throw new UsageError(fault.says)
  return made
}

function named(all: readonly { name: string }[], name: string): void {
  if (all.some((each) => each.name === name)) return
  const names = all.map((each) => each.name).join(', ') || 'none'
  throw new UsageError(`there is no provider "${name}"; set up are: ${names}`)
}

function isState(text: string): text is ProviderState {
  return ['on', 'draining', 'off'].includes(text)
}

function routeView({ provider: _provider, name, minAmount, maxAmount: most, ...rest }: Route) {
  const amounts = { min_amount: minAmount, max_amount: most }
  return { route: name, ...rest, banks: rest.banks ?? 'all', ...amounts }
}

/** A route as the console's API takes it. */
function routeBody({ name, minAmount, maxAmount: most, ...rest }: Route) {
  return { ...rest, route: name, min_amount: Number(minAmount), max_amount: Number(most) }
}

function cells(row: object): string[] {
  return Object.values(row).map(String)
}
