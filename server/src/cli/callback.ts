import { Command, Option } from 'commander'
import { countOpen, readEvents } from '../callbacks/read-callbacks.ts'
import { pauseCallbacks, resendCallbacks } from '../callbacks/resend-callbacks.ts'
import { WakeUp } from '../callbacks/wake-up.ts'
import { systemClock } from '../lib/clock.ts'
import { txnId } from '../lib/ids.ts'
import { parseIsoTime } from '../lib/local-time.ts'
import { entryOf, existing } from './agent.ts'
import { withBackend } from './command.ts'
import { parseDuration } from './duration.ts'
import { onRecord } from './on-record.ts'
import { print, printJson, progress, table } from './output.ts'
import { UsageError } from './usage-error.ts'

const states = [
  'waiting',
  'sending',
  'delivered',
  'exhausted',
  'no_address',
  'superseded',
  'paused',
]

export function callbackCommand(): Command {
  const callback = new Command('callback')

  callback
    .command('list')
    .description('list callbacks, oldest first')
    .option('--agent <app_id>', 'only of this agent')
    .addOption(new Option('--state <state>', 'only in this state').choices(states))
    .option('--since <time>', 'outcomes since: an ISO time, or 24h, 30m, 7d ago')
    .option('--limit <number>', 'at most so many', '50')
    .option('--json', 'as JSON')
    .action(
      async (options: {
        agent?: string
        state?: string
        since?: string
        limit: string
        json?: boolean
      }) => {
        if (!/^[1-9]\d{0,4}$/.test(options.limit)) {
          throw new UsageError('--limit must be 1 to 99999')
        }
        const since = options.since === undefined ? undefined : timeOf(options.since)
        await withBackend(async ({ pool }) => {
          const agent =
            options.agent === undefined ? undefined : await existing(pool, options.agent)
          const events = await readEvents(pool, {
            limit: Number(options.limit),
            ...(agent && { agentId: agent.agentId }),
            ...(options.state !== undefined && { state: options.state }),
            ...(since && { since }),
          })
          const rows = events.map((event) => ({
            app_id: event.appId,
            seq: event.seq,
            txn_id: txnId(event.agentId, event.orderId),
            ref_id: event.refId,
            kind: event.kind,
            status: JSON.parse(event.body).status,
            at: event.at.toISOString(),
            delivery: event.delivery,
            attempts: event.attempts,
            due_at: event.dueAt.toISOString(),
            last_status: event.lastStatus,
            last_error: event.lastError,
          }))
          if (options.json) return printJson(rows)
          print(
            table(
              ['APP ID', 'SEQ', 'TXN ID', 'STATUS', 'DELIVERY', 'ATTEMPTS', 'LAST ERROR'],
              rows.map((row) => [
                row.app_id,
                String(row.seq),
                row.txn_id,
                row.status,
                row.delivery,
                String(row.attempts),
                row.last_error ?? '-',
              ]),
            ),
          )
        })
      },
    )

  callback
    .command('resend <app_id>')
    .description('send callbacks of an agent again')
    .option('--seq <number>', 'one callback')
    .option('--failed', 'all that were given up')
    .option('--all', 'all of them, delivered ones too')
    .option('--since <time>', 'only outcomes since: an ISO time, or 24h, 30m, 7d ago')
    .option('--wait', 'stay until they are delivered or given up, and show how far it is')
    .option('--json', 'as JSON')
    .action(
      async (
        appId: string,
        options: {
          seq?: string
          failed?: boolean
          all?: boolean
          since?: string
          wait?: boolean
          json?: boolean
        },
      ) => {
        const chosen = [options.seq, options.failed, options.all].filter(
          (each) => each !== undefined,
        )
        if (chosen.length !== 1 || (options.seq !== undefined && !/^\d{1,15}$/.test(options.seq))) {
          throw new UsageError('say which: --seq NUMBER, --failed or --all, one of them')
        }
        const since = options.since === undefined ? undefined : timeOf(options.since)
        await withBackend(async ({ pool }) => {
          const agent = await existing(pool, appId)
          const { agentId } = agent
          const which = {
            failed: options.failed ?? false,
            ...(options.seq !== undefined && { seq: BigInt(options.seq) }),
            ...(since && { since }),
          }
          const { resent, leftOut } = await onRecord(
            pool,
            { ...entryOf('resend_callbacks', agent), before: which },
            () => resendCallbacks(pool, { agentId, ...which }, systemClock),
            (done) => ({ ...done }),
          )
          if (options.seq !== undefined && resent === 0) {
            throw new UsageError(`the agent has no callback ${options.seq}`)
          }
          const wakeUp = new WakeUp(pool, () => {})
          await wakeUp.tellNow([agentId])
          while (options.wait && resent > 0) {
            const open = await countOpen(pool, agentId)
            progress(`${open} of ${resent} to go`)
            if (open === 0) break
            await new Promise((resolve) => setTimeout(resolve, 500))
          }
          progress('')
          if (options.json) return printJson({ resent, left_out: leftOut })
          print(`${resent} callbacks are being sent again.`)
          if (leftOut > 0) {
            print(
              `${leftOut} are left out: a later state of their order has gone out. --seq sends one all the same.`,
            )
          }
        })
      },
    )

  for (const [name, paused, description] of [
    ['pause', true, "hold an agent's callbacks back; nothing is lost"],
    ['resume', false, "let an agent's callbacks go again"],
  ] as const) {
    callback
      .command(`${name} <app_id>`)
      .description(description)
      .option('--json', 'as JSON')
      .action(async (appId: string, options: { json?: boolean }) => {
        await withBackend(async ({ pool }) => {
          const agent = await existing(pool, appId)
          const { agentId } = agent
          await onRecord(pool, entryOf(`${name}_callbacks`, agent), () =>
            pauseCallbacks(pool, agentId, paused, systemClock),
          )
          await new WakeUp(pool, () => {}).tellNow([agentId])
          if (options.json) return printJson({ app_id: appId, paused })
          print(paused ? 'Callbacks are held back.' : 'Callbacks go out again.')
        })
      })
  }
  return callback
}

/** Parses an ISO time, or a duration before now. */
function timeOf(text: string): Date {
  const agoS = parseDuration(text)
  const at = agoS === undefined ? parseIsoTime(text) : new Date(Date.now() - agoS * 1000)
  if (!at) throw new UsageError(`"${text}" is not a time such as 2026-01-31T08:00:00Z or 24h`)
  return at
}
