import { Command, Option } from 'commander'
import {
  createSecret,
  listSecrets,
  revokeSecret,
  type SecretScope,
  secretFaults,
  secretScopes,
  secretView,
} from '../agents/agent-secrets.ts'
import { inTransaction } from '../db/in-transaction.ts'
import { writeAudit } from '../operators/audit.ts'
import { entryOf, existing } from './agent.ts'
import { withBackend } from './command.ts'
import { commandLine, onRecord } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

interface MakeOptions extends ProposeOptions {
  name: string
  scope: SecretScope[]
  allowIp?: string[]
}

/** `sluice agent-secret`: secrets that may do only some things. */
export function agentSecretCommand(): Command {
  const secret = new Command('agent-secret')

  withBreakGlass(secret.command('create <app_id>'))
    .description('make a secret that may do only some things; it is shown once, now')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(
      new Option('--scope <scope...>', 'what it may do; callback signs callbacks, and goes alone')
        .choices([...secretScopes])
        .makeOptionMandatory(),
    )
    .option('--allow-ip <cidr...>', 'only requests from these addresses')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: MakeOptions) => {
      await withBackend(async (backend, config) => {
        const { pool, secretKeys } = backend
        const found = await existing(pool, appId)
        const { name, scope: scopes, allowIp: allowedIps = [], reason } = options
        const faults = secretFaults({ name, scopes, allowedIps })
        if (faults.length > 0) {
          throw new UsageError(faults.map(({ field, message }) => `${field} ${message}`).join('\n'))
        }
        const request = {
          route: 'POST /agents/:app_id/secrets',
          params: { app_id: appId },
          body: { name, scopes, allow_ip: allowedIps, reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const made = { name, scopes, allowedIps, createdBy: commandLine.email }
        const { secret, n } = await onRecord(
          pool,
          entryOf('make_secret', found),
          () => createSecret(pool, secretKeys, found.agentId, made, new Date()),
          (done) => ({ id: done.n, name, scopes, allow_ip: allowedIps }),
        )
        if (options.json) return printJson({ app_id: appId, id: n, secret })
        print(`secret  ${secret}\n\nKeep it now: it is not shown again.`)
      })
    })

  secret
    .command('list <app_id>')
    .description('an agent’s secrets that may do only some things, and when they were last used')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const { agentId } = await existing(pool, appId)
        const rows = (await listSecrets(pool, agentId)).map(secretView)
        if (options.json) return printJson(rows)
        print(
          table(
            ['ID', 'NAME', 'SCOPES', 'ADDRESSES', 'LAST USED', 'REVOKED'],
            rows.map((row) => [
              String(row.id),
              row.name,
              row.scopes.join(' '),
              row.allow_ip.join(' ') || 'any',
              row.last_used_at ?? 'never',
              row.revoked_at ?? '-',
            ]),
          ),
        )
      })
    })

  secret
    .command('revoke <app_id> <id>')
    .description('end a secret now, in every process')
    .requiredOption('--reason <text>', 'why')
    .option('--json', 'as JSON')
    .action(async (appId: string, id: string, options: { reason: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const found = await existing(pool, appId)
        const at = new Date()
        await inTransaction(pool, async (tx) => {
          const isNumber = /^[1-9]\d{0,8}$/.test(id)
          if (!isNumber || !(await revokeSecret(tx, found.agentId, Number(id), at))) {
            throw new UsageError(`there is no secret ${id}, or it was revoked before`)
          }
          await writeAudit(tx, {
            ...entryOf('revoke_secret', found),
            at,
            operator: commandLine,
            after: { id: Number(id) },
            reason: options.reason,
          })
        })
        if (options.json) return printJson({ revoked: Number(id) })
        print(`secret ${id} is revoked`)
      })
    })

  return secret
}
