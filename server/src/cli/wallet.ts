import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import { accountNames } from '../ledger/accounts.ts'
import type { Wallet } from '../ledger/book.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { type Currency, decimalText, maxAmount, toMinor } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { Problem } from '../lib/problem.ts'
import { adjustWallet } from '../teller/adjust-wallet.ts'
import { existing } from './agent.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { note, print, table } from './output.ts'
import { UsageError } from './usage-error.ts'

export function walletCommand(): Command {
  const wallet = new Command('wallet')

  wallet
    .command('show <app_id>')
    .description('show the balances of an agent')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const agent = await existing(pool, appId)
        showWallet(appId, agent.currency, await readWallet(pool, agent.agentId), options.json)
      })
    })

  wallet
    .command('adjust <app_id> <amount>')
    .description('credit or, with a minus, debit a wallet; the same --ref twice changes nothing')
    .requiredOption('--reason <text>', 'why; it stays in the journal')
    .option('--ref <id>', 'your own reference; makes it safe to repeat')
    .option('--json', 'as JSON')
    .action(
      async (
        appId: string,
        amount: string,
        options: { reason: string; ref?: string; json?: boolean },
      ) => {
        const units = /^-?\d{1,13}$/.test(amount) ? BigInt(amount) : 0n
        if (units === 0n || units > maxAmount || units < -maxAmount) {
          throw new UsageError(
            `the amount "${amount}" must be whole units other than 0, at most ${maxAmount}, such as 500 or -500`,
          )
        }
        if (!isPrintable(options.reason, 1000)) {
          throw new UsageError('--reason must be 1 to 1000 printable characters')
        }
        if (options.ref !== undefined && !isPrintable(options.ref, 128)) {
          throw new UsageError('--ref must be 1 to 128 printable characters')
        }
        await withDesk(async (desk) => {
          const { agentId, currency } = await existing(desk.pool, appId)
          const ref = options.ref ?? randomUUID()
          const { reason } = options
          const entry = {
            action: 'adjust_wallet',
            subject: { kind: 'wallet', id: appId },
            agentId,
            before: { amount: units, ref },
            reason,
          }
          const amountMinor = toMinor(units, currency)
          const { changed } = await onRecord(
            desk.pool,
            entry,
            () => adjustWallet(desk, agentId, { amountMinor, reason, ref }),
            (done) => ({ changed: done.changed }),
          ).catch((error) => {
            if (error instanceof Problem && error.status < 500) throw error
            note(`It may have been booked: repeat it with --ref ${ref}, which counts once.`)
            throw error
          })
          const after = await readWallet(desk.pool, agentId)
          showWallet(appId, currency, after, options.json, { changed })
        })
      },
    )
  return wallet
}

function showWallet(
  appId: string,
  currency: Currency,
  { balances, seq }: Wallet,
  json: boolean | undefined,
  more: { changed?: boolean } = {},
): void {
  const money = (minor: bigint) => decimalText(minor, currency)
  if (json) {
    print(
      jsonObject({
        app_id: quoted(appId),
        currency: quoted(currency),
        balance: money(balances.available),
        ...Object.fromEntries(
          accountNames
            .filter((name) => name !== 'available')
            .map((name) => [name, money(balances[name])]),
        ),
        seq: String(seq),
        changed: more.changed === undefined ? undefined : String(more.changed),
      }),
    )
    return
  }
  if (more.changed === false) print('This reference was used before: nothing changed.')
  print(
    table(
      ['ACCOUNT', currency],
      [...accountNames.map((name) => [name, money(balances[name])]), ['(seq)', String(seq)]],
    ),
  )
}
