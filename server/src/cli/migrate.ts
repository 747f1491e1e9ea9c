import { Command } from 'commander'
import { refuseSecondDatabase } from '../backend.ts'
import { embeddedLogin, openEmbeddedPostgres } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { loadConfig, plainFault } from './command.ts'
import { note, print, printJson } from './output.ts'

export function migrateCommand(): Command {
  return new Command('migrate')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      const config = loadConfig()
      const { dataDir, databaseUrl, databaseOwnerUrl, databaseDirectUrl } = config
      await refuseSecondDatabase(config).catch((error) => {
        throw plainFault(error)
      })
      const embedded =
        databaseUrl === undefined
          ? await openEmbeddedPostgres({ dataDir, use: 'command', log: () => {} })
          : undefined
      try {
        const login =
          databaseOwnerUrl !== undefined && databaseUrl !== undefined
            ? decodeURIComponent(new URL(databaseUrl).username)
            : ''
        const url = databaseOwnerUrl ?? databaseDirectUrl ?? databaseUrl ?? embedded?.ownerUrl ?? ''
        const serviceLogin = embedded ? embeddedLogin : login === '' ? undefined : login
        const applied = await migrate(url, { serviceLogin, log: note }).catch((error) => {
          throw plainFault(error)
        })
        if (options.json) printJson({ applied })
        else print(applied.length === 0 ? 'Nothing to do.' : `Applied ${applied.join(', ')}.`)
      } finally {
        await embedded?.close()
      }
    })
}
