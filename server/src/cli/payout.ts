import { Command, Option } from 'commander'
import type { PayoutState } from '../ledger/payout-state.ts'
import { txnId } from '../lib/ids.ts'
import { isPrintable } from '../lib/printable.ts'
import { orderView } from '../orders/order-view.ts'
import { listOpenPayouts, payoutsOfOrder } from '../payouts/payouts.ts'
import { resolvePayout } from '../payouts/resolve-payout.ts'
import { existing } from './agent.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { existingOrder } from './order.ts'
import { ageText, print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

const openStates = ['handed', 'accepted', 'unknown', 'not_found']

export function payoutCommand(): Command {
  const payout = new Command('payout')

  payout
    .command('list')
    .description('list payouts whose end is not known, the oldest first')
    .option('--agent <app_id>', 'only of this agent')
    .addOption(new Option('--state <state>', 'only in this state').choices(openStates))
    .option('--json', 'as JSON')
    .action(async (options: { agent?: string; state?: PayoutState; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const agent = options.agent === undefined ? undefined : await existing(pool, options.agent)
        const found = await listOpenPayouts(pool, {
          agentId: agent?.agentId ?? null,
          state: options.state ?? null,
          limit: 10_000,
        })
        const now = new Date()
        const rows = found.map((each) => ({
          txn_id: txnId(each.agentId, each.orderId),
          provider: each.provider,
          reference: each.reference,
          state: each.state,
          handed_at: each.handedAt.toISOString(),
          age_s: Math.floor((now.getTime() - each.handedAt.getTime()) / 1000),
          asks: each.asks,
          ask_at: each.askAt?.toISOString() ?? null,
          said: each.said,
        }))
        if (options.json) return printJson(rows)
        print(
          table(
            ['TXN ID', 'PROVIDER', 'STATE', 'AGE', 'ASKED', 'SAID'],
            rows.map((row) => [
              row.txn_id,
              row.provider,
              row.state,
              ageText(row.age_s),
              String(row.asks),
              row.said ?? '-',
            ]),
          ),
        )
      })
    })

  withBreakGlass(
    payout
      .command('resolve <txn_id> <outcome>')
      .description('end a payout by your word, or take one that failed to PAID: paid or failed')
      .requiredOption('--evidence <text>', 'what you know it from; it stays in the journal'),
  )
    .option('--json', 'as JSON')
    .action(async (text: string, word: string, options: ProposeOptions & { evidence: string }) => {
      if (word !== 'paid' && word !== 'failed') {
        throw new UsageError(`"${word}" is not one of paid, failed`)
      }
      if (!isPrintable(options.evidence, 1000)) {
        throw new UsageError('--evidence must be 1 to 1000 printable characters')
      }
      await withDesk(async (desk, backend, config) => {
        const { pool } = backend
        const { found, agent } = await existingOrder(pool, text)
        const request = {
          route: `POST /orders/:txn_id/mark-${word}`,
          params: { txn_id: text },
          body: {
            evidence: options.evidence,
            reason: options.reason ?? options.evidence.slice(0, 500),
            version: found.version,
          },
        }
        if (await isProposed(config, backend, options, request)) return
        const { agentId } = agent
        const { evidence } = options
        const entry = {
          action: `mark_${word}_order`,
          subject: { kind: 'order', id: text },
          agentId,
          before: { status: found.status, version: found.version },
          reason: evidence,
        }
        const { order: after } = await onRecord(
          pool,
          entry,
          async () => {
            const attempts = await payoutsOfOrder(pool, agentId, found.orderId)
            return resolvePayout(desk, found, attempts, word, evidence)
          },
          ({ order: { status, version } }) => ({ status, version }),
        )
        if (options.json) return print(orderView(after, desk.localTime))
        print(`${text} is ${after.status}`)
      })
    })
  return payout
}
