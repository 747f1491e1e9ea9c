import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { Pool } from '../db/pool.ts'
import { Exact, jsonText } from '../lib/json-text.ts'
import { decimalText, parseDecimal } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { draftPayoutFile } from '../payout-files/draft-file.ts'
import { exportPayoutFile } from '../payout-files/export-file.ts'
import { fileSummary, fileView } from '../payout-files/file-view.ts'
import { findPayoutFile, type PayoutFile, readPayoutFiles } from '../payout-files/payout-file.ts'
import { existingAccount } from './bank-account.ts'
import { withBackend, withDesk } from './command.ts'
import { commandLine } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { UsageError } from './usage-error.ts'

interface DraftOptions {
  debited?: boolean
  movement?: string
  withdrawals?: string[]
  rest?: string
  json?: boolean
}

/** Approving is for people in the console: here there is no second person. */
export function payoutFileCommand(): Command {
  const command = new Command('payout-file')

  command
    .command('draft <account>')
    .description('make a draft of the withdrawals that wait for an account; admins approve it')
    .option(
      '--debited',
      'of those that the bank has debited already, as after a restore; such a file never leaves',
    )
    .option(
      '--movement <id>',
      'the debit of a payment file that was lost, in one sum: such a file never leaves either',
    )
    .option(
      '--withdrawals <txn-id...>',
      'with --movement: what it paid, by ids or codes; with --rest they are its amount',
    )
    .option(
      '--rest <amount>',
      "with --movement: what it is more than these, the bank's charge; what was lost is created again first",
    )
    .option('--json', 'as JSON')
    .action(async (name: string, options: DraftOptions) => {
      await withDesk(async (desk) => {
        const account = await existingAccount(desk.pool, name)
        const { movement: movementId, withdrawals, rest = '0' } = options
        if ((movementId === undefined) !== (withdrawals === undefined)) {
          throw new UsageError('--movement goes with --withdrawals')
        }
        if (movementId !== undefined && !/^[0-9a-f]{32}$/.test(movementId)) {
          throw new UsageError('--movement must be the id of a movement: 32 hex digits')
        }
        const restMinor = parseDecimal(rest, account.currency) ?? -1n
        if (restMinor < 0n || (options.rest !== undefined && movementId === undefined)) {
          throw new UsageError(`--rest must be an amount in ${account.currency}, with --movement`)
        }
        const lost =
          movementId !== undefined && withdrawals
            ? { movementId, withdrawals, restMinor }
            : undefined
        const alreadyPaid = options.debited === true || lost !== undefined
        const file = await draftPayoutFile(desk, account, commandLine, { alreadyPaid, lost })
        if (options.json)
          return print(jsonText(await fileView(desk.pool, file, exactOf(file), new Date())))
        const { count, sum } = await fileSummary(desk.pool, file, moneyOf(file))
        print(`${file.fileId}: ${count} payouts, ${sum} ${file.currency}`)
        print('An admin approves it in the console, under Payout files.')
      })
    })

  command
    .command('list')
    .description('list payout files, the newest first')
    .option('--account <name>', 'only of this bank account')
    .option('--json', 'as JSON')
    .action(async (options: { account?: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const filter = { account: options.account ?? null, before: null, limit: 1_000 }
        const files = await readPayoutFiles(pool, filter)
        const money = options.json ? exactOf : moneyOf
        const views = await Promise.all(files.map((file) => fileSummary(pool, file, money(file))))
        if (options.json) return print(jsonText(views))
        print(
          table(
            ['ID', 'ACCOUNT', 'STATE', 'PAYOUTS', 'SUM', 'MADE BY'],
            views.map((view) => [
              view.id,
              view.account,
              view.state,
              String(view.count),
              `${view.sum} ${view.currency}`,
              view.made_by,
            ]),
          ),
        )
      })
    })

  command
    .command('show <id>')
    .description('show a payout file with its items')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const file = await existingFile(pool, id)
        const money = options.json ? exactOf : moneyOf
        const view = await fileView(pool, file, money(file), new Date())
        if (options.json) return print(jsonText(view))
        print(`${view.id} of ${view.account}: ${view.state}`)
        print(`${view.count} payouts, ${view.sum} ${view.currency}, digest ${view.digest}`)
        if (view.debit) {
          const { movement, amount, rest, day, text } = view.debit
          print(`Paid by movement ${movement} of ${amount} ${view.currency} on ${day}: ${text}`)
          print(`Of that, ${rest} ${view.currency} is none of these payouts: a cost of the house.`)
        }
        print(
          table(
            ['TXN ID', 'CODE', 'AMOUNT', 'STATE', 'SAID'],
            view.items.map((item) => [
              item.txn_id,
              item.code ?? '-',
              String(item.amount),
              item.state,
              item.said ?? '-',
            ]),
          ),
        )
      })
    })

  command
    .command('export <id>')
    .description('write the sealed bytes of an approved file; who and why is kept')
    .requiredOption('--reason <text>', 'why, 3 to 500 characters')
    .option('--out <file>', 'where to; by default under its own name, here')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { reason: string; out?: string; json?: boolean }) => {
      const { reason } = options
      if (reason.length < 3 || reason.length > 500 || !isPrintable(reason, 500)) {
        throw new UsageError('--reason must be 3 to 500 characters')
      }
      await withBackend(async ({ pool }) => {
        const file = await existingFile(pool, id)
        const desk = { pool, now: () => new Date() }
        const seal = await exportPayoutFile(desk, file, commandLine, reason)
        const path = options.out ?? seal.name
        // Never over a file that is there: it may be another that was not sent yet.
        await writeFile(path, seal.bytes, { flag: 'wx', mode: 0o600 }).catch((error) => {
          throw new UsageError(`${path} cannot be written: ${error.message}`)
        })
        const { sha256, messageId } = seal
        if (options.json) return printJson({ file: path, sha256, message_id: messageId })
        print(`${path}, SHA-256 ${sha256}`)
      })
    })
  return command
}

/** A number, as the console's API answers it. */
function exactOf({ currency }: PayoutFile) {
  return (minor: bigint) => new Exact(decimalText(minor, currency))
}

function moneyOf({ currency }: PayoutFile) {
  return (minor: bigint) => decimalText(minor, currency)
}

async function existingFile(pool: Pool, id: string): Promise<PayoutFile> {
  const file = /^[0-9a-f]{32}$/.test(id) ? await findPayoutFile(pool, id) : undefined
  if (!file) throw new UsageError(`there is no payout file "${id}": sluice payout-file list`)
  return file
}
