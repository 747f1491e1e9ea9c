import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { raiseAlarm } from '../approvals/alarms.ts'
import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { isPrintable } from '../lib/printable.ts'
import { writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import { hasAnybodySignedIn } from '../operators/sessions.ts'
import { tellAdmins } from '../operators/tell-people.ts'
import { commandLine } from './on-record.ts'
import { note, print, printJson } from './output.ts'
import { UsageError } from './usage-error.ts'

export interface ProposeOptions {
  breakGlass?: boolean
  reason?: string
  json?: boolean
}

/** Adds the options of a command whose action two people may have to decide on. */
export function withBreakGlass(command: Command): Command {
  if (!command.options.some(({ long }) => long === '--reason')) {
    command.option('--reason <text>', 'why; in live, for who approves')
  }
  return command.option('--break-glass', 'in live, act at once; every admin is alarmed')
}

/** A request to the console's API, as a command makes it. */
export interface CommandRequest {
  /** Method and path, such as `POST /wallets/:app_id/adjust`. */
  route: string
  params?: Record<string, string>
  body: Record<string, unknown>
}

/**
 * In live, makes a proposal of what policy covers, and tells its id. Returns false if the command is to act
 * itself: in the sandbox, while nobody has ever signed in to the console, if policy asks for one person only, and
 * with --break-glass.
 */
export async function isProposed(
  config: Config,
  backend: Backend,
  options: ProposeOptions,
  { route, params = {}, body }: CommandRequest,
): Promise<boolean> {
  if (config.mode === 'sandbox') return false
  if (options.breakGlass) {
    await breakGlass(config, backend, options.reason ?? '', route, { ...params, ...body })
    return false
  }
  // A new house is set up here: there is nobody yet who could approve.
  if (!(await hasAnybodySignedIn(backend.pool))) return false
  const { openApprovals } = await import('../service/open-approvals.ts')
  const { approvals, close } = await openApprovals(config, backend, (error) =>
    note(`the database: ${String(error)}`),
  )
  try {
    const operator = {
      userId: nobody,
      email: commandLineUser(),
      role: 'admin',
      agentId: null,
      sessionId: '',
      ip: '',
    } as const
    const proposed = await approvals.proposeInstead(route, operator, { params, body })
    if (!proposed) return false
    if (options.json) printJson(proposed)
    else print(`proposal ${proposed.proposal}\n\n${proposed.detail}`)
    return true
  } finally {
    await close()
  }
}

/** A user of this machine is not one of the console: any admin may approve what they propose. */
export function commandLineUser(): string {
  return `command line, ${userInfo().username}`.slice(0, 200)
}

export interface AloneOptions {
  iAmAlone?: boolean
  breakGlass?: boolean
  reason?: string
}

/**
 * In live, what two people always decide on is proposed, as `isProposed` does, and done by one who says to be alone, or
 * with --break-glass. Once somebody has signed in to the console, every admin is alarmed of that. Returns whether it was
 * proposed.
 */
export async function isProposedUnlessAlone(
  config: Config,
  backend: Backend,
  options: AloneOptions & ProposeOptions,
  what: string,
  request: CommandRequest,
): Promise<boolean> {
  const isAlone = options.iAmAlone || options.breakGlass
  if (!isAlone && (await hasAnybodySignedIn(backend.pool))) {
    return isProposed(config, backend, options, request)
  }
  await actAlone(config, backend, options, what, request.params ?? {})
  return false
}

async function actAlone(
  config: Config,
  backend: Backend,
  options: AloneOptions,
  what: string,
  input: Record<string, unknown>,
): Promise<void> {
  if (config.mode === 'sandbox') return
  if (!options.iAmAlone && !options.breakGlass) {
    throw new UsageError(
      'in live, this takes two people, and nobody has signed in to the console yet: invite them with "sluice user create", or say --i-am-alone',
    )
  }
  if (!options.breakGlass && !(await hasAnybodySignedIn(backend.pool))) return
  const { reason = options.breakGlass ? '' : '--i-am-alone' } = options
  await breakGlass(config, backend, reason, what, input)
}

/** Alarms every admin, before the command acts. */
async function breakGlass(
  config: Config,
  { pool }: Backend,
  reason: string,
  route: string,
  input: Record<string, unknown>,
): Promise<void> {
  if (!config.breakGlass) {
    throw new UsageError(
      'acting alone is switched off here (BREAK_GLASS=off): propose it, or let two people do it in the console',
    )
  }
  if (!isPrintable(reason, 500) || reason.trim().length < 3) {
    throw new UsageError('--break-glass needs --reason with 3 to 500 printable characters')
  }
  const at = new Date()
  const by = commandLineUser()
  const words = `${by} did this alone, on the command line: ${route}. Why: ${reason}`
  await inTransaction(pool, async (tx) => {
    await raiseAlarm(tx, { at, by, words })
    await tellAdmins(tx, { what: `alone ${route}`, words, at })
    await writeAudit(tx, {
      at,
      operator: { ...commandLine, email: by },
      action: 'break_glass',
      subject: { kind: 'route', id: route },
      agentId: null,
      after: input,
      reason,
    })
  })
  note('Every admin is alarmed.')
}
