import { listAgents } from '../../agents/find-agent.ts'
import { acknowledge, alarmsFor } from '../../approvals/alarms.ts'
import { readApprovalFacts } from '../../approvals/approval-rules.ts'
import {
  approve,
  decline,
  hasSameCredentials,
  whyNotApproveEach,
  withdraw,
} from '../../approvals/decide-proposal.ts'
import { type Proposal, searchProposals, stateOf } from '../../approvals/proposal.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { Exact, jsonText } from '../../lib/json-text.ts'
import { currencies, decimalText } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeAnswer } from '../../operators/proposal-answers.ts'
import { payOutProposal, payOutRoute } from '../../payouts/payout-approval.ts'
import type { Desk } from '../../teller/desk.ts'
import { seesProposal, titleOf } from './approvals-desk.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { seesPersons, withoutPersons } from './personal-data.ts'
import {
  AlarmList,
  AnswerRequest,
  ApproveRequest,
  DeclineRequest,
  ProposalAnswer,
  ProposalList,
  ProposalListQuery,
  ProposalParams,
  ProposalView,
} from './schemas/approvals.ts'
import { orderNamed } from './scope.ts'
import { type WaitingElsewhere, waitingElsewhere } from './waiting-elsewhere.ts'

/** What waits for a second person, and their decisions. */
export function approvalRoutes(api: OperatorApi, { desk }: OperatorDeps): void {
  payOutAction(api, desk)
  readRoutes(api, desk)
  decisionRoutes(api, desk)
  alarmRoutes(api, desk)
}

/** Approving a payout does nothing more: whoever hands it over looks at the decision. */
function payOutAction(api: OperatorApi, desk: Desk): void {
  api.approvals.add(payOutRoute, {
    actions: () => ['pay_out'],
    permission: 'act_on_orders',
    repeats: 'checked',
    hasSecret: false,
    view: async (operator, { params }) => {
      const { order } = await orderNamed(desk.pool, operator, String(Object(params).txn_id))
      return payOutProposal(order, false)
    },
    run: async () => undefined,
  })
}

const common = { tag: 'Approvals', permission: 'view', agents: 'own' } as const

/** How many open proposals are looked at to count those that an operator may approve. */
const counted = 100

function readRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/approvals',
    summary: 'Proposals that wait for a decision, or ended ones, newest first',
    schema: { querystring: ProposalListQuery, response: ProposalList },
    handler: async ({ operator, query }) => {
      const { limit = 50, state = 'open' } = query
      const now = desk.now()
      const search = { agentId: operator.agentId, proposedBy: null, before: null, now }
      const found = await searchProposals(desk.pool, {
        ...search,
        state: state === 'ended' ? 'ended' : 'open',
        proposedBy: query.by === 'me' ? operator.userId : null,
        before: query.cursor !== undefined && isId(query.cursor) ? query.cursor : null,
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const open = await searchProposals(desk.pool, { ...search, state: 'open', limit: counted })
      const refusals = await whyNotEach(api, desk, open, operator)
      const isFirst = state !== 'ended' && query.cursor === undefined
      const others = await waitingElsewhere(desk, operator)
      return jsonText({
        others: (isFirst ? others : [])
          .filter(({ by }) => query.by !== 'me' || by === operator.email)
          .map(otherView),
        data: await views(
          api,
          desk,
          operator,
          shown.filter((each) => seesProposal(operator, each)),
        ),
        next: found.length > limit ? shown.at(-1)?.proposalId : null,
        to_decide:
          refusals.filter((refusal) => refusal === undefined).length +
          others.filter(({ refusal }) => refusal === undefined).length,
      })
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/approvals/:id',
    summary: 'One proposal, and what it would change',
    schema: { params: ProposalParams, response: ProposalView },
    handler: async ({ operator, params }) => detail(api, desk, operator, params.id),
  })
}

function decisionRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/approvals/:id/approve',
    summary: 'Approve what was shown, which does it',
    schema: { params: ProposalParams, body: ApproveRequest, response: ProposalView },
    handler: async ({ operator, params, body }) => {
      const proposal = await api.approvals.named(operator, params.id)
      const [refusal] = await whyNotEach(api, desk, [proposal], operator)
      if (refusal) throw refusal
      const approved = await approve(desk.pool, proposal, operator, body.digest, desk.now())
      // An error leaves it approved: it is shown as such, and run again.
      await api.approvals.run(approved).catch(api.approvals.onError)
      return detail(api, desk, operator, params.id)
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/approvals/:id/decline',
    summary: 'Decline it, and say why',
    schema: { params: ProposalParams, body: DeclineRequest, response: ProposalView },
    handler: async ({ operator, params, body }) => {
      const proposal = await api.approvals.named(operator, params.id)
      await decline(desk.pool, proposal, operator, body.reason, desk.now())
      return detail(api, desk, operator, params.id)
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/approvals/:id/withdraw',
    summary: 'Take my own proposal back',
    withoutCode: 'it only takes back what the same person asked for',
    schema: { params: ProposalParams, response: ProposalView },
    handler: async ({ operator, params }) => {
      const proposal = await api.approvals.named(operator, params.id)
      await withdraw(desk.pool, proposal, operator, desk.now())
      return detail(api, desk, operator, params.id)
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/approvals/:id/answer',
    summary: 'The secret that my proposal made, once',
    schema: { params: ProposalParams, body: AnswerRequest, response: ProposalAnswer },
    handler: async ({ operator, params }) => {
      const proposal = await api.approvals.named(operator, params.id)
      const isOwn = proposal.proposedBy === operator.userId
      if (!isOwn || !(await hasSameCredentials(desk.pool, proposal))) {
        throw new Problem('not_permitted', 'Only who proposed it sees this.')
      }
      const at = desk.now()
      const answer = await inTransaction(desk.pool, async (tx) => {
        const taken = await takeAnswer(tx, desk.secretKeys, params.id)
        if (taken === undefined) return undefined
        const subject = { kind: 'proposal', id: params.id }
        const { agentId } = operator
        await writeAudit(tx, { at, operator, action: 'see_answer', subject, agentId })
        return taken
      })
      if (answer === undefined) throw new Problem('not_found', 'Nothing is left to be shown.')
      return { answer: JSON.parse(answer) }
    },
  })
}

