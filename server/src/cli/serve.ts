import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import type { Logger } from 'pino'
import { createFirstAgent, defaultTerms, type NewAgent } from '../agents/save-agent.ts'
import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { orderKinds } from '../ledger/book.ts'
import { currencies, defaultCurrency } from '../lib/money.ts'
import { invitationLink, inviteFirstAdmin } from '../operators/invite.ts'
import type { Service, startService as StartService } from '../service/start-service.ts'
import { version } from '../version.ts'
import { loadConfig, openDatabase } from './command.ts'
import { print, printJson } from './output.ts'
import { UsageError } from './usage-error.ts'

const drainLimitMs = 30_000
const sameSignalMs = 500
/**
 * Gives clients time to send requests that are on their way, which closing the connection would cut off.
 */
const partingMs = 300

export function serveCommand(): Command {
  return new Command('serve')
    .option('--json', 'tell the addresses as JSON')
    .option(
      '--look',
      'also a link for looking around, in a sandbox that only this machine can reach',
    )
    .action(async (options: { json?: boolean; look?: boolean }) => {
      const config = loadConfig()
      // Imported here so that other commands do not have to load the HTTP modules.
      const { makeLog } = await import('../service/make-log.ts')
      const { startService } = await import('../service/start-service.ts')
      const log = makeLog(config.logLevel, process.stderr.isTTY === true)
      const starting = start(config, log, startService)
      stopOnSignal(starting, log)
      profileOnSignal(config, log)
      const { service, demo, firstAdmin } = await starting
      const url = service.desk.publicUrl()
      const invitation = firstAdmin && invitationLink(url, firstAdmin)
      const look = options.look ? service.lookLink() : undefined
      if (options.json) {
        printJson({
          url,
          listening: service.url,
          mode: config.mode,
          ...(demo && { app_id: demo.agent.appId, secret: demo.secret }),
          ...(invitation && { first_admin: invitation }),
          ...(look !== undefined && { look }),
        })
      } else {
        const canTakeOrders = await takesAnything(service)
        print(welcome(config, url, service.url, { demo, invitation, canTakeOrders, look }))
      }
    })
}

interface Started {
  backend: Backend
  service: Service
  /** The first agent of an empty sandbox. */
  demo: NewAgent | undefined
  /** The token for the link that creates the first admin, while there is no user. */
  firstAdmin: string | undefined
}

async function start(
  config: Config,
  log: Logger,
  startService: typeof StartService,
): Promise<Started> {
  const backend = await openDatabase(config, 'serve', (message, level = 'info') =>
    log[level](message),
  )
  try {
    const service = await startService(config, backend, log)
    const demo =
      config.mode === 'sandbox' && config.role !== 'worker'
        ? await createFirstAgent(
            backend.pool,
            backend.secretKeys,
            { ...defaultTerms, name: 'Demo', currency: defaultCurrency },
            new Date(),
          )
        : undefined
    const firstAdmin =
      config.role === 'worker' ? undefined : await inviteFirstAdmin(backend.pool, new Date())
    return { backend, service, demo, firstAdmin }
  } catch (error) {
    await backend.close()
    throw listenFault(error, config)
  }
}

/** Explains errors that are caused by the address. */
function listenFault(error: unknown, { host, port }: Config): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return new UsageError(`port ${port} of ${host} is taken: set PORT to another one`)
    case 'EACCES':
      return new UsageError(`port ${port} of ${host} is not allowed: set PORT to one above 1023`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UsageError(`${host} is not an address of this machine: set HOST`)
    default:
      return error
  }
}

/** On SIGUSR2, writes down for ten seconds what the process does. One at a time. */
function profileOnSignal({ dataDir }: Config, log: Logger): void {
  let isUnderWay = false
  process.on('SIGUSR2', async () => {
    if (isUnderWay) return
    isUnderWay = true
    try {
      const { takeProfile } = await import('../service/take-profile.ts')
      log.warn({ files: await takeProfile(dataDir, new Date()) }, 'a profile was taken')
    } catch (error) {
      log.error({ err: error }, 'no profile could be taken')
    } finally {
      isUnderWay = false
    }
  })
}

