import type { Agent } from '../../agents/agent.ts'
import type { Accounts } from '../../ledger/accounts.ts'
import { readJournalBack } from '../../ledger/read-journal.ts'
import { readWallet, readWallets } from '../../ledger/read-wallet.ts'
import { balancesAfter, seqAsOf } from '../../ledger/wallet-as-of.ts'
import { jsonText } from '../../lib/json-text.ts'
import { toMinor } from '../../lib/money.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { proofOf } from '../../proof/verify.ts'
import { adjustWallet } from '../../teller/adjust-wallet.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { journalView } from './journal-view.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import {
  AdjustAnswer,
  AdjustRequest,
  JournalPage,
  JournalQuery,
  WalletDetail,
  WalletList,
  WalletParams,
  WalletQuery,
} from './schemas/wallets.ts'
import { agentNamed, agentsInScope, badCursor, timesIn } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Wallets and their journals. */
export function walletRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/wallets',
    summary: 'All wallets',
    tag: 'Wallets',
    permission: 'view',
    agents: 'own',
    schema: { response: WalletList },
    handler: async ({ operator }) => {
      const agents = await agentsInScope(desk.pool, operator)
      const wallets = await readWallets(
        desk.pool,
        agents.map(({ agentId }) => agentId),
      )
      const data = agents.flatMap((agent) => {
        const wallet = wallets.get(agent.agentId)
        return wallet ? walletView(agent, wallet, operator) : []
      })
      return jsonText({ data })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/wallets/:app_id',
    summary: 'A wallet, now or as it was',
    tag: 'Wallets',
    permission: 'view',
    agents: 'own',
    schema: { params: WalletParams, querystring: WalletQuery, response: WalletDetail },
    handler: async ({ operator, params, query }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const { as_of } = timesIn(query, ['as_of'])
      const { agentId } = agent
      const seq = as_of
        ? await seqAsOf(desk.pool, agentId, as_of)
        : (await readWallet(desk.pool, agentId)).seq
      const after = await balancesAfter(desk.pool, agentId, seq)
      const proof = await proofOf(desk.pool, agentId)
      return jsonText({
        ...walletView(agent, after, operator),
        as_of: as_of ?? null,
        at: after.at,
        proof: {
          proved_seq: proof.provedSeq,
          finding: proof.finding,
          checked_at: proof.checkedAt,
        },
      })
    },
  })

  operatorRoute(api, {
    method: 'GET',
    url: '/wallets/:app_id/journal',
    summary: "A wallet's journal, newest first",
    tag: 'Wallets',
    permission: 'view',
    agents: 'own',
    schema: { params: WalletParams, querystring: JournalQuery, response: JournalPage },
    handler: async ({ operator, params, query }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const { limit = 50 } = query
      const before = await firstBefore(desk, agent, query)
      const rows = await readJournalBack(desk.pool, agent.agentId, before, limit + 1)
      const shown = rows.slice(0, limit)
      return jsonText({
        data: shown.map((row) => journalView(row, agent.currency, operator)),
        next: rows.length > limit ? String(shown.at(-1)?.seq) : null,
      })
    },
  })

  adjustRoute(api, desk)
}

function adjustRoute(api: OperatorApi, desk: Desk): void {
  twoPersonRoute(api, {
    method: 'POST',
    url: '/wallets/:app_id/adjust',
    summary: 'Credit or debit a wallet',
    tag: 'Wallets',
    permission: 'adjust_wallets',
    agents: 'none',
    schema: { params: WalletParams, body: AdjustRequest, response: AdjustAnswer },
    approval: {
      action: 'adjust_wallet',
      repeats: 'keyed',
      view: async ({ operator, params, body }) => {
        const { agentId, appId, currency } = await agentNamed(desk.pool, operator, params.app_id)
        refuseZero(body.amount)
        const amount = { minor: toMinor(BigInt(body.amount), currency), currency }
        return {
          subject: { kind: 'wallet', id: appId },
          agentId,
          amount,
          before: null,
          after: { adjusted_by: exact(amount.minor, currency), currency, ref: body.ref },
        }
      },
      beside: async ({ operator, params, body }) => {
        const { agentId, currency } = await agentNamed(desk.pool, operator, params.app_id)
        const { available } = (await readWallet(desk.pool, agentId)).balances
        const after = available + toMinor(BigInt(body.amount), currency)
        return {
          before: { balance: exact(available, currency) },
          after: { balance: exact(after, currency) },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const agent = await agentNamed(desk.pool, operator, params.app_id)
      const { agentId, appId, currency } = agent
      refuseZero(body.amount)
      const entry = {
        operator,
        action: 'adjust_wallet',
        subject: { kind: 'wallet', id: appId },
        agentId,
        before: { amount: body.amount, ref: body.ref },
        reason: body.reason,
      }
      const { changed } = await audited(
        desk.pool,
        desk.now,
        entry,
        () =>
          adjustWallet(desk, agentId, {
            amountMinor: toMinor(BigInt(body.amount), currency),
            reason: body.reason,
            ref: body.ref,
          }),
        (done) => ({ changed: done.changed }),
      )
      const wallet = await readWallet(desk.pool, agentId)
      return jsonText({ changed, wallet: walletView(agent, wallet, operator) })
    },
  })
}

function refuseZero(amount: number): void {
  if (amount === 0) {
    throw invalidRequest([{ field: 'amount', message: 'must be other than 0' }])
  }
}

/** The sequence number before which a page of the journal begins. */
async function firstBefore(
  desk: Desk,
  { agentId }: Agent,
  query: { cursor?: string; as_of?: string },
): Promise<bigint> {
  const { as_of } = timesIn(query, ['as_of'])
  if (query.cursor !== undefined) {
    if (!/^\d{1,18}$/.test(query.cursor)) throw badCursor()
    return BigInt(query.cursor)
  }
  const last = as_of
    ? await seqAsOf(desk.pool, agentId, as_of)
    : (await readWallet(desk.pool, agentId)).seq
  return last + 1n
}

/** An agent's users see its own money; what waits and what the house pays is to them part of clearing. */
function walletView(
  agent: Agent,
  { seq, balances: kept }: { seq: bigint; balances: Accounts },
  operator: Operator,
) {
  const { currency } = agent
  const { suspense, costs, transfers } = kept
  const others = suspense + costs + transfers
  const hidden = { suspense: 0n, costs: 0n, transfers: 0n, clearing: kept.clearing + others }
  const balances = operator.agentId === null ? kept : { ...kept, ...hidden }
  return {
    app_id: agent.appId,
    agent_name: agent.name,
    currency,
    balance: exact(balances.available, currency),
    held: exact(balances.held, currency),
    reserve: exact(balances.reserve, currency),
    suspense: exact(balances.suspense, currency),
    clearing: exact(balances.clearing, currency),
    fees: exact(balances.fees, currency),
    costs: exact(balances.costs, currency),
    adjustments: exact(balances.adjustments, currency),
    transfers: exact(balances.transfers, currency),
    seq,
  }
}
