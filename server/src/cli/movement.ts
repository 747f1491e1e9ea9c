import { Command, Option } from 'commander'
import { explanations } from '../bank-accounts/movement-states.ts'
import { movementView } from '../bank-accounts/movement-view.ts'
import { type FoundMovement, readMovements } from '../bank-accounts/read-movements.ts'
import { isPrintable } from '../lib/printable.ts'
import {
  explainBatch,
  explainMovement,
  explainNeverBooked,
  explainPayout,
  explainReturn,
} from '../payments/explain-movement.ts'
import { existingAccount } from './bank-account.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, withBreakGlass } from './propose.ts'
import { recordCommand } from './record-payment.ts'
import { UsageError } from './usage-error.ts'

const pageRows = 1_000

export function movementCommand(): Command {
  const movement = new Command('movement')
  movement
    .command('list')
    .description('list what moved on a bank account, the oldest first')
    .requiredOption('--account <name>', 'the bank account')
    .option('--from <day>', 'from this day, such as 2026-11-01')
    .option('--to <day>', 'up to this day')
    .option('--json', 'as JSON')
    .action(async (options: { account: string; from?: string; to?: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const { name } = await existingAccount(pool, options.account)
        const search = { account: name, from: day(options.from), to: day(options.to) }
        const found: FoundMovement[] = []
        for (let after: FoundMovement | null = null; ; ) {
          const page = await readMovements(pool, { ...search, after, limit: pageRows })
          found.push(...page)
          after = page.at(-1) ?? null
          if (page.length < pageRows) break
        }
        const views = found.map(movementView)
        if (options.json) return printJson({ movements: views })
        print(
          table(
            ['DAY', 'AMOUNT', 'STATE', 'EXPLAINED BY', 'ORDER', 'ID'],
            views.map((view) => [
              view.day,
              `${view.amount} ${view.currency}`,
              view.state,
              view.explained_by ?? '-',
              view.txn_id ?? '-',
              view.id,
            ]),
          ),
        )
      })
    })
  withBreakGlass(
    movement
      .command('explain <id>')
      .requiredOption('--reason <text>', 'how you know; stays in the journal'),
  )
    .description('say what a movement was that is nobody’s payment')
    .requiredOption('--account <name>', 'the bank account')
    .addOption(
      new Option('--as <what>', 'what it was')
        .choices([...explanations, 'payment_returned', 'payout', 'batch', 'never_booked'])
        .makeOptionMandatory(),
    )
    .option('--payment <id>', 'for payment_returned: the movement that brought the payment')
    .option('--json', 'as JSON')
    .action(async (id: string, options: ExplainOptions) => {
      await withDesk(async (desk, backend, config) => {
        const account = await existingAccount(desk.pool, options.account)
        const { as, reason } = options
        if (!isPrintable(reason, 900)) throw new UsageError('--reason must be printable text')
        if (!/^[0-9a-f]{32}$/.test(id)) throw new UsageError(`"${id}" is not a movement's id`)
        if (as === 'payment_returned' && !/^[0-9a-f]{32}$/.test(options.payment ?? '')) {
          throw new UsageError('payment_returned needs --payment, the id of a movement')
        }
        const request = {
          route: 'POST /bank-accounts/:name/movements/:movement_id/explain',
          params: { name: account.name, movement_id: id },
          body: { as, reason, ...(options.payment !== undefined && { payment: options.payment }) },
        }
        if (await isProposed(config, backend, options, request)) return
        const { changed } = await onRecord(
          desk.pool,
          {
            action: 'explain_movement',
            subject: { kind: 'provider', id: account.name },
            agentId: null,
            before: { movement: id },
            reason,
          },
          () => {
            if (as === 'batch') return explainBatch(desk, account, id, reason)
            if (as === 'payout') return explainPayout(desk, account, id, reason)
            if (as === 'never_booked') return explainNeverBooked(desk, account, id, reason)
            if (as !== 'payment_returned') return explainMovement(desk, account, id, as, reason)
            return explainReturn(desk, account, id, options.payment ?? '', reason)
          },
          () => ({ movement: id, explained_by: as }),
        )
        if (options.json) return printJson({ movement: id, explained_by: as, changed })
        print(changed ? `${id} is explained: ${as}` : `${id} was explained so before`)
      })
    })
  movement.addCommand(recordCommand())
  return movement
}

interface ExplainOptions {
  account: string
  as: (typeof explanations)[number] | 'payment_returned' | 'payout' | 'batch' | 'never_booked'
  payment?: string
  reason: string
  breakGlass?: boolean
  json?: boolean
}

/** Reads a day that was given as an option. */
export function day(text: string | undefined): string | null {
  if (text === undefined) return null
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (!Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)) return text
  throw new UsageError(`"${text}" is not a day such as 2026-11-16`)
}
