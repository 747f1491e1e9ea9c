import { Command } from 'commander'
import { findAgentById } from '../agents/find-agent.ts'
import type { Pool } from '../db/pool.ts'
import { accountNames } from '../ledger/accounts.ts'
import { isArchivedOrder } from '../ledger/archived.ts'
import { findOrder } from '../ledger/find-order.ts'
import { readJournalOfOrder } from '../ledger/read-journal.ts'
import { parseTxnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { decimalText, parseDecimal } from '../lib/money.ts'
import { orderView } from '../orders/order-view.ts'
import { trigger, triggerOutcomes } from '../orders/trigger.ts'
import { withBackend, withSandbox } from './command.ts'
import { print, table } from './output.ts'
import { UsageError } from './usage-error.ts'

export function orderCommand(): Command {
  const order = new Command('order')
  order
    .command('show <txn_id>')
    .description('show an order with its journal')
    .option('--json', 'as JSON')
    .action(async (text: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }, { timeZone }) => {
        const { found, agent } = await existingOrder(pool, text)
        const money = (minor: bigint) => decimalText(minor, found.currency)
        const view = {
          ...JSON.parse(orderView(found, localTimeIn(timeZone))),
          app_id: agent.appId,
          bank_code: found.bankCode,
          version: found.version,
          expires_at: found.expiresAt?.toISOString() ?? null,
          handed_over_at: found.handedOverAt?.toISOString() ?? null,
        }
        const journal = (await readJournalOfOrder(pool, agent.agentId, found.orderId)).map(
          (row) => ({
            seq: row.seq,
            at: row.at.toISOString(),
            event: row.event,
            ...Object.fromEntries(
              accountNames.flatMap((name) => [
                [`${name}_change`, money(row.change[name])],
                [name, money(row.balances[name])],
              ]),
            ),
          }),
        )
        if (options.json) {
          // Amounts keep their decimal text: a JSON number made from a double would lose digits near the
          // limit.
          const rows = journal.map((row) =>
            jsonObject({
              ...Object.fromEntries(
                Object.entries(row).map(([name, value]) => [name, String(value)]),
              ),
              at: quoted(row.at),
              event: quoted(row.event),
            }),
          )
          return print(`${JSON.stringify(view).slice(0, -1)},"journal":[${rows.join(',')}]}`)
        }
        const { qrcode: _image, ...shown } = view
        print(
          table(
            ['', ''],
            Object.entries(shown).map(([name, value]) => [
              name,
              typeof value === 'object' && value !== null
                ? JSON.stringify(value)
                : String(value ?? '-'),
            ]),
          ).trimStart(),
        )
        print('\nJournal')
        print(
          table(
            ['SEQ', 'AT', 'EVENT', 'AVAILABLE', 'HELD', 'BALANCE'],
            journal.map((row: Record<string, unknown>) =>
              ['seq', 'at', 'event', 'available_change', 'held_change', 'available'].map((name) =>
                String(row[name]),
              ),
            ),
          ),
        )
      })
    })
  return order
}

export function triggerCommand(): Command {
  return new Command('trigger')
    .argument('<txn_id>')
    .argument('<outcome>', triggerOutcomes.join(', '))
    .option('--paid-amount <amount>', 'what came in, if it is not what was asked for')
    .option('--payer-account-no <number>', 'which account it came from')
    .option('--json', 'as JSON')
    .action(
      async (
        text: string,
        outcomeText: string,
        options: { paidAmount?: string; payerAccountNo?: string; json?: boolean },
      ) => {
        const outcome = triggerOutcomes.find((each) => each === outcomeText.toUpperCase())
        if (!outcome) {
          throw new UsageError(`"${outcomeText}" is not one of ${triggerOutcomes.join(', ')}`)
        }
        await withSandbox(async (desk, { pool }) => {
          const { found, agent } = await existingOrder(pool, text)
          const paidAmountMinor =
            options.paidAmount === undefined
              ? undefined
              : parseDecimal(options.paidAmount, agent.currency)
          if (!/^[A-Za-z0-9*-]{1,34}$/.test(options.payerAccountNo ?? 'none')) {
            throw new UsageError(
              `--payer-account-no "${options.payerAccountNo}" is not an account number`,
            )
          }
          if (options.paidAmount !== undefined && (paidAmountMinor ?? 0n) <= 0n) {
            throw new UsageError(`--paid-amount "${options.paidAmount}" is not an amount`)
          }
          const after = await trigger(desk, agent.agentId, found.orderId, {
            outcome,
            paidAmountMinor,
            payerAccountNo: options.payerAccountNo,
          })
          const view = orderView(after, desk.localTime)
          if (options.json) return print(view)
          print(`${text} is ${after.status}`)
        })
      },
    )
}

export async function existingOrder(pool: Pool, text: string) {
  const named = parseTxnId(text)
  if (!named) throw new UsageError(`"${text}" is not a transaction id`)
  const found = await findOrder(pool, named.agentId, named.orderId)
  const agent = found && (await findAgentById(pool, named.agentId))
  if (!found && (await isArchivedOrder(pool, named.agentId, named.orderId))) {
    throw new UsageError(`order ${text} was archived: look for it in the archive's files`)
  }
  if (!found || !agent) throw new UsageError(`there is no order ${text}`)
  return { found, agent }
}
