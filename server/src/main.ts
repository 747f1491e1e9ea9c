import { Command } from 'commander'
import { commandNames, loadCommand } from './cli/commands.ts'
import { note } from './cli/output.ts'
import { UsageError } from './cli/usage-error.ts'
import { Problem } from './lib/problem.ts'
import { version } from './version.ts'

const [first, second] = process.argv.slice(2)
const chosen = first === 'help' ? second : first

async function run(): Promise<void> {
  const program = new Command('sluice')
    .description(
      'Deposit and withdraw orders with signed callbacks, on a ledger that can be proved.',
    )
    .version(version)
    .showHelpAfterError('(sluice --help lists the commands)')
    .configureHelp({ subcommandTerm: (command) => command.name() })
  // Of the others only the names: nobody should wait for what is not asked for.
  for (const name of commandNames) {
    program.addCommand(await loadCommand(name, name === chosen ? 'whole' : 'name'))
  }
  await program.parseAsync()
}

run().catch((error: unknown) => {
  // Only what nobody can put right by reading the message is worth a stack.
  const isPlain = error instanceof UsageError || error instanceof Problem
  const text = error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)
  note(`sluice: ${text}`)
  process.exit(1)
})
