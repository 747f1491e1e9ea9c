import Type from 'typebox'
import { callbackUrlFault } from '../../agents/callback-url.ts'
import {
  type AlertKind,
  alertKinds,
  alertTitles,
  type Channel,
  channels,
  heardBy,
  securityKinds,
} from '../../alerts/alert.ts'
import {
  channelsOf,
  choicesOf,
  deliveriesOf,
  deliveryStates,
  isReached,
  removeChannel,
  setChannel,
  setChoice,
} from '../../alerts/alert-channels.ts'
import { setTimes, timesOf } from '../../alerts/quiet-hours.ts'
import { raiseAlert } from '../../alerts/raise-alert.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { isTimeZone } from '../../lib/local-time.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { tellOwner } from '../../operators/tell-people.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { Code, type OperatorApi, operatorRoute } from './operator-route.ts'
import { isoTime, orNull, strict } from './schemas/shapes.ts'
import { Done } from './schemas/users.ts'

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description })

const ChannelName = oneOf(channels, `one of ${channels.join(', ')}`)
const settable = channels.filter((channel) => channel !== 'mail')
const SettableChannel = oneOf(settable, `one of ${settable.join(', ')}`)
const chosenKinds = alertKinds.filter((kind) => !securityKinds.includes(kind))

const Time = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  description: 'a time of day such as 22:00',
})

const times = {
  zone: Type.String({ maxLength: 60, description: 'a time zone such as Asia/Bangkok' }),
  quiet_from: orNull(Time),
  quiet_to: orNull(Time),
  digest_at: orNull(Time),
}

const MyAlerts = Type.Object({
  times: Type.Object(times, {
    description:
      'from when to when I am not told what can wait, and when I get a digest of the day before; null: never',
  }),
  channels: Type.Array(
    Type.Object({
      channel: ChannelName,
      available: Type.Boolean({ description: 'whether the service is set up for it' }),
      target: orNull(Type.String({ description: 'where it leads, if that is set' })),
    }),
  ),
  kinds: Type.Array(
    Type.Object({
      kind: oneOf(alertKinds, 'what it is about'),
      title: Type.String(),
      always: Type.Boolean({ description: 'about security: to every channel that I have' }),
      channels: Type.Array(ChannelName, { description: 'where I want to hear of it' }),
    }),
  ),
  latest: Type.Array(
    Type.Object({
      kind: Type.String(),
      words: Type.String(),
      count: Type.Integer(),
      channel: ChannelName,
      state: oneOf(deliveryStates, 'what became of it'),
      attempts: Type.Integer(),
      error: orNull(Type.String({ description: 'what went wrong last' })),
      at: isoTime('when it last happened'),
    }),
  ),
})

const testLimit = { perS: 1 / 60, burst: 3 }

