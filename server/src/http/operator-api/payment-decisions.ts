import { timingSafeEqual } from 'node:crypto'
import type { Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import { readRules } from '../../approvals/approval-rules.ts'
import { currencyRow } from '../../lib/currencies.ts'
import { txnId } from '../../lib/ids.ts'
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
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, exactOrNull } from './order-summary.ts'
import {
  agentsById,
  auditEntry,
  destination,
  ofAnotherAgent,
  paymentNamed,
  paymentView,
} from './payments.ts'
import { maskedName, maskedNumber } from './personal-data.ts'
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
export function paymentDecisionRoutes(
  api: OperatorApi,
  { desk, mode }: Pick<OperatorDeps, 'desk' | 'mode'>,
): void {
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
        most: exactOrNull(await mostOf(desk, mode, sum), sum.currency),
        data: await rowsOf(desk, operator, list),
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
      refusedOf: (answer) =>
        refusedIn((JSON.parse(String(answer)) as Static<typeof DecidedTogether>).data),
      view: async ({ operator, body }) => {
        const list = await listOf(desk, operator, body.decisions)
        const sum = await confirmed(desk, mode, list, body.digest)
        const agents = await agentsById(desk)
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
            list.map((each) => [each.payment.paymentId, inWords(each, agents)]),
          ),
        }
      },
    },
    handler: async ({ operator, body }) => {
      const again = operator.proposal?.again ?? false
      const list = await listOf(desk, operator, body.decisions, again)
      // While two people decided, some may have been decided on; each is looked at by itself.
      if (!again) await confirmed(desk, mode, list, body.digest)
      const shown = await rowsOf(desk, operator, list)
      const data: (Outcome & (typeof shown)[number])[] = []
      for (const [at, each] of list.entries()) {
        const { payment, decision } = each
        const row = shown[at]
        if (!row) continue
        // Something failed: what is left of the list still waits.
        if (data.at(-1)?.outcome === 'unknown' || data.at(-1)?.outcome === 'not_tried') {
          data.push({ ...row, outcome: 'not_tried', detail: null })
          continue
        }
        // The run that was interrupted has decided it.
        if (again && isAsDecided(each)) {
          data.push({ ...row, outcome: 'done', detail: null })
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
        const outcome: Outcome = await audited(
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
            if (error instanceof Problem && error.status < 500) {
              return { outcome: 'refused' as const, detail: error.message }
            }
            // A proposal runs again. Nobody runs this again, so it says what was done before it failed.
            if (operator.proposal) throw error
            api.approvals.onError(error)
            const detail = 'It is not known whether this was done. Read the payment again.'
            return { outcome: 'unknown' as const, detail }
          })
        data.push({ ...row, ...outcome })
      }
      const isNone = data.every(({ outcome }) => outcome === 'refused')
      // Nobody waits for the answer of a proposal: its end says what became of it.
      if (operator.proposal && isNone) throw new Problem('changed_meanwhile', refusedIn(data) ?? '')
      return jsonText({ data })
    },
  })
}

type Outcome = Pick<Static<typeof DecidedTogether>['data'][number], 'outcome' | 'detail'>

/** Which of several payments could not be decided, and why. */
function refusedIn(data: readonly (Outcome & { payment_id: string })[]): string | null {
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
  mode: OperatorDeps['mode'],
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
  const most = await mostOf(desk, mode, sum)
  if (most !== null && sum.sumMinor > most) {
    const limit = `${decimalText(most, sum.currency)} ${sum.currency}`
    const detail = `One code confirms at most ${limit} together. Choose fewer payments.`
    throw new Problem('invalid_transition', detail)
  }
  return sum
}

/** The most that one code confirms together, by policy; null for any sum, which only the sandbox has by default. */
async function mostOf(
  { pool }: Pick<Desk, 'pool'>,
  mode: OperatorDeps['mode'],
  { currency }: Pick<Together, 'currency'>,
): Promise<bigint | null> {
  const rule = (await readRules(pool)).find(
    (each) =>
      each.action === 'decide_together' && each.agentId === 0n && each.currency === currency,
  )
  if (rule) return rule.needsTwo ? rule.aboveMinor : null
  return mode === 'live' ? currencyRow(currency).togetherMinor : null
}

/** The list as a person checks it: who paid, and whose order or wallet gets it. */
async function rowsOf(desk: Desk, operator: Operator, list: readonly PaymentToDecide[]) {
  const agents = await agentsById(desk)
  return list.map(({ payment, decision }) => {
    const { payment_id, amount, currency, payer } = paymentView(payment, agents, operator)
    const to = decision.do === 'credit' ? decision.to : null
    return {
      ...{ payment_id, amount, currency, payer, does: decision.do },
      to: to && {
        txn_id: to.orderId && txnId(to.agentId, to.orderId),
        app_id: agents.get(to.agentId)?.appId ?? '',
        agent_name: agents.get(to.agentId)?.name ?? '',
      },
    }
  })
}

/** One decision for whoever approves the list. Proposals are kept for ever, so persons are masked in them. */
function inWords({ payment, decision }: PaymentToDecide, agents: Map<bigint, Agent>): string {
  const { amountMinor, currency, payer } = payment
  const who = [
    payer?.accountName && maskedName(payer.accountName),
    payer?.accountNo && maskedNumber(payer.accountNo),
  ].filter(Boolean)
  const from = who.length > 0 ? ` from ${who.join(' ')}` : ''
  return `${decimalText(amountMinor, currency)} ${currency}${from}: ${doneWith(decision, agents)}`
}

function doneWith(decision: PaymentDecision, agents: Map<bigint, Agent>): string {
  if (decision.do !== 'credit') return decision.do
  const { agentId, orderId } = decision.to
  const agent = agents.get(agentId)
  const owner = `${agent?.name} (${agent?.appId})`
  return orderId === null
    ? `credit to the wallet of ${owner}`
    : `credit to order ${txnId(agentId, orderId)} of ${owner}`
}