/** On a signal, finishes running work, even if the service is still starting. */
function stopOnSignal(starting: Promise<Started>, log: Logger): void {
  let toldAtMs: number | undefined
  const stop = async (signal: string) => {
    if (toldAtMs !== undefined) {
      // A second signal means that the user does not want to wait. But npm passes on a signal that the
      // terminal has already sent to this process, so a repeat within a moment does not count.
      if (performance.now() - toldAtMs > sameSignalMs) process.exit(1)
      return
    }
    toldAtMs = performance.now()
    log.info(`${signal}: finishing what is under way`)
    setTimeout(() => process.exit(1), drainLimitMs).unref()
    try {
      const { service, backend } = await starting
      service.drain()
      await sleep(partingMs)
      await service.close()
      await backend.close()
      process.exit(0)
    } catch (error) {
      log.error({ err: error }, 'stopping failed')
      process.exit(1)
    }
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}

/** Whether there is any order that a provider would take. */
async function takesAnything({ desk }: Service): Promise<boolean> {
  const all = currencies.flatMap((currency) =>
    orderKinds.map((kind) => desk.providers.takes(kind, currency)),
  )
  return (await Promise.all(all)).includes(true)
}

function welcome(
  config: Config,
  url: string,
  listening: string,
  about: {
    demo: NewAgent | undefined
    invitation: string | undefined
    canTakeOrders: boolean
    look: string | undefined
  },
): string {
  const { demo, invitation } = about
  const database =
    config.databaseUrl === undefined ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL'
  const lines = [
    '',
    `Sluice ${version} is running: ${config.mode}, ${database}.`,
    '',
    `  API        ${url}${listening === url ? '' : `  (listening on ${listening})`}`,
    `  Reference  ${url}/docs`,
    `  Console    ${url.replace(/\/+$/, '')}/console`,
    `  Health     ${url}/readyz`,
    '',
  ]
  if (config.role === 'worker') {
    return [
      '',
      `Sluice ${version} is working: ${config.mode}, ${database}. Health: ${listening}/readyz`,
      '',
    ].join('\n')
  }
  if (invitation) {
    lines.push(
      'Nobody can sign in to the console yet. This link makes you its admin, once, within 24 hours:',
      '',
      `  ${invitation}`,
      '',
    )
  }
  if (about.look !== undefined) {
    lines.push(
      'To look around in the console, once, within five minutes:',
      '',
      `  ${about.look}`,
      '',
    )
  }
  if (!about.canTakeOrders) {
    lines.push('No payment provider takes orders: they are answered with 503.', '')
  }
  if (config.mode === 'live') return lines.join('\n')
  if (demo) {
    lines.push(
      'A demo agent was made for you. Its secret is shown this once.',
      '',
      `  app id  ${demo.agent.appId}`,
      `  secret  ${demo.secret}`,
      '',
      'Paste this into another terminal for a first order:',
      '',
      firstRequest(url, demo),
      '',
    )
  } else {
    lines.push('For an agent of your own:  npx sluice agent create --name "My shop"', '')
  }
  return lines.join('\n')
}

function firstRequest(url: string, { agent, secret }: NewAgent): string {
  const path = `${new URL(url).pathname.replace(/\/+$/, '')}/payment/deposit`
  return `APP_ID=${agent.appId}
SECRET=${secret}
BODY='{"refId":"first-'$(date +%s)'","userId":"user-1","amount":250,"accountName":"Somchai Jaidee","accountNo":"1234567890","bankCode":"SCB","timestamp":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}'
T=$(date +%s)
SIGNATURE=$(printf '%s' "$T.POST ${path}.$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //')
curl -s ${url}/payment/deposit -H "content-type: application/json" -H "x-appid: $APP_ID" -H "x-signature: t=$T,v1=$SIGNATURE" -d "$BODY"`
}
