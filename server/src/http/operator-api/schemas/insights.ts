import Type from 'typebox'
import { periodNames } from '../../../insights/period.ts'
import { orderKinds } from '../../../ledger/book.ts'
import { appId, currency, isoTime, money, oneOf, orNull, strict } from './shapes.ts'

const count = (description: string) => Type.Integer({ description })
const rate = orNull(Type.Number({ description: 'paid of those that ended, 0 to 1' }))
const kind = oneOf(orderKinds, 'deposit or withdraw')

export const InsightsQuery = Type.Object(
  {
    period: oneOf(periodNames, '24 hours, 7 days, 30 days or 12 months, which end now'),
    agent: Type.Optional(appId),
  },
  strict,
)

const counts = Type.Object({
  created: count('orders created in the period'),
  waiting: count('of those, still waiting'),
  ended: count('of those, no longer waiting'),
  paid: count('of those that ended, paid'),
  called_back: count('of those that are paid, whose callback the agent accepted'),
  success_rate: rate,
})

const volumes = Type.Object({
  in: money('paid deposits that were created in the period'),
  out: money('paid withdrawals that were created in the period'),
  fees: money('fees charged in the period, without those given back'),
  costs: orNull(money('what providers charged in the period')),
})

const results = {
  ended: count('orders that no longer wait'),
  paid: count('of those, paid'),
  success_rate: rate,
  volume: money('paid'),
}

export const insightFacets = ['provider', 'bank', 'amount', 'hour'] as const

/** An agent's users see the figures of their agent, without providers and what they cost. */
export const InsightsView = Type.Object({
  at: isoTime('when these figures were read'),
  period: oneOf(periodNames, 'the period'),
  from: isoTime('its beginning'),
  before_from: isoTime('the beginning of the period before'),
  before_to: isoTime('its end, at the same time of day as now'),
  step: oneOf(['hour', 'day', 'month'], 'what each point of a plot stands for'),
  behind: count('journal rows that are not in these figures yet'),
  totals: Type.Array(Type.Object({ kind, now: counts, before: counts })),
  money: Type.Array(Type.Object({ currency, now: volumes, before: volumes })),
  series: Type.Array(
    Type.Object({
      at: isoTime('the beginning of the step'),
      currency,
      kind,
      created: count('orders created in it'),
      ...results,
    }),
    { description: 'every step of the period, also those without orders' },
  ),
  facets: Type.Array(
    Type.Object({
      facet: oneOf(insightFacets, 'what the orders have in common'),
      value: Type.String({
        description:
          'a provider, a bank code, the lower end of a band of amounts up to ten times as much, or an hour of the day',
      }),
      label: Type.String({ description: 'the same in words' }),
      currency,
      kind,
      ...results,
      before: orNull(Type.Object(results)),
    }),
  ),
  endings: Type.Array(
    Type.Object({
      kind,
      status: Type.String({ description: 'what became of the orders instead of PAID' }),
      provider: orNull(Type.String({ description: 'who had them' })),
      orders: count('orders'),
      before: count('orders of the period before'),
    }),
  ),
  time_to_paid: Type.Array(
    Type.Object({
      kind,
      within_s: orNull(count('seconds from creation to payment, at most; null: a day and more')),
      orders: count('orders that took longer than the span before, but not longer than this'),
    }),
  ),
  callbacks: Type.Array(
    Type.Object({
      app_id: appId,
      agent_name: Type.String(),
      ended: count('orders that no longer wait, each with a callback about its status'),
      accepted: count('of those callbacks, accepted'),
      half_within_s: orNull(count('half of them were accepted within so many seconds')),
      most_within_s: orNull(count('19 of 20 were')),
    }),
  ),
  balances: Type.Array(
    Type.Object({
      at: isoTime('the beginning of the step at whose end this was so, or is now'),
      currency,
      available: money('what agents could use'),
      held: money('held for open withdrawals'),
      reserve: money('held back of paid deposits'),
    }),
  ),
  costs: orNull(
    Type.Array(
      Type.Object({
        provider: Type.String(),
        currency,
        now: money('what it charged'),
        before: money('and in the period before'),
      }),
    ),
  ),
  league: orNull(
    Type.Array(
      Type.Object({
        app_id: appId,
        agent_name: Type.String(),
        currency,
        in: money('paid deposits'),
        in_before: money('in the period before'),
        out: money('paid withdrawals'),
        out_before: money('in the period before'),
        ended: count('orders that no longer wait'),
        paid: count('of those, paid'),
        success_rate: rate,
        success_rate_before: rate,
        fees: money('fees charged'),
        fees_before: money('in the period before'),
      }),
      { description: 'agents with orders, most paid deposits first' },
    ),
  ),
})

export const trendsOf = ['wallets', 'agents', 'providers', 'lanes'] as const
export type TrendsOf = (typeof trendsOf)[number]

export const TrendsQuery = Type.Object(
  {
    of: Type.Unsafe<TrendsOf>({
      type: 'string',
      enum: [...trendsOf],
      description:
        'wallets: what was available at the end of each day; agents: what was paid of the orders of each day; providers: how many orders of each day were paid; lanes: about how many orders of each day a callback was accepted',
    }),
  },
  strict,
)

export const TrendsView = Type.Object({
  days: Type.Array(isoTime('when a day begins')),
  behind: count('rows of journals that are not counted yet'),
  data: Type.Array(
    Type.Object({
      name: Type.String({ description: 'an app id or the name of a provider' }),
      currency: orNull(currency),
      values: Type.Array(Type.Number({ description: 'one for each day; the last is today' })),
    }),
  ),
})
