import { timingSafeEqual } from 'node:crypto'
import type { Static } from 'typebox'
import { readRules } from '../../approvals/approval-rules.ts'
import { jsonText } from '../../lib/json-text.ts'
import { decimalText } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import {
  decideOn,
  type PaymentDecision,
  type PaymentToDecide,
  type Together,
  targetOf,
  together,
} from '../../payments/decide-together.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, exactOrNull } from './order-summary.ts'
import { auditEntry, destination, ofAnotherAgent, paymentNamed } from './payments.ts'
import {
  DecidedTogether,
  DecideTogether,
  type Decision,
  PreviewTogether,
  TogetherView,
} from './schemas/payment-decisions.ts'
import { twoPersonRoute } from './two-person-route.ts'

type Asked = Static<typeof Decision>

const actionsOf = {
  credit: 'credit_payment',
  return: 'return_payment',
  dismiss: 'dismiss_payment',
} as const

const ends = { credit: 'credited', return: 'returned', dismiss: 'dismissed' } as const

/** Decisions on several payments that one code confirms: the list as it was shown, with its digest and its sum. */
export function paymentDecisionRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, now } = desk
  const common = {
    method: 'POST',
    tag: 'Payments',
    permission: 'decide_payments',
    agents: 'none',
  } as const

  operatorRoute(api, {
    ...common,
    url: '/payment-decisions/preview',
    summary: 'Several decisions as a list, with the sum and the digest that one code confirms',
    withoutCode: 'it changes nothing',
    schema: { body: PreviewTogether, response: TogetherView },
    handler: async ({ operator, body }) => {
      const list = await listOf(desk, operator, body.decisions)
      const sum = together(list)
      return jsonText({
        digest: sum.digest,
        sum: exact(sum.sumMinor, sum.currency),
        currency: sum.currency,
        most: exactOrNull((await mostOf(desk, sum))?.minor ?? null, sum.currency),
        data: list.map(rowOf),
      })
    },
  })

  twoPersonRoute(api, {
    ...common,
    url: '/payment-decisions',
    summary: 'Decide on several payments with one code',
    schema: { body: DecideTogether, response: DecidedTogether },
    approval: {
      action: 'credit_payment',
      also: (body) => [...new Set(body.decisions.map((each) => actionsOf[each.do as 'credit']))],
      // What an interrupted run has decided is left as it is; the rest is decided now.
      repeats: 'keyed',
      refusedOf: (answer) => refusedIn((answer as Static<typeof DecidedTogether>).data),
      view: async ({ operator, body }) => {
        const list = await listOf(desk, operator, body.decisions)
        const sum = await confirmed(desk, list, body.digest)
        return {
          subject: { kind: 'payments', id: sum.digest },
          agentId: null,
          amount: { minor: sum.sumMinor, currency: sum.currency },
          parts: list.map(({ payment, decision }) => ({
            action: actionsOf[decision.do],
            agentId: decision.do === 'credit' ? decision.to.agentId : payment.agentId,
            amount: { minor: payment.amountMinor, currency: payment.currency },
          })),
          before: { payments: list.length, digest: sum.digest },
          after: Object.fromEntries(
            list.map((each) => {
              const { payment_id, amount, currency, does, to } = rowOf(each)
              return [payment_id, `${amount} ${currency}: ${[does, to].filter(Boolean).join(' ')}`]
            }),
          ),
        }
      },
    },
    handler: async ({ operator, body }) => {
      const again = operator.proposal?.again ?? false
      const list = await listOf(desk, operator, body.decisions, again)
      // While two people decided, some may have been decided on; each is looked at by itself.
      if (!again) await confirmed(desk, list, body.digest)
      const data: { payment_id: string; outcome: 'done' | 'refused'; detail: string | null }[] = []
      for (const each of list) {
        const { payment, decision } = each
        // The run that was interrupted has decided it.
        if (again && isAsDecided(each)) {
          data.push({ payment_id: payment.paymentId, outcome: 'done', detail: null })
          continue
        }
        const entry = {
          ...auditEntry(operator, actionsOf[decision.do], payment, body.reason),
          ...(decision.do === 'credit' && { agentId: decision.to.agentId }),
        }
        const after = () => ({
          state: ends[decision.do],
          ...(decision.do === 'credit'
            ? { txn_id: decision.to.orderId && targetOf(decision.to) }
            : { evidence: body.reason }),
          together: body.digest,
        })
        const outcome = await audited(
          pool,
          now,
          entry,
          async () => {
            if (isOfAnother(each)) throw ofAnotherAgent()
            await decideOn(desk, each, body.reason)
          },
          after,
        )
          .then(() => ({ outcome: 'done' as const, detail: null }))
          .catch((error) => {
            // One that cannot be decided so keeps no other from it.
            if (!(error instanceof Problem) || error.status >= 500) throw error
            return { outcome: 'refused' as const, detail: error.message }
          })
        data.push({ payment_id: payment.paymentId, ...outcome })
      }
      const isNone = data.every(({ outcome }) => outcome === 'refused')
      // Nobody waits for the answer of a proposal: its end says what became of it.
      if (operator.proposal && isNone) throw new Problem('changed_meanwhile', refusedIn(data) ?? '')
      return { data }
    },
  })
}

