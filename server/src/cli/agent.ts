import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { type Agent, methods } from '../agents/agent.ts'
import {
  type AgentBrand,
  findBrand,
  parseColour,
  parseLogo,
  saveBrand,
} from '../agents/agent-brand.ts'
import { agentView, keyView } from '../agents/agent-view.ts'
import { findAgent, listAgents, listKeys } from '../agents/find-agent.ts'
import { readFrameOrigins } from '../agents/frame-origins.ts'
import {
  type AgentTerms,
  createAgent,
  defaultTerms,
  newTermsFaults,
  rotateKey,
  type TermsFault,
  termsFaults,
  updateAgent,
} from '../agents/save-agent.ts'
import { hurryCallbacks } from '../callbacks/resend-callbacks.ts'
import type { Pool } from '../db/pool.ts'
import { systemClock } from '../lib/clock.ts'
import { currencies } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { withBackend } from './command.ts'
import { parseDuration } from './duration.ts'
import { onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { UsageError } from './usage-error.ts'

interface TermsOptions {
  name?: string
  currency?: Agent['currency']
  status?: Agent['status']
  depositCallback?: string
  withdrawCallback?: string
  depositFee?: string
  withdrawFee?: string
  revertFee?: Agent['revertFee']
  lateMoney?: Agent['lateMoney']
  method?: Agent['method']
  expiresIn?: string
  minDeposit?: string
  maxDeposit?: string
  minWithdraw?: string
  maxWithdraw?: string
  rateLimit?: string
  allowIp?: string[]
  frameOrigin?: string[]
  support?: string
  colour?: string
  logo?: string
  json?: boolean
}

export function agentCommand(): Command {
  const agent = new Command('agent')

  withTerms(agent.command('create'))
    .description('create an agent; its secret is shown once, now')
    .requiredOption('--name <name>', 'what people call it')
    .addOption(new Option('--currency <code>').choices(currencies).default('THB'))
    .action(async (options: TermsOptions) => {
      await withBackend(async ({ pool, secretKeys }, { mode }) => {
        const currency = options.currency ?? 'THB'
        const terms = applied({ ...defaultTerms, name: options.name ?? '', currency }, options)
        const { brand, faults } = await brandOf(options)
        const missing = newTermsFaults(mode, options.frameOrigin)
        refuse([...optionFaults([...missing, ...(await termsFaults(terms, mode))]), ...faults])
        const { agent: created, secret } = await onRecord(
          pool,
          { action: 'create_agent', subject: { kind: 'agent', id: 'new' }, agentId: null },
          () => createAgent(pool, secretKeys, terms, new Date()),
          (made) => agentView(made.agent),
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
    .option('--name <name>', 'what people call it')
    .addOption(new Option('--status <status>').choices(['active', 'suspended']))
    .action(async (appId: string, options: TermsOptions) => {
      await withBackend(async ({ pool }, { mode }) => {
        const found = await existing(pool, appId)
        const terms = applied(found, options)
        const { brand, faults } = await brandOf(options)
        refuse([...optionFaults(await termsFaults(terms, mode, found)), ...faults])
        const changed = await onRecord(
          pool,
          { ...entryOf('change_agent', found), before: agentView(found) },
          async () => {
            const agent = await updateAgent(pool, found, terms, new Date())
            if (agent) return agent
            throw new Problem(
              'changed_meanwhile',
              'it was changed meanwhile; run the command again',
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

  agent
    .command('rotate-key <app_id>')
    .description('make a new secret; the old one stays valid for the overlap')
    .option('--overlap <duration>', 'how long the old secret stays valid: 24h, 30m, 0', '24h')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: { overlap: string; json?: boolean }) => {
      await withBackend(async ({ pool, secretKeys }) => {
        const overlapS = parseDuration(options.overlap)
        if (overlapS === undefined) {
          throw new UsageError(`--overlap "${options.overlap}" is not a time such as 24h, 30m or 0`)
        }
        const found = await existing(pool, appId)
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
  return agent
}

/** What the audit log says of a change of an agent. */
export function entryOf(action: string, { agentId, appId }: Agent) {
  return { action, subject: { kind: 'agent', id: appId }, agentId }
}

export async function existing(pool: Pool, appId: string): Promise<Agent> {
  const found = await findAgent(pool, appId)
  if (!found) throw new UsageError(`there is no agent ${appId}; "sluice agent list" shows them`)
  return found
}

function withTerms(command: Command): Command {
  return command
    .option('--deposit-callback <url>', 'where outcomes of deposits are sent')
    .option('--withdraw-callback <url>', 'where outcomes of withdrawals are sent')
    .option('--deposit-fee <rule>', 'PERCENT%, FIXED or PERCENT%+FIXED')
    .option('--withdraw-fee <rule>', 'PERCENT%, FIXED or PERCENT%+FIXED')
    .addOption(
      new Option('--revert-fee <what>', 'the fee of a returned payout').choices(['return', 'keep']),
    )
    .addOption(
      new Option('--late-money <what>', 'money that is late or of another amount').choices([
        'review',
        'credit',
      ]),
    )
    .addOption(new Option('--method <method>', 'how payers can pay').choices(methods))
    .option('--expires-in <seconds>', 'how long a deposit stays open')
    .option('--min-deposit <amount>', 'whole units')
    .option('--max-deposit <amount>', 'whole units')
    .option('--min-withdraw <amount>', 'whole units')
    .option('--max-withdraw <amount>', 'whole units')
    .option('--rate-limit <number>', 'requests a second, 0 for no limit')
    .option('--allow-ip <cidr...>', 'only requests from these addresses')
    .option(
      '--frame-origin <origin...>',
      'who may show the payment page in a frame: origins, "any" or "none"',
    )
    .option('--support <text>', 'whom payers ask; shown on the payment page')
    .option('--colour <#rrggbb>', 'of the payment page')
    .option('--logo <file>', 'PNG, JPEG or WebP of at most 32 KiB, for the payment page')
    .option('--json', 'as JSON')
}

/** What is said of the payment page's looks: undefined where nothing is. */
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

function applied(terms: AgentTerms, options: TermsOptions): AgentTerms {
  const orNone = (given: string | undefined, now: string | null) =>
    given === undefined ? now : given === '' || given === 'none' ? null : given
  const list = (given: string[] | undefined, now: string[]) =>
    given === undefined ? now : given.filter((each) => each !== '' && each !== 'none')
  const units = (given: string | undefined, now: bigint) =>
    given === undefined ? now : /^\d{1,15}$/.test(given) ? BigInt(given) : -1n
  const whole = (given: string | undefined, now: number) =>
    given === undefined ? now : /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
  return {
    name: options.name ?? terms.name,
    currency: terms.currency,
    status: options.status ?? terms.status,
    depositCallbackUrl: orNone(options.depositCallback, terms.depositCallbackUrl),
    withdrawCallbackUrl: orNone(options.withdrawCallback, terms.withdrawCallbackUrl),
    depositFee: options.depositFee ?? terms.depositFee,
    withdrawFee: options.withdrawFee ?? terms.withdrawFee,
    revertFee: options.revertFee ?? terms.revertFee,
    lateMoney: options.lateMoney ?? terms.lateMoney,
    method: options.method ?? terms.method,
    expiresInS: whole(options.expiresIn, terms.expiresInS),
    minDeposit: units(options.minDeposit, terms.minDeposit),
    maxDeposit: units(options.maxDeposit, terms.maxDeposit),
    minWithdraw: units(options.minWithdraw, terms.minWithdraw),
    maxWithdraw: units(options.maxWithdraw, terms.maxWithdraw),
    rateLimit: whole(options.rateLimit, terms.rateLimit),
    allowedIps: list(options.allowIp, terms.allowedIps),
    frameOrigins: options.frameOrigin ? readFrameOrigins(options.frameOrigin) : terms.frameOrigins,
    support: orNone(options.support, terms.support),
  }
}

function optionFaults(faults: TermsFault[]): string[] {
  return faults.map(({ field, message }) => `--${field.replaceAll('_', '-')}: ${message}`)
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
