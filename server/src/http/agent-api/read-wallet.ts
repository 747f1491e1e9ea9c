import type { FastifyInstance } from 'fastify'
import { refuseArchived } from '../../ledger/archived.ts'
import { feeChargedBy, readJournal, reasonForAgent } from '../../ledger/read-journal.ts'
import { readWallet } from '../../ledger/read-wallet.ts'
import { banksOf } from '../../lib/banks.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonObject, quoted } from '../../lib/json-text.ts'
import { decimalText } from '../../lib/money.ts'
import type { Desk } from '../../teller/desk.ts'
import type { Door } from './door.ts'
import { operation, refuseQuery, sendJson } from './operation.ts'
import type { ReadList } from './read-list.ts'
import { BankList, EntryPage, ReserveView, SeqQuery, WalletView } from './schemas.ts'
import { pageOf, seqRange } from './seq-page.ts'

/** `GET /payment/wallet`, `/payment/wallet/reserve`, `/payment/wallet/entries` and `/payment/banks`. */
export function readWalletRoutes(
  app: FastifyInstance,
  door: Door,
  desk: Desk,
  readList: ReadList,
): void {
  app.get(
    '/payment/wallet',
    {
      schema: operation({
        id: 'getWallet',
        summary: 'Read the wallet',
        description: 'What is available, and what is held for withdrawals that wait.',
        tag: 'Wallet',
        answers: { 200: WalletView },
      }),
    },
    door(async ({ agent, request, reply }) => {
      refuseQuery(request.query)
      const { balances, seq } = await readWallet(desk.pool, agent.agentId)
      const json = jsonObject({
        balance: decimalText(balances.available, agent.currency),
        held: decimalText(balances.held, agent.currency),
        currency: quoted(agent.currency),
        seq: String(seq),
      })
      return sendJson(reply, 200, json)
    }),
  )

  app.get(
    '/payment/wallet/reserve',
    {
      schema: operation({
        id: 'getReserve',
        summary: 'Read what is held back of deposits',
        description: 'It is not in the balance, and becomes available when its days are over.',
        tag: 'Wallet',
        answers: { 200: ReserveView },
      }),
    },
    door(async ({ agent, request, reply }) => {
      refuseQuery(request.query)
      const { balances, seq } = await readWallet(desk.pool, agent.agentId)
      const json = jsonObject({
        reserve: decimalText(balances.reserve, agent.currency),
        currency: quoted(agent.currency),
        seq: String(seq),
      })
      return sendJson(reply, 200, json)
    }),
  )

  app.get(
    '/payment/wallet/entries',
    {
      schema: operation({
        id: 'listWalletEntries',
        summary: "List the wallet's journal, oldest first",
        description: 'Every movement of money and every outcome, with the balances after it.',
        tag: 'Wallet',
        query: SeqQuery,
        answers: { 200: EntryPage },
      }),
    },
    door(async ({ agent, request, reply }) => {
      const { after, limit } = seqRange(request.query)
      await refuseArchived(desk.pool, agent.agentId, after)
      const money = (minor: bigint) => decimalText(minor, agent.currency)
      const rows = await readList(agent.agentId, (pool) =>
        readJournal(pool, agent.agentId, after, limit + 1),
      )
      const items = rows.map((row) => ({
        seq: row.seq,
        json: jsonObject({
          seq: String(row.seq),
          at: quoted(desk.localTime(row.at)),
          event: quoted(row.event),
          txn_id: row.orderId === null ? 'null' : quoted(txnId(agent.agentId, row.orderId)),
          amount: money(row.change.available),
          held_change: money(row.change.held),
          fee: money(feeChargedBy(row)),
          balance: money(row.balances.available),
          held: money(row.balances.held),
          reason: quoted(reasonForAgent(row)),
        }),
      }))
      return sendJson(reply, 200, pageOf(items, limit))
    }),
  )

  app.get(
    '/payment/banks',
    {
      schema: operation({
        id: 'listBanks',
        summary: "List the bank codes of the agent's currency",
        description: 'What bankCode may be.',
        tag: 'Wallet',
        answers: { 200: BankList },
      }),
    },
    door(async ({ agent, request, reply }) => {
      refuseQuery(request.query)
      const data = banksOf(agent.currency).map(({ numericCode, ...bank }) => ({
        code: bank.code,
        name: bank.name,
        numeric_code: numericCode,
        swift: bank.swift,
        aliases: bank.aliases,
        closed: bank.closed,
      }))
      return sendJson(reply, 200, JSON.stringify({ data }))
    }),
  )
}
