import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import type { Agent } from '../agents/agent.ts'
import { listAgents } from '../agents/find-agent.ts'
import type { Pool } from '../db/pool.ts'
import {
  limitFields,
  limitMeasures,
  limitOutcomes,
  limitPeriods,
  limitSubjects,
} from '../ledger/limits.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { currencies } from '../lib/money.ts'
import { type LimitForm, mostText, readLimitForm } from '../limits/limit-form.ts'
import {
  findLimitRule,
  readLimitRules,
  removeLimitRule,
  saveLimitRule,
} from '../limits/limit-rules.ts'
import { rulesBeingCounted, useNow } from '../limits/limit-use.ts'
import { limitView } from '../limits/limit-view.ts'
import { triedTogether, tryRule, tryRuleForAll } from '../limits/try-rule.ts'
import { writeAudit } from '../operators/audit.ts'
import { existing } from './agent.ts'
import { withBackend } from './command.ts'
import { commandLine } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

interface RuleOptions extends ProposeOptions {
  agent?: string
  kind: string
  measure: string
  per?: string
  period?: string
  most?: string
  currency?: string
  hours?: string
  field?: string
  outcome: string
  value?: string[]
  valuesFrom?: string
}

export function limitCommand(): Command {
  const limit = new Command('limit')

  limit
    .command('list')
    .description('limits and lists, and what of them is used now')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withBackend(async ({ pool }, config) => {
        const agents = await listAgents(pool)
        const localTime = localTimeIn(config.timeZone)
        const rows = []
        const rules = await readLimitRules(pool)
        const counting = await rulesBeingCounted(pool, rules, new Date(), localTime)
        for (const rule of rules) {
          const use = await useNow(pool, rule, new Date(), localTime)
          rows.push({
            ...limitView(rule, agents),
            counting: counting.has(rule),
            frees_at: use?.span.end ?? null,
            used: (use?.most ?? []).map(({ agentId, subject, used }) => ({
              app_id: agents.find((each) => each.agentId === agentId)?.appId ?? null,
              subject,
              used: mostText({ ...rule, most: used }),
            })),
          })
        }
        if (options.json) return printJson(rows)
        print(
          table(
            ['AGENT', 'NAME', 'RULE', 'MOST USED NOW'],
            rows.map((row) => [
              row.app_id ?? 'each',
              row.name,
              row.counting ? `${row.words} (being counted)` : row.words,
              row.used[0] ? `${row.used[0].used} ${row.used[0].subject}`.trim() : '-',
            ]),
          ),
        )
      })
    })

  withBreakGlass(withRule(limit.command('set <name>')))
    .description('set a limit or a list, in the place of the one with this name')
    .action(async (name: string, options: RuleOptions) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const agent = await agentIn(pool, options)
        const form = await formOf(name, options)
        const rule = ruleIn(form, agent)
        const body = { app_id: agent?.appId ?? null, ...form, reason: options.reason }
        if (await isProposed(config, backend, options, { route: 'PUT /limits', body })) return
        const at = new Date()
        const view = limitView(rule, agent ? [agent] : [])
        const before = await findLimitRule(pool, rule.agentId, name)
        await saveLimitRule(pool, { ...rule, updatedAt: at, updatedBy: commandLine.email }, (tx) =>
          writeAudit(tx, {
            ...entryOf(rule, options.reason),
            at,
            before: before && limitView(before, agent ? [agent] : []),
            after: view,
          }),
        )
        if (options.json) return printJson(view)
        print(`${name} holds from the next order on\n${view.words}`)
      })
    })

  withBreakGlass(limit.command('remove <name>'))
    .description('remove a limit or a list')
    .option('--agent <app_id>', 'of this agent; without it, of each agent')
    .option('--json', 'as JSON')
    .action(async (name: string, options: ProposeOptions & { agent?: string }) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const agent = await agentIn(pool, options)
        const rule = await findLimitRule(pool, agent?.agentId ?? 0n, name)
        if (!rule) throw new UsageError(`there is no limit ${name}`)
        const body = { app_id: agent?.appId ?? null, name, reason: options.reason }
        if (await isProposed(config, backend, options, { route: 'POST /limits/remove', body })) {
          return
        }
        const before = limitView(rule, agent ? [agent] : [])
        await removeLimitRule(pool, rule, (tx) =>
          writeAudit(tx, { ...entryOf(rule, options.reason), at: new Date(), before }),
        )
        if (options.json) return printJson({ removed: name })
        print(`${name} is removed`)
      })
    })

  withRule(limit.command('try <name>'))
    .description('what a rule would have done with the orders of the last month')
    .action(async (name: string, options: RuleOptions) => {
      await withBackend(async ({ pool }, config) => {
        const agent = await agentIn(pool, options)
        const rule = ruleIn(await formOf(name, options), agent)
        const [at, localTime] = [new Date(), localTimeIn(config.timeZone)]
        const tried = agent
          ? [await tryRule(pool, rule, agent, at, localTime)]
          : await tryRuleForAll(pool, rule, at, localTime)
        const together = triedTogether(tried, at)
        if (options.json) return printJson(together)
        const { hits, orders, from, agents, first } = together
        print(`${hits} of ${orders} orders since ${from.toISOString()} go beyond it`)
        for (const each of agents) {
          print(`${each.app_id}: ${each.hits} of ${each.orders}, ${each.amount} ${each.currency}`)
        }
        for (const each of first) print(`${each.txn_id}  ${each.amount}  ${each.words}`)
      })
    })

  return limit
}

