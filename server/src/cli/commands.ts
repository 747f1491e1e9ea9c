import { Command } from 'commander'
import { version } from '../version.ts'

interface Listed {
  description: string
  load: () => Promise<Command>
}

/** Every command. Its modules are loaded only when it is used. */
const commands: Record<string, Listed> = {
  serve: {
    description: 'run the service',
    load: async () => (await import('./serve.ts')).serveCommand(),
  },
  migrate: {
    description: 'bring the schema up to date, as the owner of the database',
    load: async () => (await import('./migrate.ts')).migrateCommand(),
  },
  heads: {
    description: 'the ends of the chains of books and audit log, to be kept elsewhere',
    load: async () => (await import('./heads.ts')).headsCommand(),
  },
  rekey: {
    description: 'seal all secrets with SECRET_KEY that SECRET_KEY_PREVIOUS sealed',
    load: async () => (await import('./rekey.ts')).rekeyCommand(),
  },
  agent: {
    description: 'agents: who may create orders, on what terms',
    load: async () => (await import('./agent.ts')).agentCommand(),
  },
  wallet: {
    description: "agents' wallets",
    load: async () => (await import('./wallet.ts')).walletCommand(),
  },
  books: {
    description: 'the trial balance over all agents and the house; fails if it does not balance',
    load: async () => (await import('./books.ts')).booksCommand(),
  },
  order: {
    description: 'orders',
    load: async () => (await import('./order.ts')).orderCommand(),
  },
  'payout-file': {
    description: 'files by which bank accounts pay out',
    load: async () => (await import('./payout-file.ts')).payoutFileCommand(),
  },
  payout: {
    description: 'payouts that are with a provider',
    load: async () => (await import('./payout.ts')).payoutCommand(),
  },
  'open-item': {
    description: 'payouts of which a provider and the books say what cannot both be true',
    load: async () => (await import('./open-item.ts')).openItemCommand(),
  },
  event: {
    description: 'what providers reported and nobody could act on yet',
    load: async () => (await import('./event.ts')).eventCommand(),
  },
  payments: {
    description: 'money that came in and waits for a decision',
    load: async () => (await import('./payments.ts')).paymentsCommand(),
  },
  provider: {
    description: 'who moves the money, and who gets what',
    load: async () => (await import('./provider.ts')).providerCommand(),
  },
  proposal: {
    description: 'what waits for a second person to approve it in the console',
    load: async () => (await import('./proposal.ts')).proposalCommand(),
  },
  'bank-account': {
    description: 'bank accounts of yours that payers pay into',
    load: async () => (await import('./bank-account.ts')).bankAccountCommand(),
  },
  statement: {
    description: "banks' files: what they say came in and went out",
    load: async () => (await import('./statement.ts')).statementCommand(),
  },
  movement: {
    description: 'what moved on a bank account, and what explains it',
    load: async () => (await import('./movement.ts')).movementCommand(),
  },
  reconcile: {
    description: 'lay the books beside a bank account, day by day; fails where they differ',
    load: async () => (await import('./reconcile.ts')).reconcileCommand(),
  },
  callback: {
    description: 'callbacks: what is sent to agents',
    load: async () => (await import('./callback.ts')).callbackCommand(),
  },
  user: {
    description: 'who signs in to the console',
    load: async () => (await import('./user.ts')).userCommand(),
  },
  'agent-secret': {
    description: "agents' secrets that may do only some things",
    load: async () => (await import('./agent-secret.ts')).agentSecretCommand(),
  },
  limit: {
    description: 'limits and lists that new orders are measured against',
    load: async () => (await import('./limit.ts')).limitCommand(),
  },
  stop: {
    description: 'stop payouts at once, of an agent or all',
    load: async () => (await import('./stop.ts')).stopCommand(),
  },
  go: {
    description: 'start payouts again after a stop',
    load: async () => (await import('./stop.ts')).goCommand(),
  },
  trigger: {
    description: "make the sandbox's bank say that something happened to an order",
    load: async () => (await import('./order.ts')).triggerCommand(),
  },
  sign: {
    description: 'sign a request or a callback, or find out why a signature does not hold',
    load: async () => (await import('./sign.ts')).signCommand(),
  },
  listen: {
    description: "receive an agent's callbacks here, and forward them",
    load: async () => (await import('./listen.ts')).listenCommand(),
  },
  verify: {
    description:
      'prove every balance from the journal; names the first fault of each agent and then fails',
    load: async () => (await import('./verify.ts')).verifyCommand(),
  },
  archive: {
    description: 'move the oldest part of the books to files; as the owner of the database',
    load: async () => (await import('./archive.ts')).archiveCommand(),
  },
  seed: {
    description: 'make up agents with weeks of orders, to look at; in the sandbox only',
    load: async () => (await import('./seed.ts')).seedCommand(),
  },
  doctor: {
    description: 'look over settings, database, clock, disk, providers and callback addresses',
    load: async () => (await import('./doctor.ts')).doctorCommand(),
  },
  completion: {
    description: 'print a script with which the shell completes commands and options',
    load: async () => (await import('./completion.ts')).completionCommand(loadAll),
  },
}

export const commandNames = Object.keys(commands)

/** Loads a command in full, or only what the list of commands shows. */
export async function loadCommand(name: string, how: 'whole' | 'name'): Promise<Command> {
  const listed = commands[name]
  if (!listed) throw new Error(`there is no command ${name}`)
  const command = how === 'whole' ? await listed.load() : new Command(name)
  return command.description(listed.description)
}

/** Loads the whole tree of commands. */
async function loadAll(): Promise<Command> {
  const program = new Command('sluice').version(version)
  for (const name of commandNames) program.addCommand(await loadCommand(name, 'whole'))
  return program
}