function alarmRoutes(api: OperatorApi, desk: Desk): void {
  const admins = { tag: 'Approvals', permission: 'manage_policy', agents: 'none' } as const
  operatorRoute(api, {
    ...admins,
    method: 'GET',
    url: '/alarms',
    summary: 'What every admin has to take note of, and I have not yet',
    schema: { response: AlarmList },
    handler: async ({ operator }) =>
      jsonText({ data: await alarmsFor(desk.pool, operator.userId) }),
  })

  operatorRoute(api, {
    ...admins,
    method: 'POST',
    url: '/alarms/:id/acknowledge',
    summary: 'Say that I have taken note',
    withoutCode: 'it changes nothing but what is shown',
    schema: { params: ProposalParams, response: AlarmList },
    handler: async ({ operator, params }) => {
      const at = desk.now()
      await inTransaction(desk.pool, async (tx) => {
        if (!isId(params.id) || !(await acknowledge(tx, params.id, operator.userId, at))) return
        const subject = { kind: 'alarm', id: params.id }
        await writeAudit(tx, { at, operator, action: 'acknowledge', subject, agentId: null })
      })
      return jsonText({ data: await alarmsFor(desk.pool, operator.userId) })
    },
  })
}

/** Why an operator may not approve each of some proposals: a few statements, however many they are. */
export async function whyNotEach(
  api: OperatorApi,
  desk: Desk,
  proposals: readonly Proposal[],
  operator: Operator,
): Promise<(Problem | undefined)[]> {
  const refusals = await whyNotApproveEach(desk.pool, proposals, operator, desk.now())
  if (operator.role === 'admin') return refusals
  const facts = await readApprovalFacts(desk.pool, desk.now())
  return proposals.map((proposal, at) => {
    if (refusals[at] || !api.approvals.isForAdmins(proposal, facts)) return refusals[at]
    return new Problem('not_permitted', 'Only an admin may approve this.')
  })
}

async function detail(
  api: OperatorApi,
  desk: Desk,
  operator: Operator,
  proposalId: string,
): Promise<string> {
  const proposal = await api.approvals.named(operator, proposalId)
  const [view] = await views(api, desk, operator, [proposal])
  const isOpen = stateOf(proposal, desk.now()) === 'open'
  return jsonText({
    ...view,
    beside: isOpen ? await api.approvals.besideOf(proposal, operator) : null,
  })
}

/** Proposals as this operator may see them. */
async function views(
  api: OperatorApi,
  desk: Desk,
  operator: Operator,
  proposals: readonly Proposal[],
): Promise<object[]> {
  const agents = new Map((await listAgents(desk.pool)).map((each) => [each.agentId, each]))
  const shown = (text: string | null) => {
    if (text === null) return null
    return seesPersons(operator) ? new Exact(text) : withoutPersons(JSON.parse(text))
  }
  const refusals = await whyNotEach(api, desk, proposals, operator)
  return proposals.map((proposal, at) => {
    const agent = agents.get(proposal.agentId)
    const refusal = refusals[at]
    const isOwn = proposal.proposedBy === operator.userId
    const { amountMinor, problemCode: code, problemDetail } = proposal
    // What operators say of an agent is not for its users.
    const hides = operator.agentId !== null && !isOwn
    const currency = currencies.find((each) => each === proposal.currency)
    return {
      id: proposal.proposalId,
      action: proposal.action,
      title: titleOf(proposal.action),
      subject: { kind: proposal.subjectKind, id: proposal.subjectId },
      app_id: agent?.appId ?? null,
      agent_name: agent?.name ?? null,
      amount:
        amountMinor === null || !currency ? null : new Exact(decimalText(amountMinor, currency)),
      currency: proposal.currency,
      before: shown(proposal.before),
      after: shown(proposal.after),
      beside: null,
      reason: hides ? null : proposal.reason,
      proposed_by: hides ? 'the operator' : proposal.proposer,
      proposed_at: proposal.proposedAt,
      expires_at: proposal.expiresAt,
      state: stateOf(proposal, desk.now()),
      digest: proposal.digest,
      own: isOwn,
      may_approve: refusal === undefined,
      why_not: refusal?.message ?? null,
      decided_by:
        proposal.decider === null || operator.agentId === null
          ? proposal.decider
          : 'a second person',
      decided_at: proposal.decidedAt,
      decision_reason: operator.agentId === null ? proposal.decisionReason : null,
      // What was done may have been refused in part.
      problem:
        code === null && problemDetail === null
          ? null
          : { code: code ?? 'invalid_transition', detail: problemDetail ?? '' },
      has_answer: isOwn && proposal.hasAnswer,
    }
  })
}

function otherView(other: WaitingElsewhere) {
  return {
    kind: other.kind,
    id: other.id,
    at: other.at,
    title: other.title,
    account: other.account,
    amount: other.minor === null ? null : new Exact(decimalText(other.minor, other.currency)),
    currency: other.currency,
    proposed_by: other.by,
    proposed_at: other.since,
    expires_at: other.until,
    may_approve: other.refusal === undefined,
    why_not: other.refusal?.message ?? null,
  }
}

function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text)
}
