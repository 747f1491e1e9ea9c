import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import type { Agent } from '../agents/agent.ts'
import {
  type AgentBrand,
  findBrand,
  parseColour,
  parseLogo,
  saveBrand,
} from '../agents/agent-brand.ts'
import { agentView, keyView } from '../agents/agent-view.ts'
import { findAgent, listAgents, listKeys } from '../agents/find-agent.ts'
import {
  type AgentTerms,
  createAgent,
  defaultTerms,
  newTermsFaults,
  revokeKey,
  rotateKey,
  termsFaults,
  updateAgent,
} from '../agents/save-agent.ts'
import {
  appliedTerms,
  type Term,
  type TermsFault,
  termNames,
  termOf,
  terms,
} from '../agents/terms.ts'
import { hurryCallbacks } from '../callbacks/resend-callbacks.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { systemClock } from '../lib/clock.ts'
import { currencies, defaultCurrency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { notMadeYet, writeAudit } from '../operators/audit.ts'
import { withBackend } from './command.ts'
import { parseDuration } from './duration.ts'
import { commandLine, onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { type CommandRequest, isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

/** Every term has its own option, whose value is a string or several. */
type TermsOptions = Record<string, unknown> &
  ProposeOptions & {
    name?: string
    currency?: Agent['currency']
    status?: Agent['status']
    frameOrigin?: string[]
    colour?: string
    logo?: string
  }

export function agentCommand(): Command {
  const agent = new Command('agent')

  withTerms(agent.command('create'))
    .description('create an agent; its secret is shown once, now')
    .requiredOption('--name <name>', terms.name.about)
    .addOption(new Option('--currency <code>').choices(currencies).default(defaultCurrency))
    .action(async (options: TermsOptions) => {
      await withBackend(async (backend, config) => {
        const { pool, secretKeys } = backend
        const { mode, callbackTargets } = config
        const currency = options.currency ?? defaultCurrency
        const agreed = applied({ ...defaultTerms, currency }, options)
        const { brand, faults } = await brandOf(options)
        const missing = newTermsFaults(mode, options.frameOrigin)
        refuse([
          ...optionFaults([...missing, ...(await termsFaults(agreed, callbackTargets))]),
          ...faults,
        ])
        const body = { currency, ...saidIn(options), ...brandBody(brand) }
        if (await isProposed(config, backend, options, { route: 'POST /agents', body })) return
        const { agent: created, secret } = await onRecord(
          pool,
          { action: 'create_agent', subject: { kind: 'agent', id: notMadeYet }, agentId: null },
          () => createAgent(pool, secretKeys, agreed, new Date()),
          (made) => agentView(made.agent),
          ({ agent: { appId: id, agentId } }) => ({ subject: { kind: 'agent', id }, agentId }),
        )
        if (brand) await saveBrand(pool, created.agentId, brand, new Date())
        if (options.json) return printJson({ app_id: created.appId, secret })
        print(
          `app id  ${created.appId}\nsecret  ${secret}\n\nKeep the secret now: it is not shown again.`,
        )
      })
    })

  agent
    .command('list')
    .description('list all agents')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const agents = await listAgents(pool)
        if (options.json) return printJson(agents.map((each) => agentView(each)))
        print(
          table(
            ['APP ID', 'NAME', 'CURRENCY', 'STATUS', 'METHOD'],
            agents.map((a) => [a.appId, a.name, a.currency, a.status, a.method]),
          ),
        )
      })
    })

  agent
    .command('show <app_id>')
    .description("show an agent's terms and when its secrets were last used")
    .option('--json', 'as JSON')
    .action(async (appId: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        await show(pool, await existing(pool, appId), options.json)
      })
    })

  withTerms(agent.command('set <app_id>'))
    .description('change what is named, leave the rest ("none" takes an address or a list away)')
    .option('--name <name>', terms.name.about)
    .addOption(new Option('--status <status>').choices(['active', 'suspended']))
    .action(async (appId: string, options: TermsOptions) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const { callbackTargets } = config
        const found = await existing(pool, appId)
        const agreed = applied(found, options)
        const { brand, faults } = await brandOf(options)
        refuse([...optionFaults(await termsFaults(agreed, callbackTargets, found)), ...faults])
        const request = config.mode === 'live' ? changeRequest(found, options, brand) : undefined
        if (request && (await isProposed(config, backend, options, request))) return
        const changed = await onRecord(
          pool,
          { ...entryOf('change_agent', found), before: agentView(found) },
          async () => {
            const agent = await inTransaction(pool, (tx) =>
              updateAgent(tx, found, agreed, new Date()),
            )
            if (agent) return agent
            throw new Problem(
              'changed_meanwhile',
              'the agent was changed while the command ran; run it again',
            )
          },
          agentView,
        )
        if (options.depositCallback !== undefined || options.withdrawCallback !== undefined) {
          await hurryCallbacks(pool, changed.agentId, systemClock)
        }
        if (brand) await saveBrand(pool, changed.agentId, brand, new Date())
        await show(pool, changed, options.json)
      })
    })

  withBreakGlass(
    agent
      .command('rotate-key <app_id>')
      .description('make a new secret; the old one stays valid for the overlap'),
  )
    .option('--overlap <duration>', 'how long the old secret stays valid: 24h, 30m, 0', '24h')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: ProposeOptions & { overlap: string }) => {
      await withBackend(async (backend, config) => {
        const { pool, secretKeys } = backend
        const overlapS = parseDuration(options.overlap)
        if (overlapS === undefined) {
          throw new UsageError(`--overlap "${options.overlap}" is not a time such as 24h, 30m or 0`)
        }
        const found = await existing(pool, appId)
        const request = {
          route: 'POST /agents/:app_id/keys',
          params: { app_id: appId },
          body: { overlap_s: overlapS, reason: options.reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const secret = await onRecord(
          pool,
          entryOf('rotate_key', found),
          () => rotateKey(pool, secretKeys, found.agentId, overlapS, new Date()),
          () => ({ overlap_s: overlapS }),
        )
        if (options.json) return printJson({ app_id: appId, secret })
        print(`secret  ${secret}\n\nKeep it now: it is not shown again.`)
      })
    })

  agent
    .command('revoke-key <app_id> <slot>')
    .description('end a secret that may do everything now; "agent show" lists their slots')
    .requiredOption('--reason <text>', 'why')
    .option('--json', 'as JSON')
    .action(async (appId: string, slot: string, options: { reason: string; json?: boolean }) => {
      if (!/^[12]$/.test(slot)) throw new UsageError(`"${slot}" is not a slot: 1 or 2`)
      await withBackend(async ({ pool }) => {
        const found = await existing(pool, appId)
        const at = new Date()
        await inTransaction(pool, async (tx) => {
          if (!(await revokeKey(tx, found.agentId, Number(slot), at))) {
            throw new UsageError(`there is no secret in slot ${slot} any more`)
          }
          await writeAudit(tx, {
            ...entryOf('revoke_secret', found),
            at,
            operator: commandLine,
            after: { slot: Number(slot) },
            reason: options.reason,
          })
        })
        if (options.json) return printJson({ revoked: Number(slot) })
        print(`the secret in slot ${slot} is revoked`)
      })
    })
  return agent
}

