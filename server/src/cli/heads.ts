import { Command } from 'commander'
import { readHeads } from '../proof/heads.ts'
import { withBackend } from './command.ts'
import { print, printJsonLine, table } from './output.ts'

export function headsCommand(): Command {
  return new Command('heads')
    .option('--json', 'as one line of JSON, which "sluice verify --heads" reads')
    .action(async (options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const heads = await readHeads(pool, new Date())
        if (options.json) return printJsonLine(heads)
        const rows = [
          ...heads.books.map(({ book, seq, hash }) => [book, String(seq), hash]),
          ...heads.audit.map(({ lane, seq, hash }) => [`audit ${lane}`, String(seq), hash]),
        ]
        print(table(['CHAIN', 'SEQ', 'HASH'], rows))
      })
    })
}
