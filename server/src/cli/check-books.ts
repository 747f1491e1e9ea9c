import { AgentFinder, type AgentWithKeys } from '../agents/agent-finder.ts'
import { makeResolveHost } from '../agents/resolve-host.ts'
import { type Backend, countSecrets } from '../backend.ts'
import { readFullAccounts } from '../bank-accounts/full-accounts.ts'
import { callbackHeaders } from '../callbacks/callback-headers.ts'
import { type Attempt, CallbackPoster } from '../callbacks/post-callback.ts'
import type { Config } from '../config.ts'
import { coveredUntil } from '../db/partitions.ts'
import { defaultCurrency } from '../lib/money.ts'
import { countOpenEvents } from '../payments/open-events.ts'
import { standings } from '../payout-files/after-restore.ts'
import { differencesOf, openHold } from '../payouts/restore-hold.ts'
import { proofState } from '../proof/verify.ts'
import type { Provider } from '../providers/provider.ts'
import type { Desk } from '../teller/desk.ts'
import { version } from '../version.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const providerLimitMs = 10_000
const soonMs = 14 * 86_400_000

/** Checks that the keys decrypt the secrets and that the balances are proved. */
export async function checkBooks({ pool, secretKeys }: Backend): Promise<Finding[]> {
  const { total, shut } = await countSecrets(pool, secretKeys)
  const { redAgents, unprovedRows } = await proofState(pool)
  return [
    shut === 0
      ? ok('secrets', `all ${total} open with the secret key`)
      : fail(
          'secrets',
          `${shut} of ${total} do not open with the secret key`,
          'Set the key they were encrypted with, as SECRET_KEY or SECRET_KEY_PREVIOUS.',
        ),
    redAgents === 0
      ? ok('ledger', `nothing found against it; ${unprovedRows} rows are still to be proved`)
      : fail(
          'ledger',
          `${redAgents} agents' books do not prove`,
          'Run "sluice verify" to see where.',
        ),
  ]
}

/** Says which accounts' payment files are held back since a restore, and what is missing. */
export async function checkPayoutLocks({ pool }: Backend, now: Date): Promise<Finding[]> {
  const found = await standings(pool, now)
  if (found.length === 0) return [ok('payout files', 'no restore holds any of them back')]
  return found.flatMap(({ account, missing }) =>
    missing.length === 0
      ? [ok('payout files', `${account} has caught up since the restore: its next file may leave`)]
      : missing.map((words) =>
          warn(
            'payout files',
            `after the restore none of ${account} leaves. ${words}`,
            'Import its statements: sluice statement import. Of days without any, two people say in the console, with evidence, that nothing was paid.',
          ),
        ),
  )
}

/** Says what a restore holds back, what is not the same elsewhere, and what is left to do. */
export async function checkHold({ pool }: Backend): Promise<Finding[]> {
  const hold = await openHold(pool)
  if (!hold) return [ok('restore', 'nothing is held back')]
  const differences = await differencesOf(pool, hold.restoreId)
  const asked =
    hold.askedAt === null
      ? 'providers are being asked what they have paid since'
      : `providers were asked at ${hold.askedAt.toISOString()}`
  return [
    warn(
      'restore',
      `payouts are held since ${hold.markedAt.toISOString()}: what happened after ${hold.since.toISOString()} may be missing. ${hold.found} ${asked}`,
      'Look into what is listed here, then let two people release it in the console, where stops are.',
    ),
    ...differences
      .filter(({ isOpen }) => isOpen)
      .map(({ words }) =>
        warn('restore', words, 'Whoever releases it says what was found of this, with evidence.'),
      ),
  ]
}

/** Checks that the tables partitioned by month have partitions for the coming weeks. */
export async function checkPartitions({ pool }: Backend, now: Date): Promise<Finding> {
  const until = [...(await coveredUntil(pool, now))].sort(
    ([, a], [, b]) => a.getTime() - b.getTime(),
  )
  const [first] = until
  if (!first) return ok('partitions', 'no table is cut by month')
  const [table, end] = first
  const text = `made until ${end.toISOString().slice(0, 10)}`
  if (end.getTime() - now.getTime() > soonMs) return ok('partitions', text)
  return warn(
    'partitions',
    `those of ${table} are ${text}`,
    'A running service or worker makes them every hour: see its log for why it does not. Until then rows go into the default partition, and nothing is lost.',
  )
}

/** Checks that everything providers reported has been acted on. */
export async function checkNotices({ pool }: Backend, now: Date): Promise<Finding> {
  const { count, oldestAt } = await countOpenEvents(pool, now)
  if (!oldestAt) return ok('notices', 'everything that providers reported has been acted on')
  return warn(
    'notices',
    `${count} reported events could not be acted on yet, the oldest since ${oldestAt.toISOString()}`,
    'The service tries them again. `sluice event list` says why each waits; `sluice event close` ends one that a person has looked into.',
  )
}

