import Type from 'typebox'
import { itemKinds, orderKinds } from '../../../ledger/book.ts'
import { payoutAlarmKinds } from '../../../payout-files/payout-alarms.ts'
import { setUpSteps } from '../../../reports/set-up.ts'
import { currency, isoTime, money, oneOf, orNull, strict } from './shapes.ts'

const count = (description: string) => Type.Integer({ description })

const day = Type.Object({
  orders: count('orders created'),
  paid: count('of those, paid'),
  ended: count('of those, no longer waiting'),
  success_rate: orNull(Type.Number({ description: 'paid of those that ended, 0 to 1' })),
})

const volumes = Type.Object({
  currency,
  in_today: money('deposits created today and paid'),
  in_yesterday: money('the same, yesterday until this time of day'),
  out_today: money('withdrawals created today and paid'),
  out_yesterday: money('the same, yesterday until this time of day'),
})

const hour = Type.Object({
  currency,
  at: isoTime('the beginning of the hour'),
  in: money('paid deposits that were created in it'),
  out: money('paid withdrawals that were created in it'),
  orders: count('orders created in it'),
})

const aged = (what: string) =>
  Type.Object({
    count: count(`${what}, counted up to 1000`),
    oldest_at: orNull(isoTime('the oldest of them')),
  })

export const HomeQuery = Type.Object({}, strict)

/** An agent's users see the figures of their agent; providers and the proof are only for operators. */
export const HomeView = Type.Object({
  at: isoTime('when these figures were taken'),
  stopped_users: orNull(count('users whose password is known to somebody who guessed codes')),
  restore_hold: orNull(
    Type.Object(
      {
        at: isoTime('since when nothing is paid out'),
        asked: Type.Boolean({ description: 'whether all providers have been asked' }),
        open_differences: count('what somebody has to find out about before it is released'),
      },
      { description: 'what holds payouts back since the database was restored' },
    ),
  ),
  refuses: orNull(
    Type.Array(Type.Object({ kind: oneOf(orderKinds, 'deposit or withdraw'), currency }), {
      description: 'orders that no provider takes, in the currencies of active agents',
    }),
  ),
  set_up: orNull(
    Type.Array(
      Type.Object({
        step: Type.Unsafe<(typeof setUpSteps)[number]>({
          type: 'string',
          enum: [...setUpSteps],
          description: 'a step of setting the service up',
        }),
        done: Type.Boolean(),
      }),
    ),
  ),
  today_from: isoTime("the beginning of today in the service's time zone"),
  yesterday_from: isoTime('the beginning of yesterday'),
  deposits: Type.Object({ today: day, yesterday: day }),
  withdrawals: Type.Object({ today: day, yesterday: day }),
  volumes: Type.Array(volumes),
  hours: Type.Array(hour, { description: 'yesterday and today' }),
  waiting: Type.Object({
    held: Type.Array(Type.Object({ currency, amount: money('held for open withdrawals') })),
    payments: aged('payments to decide'),
    payouts: aged('payouts whose end is not known'),
    withdrawals: aged('withdrawals that no provider has'),
    notice_events: orNull(aged('reported events that could not be acted on yet')),
  }),
  callbacks: Type.Object({
    failing: aged('callbacks that failed and are tried again'),
    given_up: aged('callbacks that were given up'),
    lanes_probing: count('agents whose address keeps failing'),
    lanes_paused: count('agents whose callbacks are held back'),
  }),
  open_items: orNull(
    Type.Array(
      Type.Object({
        kind: oneOf(itemKinds, 'what contradicts what'),
        count: count('open items of this kind'),
        oldest_at: isoTime('the oldest of them'),
      }),
      { description: 'payouts of which a provider and the books say what cannot both be true' },
    ),
  ),
  payout_alarms: orNull(
    Type.Array(
      Type.Object({
        kind: oneOf(payoutAlarmKinds, 'what happened'),
        account: Type.String({ description: 'the bank account that the money left' }),
        place: oneOf(['movement', 'open_item'], 'where a person ends it'),
        count: count('of this kind at the account, counted up to 1000'),
        oldest_at: isoTime('the oldest of them'),
      }),
      { description: 'money that left a bank account against the books' },
    ),
  ),
  providers: orNull(
    Type.Array(
      Type.Object({
        name: Type.String(),
        state: oneOf(['on', 'draining', 'off'], 'on, draining or off'),
        paid: count('withdrawals of today it paid'),
        failed: count('withdrawals of today that failed there'),
        open: count('payouts under way'),
        unknown: count('of those, whose end is unknown'),
      }),
    ),
  ),
  proof: orNull(
    Type.Object({
      ok: Type.Boolean(),
      red_agents: count('agents whose book does not prove'),
      unproved_rows: count('journal rows not looked at yet'),
    }),
  ),
})
