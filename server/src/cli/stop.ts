import { Command } from 'commander'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { newOrderId } from '../lib/ids.ts'
import { isPrintable } from '../lib/printable.ts'
import { writeAudit } from '../operators/audit.ts'
import { liftStop, readStops, type Stop, saveStop } from '../routing/stops.ts'
import { existing } from './agent.ts'
import { withBackend } from './command.ts'
import { commandLine } from './on-record.ts'
import { print, printJson } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

interface WhatOptions extends ProposeOptions {
  all?: boolean
  agent?: string
}

export function stopCommand(): Command {
  return new Command('stop')
    .option('--all', 'everything')
    .option('--agent <app_id>', 'the payouts of this agent')
    .option('--deposits', 'deposits as well')
    .requiredOption('--reason <text>', 'why; 3 to 500 characters')
    .option('--json', 'as JSON')
    .action(async (options: WhatOptions & { reason: string; deposits?: boolean }) => {
      const { reason, deposits = false } = options
      if (!isPrintable(reason, 500) || reason.length < 3) {
        throw new UsageError('--reason must be 3 to 500 printable characters')
      }
      await withBackend(async ({ pool }) => {
        const agentId = await agentIdIn(pool, options)
        const at = new Date()
        const stop = {
          agentId,
          stopId: newOrderId(at),
          deposits,
          at,
          by: commandLine.email,
          reason,
        }
        const stopsDeposits = await inTransaction(pool, async (tx) => {
          const held = await saveStop(tx, stop)
          await writeAudit(tx, { ...entryOf('stop', stop, reason), at, after: { deposits: held } })
          return held
        })
        if (options.json) {
          return printJson({ stopped: options.agent ?? 'all', deposits: stopsDeposits })
        }
        print(`${options.agent ?? 'Everything'} is stopped; "sluice go" starts it again`)
      })
    })
}

export function goCommand(): Command {
  return withBreakGlass(
    new Command('go').option('--all', 'everything').option('--agent <app_id>', 'this agent'),
  )
    .option('--json', 'as JSON')
    .action(async (options: WhatOptions) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const agentId = await agentIdIn(pool, options)
        const stop = (await readStops(pool)).find((each) => each.agentId === agentId)
        if (!stop) throw new UsageError('this is not stopped')
        const { reason } = options
        const request = {
          route: 'POST /stops/:id/lift',
          params: { id: stop.stopId },
          body: { reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const at = new Date()
        await inTransaction(pool, async (tx) => {
          if (!(await liftStop(tx, stop))) throw new UsageError('it has changed meanwhile')
          await writeAudit(tx, { ...entryOf('lift_stop', stop, reason), at })
        })
        if (options.json) return printJson({ started: options.agent ?? 'all' })
        print(`${options.agent ?? 'Everything'} goes on`)
      })
    })
}

async function agentIdIn(pool: Pool, { all, agent }: WhatOptions): Promise<bigint> {
  if ((all === true) === (agent !== undefined))
    throw new UsageError('say --all or --agent <app_id>')
  return agent === undefined ? 0n : (await existing(pool, agent)).agentId
}

function entryOf(action: string, { agentId }: Pick<Stop, 'agentId'>, reason: string | undefined) {
  return {
    operator: commandLine,
    action,
    subject: { kind: 'stop', id: agentId === 0n ? 'everything' : `agent ${agentId}` },
    agentId: agentId === 0n ? null : agentId,
    reason: reason ?? null,
  }
}
