import type { BankAccount } from '../../bank-accounts/bank-account.ts'
import { jsonText } from '../../lib/json-text.ts'
import { localTimeIn } from '../../lib/local-time.ts'
import { writeAudit } from '../../operators/audit.ts'
import { type ReconciledDay, reconcileAccount } from '../../reconcile/reconcile-account.ts'
import { signOffDay } from '../../reconcile/sign-off-day.ts'
import type { Desk } from '../../teller/desk.ts'
import { bankAccountNamed, checkDays } from './bank-account-named.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, exactOrNull } from './order-summary.ts'
import {
  BankAccountParams,
  DayList,
  DayParams,
  DaysQuery,
  SignOffRequest,
} from './schemas/bank-accounts.ts'

/** The days of the bank accounts: the books beside the bank, and signing a day off. */
export function bankDayRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, now } = desk
  const common = { tag: 'Bank accounts', agents: 'none' } as const

  operatorRoute(api, {
    ...common,
    permission: 'view',
    method: 'GET',
    url: '/bank-accounts/:name/days',
    summary: 'The days of an account, each green, amber or red with its breaks',
    schema: { params: BankAccountParams, querystring: DaysQuery, response: DayList },
    handler: async ({ params, query }) => {
      const account = await bankAccountNamed(pool, params.name)
      const { from, to } = query
      checkDays({ from, to })
      return daysView(desk, account, from ?? null, to ?? null)
    },
  })

  operatorRoute(api, {
    ...common,
    permission: 'sign_off_days',
    method: 'POST',
    url: '/bank-accounts/:name/days/:day/sign-off',
    summary: 'Sign a day off as it was shown; one that is not green needs a reason',
    schema: { params: DayParams, body: SignOffRequest, response: DayList },
    handler: async ({ operator, params, body }) => {
      const account = await bankAccountNamed(pool, params.name)
      const { day } = params
      checkDays({ day })
      const at = now()
      const asked = {
        by: operator.email,
        at,
        shown: body.digest,
        reason: body.reason ?? null,
      }
      await signOffDay(pool, account, day, asked, (tx, { state, no, shown }) =>
        writeAudit(tx, {
          at,
          operator,
          action: 'sign_off_day',
          subject: { kind: 'provider', id: account.name },
          agentId: null,
          after: { day, state, no, shown },
          reason: asked.reason,
        }),
      )
      return daysView(desk, account, day, day)
    },
  })
}

async function daysView(
  { pool, now }: Desk,
  account: BankAccount,
  from: string | null,
  to: string | null,
): Promise<string> {
  const { days } = await reconcileAccount(pool, account, now(), from)
  return jsonText({
    account: account.name,
    currency: account.currency,
    today: localTimeIn(account.zone)(now()).slice(0, 10),
    data: days.filter(({ day }) => to === null || day <= to).map((day) => dayView(day, account)),
    next: null,
  })
}

function dayView(day: ReconciledDay, { name: account, currency }: BankAccount) {
  const { signOff, digests } = day
  return {
    day: day.day,
    state: day.state,
    opening: exactOrNull(day.opening, currency),
    closing: exactOrNull(day.closing, currency),
    movements: day.movements,
    amount: exact(day.amountMinor, currency),
    breaks: day.breaks.map(({ name, amountMinor, movementId, paymentWaits, detail }) => ({
      name,
      amount: exactOrNull(amountMinor, currency),
      movement: movementId,
      payment: paymentWaits ? `${account}:${movementId}` : null,
      detail,
    })),
    digest: digests.shown,
    signed_off: signOff && {
      by: signOff.by,
      at: signOff.at,
      state: signOff.state,
      reason: signOff.reason,
      current: signOff.movements === digests.movements,
    },
  }
}