/** Which of several payments could not be decided, and why. */
function refusedIn(data: Static<typeof DecidedTogether>['data']): string | null {
  const refused = data.filter(({ outcome }) => outcome === 'refused')
  if (refused.length === 0) return null
  const each = refused.map(({ payment_id, detail }) => `${payment_id}: ${detail}`)
  return `${data.length - refused.length} of ${data.length} were decided. Refused: ${each.join(' ')}`
}

/** Whether a payment has become what was decided. */
function isAsDecided({ payment, decision }: PaymentToDecide): boolean {
  if (payment.state !== ends[decision.do]) return false
  if (decision.do !== 'credit') return true
  const { agentId, orderId } = decision.to
  return (
    payment.agentId === agentId &&
    (payment.creditedTo === 'order' ? payment.orderId : null) === orderId
  )
}

/** Whether a payment is to be credited to another agent than the one that has it. */
function isOfAnother({ payment: { agentId }, decision }: PaymentToDecide): boolean {
  return decision.do === 'credit' && agentId !== null && agentId !== decision.to.agentId
}

/** The payments as they are now; if the list is run again, some may have gone elsewhere meanwhile. */
async function listOf(
  desk: Desk,
  operator: Operator,
  asked: readonly Asked[],
  again = false,
): Promise<PaymentToDecide[]> {
  const ids = new Set(asked.map(({ payment_id }) => payment_id))
  if (ids.size < asked.length) {
    const message = 'must name each payment once'
    throw invalidRequest([{ field: 'decisions', message }])
  }
  const list: PaymentToDecide[] = []
  for (const each of asked) {
    const payment = await paymentNamed(desk, each.payment_id)
    const toDecide = { payment, decision: await decisionIn(desk, operator, each) }
    if (!again && isOfAnother(toDecide)) throw ofAnotherAgent()
    list.push(toDecide)
  }
  return list
}

async function decisionIn(desk: Desk, operator: Operator, asked: Asked): Promise<PaymentDecision> {
  if (asked.do === 'credit') return { do: 'credit', to: await destination(desk, operator, asked) }
  return asked.do === 'return' ? { do: 'return' } : { do: 'dismiss' }
}

/** Refuses a list that is not as it was shown, that has an end already, or that is more than policy allows at once. */
async function confirmed(
  desk: Desk,
  list: readonly PaymentToDecide[],
  digest: string,
): Promise<Together> {
  const sum = together(list)
  const ended = list.find(({ payment }) => payment.state !== 'waiting')
  const [a, b] = [Buffer.from(sum.digest), Buffer.from(digest)]
  if (ended || a.length !== b.length || !timingSafeEqual(a, b)) {
    const detail = 'Some of these payments have changed since the list was shown. Look at it again.'
    throw new Problem('digest_changed', detail)
  }
  const most = await mostOf(desk, sum)
  if (most !== null && sum.sumMinor > most.minor) {
    const limit = `${decimalText(most.minor, sum.currency)} ${sum.currency}`
    const detail = `One code confirms at most ${limit} together. Choose fewer payments.`
    throw new Problem('invalid_transition', detail)
  }
  return sum
}

/** The most that one code confirms together, by policy; null for any sum. */
async function mostOf(
  { pool }: Pick<Desk, 'pool'>,
  { currency }: Pick<Together, 'currency'>,
): Promise<{ minor: bigint } | null> {
  const rule = (await readRules(pool)).find(
    (each) =>
      each.action === 'decide_together' && each.agentId === 0n && each.currency === currency,
  )
  return rule?.needsTwo && rule.aboveMinor !== null ? { minor: rule.aboveMinor } : null
}

function rowOf({ payment, decision }: PaymentToDecide) {
  return {
    payment_id: payment.paymentId,
    amount: exact(payment.amountMinor, payment.currency),
    currency: payment.currency,
    does: decision.do,
    to: decision.do === 'credit' ? targetOf(decision.to) : null,
  }
}
