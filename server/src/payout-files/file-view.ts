import { findBankAccount } from '../bank-accounts/bank-account.ts'
import type { Pool } from '../db/pool.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { txnId } from '../lib/ids.ts'
import {
  type PayoutFile,
  type PayoutItem,
  readItems,
  readLines,
  readList,
  readSeal,
} from './payout-file.ts'
import { hasLaterDay } from './reseal-file.ts'

/** Writes an amount of the file's currency. */
type Money = (minor: bigint) => unknown

/** A file in a list. */
export async function fileSummary(pool: Pool, file: PayoutFile, money: Money) {
  const list = await readList(pool, file)
  return {
    id: file.fileId,
    account: file.account,
    state: file.state,
    digest: list.digest,
    count: list.items,
    sum: money(list.amountMinor),
    currency: file.currency,
    format: file.format,
    made_by: file.maker,
    made_at: file.madeAt,
    already_paid: file.alreadyPaid,
  }
}

interface History {
  approvals: object[]
  downloads: object[]
  sent: object | null
  put: object | null
  can_send: boolean
  reports: object[]
  reseals: object[]
  ends: object[]
  proposals: object[]
}

/** A file with everything about it; its items are those that are left of it. */
export async function fileView(pool: Pool, file: PayoutFile, money: Money, now: Date) {
  const [summary, lines, items, seal, account, debit, history] = await Promise.all([
    fileSummary(pool, file, money),
    readLines(pool, file),
    readItems(pool, file),
    readSeal(pool, file),
    findBankAccount(pool, file.account),
    readDebit(pool, file, money),
    readHistory(pool, file),
  ])
  const byLine = new Map(items.map((item) => [item.n, item]))
  const isClaimed = items.length > 0
  const kept = lines.filter(({ n }) => {
    const item = byLine.get(n)
    return item ? item.state !== 'dropped' : !isClaimed
  })
  const banks = new Map<string, { count: number; minor: bigint }>()
  for (const { n, payeeBank, amountMinor } of kept) {
    if (byLine.get(n)?.ended === 'taken_out') continue
    const { count, minor } = banks.get(payeeBank) ?? { count: 0, minor: 0n }
    banks.set(payeeBank, { count: count + 1, minor: minor + amountMinor })
  }
  return {
    ...summary,
    debit,
    dropped: lines.length - kept.length,
    banks: [...banks].map(([bank, { count, minor }]) => ({ bank, count, sum: money(minor) })),
    sealed: seal
      ? {
          name: seal.name,
          message_id: seal.messageId,
          execution_date: seal.executionDate,
          sha256: seal.sha256,
          sealed_at: seal.sealedAt,
          is_over: account !== undefined && hasLaterDay(account, seal, now),
        }
      : null,
    ...history,
    items: kept.map((line) => {
      const item: PayoutItem | undefined = byLine.get(line.n)
      return {
        txn_id: txnId(line.agentId, line.orderId),
        // Before it is handed over, the one that it will have.
        code: item?.reference ?? referencesOf(line.agentId, line.orderId, line.attempt)[0] ?? null,
        amount: money(line.amountMinor),
        state: item?.state ?? 'waiting',
        said: item?.said ?? null,
        ended: item?.ended ?? null,
        payee: {
          name: line.payeeName,
          account_no: line.payeeAccountNo,
          bank: line.payeeBank,
        },
      }
    }),
  }
}

/** The movement that a file says paid all of it in one sum: who approves says so too. */
async function readDebit(pool: Pool, file: PayoutFile, money: Money) {
  const { account, debit } = file
  if (debit === null) return null
  const { rows } = await pool.query<{ amount: bigint; day: string; text: string }>(
    `select amount, booked_on as day, text from bank_movements
     where account = $1 and movement_id = $2`,
    [account, debit],
  )
  const [row] = rows
  if (!row) return null
  const { amountMinor } = await readList(pool, file)
  return {
    movement: debit,
    amount: money(-row.amount),
    rest: money(-row.amount - amountMinor),
    day: row.day,
    text: row.text,
  }
}

/** Who approved, downloaded and sent a file, what the bank answered, and what waits for a second person. */
async function readHistory(pool: Pool, { account, fileId, state }: PayoutFile): Promise<History> {
  const { rows: proposals } = await pool.query<object>(
    `select p.proposal_id as id, p.action, p.proposer as by, p.proposed_at as at from proposals p
     where p.subject_kind = 'payout_file' and p.subject_id = $1
       and not exists (select 1 from proposal_decisions d where d.proposal_id = p.proposal_id)
     order by p.proposal_id`,
    [fileId],
  )
  const own = [account, fileId]
  const [approvals, downloads, sendings, reports, reseals, ends, puts] = await Promise.all(
    [
      `select round, digest, approver as by, approved_at as at from payout_file_approvals`,
      `select downloader as by, reason, at from payout_file_downloads`,
      `select sender as by, bank_reference, at from payout_file_sendings`,
      `select report_id as id, bringer as by, at, breaks from payout_file_reports`,
      `select asker as by, reason, at from payout_file_reseals`,
      `select distinct on (proposal_id) how, proposal_id as proposal, reason, at,
         count(*) over (partition by proposal_id) as count from payout_item_ends`,
      `select remote_path as path, asker as by, reason, asked_at as at, fault, case when exists (
           select 1 from payout_file_put_steps s where s.account = p.account
             and s.file_id = p.file_id and s.step = 'arrived') then 'arrived'
         when act_at is null then 'held' else 'waiting' end as state from payout_file_puts p`,
    ].map(async (select) => {
      const { rows } = await pool.query<{ at: Date }>(
        `${select} where account = $1 and file_id = $2`,
        own,
      )
      return rows.sort((a, b) => Number(a.at) - Number(b.at))
    }),
  )
  return {
    approvals: approvals ?? [],
    downloads: downloads ?? [],
    sent: sendings?.[0] ?? null,
    put: puts?.[0] ?? null,
    can_send: state === 'approved' && (await hasServer(pool, account)),
    reports: (reports ?? []).map((report) => ({
      ...report,
      breaks: JSON.parse('breaks' in report ? String(report.breaks) : '[]'),
    })),
    reseals: reseals ?? [],
    ends: ends ?? [],
    proposals,
  }
}

async function hasServer(pool: Pool, account: string): Promise<boolean> {
  const { rows } = await pool.query(
    'select 1 from bank_accounts where name = $1 and sftp_put_folder is not null',
    [account],
  )
  return rows.length > 0
}
