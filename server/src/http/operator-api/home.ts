import Type from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import { readCallbackTrouble } from '../../callbacks/failing-callbacks.ts'
import type { Aged } from '../../db/aged.ts'
import { type OrderKind, orderKinds } from '../../ledger/book.ts'
import { countOpenItems } from '../../ledger/open-items.ts'
import { readWallets } from '../../ledger/read-wallet.ts'
import { jsonText } from '../../lib/json-text.ts'
import { startOfDay } from '../../lib/local-time.ts'
import type { Currency } from '../../lib/money.ts'
import { writeAudit } from '../../operators/audit.ts'
import { countStoppedUsers } from '../../operators/user.ts'
import { countOpenEvents } from '../../payments/open-events.ts'
import { paymentsToDecide } from '../../payments/search-payments.ts'
import { countPayoutAlarms } from '../../payout-files/payout-alarms.ts'
import { readHold } from '../../payouts/restore-hold.ts'
import { proofState } from '../../proof/verify.ts'
import {
  type HourFigure,
  hourFigures,
  openPayoutsByProvider,
  unknownPayouts,
  withdrawalsToHandOver,
} from '../../reports/home-figures.ts'
import { backupSaid, readSetUp } from '../../reports/set-up.ts'
import type { Desk } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { HomeQuery, HomeView } from './schemas/home.ts'
import { reason, strict } from './schemas/shapes.ts'
import { Done } from './schemas/users.ts'
import { agentsInScope } from './scope.ts'

/** `GET /home`: today's figures compared with yesterday's. */
export function homeRoute(api: OperatorApi, desk: Desk, timeZone: string): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/home',
    summary: 'Today compared with yesterday, and what needs a decision',
    tag: 'Home',
    permission: 'view',
    agents: 'own',
    schema: { querystring: HomeQuery, response: HomeView },
    handler: async ({ operator }) => {
      const { pool } = desk
      const isAll = operator.agentId === null
      const agents = await agentsInScope(pool, operator)
      const ids = agents.map(({ agentId }) => agentId)
      const at = desk.now()
      const days = daysOf(at, timeZone)
      const currencies = [...new Set(agents.map(({ currency }) => currency))].sort()
      const [figures, payments, payouts, withdrawals, callbacks, held] = await Promise.all([
        hourFigures(pool, agents, { from: days.yesterdayFrom, cut: days.cut, to: at }),
        paymentsToDecide(pool, isAll ? null : ids),
        unknownPayouts(pool, ids),
        withdrawalsToHandOver(pool, ids),
        readCallbackTrouble(pool, ids),
        heldBy(desk, agents),
      ])
      const providers = isAll ? await providerHealth(desk, figures, days) : null
      const proof = isAll ? await proofState(pool) : null
      const events = isAll ? await countOpenEvents(pool, at) : null
      const items = isAll ? await countOpenItems(pool) : null
      const alarms = isAll ? await countPayoutAlarms(pool) : null
      const refuses = isAll ? await refusedBy(desk, agents) : null
      const setUp = isAll ? await readSetUp(pool, refuses?.length === 0) : null
      const hold = isAll ? await readHold(pool) : null
      const stopped = isAll ? await countStoppedUsers(pool) : null
      return jsonText({
        at,
        stopped_users: stopped,
        restore_hold: hold && {
          at: hold.markedAt,
          asked: hold.askedAt !== null,
          open_differences: hold.open,
        },
        refuses,
        set_up: setUp,
        today_from: days.todayFrom,
        yesterday_from: days.yesterdayFrom,
        deposits: daysFigures(figures, 'deposit', days),
        withdrawals: daysFigures(figures, 'withdraw', days),
        volumes: volumesOf(figures, days, currencies),
        hours: hoursOf(figures, days, currencies, at),
        waiting: {
          held,
          payments: agedView(payments),
          payouts: agedView(payouts),
          withdrawals: agedView(withdrawals),
          notice_events: events && agedView(events),
        },
        callbacks: {
          failing: agedView(callbacks.failing),
          given_up: agedView(callbacks.givenUp),
          lanes_probing: callbacks.probing,
          lanes_paused: callbacks.paused,
        },
        open_items:
          items?.map(({ kind, count, oldest }) => ({ kind, count, oldest_at: oldest })) ?? null,
        payout_alarms:
          alarms?.map(({ kind, account, place, count, oldestAt }) => ({
            ...{ kind, account, place, count },
            oldest_at: oldestAt,
          })) ?? null,
        providers,
        proof: proof && {
          ok: proof.redAgents === 0,
          red_agents: proof.redAgents,
          unproved_rows: proof.unprovedRows,
        },
      })
    },
  })
}

interface Days {
  todayFrom: Date
  yesterdayFrom: Date
  /** This time of day yesterday: today is compared with the orders created before it. */
  cut: Date
  /** The hour in which today began, counted from the start of yesterday. */
  firstHour: number
}

function daysOf(at: Date, timeZone: string): Days {
  const todayFrom = startOfDay(at, timeZone)
  const yesterdayFrom = startOfDay(new Date(todayFrom.getTime() - 1), timeZone)
  const cut = new Date(yesterdayFrom.getTime() + at.getTime() - todayFrom.getTime())
  const firstHour = (todayFrom.getTime() - yesterdayFrom.getTime()) / 3_600_000
  return { todayFrom, yesterdayFrom, cut, firstHour }
}

