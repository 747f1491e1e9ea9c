import { Command } from 'commander'
import { agentCommand } from './cli/agent.ts'
import { callbackCommand } from './cli/callback.ts'
import { UsageError } from './cli/command.ts'
import { migrateCommand } from './cli/migrate.ts'
import { orderCommand, triggerCommand } from './cli/order.ts'
import { note } from './cli/output.ts'
import { paymentsCommand } from './cli/payments.ts'
import { payoutCommand } from './cli/payout.ts'
import { providerCommand } from './cli/provider.ts'
import { seedCommand } from './cli/seed.ts'
import { serveCommand } from './cli/serve.ts'
import { userCommand } from './cli/user.ts'
import { verifyCommand } from './cli/verify.ts'
import { walletCommand } from './cli/wallet.ts'
import { AlreadyServing } from './db/embedded.ts'
import { Problem } from './lib/problem.ts'
import { version } from './version.ts'

const program = new Command('sluice')
  .description('Deposit and withdraw orders with signed callbacks, on a ledger that can be proved.')
  .version(version)
  .showHelpAfterError('(sluice --help lists the commands)')
  .addCommand(serveCommand())
  .addCommand(migrateCommand())
  .addCommand(agentCommand())
  .addCommand(walletCommand())
  .addCommand(orderCommand())
  .addCommand(payoutCommand())
  .addCommand(paymentsCommand())
  .addCommand(providerCommand())
  .addCommand(callbackCommand())
  .addCommand(userCommand())
  .addCommand(triggerCommand())
  .addCommand(verifyCommand())
  .addCommand(seedCommand())

program.parseAsync().catch((error: unknown) => {
  // Only what nobody can put right by reading the message is worth a stack.
  const isPlain =
    error instanceof UsageError || error instanceof Problem || error instanceof AlreadyServing
  const text = error instanceof Error ? (isPlain ? error.message : error.stack) : String(error)
  note(`sluice: ${text}`)
  process.exit(1)
})
