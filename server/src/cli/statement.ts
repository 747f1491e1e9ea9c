import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Command } from 'commander'
import { bookMovements, movementPage } from '../payments/book-movement.ts'
import { importBankFile } from '../payments/import-bank-file.ts'
import { BankFileFault, maxFileBytes } from '../statements/statement.ts'
import { existingAccount } from './bank-account.ts'
import { withDesk } from './command.ts'
import { commandLine, onRecord } from './on-record.ts'
import { note, print, printJson, progress } from './output.ts'
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
              { name: basename(file), bytes, via: 'command', by: commandLine.email },
              config.mode,
            ),
          ({ fileId, movements }) => ({ file: fileId, movements }),
        ).catch((error) => {
          throw error instanceof BankFileFault
            ? new UsageError(`the file is refused: ${error.message}`)
            : error
        })
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
            notes,
          })
        }
        print(
          `${statements} statements with ${entries} entries: ${movements} new movements${isRepeat ? '; this file was imported before' : ''}`,
        )
        if (config.mode === 'live' && movements > 0) {
          note("In live, money that only a file you bring reports waits for the bank's own word.")
        }
        for (const each of notes) note(each)
      })
    })
  return statement
}

async function readWhole(file: string): Promise<Buffer> {
  const bytes = await readFile(file).catch((error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`)
  })
  if (bytes.length > maxFileBytes) throw new UsageError(`${file} is larger than 64 MiB`)
  return bytes
}