/** Checks that bank accounts have amounts left that tell deposits apart. */
export async function checkPlaces({ pool }: Backend): Promise<Finding[]> {
  const full = await readFullAccounts(pool)
  return full.map(({ account, used, places }) =>
    warn(
      'bank accounts',
      `${account} expects ${used} of at most ${places} deposits of one amount at the same time`,
      'When none is left, the next account gets the order, or the answer is 503. Add an account, raise --surplus-steps, or lower --hold.',
    ),
  )
}

/** Checks that each provider answers. */
export async function checkProviders({ providers }: Desk): Promise<Finding[]> {
  if (providers.all.length === 0) {
    const advice = 'Set a provider up; see docs/add-a-provider.md.'
    return [fail('provider', 'there is none: every order is answered 503', advice)]
  }
  const faults = providers.connectors?.allFaults ?? new Map<string, string>()
  const unreadable = [...faults].map(([name, fault]) =>
    fail('provider', `${name} cannot be used: ${fault}`, 'Set its secrets again, then use it.'),
  )
  const found = await Promise.all(
    providers.all.map(async (provider) => {
      const state = await providers.stateOf(provider.name)
      if (state === 'off') {
        const advice = `It is called again after "sluice provider set ${provider.name} on".`
        return warn('provider', `${provider.name} is off`, advice)
      }
      return checkProvider(provider, state)
    }),
  )
  return [...unreadable, ...found]
}

/** Asks about a payout that cannot exist: a provider that says so is reachable, and nothing is changed. */
async function checkProvider(provider: Provider, state: string): Promise<Finding> {
  const { name, can } = provider
  const outcome = await provider
    .askPayout(
      {
        reference: 'doctor-0',
        amountMinor: 100n,
        currency: can.currencies[0] ?? defaultCurrency,
        payee: { accountNo: '0000', accountName: '-', bankCode: '-' },
        extraParams: null,
      },
      AbortSignal.timeout(providerLimitMs),
    )
    .catch((error: unknown) => ({ type: 'unknown' as const, reason: String(error) }))
  if (outcome.type !== 'unknown') return ok('provider', `${name} is ${state} and answers`)
  const advice = 'See that this machine reaches it and that its credentials are right.'
  return fail('provider', `${name} is ${state} and does not answer: ${outcome.reason}`, advice)
}

/** Posts a signed {} to an agent's callback URLs, with the code that sends callbacks. */
export async function checkAgent(
  appId: string,
  { pool, secretKeys }: Backend,
  { callbackTargets: targets }: Config,
): Promise<Finding[]> {
  const now = () => new Date()
  const found = await new AgentFinder(pool, secretKeys, now, () => {}).find(appId)
  if (!found)
    return [fail('agent', `there is no agent ${appId}`, '"sluice agent list" shows them.')]
  const { agent } = found
  const poster = new CallbackPoster({ targets, resolveHost: makeResolveHost(), now })
  try {
    const urls = { deposit: agent.depositCallbackUrl, withdraw: agent.withdrawCallbackUrl }
    const findings: Finding[] = []
    for (const [kind, url] of Object.entries(urls)) {
      findings.push(
        url === null
          ? warn(
              `${kind} callback`,
              'no address: outcomes wait until there is one',
              `Set it with "sluice agent set ${appId} --${kind}-callback URL".`,
            )
          : addressFinding(`${kind} callback`, await post(poster, url, found)),
      )
    }
    return findings
  } finally {
    await poster.close()
  }
}

function post(poster: CallbackPoster, url: string, { agent, keys }: AgentWithKeys) {
  const body = Buffer.from('{}')
  const secrets = keys.map(({ secret }) => secret)
  const about = {
    appId: agent.appId,
    kind: undefined,
    secrets,
    body,
    seq: 0,
    epoch: 0,
    attempt: 0,
    at: new Date(),
    version,
  }
  return poster.post(url, callbackHeaders(about), body)
}

const adviceFor: Record<string, string> = {
  forbidden_address:
    'Let the agent give a public https address; the sandbox allows local ones too.',
  name_not_found: 'Let the agent see to the name, or correct the address.',
  refused: 'Let the agent start its receiver, or correct the port.',
  timeout: 'Let the agent open its firewall to this service; an attempt has 10 seconds.',
  unreachable: 'Look at the network between here and the agent.',
  tls: 'Let the agent install a valid certificate, with the chain up to its authority.',
}

/** A working receiver accepts {} or rejects its contents; both show that it is reachable. */
export function addressFinding(check: string, attempt: Attempt): Finding {
  const { url, address, status, error, reason, durationMs } = attempt
  const where = `${url}${address === null ? '' : ` (${address})`}`
  if (status === null) {
    return fail(
      check,
      `${where}: ${error}`,
      adviceFor[reason] ?? 'Let the agent look at its receiver.',
    )
  }
  const text = `${where} answers ${status} in ${durationMs} ms`
  if (status < 300 || [400, 401, 403, 422].includes(status)) return ok(check, text)
  const advice =
    status < 400
      ? 'Redirects are not followed: set the address they lead to.'
      : status < 500
        ? 'There seems to be no receiver at this path: correct the address.'
        : 'The receiver fails; let the agent look at its log.'
  return warn(check, text, advice)
}