/** The audit log entry for a change to an agent. */
export function entryOf(action: string, { agentId, appId }: Agent) {
  return { action, subject: { kind: 'agent', id: appId }, agentId }
}

export async function existing(pool: Pool, appId: string): Promise<Agent> {
  const found = await findAgent(pool, appId)
  if (!found) throw new UsageError(`there is no agent ${appId}; "sluice agent list" shows them`)
  return found
}

function withTerms(command: Command): Command {
  for (const term of termNames.map(termOf)) {
    if (term.field === 'name') continue
    const option = new Option(`${optionOf(term.field)} <${term.typed}>`, term.about)
    command.addOption(term.choices ? option.choices(term.choices) : option)
  }
  return withBreakGlass(command)
    .option('--colour <#rrggbb>', 'of the payment page')
    .option('--logo <file>', 'PNG, JPEG or WebP of at most 32 KiB, for the payment page')
    .option('--json', 'as JSON')
}

/** Reads the options for the look of the payment page; undefined if there are none. */
async function brandOf({
  colour,
  logo,
}: TermsOptions): Promise<{ brand: Partial<AgentBrand> | undefined; faults: string[] }> {
  if (colour === undefined && logo === undefined) return { brand: undefined, faults: [] }
  const brand: Partial<AgentBrand> = {}
  const faults: string[] = []
  if (colour !== undefined) {
    brand.colour = colour === 'none' ? null : (parseColour(colour) ?? null)
    if (colour !== 'none' && brand.colour === null) {
      faults.push(`--colour: "${colour}" is not a colour such as #0a7d4f`)
    }
  }
  if (logo === 'none') brand.logo = null
  else if (logo !== undefined) {
    const bytes = await readFile(logo).catch((error: Error) => error.message)
    const parsed = typeof bytes === 'string' ? bytes : parseLogo(bytes)
    if (typeof parsed === 'string') faults.push(`--logo: ${logo}: ${parsed}`)
    else brand.logo = parsed
  }
  return { brand, faults }
}