const isToday = (figure: HourFigure, { firstHour }: Days) => figure.hour >= firstHour

function daysFigures(figures: HourFigure[], kind: OrderKind, days: Days) {
  const own = figures.filter((figure) => figure.kind === kind)
  return {
    today: dayFigures(own.filter((figure) => isToday(figure, days))),
    yesterday: dayFigures(own.filter(({ beforeCut }) => beforeCut)),
  }
}

function dayFigures(figures: HourFigure[]) {
  const count = (fits: (figure: HourFigure) => boolean) =>
    figures.filter(fits).reduce((sum, figure) => sum + figure.count, 0)
  const paid = count(({ status }) => status === 'PAID')
  const ended = count(({ status }) => status !== 'WAITING')
  return {
    orders: count(() => true),
    paid,
    ended,
    success_rate: ended === 0 ? null : Math.round((paid / ended) * 10_000) / 10_000,
  }
}

function volumesOf(figures: HourFigure[], days: Days, currencies: Currency[]) {
  return currencies.map((currency) => {
    const own = figures.filter((figure) => figure.currency === currency)
    const paid = (kind: OrderKind, fits: (figure: HourFigure) => boolean) =>
      exact(sumPaid(own.filter((figure) => figure.kind === kind && fits(figure))), currency)
    return {
      currency,
      in_today: paid('deposit', (figure) => isToday(figure, days)),
      in_yesterday: paid('deposit', ({ beforeCut }) => beforeCut),
      out_today: paid('withdraw', (figure) => isToday(figure, days)),
      out_yesterday: paid('withdraw', ({ beforeCut }) => beforeCut),
    }
  })
}

/** Every hour from the start of yesterday until now: an hour without orders is an hour without money. */
function hoursOf(figures: HourFigure[], { yesterdayFrom }: Days, currencies: Currency[], at: Date) {
  const hours = Math.floor((at.getTime() - yesterdayFrom.getTime()) / 3_600_000) + 1
  return currencies.flatMap((currency) =>
    Array.from({ length: hours }, (_, hour) => {
      const own = figures.filter((each) => each.currency === currency && each.hour === hour)
      return {
        currency,
        at: new Date(yesterdayFrom.getTime() + hour * 3_600_000),
        in: exact(sumPaid(own.filter(({ kind }) => kind === 'deposit')), currency),
        out: exact(sumPaid(own.filter(({ kind }) => kind === 'withdraw')), currency),
        orders: own.reduce((sum, { count }) => sum + count, 0),
      }
    }),
  )
}

function sumPaid(figures: HourFigure[]): bigint {
  return figures.reduce((sum, { paidMinor }) => sum + paidMinor, 0n)
}

/** What every order of the active agents is refused for: no provider takes it. */
async function refusedBy(desk: Desk, agents: Agent[]) {
  const active = agents.filter(({ status }) => status === 'active')
  const currencies = [...new Set(active.map(({ currency }) => currency))].sort()
  const all = currencies.flatMap((currency) => orderKinds.map((kind) => ({ kind, currency })))
  const taken = await Promise.all(
    all.map(({ kind, currency }) => desk.providers.takes(kind, currency)),
  )
  return all.filter((_, at) => !taken[at])
}

async function heldBy(desk: Desk, agents: Agent[]) {
  const wallets = await readWallets(
    desk.pool,
    agents.map(({ agentId }) => agentId),
  )
  const sums = new Map<Currency, bigint>()
  for (const { agentId, currency } of agents) {
    const held = wallets.get(agentId)?.balances.held ?? 0n
    sums.set(currency, (sums.get(currency) ?? 0n) + held)
  }
  return [...sums].map(([currency, held]) => ({ currency, amount: exact(held, currency) }))
}

async function providerHealth(desk: Desk, figures: HourFigure[], days: Days) {
  const open = await openPayoutsByProvider(desk.pool)
  const names = new Set([...desk.providers.all.map(({ name }) => name), ...open.keys()])
  return Promise.all(
    [...names].sort().map(async (name) => {
      const own = figures.filter(
        (each) => each.provider === name && each.kind === 'withdraw' && isToday(each, days),
      )
      const count = (status: string) =>
        own.filter((each) => each.status === status).reduce((sum, each) => sum + each.count, 0)
      return {
        name,
        state: await desk.providers.stateOf(name),
        paid: count('PAID'),
        failed: count('FAILED'),
        open: open.get(name)?.open ?? 0,
        unknown: open.get(name)?.unknown ?? 0,
      }
    }),
  )
}

function agedView({ count, oldestAt }: Aged) {
  return { count, oldest_at: oldestAt }
}

/** `POST /set-up/backup`: backups of which the database itself cannot know. */
export function sayBackupRoute(api: OperatorApi, { pool, now }: Desk): void {
  operatorRoute(api, {
    method: 'POST',
    url: '/set-up/backup',
    summary: 'Say that backups of the database are made, and where they are kept',
    tag: 'Home',
    permission: 'manage_policy',
    agents: 'none',
    withoutCode: 'it ticks a step of a list, and changes nothing else',
    schema: { body: Type.Object({ reason }, strict), response: Done },
    handler: async ({ operator, body }) => {
      await writeAudit(pool, {
        ...{ ...backupSaid, at: now(), operator, agentId: null, reason: body.reason },
      })
      return {}
    },
  })
}
