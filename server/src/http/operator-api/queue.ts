import { listAgents } from '../../agents/find-agent.ts'
import { readWatched } from '../../alerts/keep-watch.ts'
import { searchProposals } from '../../approvals/proposal.ts'
import { paymentIdOf } from '../../bank-accounts/bank-movement.ts'
import { listUnexplained } from '../../bank-accounts/read-movements.ts'
import { searchItems } from '../../ledger/open-items.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { type Currency, currencies } from '../../lib/money.ts'
import type { Operator } from '../../operators/operator.ts'
import { allToDecide, searchPayments } from '../../payments/search-payments.ts'
import { listUnknownPayouts } from '../../payouts/unknown-payouts.ts'
import type { Desk } from '../../teller/desk.ts'
import { whyNotEach } from './approvals.ts'
import { seesProposal } from './approvals-desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exactOrNull } from './order-summary.ts'
import { QueueCounts, type QueueKind, QueueView } from './schemas/queue.ts'
import { waitingElsewhere } from './waiting-elsewhere.ts'

/** How many of each kind are shown and counted, the oldest: who has more begins with these. */
const most = 100
/** How many proposals are looked at, to find those that this person may approve. */
const mostProposals = 500

interface Waiting {
  kind: QueueKind
  id: string
  /** Where it is looked into: an order, an account and day, or its own id. */
  at: string
  title: string
  minor: bigint | null
  currency: Currency | null
  agentId: bigint | null
  since: Date
  assignee: string | null
}

/** Everything that waits for a person, in one place. */
export function queueRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/queue',
    summary: 'What waits for a person, the oldest first',
    tag: 'Queue',
    permission: 'view',
    agents: 'none',
    schema: { response: QueueView },
    handler: async ({ operator }) => {
      const waiting = await waitingFor(api, desk, operator)
      const agents = new Map((await listAgents(desk.pool)).map((each) => [each.agentId, each]))
      return jsonText({
        counts: countsOf(waiting),
        data: waiting.map(({ minor, currency, agentId, ...each }) => ({
          ...each,
          amount: currency && exactOrNull(minor, currency),
          currency,
          app_id: (agentId !== null && agents.get(agentId)?.appId) || null,
          agent_name: (agentId !== null && agents.get(agentId)?.name) || null,
        })),
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/queue/counts',
    summary: 'How much waits for a person, for the menu',
    tag: 'Queue',
    permission: 'view',
    agents: 'own',
    schema: { response: QueueCounts },
    handler: async ({ operator }) =>
      countsOf(
        operator.agentId === null
          ? await waitingFor(api, desk, operator)
          : await proposalsFor(api, desk, operator),
      ),
  })
}

const kinds: readonly QueueKind[] = [
  'payment',
  'approval',
  'movement',
  'payout',
  'break',
  'open_item',
]

function countsOf(waiting: readonly Waiting[]) {
  const of = (kind: QueueKind) => waiting.filter((each) => each.kind === kind).length
  return { ...Object.fromEntries(kinds.map((kind) => [kind, of(kind)])), all: waiting.length }
}

async function waitingFor(api: OperatorApi, desk: Desk, operator: Operator): Promise<Waiting[]> {
  const { pool } = desk
  const found = await Promise.all([
    paymentsFor(desk),
    proposalsFor(api, desk, operator),
    movementsFor(desk),
    payoutsFor(desk),
    readWatched(pool, 'reconcile_break', most).then((days) =>
      days.map(({ subject, since }) => bare('break', subject, subject, since)),
    ),
    itemsFor(desk),
  ])
  return found.flat().sort((a, b) => a.since.getTime() - b.since.getTime())
}

function bare(kind: QueueKind, id: string, title: string, since: Date): Waiting {
  const nothing = { minor: null, currency: null, agentId: null, assignee: null }
  return { kind, id, at: id, title, since, ...nothing }
}

async function paymentsFor({ pool }: Desk): Promise<Waiting[]> {
  const found = await searchPayments(pool, { ...allToDecide, limit: most })
  return found.map((payment) => ({
    ...bare('payment', payment.paymentId, payment.why ?? 'waiting', payment.reportedAt),
    minor: payment.amountMinor,
    currency: payment.currency,
    agentId: payment.agentId,
    assignee: payment.assignee,
  }))
}

/** The proposals that this person can approve, and what waits for a second person elsewhere. */
async function proposalsFor(api: OperatorApi, desk: Desk, operator: Operator): Promise<Waiting[]> {
  const open = await searchProposals(desk.pool, {
    state: 'open',
    agentId: operator.agentId,
    proposedBy: null,
    before: null,
    first: 'oldest',
    now: desk.now(),
    limit: mostProposals,
  })
  const seen = open.filter((each) => seesProposal(operator, each))
  const refusals = await whyNotEach(api, desk, seen, operator)
  const elsewhere = await waitingElsewhere(desk, operator)
  const others = elsewhere.flatMap(({ id, at, title, account, since, minor, currency, refusal }) =>
    refusal ? [] : { ...bare('approval', id, `${title}: ${account}`, since), at, minor, currency },
  )
  const own = seen.flatMap((proposal, at) => {
    if (refusals[at]) return []
    const { proposalId, action, proposedAt, amountMinor: minor, agentId } = proposal
    return {
      ...bare('approval', proposalId, action, proposedAt),
      minor,
      currency: currencies.find((each) => each === proposal.currency) ?? null,
      agentId: agentId === 0n ? null : agentId,
    }
  })
  return [...own.slice(0, most), ...others]
}

async function movementsFor({ pool }: Desk): Promise<Waiting[]> {
  const found = await listUnexplained(pool, most, 'oldest')
  return found.map((movement) => ({
    ...bare('movement', paymentIdOf(movement), movement.account, movement.reportedAt),
    at: movement.account,
    minor: movement.amountMinor,
    currency: movement.currency,
  }))
}

async function payoutsFor({ pool }: Desk): Promise<Waiting[]> {
  const found = await listUnknownPayouts(pool, most)
  return found.map(({ agentId, orderId, provider, handedAt, amountMinor: minor, currency }) => ({
    ...bare('payout', txnId(agentId, orderId), provider, handedAt),
    minor,
    currency,
    agentId,
  }))
}

async function itemsFor({ pool }: Desk): Promise<Waiting[]> {
  const search = { agentId: null, kind: null, assignee: null, after: null, limit: most }
  const found = await searchItems(pool, { state: 'open', ...search })
  return found.map((item) => ({
    ...bare('open_item', item.itemId, item.kind, item.reopenedAt ?? item.openedAt),
    agentId: item.agentId,
    assignee: item.assignee,
  }))
}