/** What I am told of outside of the console, and where. */
export function alertRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { pool, secretKeys, now } = deps.desk
  const own = { tag: 'Alerts', permission: 'view', agents: 'own' } as const

  operatorRoute(api, {
    ...own,
    method: 'GET',
    url: '/me/alerts',
    summary: 'What I am told of outside of the console, and where',
    schema: { response: MyAlerts },
    handler: ({ operator }) => myAlerts(deps, operator),
  })

  operatorRoute(api, {
    ...own,
    method: 'PUT',
    url: '/me/alerts/channels',
    summary: 'Set where one of my channels leads; a webhook gets a new secret, shown once',
    schema: {
      body: Type.Object(
        {
          channel: SettableChannel,
          target: Type.String({
            minLength: 1,
            maxLength: 2048,
            description:
              'a URL, the id of a Telegram chat, the id of a LINE user, or the URL of an incoming webhook of Slack',
          }),
          code: Type.Optional(Code),
        },
        strict,
      ),
      response: Type.Object({
        secret: orNull(Type.String({ description: 'signs the requests to a webhook' })),
      }),
    },
    handler: async ({ operator, body: { channel, target } }) => {
      await checkTarget(deps, channel, target)
      const secret = await change(deps, operator, 'set_alert_channel', { channel }, (tx) =>
        setChannel(tx, secretKeys, operator.userId, { channel, target }, now()),
      )
      return { secret: secret ?? null }
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/alerts/channels/remove',
    summary: 'Remove one of my channels; mail stays',
    schema: {
      body: Type.Object({ channel: SettableChannel, code: Type.Optional(Code) }, strict),
      response: Done,
    },
    handler: async ({ operator, body: { channel } }) => {
      await change(deps, operator, 'remove_alert_channel', { channel }, async (tx) => {
        if (!(await removeChannel(tx, operator.userId, channel))) {
          throw new Problem('not_found', 'You have no such channel.')
        }
        if (!(await isReached(tx, deps.alertChannels, operator.userId))) {
          throw new Problem(
            'invalid_transition',
            'Nothing else reaches you: mail is not set up here. Set another channel first.',
          )
        }
      })
      return {}
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'PUT',
    url: '/me/alerts/choices',
    summary: 'Choose where I hear of a kind; those about security go everywhere',
    schema: {
      body: Type.Object(
        {
          kind: oneOf(chosenKinds, `one of ${chosenKinds.join(', ')}`),
          channels: Type.Array(ChannelName, { maxItems: channels.length }),
          code: Type.Optional(Code),
        },
        strict,
      ),
      response: MyAlerts,
    },
    handler: async ({ operator, body: { kind, channels: chosen } }) => {
      await change(deps, operator, 'choose_alerts', { kind, channels: chosen }, (tx) =>
        setChoice(tx, operator.userId, kind, chosen),
      )
      return myAlerts(deps, operator)
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'PUT',
    url: '/me/alerts/times',
    summary: 'Set my quiet hours, and when I get a digest of the day before',
    schema: {
      body: Type.Object({ ...times, code: Type.Optional(Code) }, strict),
      response: MyAlerts,
    },
    handler: async ({ operator, body: { code: _, ...body } }) => {
      const { zone, quiet_from, quiet_to, digest_at } = body as Record<string, string | null>
      if (!isTimeZone(String(zone))) throw fieldProblem('zone', 'must be such as Asia/Bangkok')
      if ((quiet_from == null) !== (quiet_to == null)) {
        throw fieldProblem('quiet_to', 'goes with quiet_from')
      }
      if (quiet_from != null && quiet_from === quiet_to) {
        throw fieldProblem('quiet_to', 'must differ from quiet_from')
      }
      const set = {
        zone: String(zone),
        quietFrom: quiet_from ?? null,
        quietTo: quiet_to ?? null,
        digestAt: digest_at ?? null,
      }
      await change(deps, operator, 'set_alert_times', body, (tx) =>
        setTimes(tx, operator.userId, set, now()),
      )
      return myAlerts(deps, operator)
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/me/alerts/test',
    summary: 'Send a test to all my channels',
    withoutCode: 'it only writes to the person themselves, and not often',
    schema: { response: Done },
    handler: async ({ operator }) => {
      const { userId } = operator
      const { taken, waitS } = await deps.buckets.takeOne(`alert test ${userId}`, testLimit)
      if (!taken) {
        throw new Problem('rate_limited', 'Too many tests; wait a while.', { retryAfterS: waitS })
      }
      const words = 'This is a test: alerts reach you here.'
      const subject = `user ${userId}`
      await raiseAlert(pool, { kind: 'test', subject, words, to: { userId }, at: now() })
      return {}
    },
  })
}

async function myAlerts({ desk, alertChannels, timeZone }: OperatorDeps, operator: Operator) {
  const hours = await timesOf(desk.pool, operator.userId)
  const { userId, role, email } = operator
  const set = new Map(
    (await channelsOf(desk.pool, userId)).map(({ channel, target }) => [channel, target]),
  )
  const chosen = await choicesOf(desk.pool, userId)
  const has = (channel: Channel) =>
    alertChannels.includes(channel) && (channel === 'mail' || set.has(channel))
  const kinds = alertKinds.filter((kind) => heardBy[kind].includes(role))
  const view = (kind: AlertKind) => {
    const always = securityKinds.includes(kind)
    const wanted = always ? channels.filter(has) : (chosen.get(kind) ?? ['mail'])
    return { kind, title: alertTitles[kind], always, channels: wanted }
  }
  return {
    times: {
      zone: hours?.zone ?? timeZone,
      quiet_from: hours?.quietFrom ?? null,
      quiet_to: hours?.quietTo ?? null,
      digest_at: hours?.digestAt ?? null,
    },
    channels: channels.map((channel) => ({
      channel,
      available: alertChannels.includes(channel),
      target: channel === 'mail' ? email : (set.get(channel) ?? null),
    })),
    kinds: kinds.map(view),
    latest: (await deliveriesOf(desk.pool, userId)).map((each) => ({
      ...each,
      at: each.at.toISOString(),
    })),
  }
}

async function checkTarget(
  { alertChannels, callbackTargets, resolveHost }: OperatorDeps,
  channel: Channel,
  target: string,
): Promise<void> {
  if (!alertChannels.includes(channel)) {
    throw fieldProblem('channel', 'is not set up: the operator has to give the service its token')
  }
  const faults: Partial<Record<Channel, () => Promise<string | undefined> | string | undefined>> = {
    webhook: () => callbackUrlFault(target, callbackTargets, resolveHost),
    slack: () => callbackUrlFault(target, callbackTargets, resolveHost),
    telegram: () => (/^-?[1-9]\d{0,18}$/.test(target) ? undefined : 'must be the number of a chat'),
    line: () =>
      /^[UCR][0-9a-f]{32}$/.test(target) ? undefined : 'must be such as U and 32 digits',
  }
  const fault = await faults[channel]?.()
  if (fault !== undefined) throw fieldProblem('target', fault)
}

/** Writes a change of one's own and its audit row together. Where a channel leads is not in the row. */
async function change<T>(
  { desk }: OperatorDeps,
  operator: Operator,
  action: string,
  after: object,
  write: (tx: Tx) => Promise<T>,
): Promise<T> {
  const at = desk.now()
  return inTransaction(desk.pool, async (tx) => {
    const done = await write(tx)
    if (action !== 'choose_alerts') {
      const words = 'Where alerts reach you was changed.'
      await tellOwner(tx, operator.userId, { what: 'channels', words, at })
    }
    const subject = { kind: 'user', id: String(operator.userId) }
    await writeAudit(tx, { at, operator, action, subject, agentId: operator.agentId, after })
    return done
  })
}
