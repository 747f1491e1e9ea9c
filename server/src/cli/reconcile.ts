import { Command } from 'commander'
import { wholeDecimalText } from '../lib/money.ts'
import { reconcileAccount } from '../reconcile/reconcile-account.ts'
import { existingAccount } from './bank-account.ts'
import { withBackend } from './command.ts'
import { day } from './movement.ts'
import { coloured, print, printJson } from './output.ts'

export function reconcileCommand(): Command {
  return new Command('reconcile')
    .requiredOption('--account <name>', 'the bank account')
    .option('--day <day>', 'only this day, such as 2026-11-16')
    .option('--json', 'as JSON')
    .action(async (options: { account: string; day?: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const account = await existingAccount(pool, options.account)
        const only = day(options.day)
        const { days } = await reconcileAccount(pool, account, new Date())
        const own = days.filter((each) => only === null || each.day === only)
        // Nothing moved on the day, and no statement says so either.
        const silent = { day: only ?? '', state: 'amber', opening: null, closing: null } as const
        const shown = own.length > 0 || only === null ? own : [{ ...silent, breaks: [] }]
        const money = (minor: bigint | null) =>
          minor === null ? null : wholeDecimalText(minor, account.currency)
        const views = shown.map((each) => ({
          day: each.day,
          state: each.state,
          opening: money(each.opening),
          closing: money(each.closing),
          breaks: each.breaks.map(({ name, amountMinor, movementId, detail }) => ({
            name,
            amount: money(amountMinor),
            movement: movementId,
            detail,
          })),
        }))
        if (shown.some(({ state }) => state === 'red')) process.exitCode = 1
        if (options.json) return printJson({ account: account.name, days: views })
        if (views.length === 0) return print('Nothing moved, and no statement was imported.')
        for (const view of views) {
          const colour = ({ green: 'green', amber: 'yellow', red: 'red' } as const)[view.state]
          print(`${view.day}  ${coloured(colour, view.state)}`)
          for (const each of view.breaks) {
            print(`  ${each.name}${each.amount === null ? '' : ` ${each.amount}`}: ${each.detail}`)
          }
        }
      })
    })
}
