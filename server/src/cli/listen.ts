import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import {
  type AgentEvent,
  type Credentials,
  type EventPlace,
  eventsAfter,
  lastPlace,
  NotNow,
} from './agent-events.ts'
import { loadConfig } from './command.ts'
import { type Forwarded, forwardEvent } from './forward-event.ts'
import { coloured, note, print, printJsonLine } from './output.ts'
import { readSecrets, type SecretOptions, withSecret } from './read-secret.ts'
import { UsageError } from './usage-error.ts'

interface ListenOptions extends SecretOptions {
  appId: string
  url?: string
  forwardTo?: string
  events?: string[]
  after?: string
  state?: string
  once?: boolean
  json?: boolean
}

const pollMs = 1_000
const patienceMs = [1_000, 2_000, 5_000, 15_000]

export function listenCommand(): Command {
  const listen = new Command('listen')
    .requiredOption('--app-id <app_id>', 'the agent')
    .option('--url <url>', 'base address of the service (default: PUBLIC_URL)')
    .option('--forward-to <url>', 'post each callback there, signed as the service signs it')
    .option('--events <name...>', 'only these: deposit, PAID, withdraw.REVERT and so on')
    .option('--after <seq>', 'begin after this number; 0 for all there ever was')
    .option('--state <file>', 'where the last number is kept (default: in DATA_DIR)')
    .option('--once', 'take what is there and end')
  return withSecret(listen)
    .option('--json', 'each event as one line of JSON')
    .addHelpText('after', explanation)
    .action(async (options: ListenOptions) => {
      checkOptions(options)
      const config = loadConfig()
      const url = (options.url ?? config.publicUrl ?? '').replace(/\/+$/, '')
      if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
        throw new UsageError(
          '--url must be the base address of the service, such as http://localhost:8080',
        )
      }
      const secrets = await readSecrets(options)
      const agent = { url, appId: options.appId, secret: secrets[0] ?? '' }
      const state = options.state ?? join(config.dataDir, 'listen', stateName(agent))
      await follow(agent, secrets, state, options)
    })
}

const explanation = `
Asks the service for the agent's outcomes, so it works behind any firewall and leaves the agent's
callback addresses as they are. After a break it goes on where it was.`

function checkOptions({ appId, after, events, forwardTo }: ListenOptions): void {
  if (!/^\w{1,64}$/.test(appId)) throw new UsageError(`"${appId}" is not an app id`)
  if (after !== undefined && !/^\d{1,15}$/.test(after)) {
    throw new UsageError('--after must be a number of an event, or 0')
  }
  const odd = namesOf(events).find(
    (name) =>
      !/^((deposit|withdraw)(\.[A-Z]+)?|PAID|FAILED|EXPIRED|VOID|REVERT|CANCEL)$/.test(name),
  )
  if (odd !== undefined) {
    throw new UsageError(`--events "${odd}" is not a kind, a status or both, such as withdraw.PAID`)
  }
  if (forwardTo !== undefined && !(URL.canParse(forwardTo) && /^https?:/.test(forwardTo))) {
    throw new UsageError('--forward-to must be an http or https URL')
  }
}

const namesOf = (events: string[] = []) => events.flatMap((each) => each.split(','))

function stateName({ url, appId }: Credentials): string {
  return `${appId}-${new URL(url).host.replace(/[^\w.-]/g, '-')}.json`
}

/** Handles the agent's outcomes one by one, without end, and stores its position after each. */
async function follow(
  agent: Credentials,
  secrets: string[],
  state: string,
  options: ListenOptions,
): Promise<void> {
  const names = namesOf(options.events)
  let after = await patiently(options, () => firstPlace(agent, state, options))
  await keep(state, after)
  note(`Listening for ${agent.appId} at ${agent.url}, after event ${after.seq}.`)
  for (;;) {
    const events = await patiently(options, () => eventsAfter(agent, after))
    for (const event of events) {
      if (isWanted(event, names)) await take(event, agent, secrets, options)
      after = { seq: event.seq, epoch: event.epoch }
      // An interruption between handling and storing repeats the event, but never loses one.
      await keep(state, after)
    }
    if (events.length > 0) continue
    if (options.once) return
    await sleep(pollMs)
  }
}

/** Repeats a request while the service does not answer, at growing intervals. */
async function patiently<T>({ once }: ListenOptions, ask: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof NotNow)) throw error
      if (once) throw new UsageError(error.message)
      const pauseMs = patienceMs[Math.min(failures, patienceMs.length - 1)] ?? pollMs
      note(`${error.message}; asking again in ${pauseMs / 1000} s`)
      await sleep(pauseMs)
    }
  }
}

/** What to start after: the given number, or what was stored, or else the latest. */
async function firstPlace(
  agent: Credentials,
  state: string,
  { after }: ListenOptions,
): Promise<EventPlace> {
  if (after !== undefined) return { seq: Number(after), epoch: undefined }
  const kept = await readFile(state, 'utf8').catch(() => undefined)
  if (kept === undefined) return lastPlace(agent)
  const [, seq, epoch] = /^\{"seq":(\d{1,15})(?:,"epoch":(\d{1,15}))?\}$/.exec(kept.trim()) ?? []
  if (seq === undefined) {
    throw new UsageError(`${state} is not what was kept there: remove it, or name --after`)
  }
  return { seq: Number(seq), epoch: epoch === undefined ? undefined : Number(epoch) }
}

async function keep(state: string, { seq, epoch }: EventPlace): Promise<void> {
  await mkdir(dirname(state), { recursive: true })
  const draft = `${state}.${process.pid}`
  await writeFile(draft, `${JSON.stringify({ seq, epoch })}\n`, { mode: 0o600 })
  await rename(draft, state)
}

function isWanted({ kind, status }: AgentEvent, names: readonly string[]): boolean {
  return (
    names.length === 0 || [kind, status, `${kind}.${status}`].some((each) => names.includes(each))
  )
}

async function take(
  event: AgentEvent,
  { appId }: Credentials,
  secrets: string[],
  { forwardTo, json }: ListenOptions,
): Promise<void> {
  const forwarded =
    forwardTo === undefined
      ? undefined
      : await forwardEvent(event, {
          url: forwardTo,
          appId,
          secrets,
          sleep,
          onRepeat: (result, pauseMs) =>
            note(`event ${event.seq}: ${forwardTo}: ${result}; again in ${pauseMs / 1000} s`),
        })
  if (json) printJsonLine({ ...event, ...(forwarded && { forwarded }) })
  else print(lineOf(event, forwarded))
}

function lineOf(
  { seq, at, kind, status, ref_id, txn_id, body }: AgentEvent,
  forwarded?: Forwarded,
) {
  const [, amount = ''] = /"amount":([\d.]+)/.exec(body) ?? []
  const colour = status === 'PAID' ? 'green' : 'yellow'
  const parts = [
    coloured('dim', at),
    `#${seq}`,
    `${kind} ${coloured(colour, status)}`,
    amount,
    ref_id,
    coloured('dim', txn_id),
  ]
  if (forwarded) {
    const { ok, attempts, result, ms } = forwarded
    const tries = attempts === 1 ? '' : ` at attempt ${attempts}`
    parts.push(
      ok
        ? coloured('green', `-> ${result} in ${ms} ms${tries}`)
        : coloured('red', `-> given up${tries}: ${result}`),
    )
  }
  return parts.join('  ')
}