function withRule(command: Command): Command {
  return command
    .option('--agent <app_id>', 'for this agent; without it, for each agent by itself')
    .addOption(new Option('--kind <kind>').choices(['deposit', 'withdraw']).makeOptionMandatory())
    .addOption(
      new Option('--measure <measure>', 'what is measured')
        .choices([...limitMeasures])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--per <subject>', 'whose orders are added up').choices([...limitSubjects]),
    )
    .addOption(new Option('--period <period>', 'over which time').choices([...limitPeriods]))
    .option('--most <amount>', 'an amount, or a number of orders')
    .addOption(
      new Option('--currency <code>', 'of the amount, without --agent').choices(currencies),
    )
    .option('--hours <number>', 'how long a payout to a new account waits')
    .addOption(new Option('--field <field>', 'what the list is of').choices([...limitFields]))
    .option('--value <value...>', 'what is on the list; an account as number or bank:number')
    .option('--values-from <file>', 'the same, one on each line')
    .addOption(
      new Option('--outcome <outcome>', 'what becomes of an order beyond it')
        .choices([...limitOutcomes])
        .default('refuse'),
    )
    .option('--json', 'as JSON')
}

async function agentIn(pool: Pool, { agent }: { agent?: string }): Promise<Agent | null> {
  return agent === undefined ? null : existing(pool, agent)
}

async function formOf(name: string, options: RuleOptions): Promise<LimitForm> {
  const { kind, measure, outcome } = options
  const given = { per: options.per, period: options.period, most: options.most }
  const file = options.valuesFrom === undefined ? '' : await readFile(options.valuesFrom, 'utf8')
  const lines = file.split(/\r?\n/).filter((line) => line.trim() !== '')
  const values = [...(options.value ?? []), ...lines]
  if (options.hours !== undefined && !/^\d{1,3}$/.test(options.hours)) {
    throw new UsageError('--hours must be 1 to 720')
  }
  return {
    name,
    kind,
    measure,
    outcome,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(options.currency !== undefined && { currency: options.currency }),
    ...(options.hours !== undefined && { hours: Number(options.hours) }),
    ...(options.field !== undefined && { field: options.field }),
    ...(values.length > 0 && { values }),
  }
}

function ruleIn(form: LimitForm, agent: Agent | null) {
  const read = readLimitForm(form, agent)
  if ('rule' in read) return read.rule
  throw new UsageError(read.faults.map(({ field, message }) => `${field} ${message}`).join('\n'))
}

function entryOf({ agentId, name }: { agentId: bigint; name: string }, reason: string | undefined) {
  return {
    operator: commandLine,
    action: 'change_limits',
    subject: { kind: 'limit', id: agentId === 0n ? name : `${name} of agent ${agentId}` },
    agentId: agentId === 0n ? null : agentId,
    reason: reason ?? null,
  }
}