/** Applies the options to the agent's terms. */
function applied(now: AgentTerms, options: TermsOptions): AgentTerms {
  return {
    currency: now.currency,
    status: options.status ?? now.status,
    ...appliedTerms(now, saidIn(options)),
  }
}

/** The terms that the options name, as the API takes them. */
function saidIn(options: TermsOptions): Record<string, ReturnType<typeof saidBy>> {
  const said = termNames.map(termOf).map((term) => {
    const name = term.field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    return [term.field, saidBy(term, options[name])]
  })
  return Object.fromEntries(said.filter(([, value]) => value !== undefined))
}

function brandBody(brand: Partial<AgentBrand> | undefined): object {
  const { colour, logo } = brand ?? {}
  return {
    ...(colour !== undefined && { colour }),
    ...(logo !== undefined && {
      logo: logo && `data:${logo.type};base64,${logo.bytes.toString('base64')}`,
    }),
  }
}

/** The request that makes a change, if two people may have to decide on it. */
function changeRequest(
  found: Agent,
  options: TermsOptions,
  brand: Partial<AgentBrand> | undefined,
): CommandRequest | undefined {
  const changes = { ...saidIn(options), ...brandBody(brand) }
  const { reason } = options
  const params = { app_id: found.appId }
  const hasChanges = Object.keys(changes).length > 0
  if (options.status !== undefined && hasChanges) {
    throw new UsageError('--status goes alone: change the rest with a second command')
  }
  if (options.status === 'active') {
    return { route: 'POST /agents/:app_id/resume', params, body: { reason } }
  }
  if (!hasChanges) return undefined
  const body = { ...changes, updated_at: found.updatedAt.toISOString(), reason }
  return { route: 'PATCH /agents/:app_id', params, body }
}

/** Converts an option's value to the form that the API takes; "none" removes a URL or clears a list. */
function saidBy({ kind, read }: Term, typed: unknown) {
  if (Array.isArray(typed)) {
    return read ? typed : typed.filter((each) => each !== '' && each !== 'none')
  }
  if (typeof typed !== 'string') return undefined
  switch (kind) {
    case 'address':
    case 'optional':
      return typed === '' || typed === 'none' ? null : typed
    case 'units':
    case 'whole':
      return /^\d{1,15}$/.test(typed) ? Number(typed) : Number.NaN
    default:
      return typed
  }
}

function optionOf(field: string): string {
  return `--${field.replaceAll('_', '-')}`
}

function optionFaults(faults: TermsFault[]): string[] {
  return faults.map(({ field, message }) => `${optionOf(field)}: ${message}`)
}

function refuse(faults: string[]): void {
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
}

async function show(pool: Pool, agent: Agent, json: boolean | undefined): Promise<void> {
  const keys = await listKeys(pool, agent.agentId, new Date())
  const { colour, logo } = await findBrand(pool, agent.agentId)
  const { created_at, updated_at, ...said } = agentView(agent)
  const terms = {
    ...said,
    colour,
    logo: logo && `${logo.type}, ${logo.bytes.length} bytes`,
    created_at,
    updated_at,
  }
  if (json) return printJson({ ...terms, keys: keys.map(keyView) })
  const lines = Object.entries(terms).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') || '-' : String(value ?? '-'),
  ])
  const secrets = keys.map((key) => [
    'secret',
    `made ${key.createdAt.toISOString()}, last used ${key.lastUsedAt?.toISOString() ?? 'never'}, valid ${key.expiresAt ? `until ${key.expiresAt.toISOString()}` : 'until rotated'}`,
  ])
  print(table(['', ''], [...lines, ...secrets]).trimStart())
}
