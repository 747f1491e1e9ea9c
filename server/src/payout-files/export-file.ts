import { createHash } from 'node:crypto'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import { modeOf } from '../db/deployment.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { type Credential, credentialOf, nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import { findPaymentFormat } from '../payment-files/render-payment-file.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { whyLocked } from './after-restore.ts'
import { whyItMustStay, whyStopped } from './may-leave.ts'
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
import { hasLaterDay } from './reseal-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** This service, which saw a file arrive. */
export const machine: Outsider = { userId: null, email: 'sluice', ip: null }

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
  if (file.state === 'approved') await refuseToLeave(tx, file, seal, at)
  else await refuseCopy(tx, file, seal, at)
  if (createHash('sha256').update(seal.bytes).digest('hex') !== seal.sha256) {
    throw new Error(`the bytes of payout file ${file.fileId} are not those that were sealed`)
  }
  const people = await peopleOf(tx, file, by, by.userId ?? nobody, 'downloads it')
  const mode = await modeOf(tx)
  if (file.madeBy === nobody && by.userId === null && mode !== 'sandbox') {
    const detail =
      'Nobody signed in to make it: another person than who approved it downloads it, in the console.'
    throw new Problem('not_permitted', detail)
  }
  await tx.query(
    `insert into payout_file_downloads (account, file_id, n, round, made_by, approved_by,
       approver_reset_by, downloaded_by, reset_by, downloader, reason, at, mode)
     select $1, $2, coalesce(max(n), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
     from payout_file_downloads where account = $1 and file_id = $2`,
    [file.account, file.fileId, ...people, by.email, reason, at, mode ?? null],
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

/**
 * Refuses to let the bytes come nearer to the bank at this moment. What `isOnItsWay` is not judged by the time any more:
 * half of it may be there, and it could neither be brought otherwise nor be sealed again.
 */
export async function refuseToLeave(
  tx: Tx,
  file: PayoutFile,
  seal: PayoutSeal,
  at: Date,
  isOnItsWay = false,
): Promise<void> {
  const items = await readItemsLeft(tx, file)
  refuseAbandoned(items)
  refuseOtherItems(file, seal, items)
  const why =
    (await whyItMustStay(tx, file, items, at)) ??
    (isOnItsWay ? undefined : await whyTooLate(tx, file, seal, at))
  if (why !== undefined) throw new Problem('invalid_transition', why)
}

/**
 * Once somebody has the bytes they may be with the bank, and its answer is what counts. A copy is for who lost the first
 * one, so none is given out once the bank pays from the file; nor, if the bank could not tell a copy from a new file, once
 * somebody says that it has one, or the day is over.
 */
async function refuseCopy(tx: Tx, file: PayoutFile, seal: PayoutSeal, at: Date): Promise<void> {
  const items = await readItemsLeft(tx, file)
  refuseAbandoned(items)
  refuseOtherItems(file, seal, items)
  const isRefused = ({ state }: PayoutItem) =>
    state === 'rejected' || state === 'cancelled' || state === 'returned'
  if (items.some(isRefused)) {
    // Their money is free again: the bank may take the same bytes for new ones.
    throw new Problem('invalid_transition', 'The bank refused payouts of it: make a new file.')
  }
  if (items.some(({ debitedBy }) => debitedBy !== null)) {
    throw new Problem('invalid_transition', 'The bank has it, and has debited payouts of it.')
  }
  const isKnownByBank = findPaymentFormat(file.format)?.hasMessageId === true
  if (!isKnownByBank && file.state !== 'exported') {
    const detail = `The bank has it, and would pay a copy once more: ${file.format} has no id by which it could tell.`
    throw new Problem('invalid_transition', detail)
  }
  const why =
    (await whyStopped(tx, file.account, items)) ??
    (await whyLocked(tx, file.account, at)) ??
    (isKnownByBank ? undefined : await whyTooLate(tx, file, seal, at))
  if (why !== undefined) throw new Problem('invalid_transition', why)
  await withdrawPut(tx, file, at)
}

/** The bytes pay what is left of the file, or they do not leave. */
function refuseOtherItems(
  { fileId }: PayoutFile,
  seal: PayoutSeal,
  items: readonly PayoutItem[],
): void {
  const left = items.filter(({ reference }) => reference !== null).length
  if (left === seal.items) return
  throw new Error(`payout file ${fileId} has ${left} payouts, and its bytes have ${seal.items}`)
}

/** A file whose last cut-off is over would be refused by the bank, or be paid on a day that nobody approved. */
async function whyTooLate(
  tx: Tx,
  file: PayoutFile,
  seal: PayoutSeal,
  at: Date,
): Promise<string | undefined> {
  const account = await findBankAccount(tx, file.account)
  if (!account || !hasLaterDay(account, seal, at)) return undefined
  const day = seal.executionDate
  return file.state === 'approved'
    ? `It is for ${day}, which is over for the bank: have it sealed again for a later day.`
    : `It is for ${day}, which is over for the bank.`
}

/** Who says that a file was never brought must not find out that somebody brings it then. */
function refuseAbandoned(items: readonly PayoutItem[]): void {
  if (!items.some(({ ended }) => ended === 'abandoned')) return
  throw new Problem(
    'invalid_transition',
    'Two people said that the bank does not have it, or does not pay all of it, and that money was given back.',
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
    const items = await readItemsLeft(tx, file)
    // It may have the others.
    if (items.every(({ ended }) => ended === 'abandoned')) refuseAbandoned(items)
    refuseDownloader(
      await firstDownload(tx, file),
      operator.userId,
      await credentialOf(tx, operator.userId),
    )
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
  const first = await firstDownload(tx, file)
  if (first === undefined || (file.state !== 'exported' && !isAnswered)) return false
  const people = await peopleOf(tx, file, by, first.by, 'says that the bank has it')
  const { rowCount } = await tx.query(
    `insert into payout_file_sendings (account, file_id, first, downloaded_by, round, made_by,
       approved_by, approver_reset_by, sent_by, reset_by, sender, bank_reference, put_step, at,
       downloader_reset_by)
     values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (account, file_id) do nothing`,
    [
      file.account,
      file.fileId,
      first.by,
      ...people,
      by.email,
      bankReference.slice(-100),
      by === machine ? 'arrived' : null,
      at,
      first.resetBy,
    ],
  )
  if (rowCount === 0) return false
  if (!isAnswered) await setState(tx, file, 'sent')
  return true
}

/**
 * Who brings a file by hand would bring a copy of what the service puts into the bank's folder. What it has given up is
 * withdrawn for ever, unless bytes of it went there: then the bank may have it.
 */
async function withdrawPut(tx: Tx, { account, fileId }: Named, at: Date): Promise<void> {
  const { rows } = await tx.query<{ tries: number; isOn: boolean; steps: string[] }>(
    `select tries, act_at is not null as "isOn", array(select step from payout_file_put_steps s
       where s.account = p.account and s.file_id = p.file_id) as steps
     from payout_file_puts p where account = $1 and file_id = $2 for no key update`,
    [account, fileId],
  )
  const [put] = rows
  if (!put || put.steps.includes('arrived') || put.steps.includes('withdrawn')) return
  if (put.isOn) throw new Problem('invalid_transition', 'It is on its way to the bank by SFTP.')
  if (put.steps.includes('uploading')) {
    const detail =
      'It was being put into the folder of the bank, which may have it: ask the bank, and say so if it has.'
    throw new Problem('invalid_transition', detail)
  }
  await tx.query(
    `insert into payout_file_put_steps (account, file_id, step, try, at)
     values ($1, $2, 'withdrawn', $3, $4)`,
    [account, fileId, put.tries, at],
  )
}

/** Who downloaded a file first, and who had reset them, if that is known. */
interface FirstDownload {
  by: bigint
  resetBy: bigint | null
}

async function firstDownload(
  tx: Tx,
  { account, fileId }: Named,
): Promise<FirstDownload | undefined> {
  const { rows } = await tx.query<FirstDownload>(
    `select downloaded_by as by, reset_by as "resetBy" from payout_file_downloads
     where account = $1 and file_id = $2 and n = 1`,
    [account, fileId],
  )
  return rows[0]
}

/** Who downloaded a file does not say that the bank has it, also not under a login that they could have reset. */
function refuseDownloader(
  first: FirstDownload | undefined,
  own: bigint,
  { resetBy }: Credential,
): void {
  if (!first || first.by === nobody) return
  if (first.by === own) {
    throw new Problem('same_person', 'You downloaded it: another person says that the bank has it.')
  }
  const tied = [first.by, first.resetBy].some((each) => each !== nobody && each === resetBy)
  if (first.resetBy !== own && !tied) return
  const detail = 'You and who downloaded it could be one person, by a reset: somebody else says so.'
  throw new Problem('same_person', detail)
}

/**
 * Who made and approved a file, and who does something with it now, with who could sign in as them: round, maker,
 * approver, who reset the approver, who does it, who reset them. Two people have looked at every file: what nobody
 * signed in to make is let go by another than who approved it, who could not be the same person either. In the sandbox
 * the command line may give it out too.
 */
async function peopleOf(
  tx: Tx,
  { account, fileId, round, madeBy }: PayoutFile,
  by: Operator | Outsider,
  downloader: bigint,
  doing: string,
): Promise<(number | bigint)[]> {
  const { rows } = await tx.query<{ approved_by: bigint; reset_by: bigint }>(
    `select approved_by, reset_by from payout_file_approvals
     where account = $1 and file_id = $2 and round = $3`,
    [account, fileId, round],
  )
  const [approval] = rows
  if (!approval) throw new Error(`nobody has approved payout file ${fileId}`)
  const { approved_by, reset_by } = approval
  const own = by.userId ?? nobody
  const { resetBy } = await credentialOf(tx, own)
  const isTied = [approved_by, reset_by].some((each) => each !== nobody && each === resetBy)
  const isSame = own === approved_by || own === reset_by || isTied
  if (madeBy === nobody && downloader !== nobody && isSame && by !== machine) {
    const detail = `Nobody signed in to make it: another person than who approved it ${doing}, and neither has reset the other.`
    throw new Problem('same_person', detail)
  }
  return [round, madeBy, approved_by, reset_by, own, resetBy]
}
