import { createHash } from 'node:crypto'
import { raiseAlarm } from '../approvals/alarms.ts'
import { findBankAccount } from '../bank-accounts/bank-account.ts'
import { noteConnection } from '../bank-accounts/bank-connections.ts'
import {
  SftpFault,
  type SftpPlace,
  type SftpSession,
  sftpPlaceOf,
  visitMs,
  withSftp,
} from '../bank-accounts/sftp-session.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { unconfirmed } from './draft-file.ts'
import { handOut, recordSent, whoApproved } from './export-file.ts'
import { whyItMustStay } from './may-leave.ts'
import { lockFile, type PayoutFile, readItemsLeft, readSeal } from './payout-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** That a file is to go by SFTP, under one name and no other. */
interface Put extends Named {
  remotePath: string
  size: number
  sha256: string
  tries: number
  fault: string | null
}

/** A visit ends well before another process may begin one. */
const leaseMs = 2 * visitMs
const longestRestMs = 600_000

/**
 * Lets a file go by SFTP: the wish is on disk before a byte leaves, and a worker fulfils it. Who downloads a file may
 * bring it to the bank, so only one that nobody has goes this way. Asking again tries again, with the same name.
 */
export async function sendBySftp(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Named,
  operator: Operator,
  reason: string,
): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    await lockAccount(tx, named.account)
    const file = await lockFile(tx, named)
    const account = await findBankAccount(tx, file.account)
    if (!account?.sftpPutFolder) {
      const detail = `${file.account} has no SFTP folder to put files into.`
      throw new Problem('invalid_transition', detail)
    }
    if (account.confirmedAt === null) throw unconfirmed(file.account)
    if (await tryAgain(tx, file, at)) return
    if (file.state !== 'approved') {
      const detail = `The file is ${file.state}: only one that nobody has downloaded goes by SFTP.`
      throw new Problem('invalid_transition', detail)
    }
    const { round, approvedBy } = await whoApproved(tx, file)
    if (file.madeBy === nobody && approvedBy === operator.userId) {
      const detail = 'You approved it, and nobody signed in to make it: another person sends it.'
      throw new Problem('same_person', detail)
    }
    const seal = await handOut(tx, file, operator, reason, at)
    await tx.query(
      `insert into payout_file_puts (account, file_id, round, made_by, approved_by, remote_path,
         size, sha256, asked_by, asker, reason, asked_at, tries, act_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, $12)`,
      [
        file.account,
        file.fileId,
        round,
        file.madeBy,
        approvedBy,
        `${account.sftpPutFolder.replace(/\/+$/, '')}/${seal.name}`,
        seal.bytes.length,
        seal.sha256,
        operator.userId,
        operator.email,
        reason,
        at,
      ],
    )
  })
}

/** Returns false if nobody has asked before. */
async function tryAgain(tx: Tx, { account, fileId }: Named, at: Date): Promise<boolean> {
  const { rows } = await tx.query<{ has_arrived: boolean; is_taken: boolean }>(
    `select exists (select 1 from payout_file_put_steps s where s.account = p.account
         and s.file_id = p.file_id and s.step = 'arrived') as has_arrived,
       exists (select 1 from payout_file_downloads d where d.account = p.account
         and d.file_id = p.file_id and d.n > 1) as is_taken
     from payout_file_puts p where p.account = $1 and p.file_id = $2`,
    [account, fileId],
  )
  const [put] = rows
  if (!put) return false
  if (put.has_arrived) throw new Problem('invalid_transition', 'The file is at the bank already.')
  if (put.is_taken) {
    const detail = 'Somebody has downloaded the file since: it may be brought to the bank by hand.'
    throw new Problem('invalid_transition', detail)
  }
  // What is being tried, or will be by itself, is left alone.
  await tx.query(
    `update payout_file_puts set act_at = $3
     where account = $1 and file_id = $2 and act_at is null`,
    [account, fileId, at],
  )
  return true
}

/** Puts what is due, of all accounts. Several processes may do so at once: each file is one's at a time. */
export async function putDueFiles(
  desk: PayoutDesk & { secretKeys: Parameters<typeof sftpPlaceOf>[0] },
  onError: (error: unknown) => void,
  limitMs: number = visitMs,
): Promise<void> {
  const { rows: due } = await desk.pool.query<Put>(
    `select ${putFields} from payout_file_puts p where act_at <= $1 order by act_at limit 20`,
    [desk.now()],
  )
  for (const each of due) {
    const put = await claim(desk.pool, each, desk.now())
    if (!put) continue
    try {
      const account = await findBankAccount(desk.pool, put.account)
      const place = account && sftpPlaceOf(desk.secretKeys, account)
      // What was asked for goes to where the account's people have confirmed, or nowhere.
      if (!place || account.confirmedAt === null) throw unconfirmed(put.account)
      await putFile(desk, put, place, limitMs)
      await noteConnection(desk.pool, put.account, null, desk.now())
    } catch (error) {
      await rest(desk, put, error)
      const isExpected = error instanceof SftpFault || error instanceof Problem
      if (!isExpected) onError(error)
    }
  }
}

const putFields = `p.account, p.file_id as "fileId", p.remote_path as "remotePath", p.size, p.sha256,
  p.tries, p.fault`

