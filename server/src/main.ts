import { Command } from 'commander'
import { commandNames, loadCommand } from './cli/commands.ts'
import { note } from './cli/output.ts'
import { UsageError } from './cli/usage-error.ts'
import { Problem } from './lib/problem.ts'
import { version } from './version.ts'

const [first, second] = process.argv.slice(2)
const chosen = first === 'help' ? second : first

// Whoever reads the output may stop, as head does: a command then ends without a word. The service goes on.
if (first !== 'serve') {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit()
    })
  }
}

async function run(): Promise<void> {
  const program = new Command('sluice')
    .description(
      'Deposit and withdraw orders with signed callbacks, on a ledger that can be proved.',
    )
    .version(version)
    .showHelpAfterError('(sluice --help lists the commands)')
    .configureHelp({ subcommandTerm: (command) => command.name() })
  // The other commands are loaded by name only, so that start-up does not wait for their modules.
  for (const name of commandNames) {
    program.addCommand(await loadCommand(name, name === chosen ? 'whole' : 'name'))
  }
  await program.parseAsync()
}

run().catch((error: unknown) => {
  // Only errors that the message alone does not explain get a stack trace.
  const isPlain = error instanceof UsageError || error instanceof Problem
  const text = error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)
  note(`sluice: ${text}`)
  process.exit(1)
})
