import { createHash } from 'node:crypto'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { whyLocked } from './after-restore.ts'
import { whyItMustStay } from './may-leave.ts'
import {
  lockFile,
  type PayoutFile,
  type PayoutItem,
  type PayoutSeal,
  readItemsLeft,
  readSeal,
  setState,
  wrongState,
} from './payout-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** A download of a file's bytes. */
export interface PayoutDownload {
  n: number
  downloadedBy: bigint
  downloader: string
  reason: string
  at: Date
}

/** Gives out a file's bytes, always the same. Who has them and why is on disk before. */
export async function exportPayoutFile(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Named,
  by: Operator | Outsider,
  reason: string,
): Promise<PayoutSeal> {
  return inTransaction(desk.pool, async (tx) =>
    handOut(tx, await lockFile(tx, named), by, reason, desk.now()),
  )
}

/** The same in a transaction that has locked the file. */
export async function handOut(
  tx: Tx,
  file: PayoutFile,
  by: Operator | Outsider,
  reason: string,
  at: Date,
): Promise<PayoutSeal> {
  const seal = await readSeal(tx, file)
  if (!seal || file.state === 'closed') throw wrongState(file, 'exported')
  const items = await readItemsLeft(tx, file)
  refuseAbandoned(items)
  const isRefused = ({ state }: PayoutItem) =>
    state === 'rejected' || state === 'cancelled' || state === 'returned'
  if (items.some(isRefused)) {
    // Their money is free again: the bank may take the same bytes for new ones.
    throw new Problem('invalid_transition', 'The bank refused payouts of it: make a new file.')
  }
  if (await isOnItsWay(tx, file)) {
    throw new Problem('invalid_transition', 'It is on its way to the bank by SFTP.')
  }
  // Once somebody has the bytes they may be with the bank, and its answer is what counts.
  const why =
    file.state === 'approved'
      ? ((await whyItMustStay(tx, file, items, at)) ?? (await whyTooLate(tx, file, seal, at)))
      : await whyLocked(tx, file.account, at)
  if (why !== undefined) throw new Problem('invalid_transition', why)
  if (createHash('sha256').update(seal.bytes).digest('hex') !== seal.sha256) {
    throw new Error(`the bytes of payout file ${file.fileId} are not those that were sealed`)
  }
  await tx.query(
    `insert into payout_file_downloads
       (account, file_id, n, round, downloaded_by, downloader, reason, at)
     select $1, $2, coalesce(max(n), 0) + 1, $7, $3, $4, $5, $6 from payout_file_downloads
     where account = $1 and file_id = $2`,
    [file.account, file.fileId, by.userId ?? nobody, by.email, reason, at, seal.round],
  )
  if (file.state === 'approved') await setState(tx, file, 'exported')
  await writeAudit(tx, {
    at,
    operator: by,
    action: 'export_payout_file',
    subject: { kind: 'payout_file', id: file.fileId },
    agentId: null,
    after: { sha256: seal.sha256, message_id: seal.messageId },
    reason,
  })
  return seal
}

/** A file for a day that is over would be refused by the bank, or be paid on a day that nobody approved. */
async function whyTooLate(
  tx: Tx,
  file: PayoutFile,
  { executionDate }: PayoutSeal,
  at: Date,
): Promise<string | undefined> {
  const account = await findBankAccount(tx, file.account)
  if (!account) return undefined
  const today = localTimeIn(account.zone)(at).slice(0, 10)
  return executionDate < today
    ? `It is for ${executionDate}, which is over: have it sealed again for a later day.`
    : undefined
}

/** Who says that a file was never brought must not find out that somebody brings it then. */
function refuseAbandoned(items: readonly PayoutItem[]): void {
  if (!items.some(({ ended }) => ended === 'abandoned')) return
  throw new Problem(
    'invalid_transition',
    'Two people said that it was never brought to the bank, and its money was given back.',
  )
}

/**
 * Says that the bank has a file, under a number of its own. Who downloaded it first cannot say so, nor, if nobody
 * signed in to make it, who approved it: two people have looked at every file.
 */
export async function markSent(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Named,
  bankReference: string,
  operator: Operator,
): Promise<void> {
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    refuseAbandoned(await readItemsLeft(tx, file))
    if ((await downloadedBy(tx, file)) === operator.userId) {
      const detail = 'You downloaded it: another person says that the bank has it.'
      throw new Problem('same_person', detail)
    }
    const at = desk.now()
    if (!(await recordSent(tx, file, operator, bankReference, at))) throw wrongState(file, 'sent')
    await writeAudit(tx, {
      at,
      operator,
      action: 'send_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      after: { bank_reference: bankReference },
    })
  })
}

/**
 * Writes down that the bank has a file, by a person's word, or since this service saw it arrive. Returns false if that
 * is known, or the file is not that far.
 */
export async function recordSent(
  tx: Tx,
  file: PayoutFile,
  by: Operator | Outsider,
  bankReference: string,
  at: Date,
): Promise<boolean> {
  // The bank's answer may have come first.
  const isAnswered = file.state === 'acknowledged' || file.state === 'closed'
  const first = await downloadedBy(tx, file)
  if (first === undefined || (file.state !== 'exported' && !isAnswered)) return false
  const { round, approvedBy } = await whoApproved(tx, file)
  if (file.madeBy === nobody && approvedBy === by.userId) {
    const detail =
      'You approved it, and nobody signed in to make it: another person says that the bank has it.'
    throw new Problem('same_person', detail)
  }
  const { rowCount } = await tx.query(
    `insert into payout_file_sendings (account, file_id, first, downloaded_by, round, made_by,
       approved_by, sent_by, sender, bank_reference, put_step, at)
     values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (account, file_id) do nothing`,
    [
      file.account,
      file.fileId,
      first,
      round,
      file.madeBy,
      approvedBy,
      by.userId ?? nobody,
      by.email,
      bankReference.slice(-100),
      by.userId === null ? 'arrived' : null,
      at,
    ],
  )
  if (rowCount === 0) return false
  if (!isAnswered) await setState(tx, file, 'sent')
  return true
}

/** Whether the service is about to put a file into the bank's folder: who brings it by hand would bring a copy. */
async function isOnItsWay(tx: Tx, { account, fileId }: Named): Promise<boolean> {
  const { rows } = await tx.query(
    'select 1 from payout_file_puts where account = $1 and file_id = $2 and act_at is not null',
    [account, fileId],
  )
  return rows.length > 0
}

async function downloadedBy(tx: Tx, { account, fileId }: Named): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ downloaded_by: bigint }>(
    `select downloaded_by from payout_file_downloads
     where account = $1 and file_id = $2 and n = 1`,
    [account, fileId],
  )
  return rows[0]?.downloaded_by
}

/** Who approved what is sealed, and in which round. */
export async function whoApproved(
  tx: Tx,
  { account, fileId, round }: PayoutFile,
): Promise<{ round: number; approvedBy: bigint }> {
  const { rows } = await tx.query<{ round: number; approvedBy: bigint }>(
    `select a.round, a.approved_by as "approvedBy" from payout_file_seals s
     join payout_file_approvals a
       on a.account = s.account and a.file_id = s.file_id and a.round = s.round
     where s.account = $1 and s.file_id = $2 and s.round = $3`,
    [account, fileId, round],
  )
  if (!rows[0]) throw new Error(`nobody has approved payout file ${fileId}`)
  return rows[0]
}