async function claim(pool: Pool, put: Put, at: Date): Promise<Put | undefined> {
  const { rows } = await pool.query<Put>(
    `update payout_file_puts p set tries = tries + 1, act_at = $4
     where account = $1 and file_id = $2 and tries = $3 and act_at <= $5
     returning ${putFields}`,
    [put.account, put.fileId, put.tries, new Date(at.getTime() + leaseMs), at],
  )
  return rows[0]
}

/**
 * Uploads under a name that banks leave alone, then gives the file its own. Before that it is on disk that it is about
 * to: if nothing of it is found there later, the bank may have taken it, and nobody puts it a second time.
 */
async function putFile(
  desk: PayoutDesk,
  put: Put,
  place: SftpPlace,
  limitMs: number,
): Promise<void> {
  await withSftp(
    place,
    async (session) => {
      const { remotePath } = put
      const temporary = `${remotePath}.tmp`
      if ((await session.sizeOf(remotePath)) !== undefined) {
        await refuseOther(session, remotePath, put)
      } else if (await isRenaming(desk.pool, put)) {
        await inTransaction(desk.pool, async (tx) => refuseBrought(await lockFile(tx, put)))
        if ((await session.sizeOf(temporary)) === undefined) throw new Lost(put)
        await refuseOther(session, temporary, put)
        await session.rename(temporary, remotePath)
      } else {
        const { bytes } = await mayGo(desk, put)
        await session.write(temporary, bytes)
        await refuseOther(session, temporary, put)
        await mayGo(desk, put)
        await noteStep(desk.pool, put, 'renaming', desk.now())
        await session.rename(temporary, remotePath)
      }
    },
    limitMs,
  )
  await arrive(desk, put)
}

/** What a person has to look into: trying again would not help, or might pay twice. */
class ForPeople extends SftpFault {}

class Lost extends ForPeople {
  constructor({ remotePath }: Put) {
    super(
      `${remotePath} was about to get its name when the connection broke, and nothing of it is there now: the bank may have taken it. Ask the bank. If it has the file, say so; it is not put a second time.`,
    )
  }
}

/** Somebody says that the bank has it, or the bank has answered: a copy would be one too many. */
function refuseBrought({ state }: PayoutFile): void {
  if (state === 'exported') return
  throw new ForPeople(
    `The file is ${state} already: it is not put into the bank's folder any more.`,
  )
}

/** What is there is what we put, byte by byte, or nothing is touched. */
async function refuseOther(session: SftpSession, path: string, put: Put): Promise<void> {
  const size = await session.sizeOf(path)
  const bytes = size === put.size ? await session.read(path, put.size) : undefined
  if (bytes && createHash('sha256').update(bytes).digest('hex') === put.sha256) return
  throw new ForPeople(
    `${path} is at the bank with other bytes than the file has: it is left as it is.`,
  )
}

/** The bytes, if nothing keeps them here at this moment. */
async function mayGo(desk: PayoutDesk, put: Put): Promise<{ bytes: Buffer }> {
  return inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, put)
    refuseBrought(file)
    const why = await whyItMustStay(tx, file, await readItemsLeft(tx, file), desk.now())
    if (why !== undefined) throw new Problem('invalid_transition', why)
    const seal = await readSeal(tx, file)
    if (seal?.sha256 !== put.sha256) throw new Error(`payout file ${put.fileId} has other bytes`)
    return seal
  })
}

async function isRenaming(pool: Pool, { account, fileId }: Named): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from payout_file_put_steps where account = $1 and file_id = $2 and step = 'renaming'`,
    [account, fileId],
  )
  return rows.length > 0
}

async function noteStep(
  db: Pool | Tx,
  { account, fileId }: Named,
  step: 'renaming' | 'arrived',
  at: Date,
): Promise<void> {
  await db.query(
    `insert into payout_file_put_steps (account, file_id, step, at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [account, fileId, step, at],
  )
}

const machine: Outsider = { userId: null, email: 'sluice', ip: null }

/** The bank has the file, under its remote name. */
async function arrive(desk: PayoutDesk, put: Put): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, put)
    await noteStep(tx, put, 'arrived', at)
    await tx.query(
      `update payout_file_puts set act_at = null, fault = null where account = $1 and file_id = $2`,
      [put.account, put.fileId],
    )
    const isNew = await recordSent(tx, file, machine, put.remotePath, at)
    if (!isNew) return
    await writeAudit(tx, {
      at,
      operator: machine,
      action: 'send_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      after: { bank_reference: put.remotePath, sha256: put.sha256 },
    })
  })
}

/** Says why it did not go, and when it is tried again: less and less often, or when a person says so. */
async function rest(desk: PayoutDesk, put: Put, error: unknown): Promise<void> {
  const { account, fileId, tries } = put
  const words = (error instanceof Error ? error.message : String(error)).slice(0, 1_000) || '-'
  const at = desk.now()
  const isForPeople = error instanceof ForPeople
  const restMs = Math.min(2 ** Math.min(tries, 10) * 1_000, longestRestMs)
  await desk.pool.query(
    `update payout_file_puts set fault = $4, act_at = $5
     where account = $1 and file_id = $2 and tries = $3`,
    [account, fileId, tries, words, isForPeople ? null : new Date(at.getTime() + restMs)],
  )
  if (error instanceof SftpFault && !isForPeople) {
    await noteConnection(desk.pool, account, words, at)
  }
  if (!isForPeople || put.fault === words) return
  const said = `Payout file ${fileId} of ${account} did not go by SFTP. ${words}`
  await raiseAlarm(desk.pool, { at, by: account, words: said })
}
