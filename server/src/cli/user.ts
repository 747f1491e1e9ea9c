import { Command, Option } from 'commander'
import { listAgents } from '../agents/find-agent.ts'
import type { Config } from '../config.ts'
import type { Pool } from '../db/pool.ts'
import { invitationLink } from '../operators/invite.ts'
import type { Role } from '../operators/operator.ts'
import { roles } from '../operators/operator.ts'
import { type Asked, createUser, resetUser } from '../operators/save-user.ts'
import { findUserByEmail, listUsers, parseEmail, type User } from '../operators/user.ts'
import { existing as existingAgent } from './agent.ts'
import { withBackend } from './command.ts'
import { commandLine } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

const asked = (): Asked => ({ operator: commandLine, reason: null, at: new Date() })

export function userCommand(): Command {
  const user = new Command('user').description('who signs in to the console')

  withBreakGlass(
    user
      .command('create <email>')
      .description('create a user; prints the link with which they choose a password'),
  )
    .addOption(new Option('--role <role>').choices([...roles]).makeOptionMandatory())
    .option('--agent <app_id>', 'the one agent they see, with the role agent')
    .option('--json', 'as JSON')
    .action(async (text: string, options: ProposeOptions & { role: Role; agent?: string }) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const email = parseEmail(text)
        if (email === undefined) throw new UsageError(`"${text}" is not an email address`)
        if ((options.role === 'agent') !== (options.agent !== undefined)) {
          throw new UsageError('--agent goes with --role agent, and only with it')
        }
        const agentId =
          options.agent === undefined ? null : (await existingAgent(pool, options.agent)).agentId
        const { role } = options
        const request = {
          route: 'POST /users',
          body: { email, role, ...(options.agent !== undefined && { app_id: options.agent }) },
        }
        if (await isProposed(config, backend, options, request)) return
        const { token } = await createUser(pool, { email, role, agentId }, asked())
        tell(config, email, token, options.json)
      })
    })

  withBreakGlass(
    user
      .command('reset <email>')
      .description('for a lost phone or password: ends their sessions, prints a new link'),
  )
    .option('--json', 'as JSON')
    .action(async (text: string, options: ProposeOptions) => {
      await withBackend(async (backend, config) => {
        const { pool } = backend
        const { userId, email } = await existing(pool, text)
        const request = {
          route: 'POST /users/:id/reset',
          params: { id: String(userId) },
          body: { reason: options.reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const { token } = await resetUser(pool, userId, asked(), {
          keepsAnAdmin: false,
        })
        tell(config, email, token, options.json)
      })
    })

  user
    .command('list')
    .description('list all users')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const appIds = new Map((await listAgents(pool)).map((each) => [each.agentId, each.appId]))
        const rows = (await listUsers(pool)).map((each) => ({
          email: each.email,
          role: each.role,
          app_id: each.agentId === null ? null : (appIds.get(each.agentId) ?? null),
          state: each.disabledAt ? 'disabled' : each.isEnrolled ? 'active' : 'invited',
          last_seen_at: each.lastSeenAt?.toISOString() ?? null,
        }))
        if (options.json) return printJson(rows)
        print(
          table(
            ['EMAIL', 'ROLE', 'AGENT', 'STATE', 'LAST SEEN'],
            rows.map((row) => Object.values(row).map((value) => value ?? '-')),
          ),
        )
      })
    })
  return user
}

function tell({ publicUrl }: Config, email: string, token: string | undefined, json = false): void {
  const link = invitationLink(publicUrl ?? 'http://localhost', token)
  if (json) printJson({ email, link })
  else if (token === undefined)
    print(`${link}\n\nThere ${email} signs in with SSO and enrols an authenticator.`)
  else print(`${link}\n\nGive ${email} this link. It works once, for 24 hours.`)
}

async function existing(pool: Pool, text: string): Promise<User> {
  const found = await findUserByEmail(pool, parseEmail(text) ?? '')
  if (!found) throw new UsageError(`there is no user ${text}; "sluice user list" shows them`)
  return found
}
