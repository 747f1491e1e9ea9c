import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Command } from 'commander'
import { tellOfFile } from '../bank-accounts/bank-files.ts'
import { wholeDecimalText } from '../lib/money.ts'
import { nobody } from '../operators/credentials.ts'
import { bookMovements, movementPage } from '../payments/book-movement.ts'
import { importBankFile, previewLines, readStatements } from '../payments/import-bank-file.ts'
import { builtInCsvProfiles } from '../statements/csv-profiles.ts'
import { tooLarge } from '../statements/file-bytes.ts'
import { BankFileFault, maxFileBytes } from '../statements/statement.ts'
import { existingAccount } from './bank-account.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { note, print, printJson, progress, table } from './output.ts'
import { commandLineUser } from './propose.ts'
import { UsageError } from './usage-error.ts'

export function statementCommand(): Command {
  const statement = new Command('statement')
  statement
    .command('import <file>')
    .description("read a bank's file: camt.052, 053 and 054, MT940, MT942, OFX, or CSV by profile")
    .requiredOption('--account <name>', 'the bank account that it is of')
    .option('--json', 'as JSON')
    .action(async (file: string, options: { account: string; json?: boolean }) => {
      await withDesk(async (desk, _backend, config) => {
        const account = await existingAccount(desk.pool, options.account)
        const bytes = await readWhole(file)
        const done = await onRecord(
          desk.pool,
          {
            action: 'import_statement',
            subject: { kind: 'provider', id: account.name },
            agentId: null,
          },
          () =>
            importBankFile(
              desk,
              account,
              { name: basename(file), bytes, via: 'command', by: commandLineUser() },
              config.mode,
            ),
          ({ fileId, movements }) => ({ file: fileId, movements }),
        ).catch((error) => {
          throw error instanceof BankFileFault
            ? new UsageError(`the file is refused: ${error.message}`)
            : error
        })
        const kept = await tellOfFile(desk.pool, account.name, done.fileId, nobody, new Date())
        let booked = 0
        for (let round = movementPage; round >= movementPage; ) {
          round = await bookMovements(desk, (error) => note(String(error)), account.name)
          booked += round
          progress(`booked ${booked}`)
        }
        progress('')
        const { fileId, isRepeat, statements, entries, pending, movements, notes } = done
        if (options.json) {
          return printJson({
            file: fileId,
            account: account.name,
            repeated: isRepeat,
            statements,
            entries,
            pending,
            movements,
            waits: kept?.isWaiting ?? false,
            notes,
          })
        }
        print(
          `${statements} statements with ${entries} entries: ${movements} new movements${isRepeat ? '; this file was imported before' : ''}`,
        )
        if (kept?.isWaiting) {
          note('It counts once an admin confirms it in the console, or the bank itself says so.')
        }
        for (const each of notes) note(each)
      })
    })
  statement
    .command('preview <file>')
    .description(
      "show the first ten entries of a bank's file as they would be read; stores nothing",
    )
    .requiredOption('--account <name>', 'the bank account that it is of')
    .option('--json', 'as JSON')
    .action(async (file: string, options: { account: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const account = await existingAccount(pool, options.account)
        const bytes = await readWhole(file)
        const statements = await readStatements(account, { bytes }).catch(async (error) => {
          if (!(error instanceof BankFileFault)) throw error
          // What the profile makes of each line says more than the first fault.
          for (const { line, cells, fault } of await previewLines(account, { bytes }).catch(
            () => [],
          )) {
            note(`line ${line}: ${cells.join(' | ')}${fault === null ? '' : `  <- ${fault}`}`)
          }
          throw new UsageError(`the file would be refused: ${error.message}`)
        })
        const rows = statements
          .flatMap(({ entries }) => entries)
          .slice(0, 10)
          .map((entry) => ({
            line: entry.line,
            day: entry.bookedOn,
            booked_at: entry.bookedAt?.toISOString() ?? null,
            amount: wholeDecimalText(entry.amountMinor, account.currency),
            status: entry.status,
            text: entry.texts.join(' '),
            payer: entry.counterparty,
          }))
        if (options.json) return printJson({ entries: rows })
        print(
          table(
            ['LINE', 'DAY', 'AMOUNT', 'STATUS', 'TEXT'],
            rows.map((row) => [String(row.line), row.day, row.amount, row.status, row.text]),
          ),
        )
      })
    })

  statement
    .command('profiles')
    .description('list the layouts of CSV files that are known')
    .option('--json', 'as JSON')
    .action((options: { json?: boolean }) => {
      const rows = builtInCsvProfiles.map(({ profile: _profile, ...row }) => row)
      if (options.json) return printJson(rows)
      print(
        table(
          ['NAME', 'BANK', 'CHECKED', 'EXPORTED FROM'],
          rows.map((row) => [row.name, row.bank, row.checked ? 'yes' : 'no', row.export]),
        ),
      )
    })
  return statement
}

async function readWhole(file: string): Promise<Buffer> {
  try {
    if ((await stat(file)).size > maxFileBytes) throw tooLarge()
    return await readFile(file)
  } catch (error) {
    if (error instanceof BankFileFault)
      throw new UsageError(`the file is refused: ${error.message}`)
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}
