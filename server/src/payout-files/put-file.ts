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
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import type { Operator } from '../operators/operator.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { unconfirmed } from './draft-file.ts'
import { handOut, machine, recordSent, refuseToLeave } from './export-file.ts'
import { lockFile, type PayoutFile, readSeal } from './payout-file.ts'

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** That a file is to go by SFTP, under one name and no other. */
interface Put extends Named {
  remotePath: string
  size: number
  sha256: string
  tries: number
  fault: string | null
  /** It should have gone long ago. */
  isOverdue: boolean
}

/** A visit ends well before another process may begin one. */
const leaseMs = 2 * visitMs
const longestRestMs = 600_000
/** After so many tries, the better part of an hour, people decide how the file gets to the bank. */
const mostTries = 12
/** What nobody tried for so long was not known here: the database may be an old one, and the file at the bank. */
const overdueMs = 900_000

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
    if (await tryAgain(desk, tx, file, operator, reason)) return
    if (file.state !== 'approved') {
      const detail = `The file is ${file.state}: only one that nobody has downloaded goes by SFTP.`
      throw new Problem('invalid_transition', detail)
    }
    const seal = await handOut(tx, file, operator, reason, at)
    await tx.query(
      `insert into payout_file_puts (account, file_id, first, round, remote_path, size, sha256,
         asked_by, asker, reason, asked_at, tries, act_at)
       values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, 0, ${databaseTime('$11')})`,
      [
        file.account,
        file.fileId,
        seal.round,
        `${account.sftpPutFolder.replace(/\/+$/, '')}/${seal.name}`,
        seal.bytes.length,
        seal.sha256,
        operator.userId,
        operator.email,
        reason,
        at,
        timeToPass(desk.now),
      ],
    )
  })
}

/** Returns false if nobody has asked before. */
async function tryAgain(
  desk: Pick<PayoutDesk, 'now'>,
  tx: Tx,
  file: PayoutFile,
  operator: Operator,
  reason: string,
): Promise<boolean> {
  const known = await stateOf(tx, file)
  if (!known) return false
  if (known.steps.includes('arrived')) {
    throw new Problem('invalid_transition', 'The file is at the bank already.')
  }
  const why = whyBrought(file, known)
  if (why !== undefined) throw new Problem('invalid_transition', why)
  // What is being tried, or will be by itself, is left alone.
  const { rowCount } = await tx.query(
    `update payout_file_puts set act_at = ${databaseTime('$3')}
     where account = $1 and file_id = $2 and act_at is null`,
    [file.account, file.fileId, timeToPass(desk.now)],
  )
  if (rowCount === 0) return true
  await writeAudit(tx, {
    at: desk.now(),
    operator,
    action: 'send_payout_file',
    subject: { kind: 'payout_file', id: file.fileId },
    agentId: null,
    reason,
  })
  return true
}

type Step = 'uploading' | 'renaming' | 'arrived' | 'withdrawn'

interface PutState {
  /** The try that has it at the moment, if one has. */
  underWay: number | null
  steps: Step[]
  downloads: number
  isSent: boolean
}

async function stateOf(tx: Tx, { account, fileId }: Named): Promise<PutState | undefined> {
  const { rows } = await tx.query<PutState>(
    `select case when act_at is not null then tries end as "underWay",
       array(select step from payout_file_put_steps s
         where s.account = p.account and s.file_id = p.file_id) as steps,
       (select count(*)::int from payout_file_downloads d
         where d.account = p.account and d.file_id = p.file_id) as downloads,
       exists (select 1 from payout_file_sendings x
         where x.account = p.account and x.file_id = p.file_id) as "isSent"
     from payout_file_puts p where account = $1 and file_id = $2 for no key update`,
    [account, fileId],
  )
  return rows[0]
}

/** Why the bank has a file by other means, or will: a copy would be one too many. */
function whyBrought({ state }: PayoutFile, known: PutState): string | undefined {
  if (state !== 'exported' || known.isSent) {
    return `The file is ${state} already: it is not put into the bank's folder any more.`
  }
  return known.downloads > 1 || known.steps.includes('withdrawn')
    ? 'Somebody has downloaded the file since: it may be brought to the bank by hand.'
    : undefined
}

/** Puts what is due, of all accounts. Several processes may do so at once: each file is one's at a time. */
export async function putDueFiles(
  desk: PayoutDesk & { secretKeys: Parameters<typeof sftpPlaceOf>[0] },
  onError: (error: unknown) => void,
  limitMs: number = visitMs,
): Promise<void> {
  const { rows: due } = await desk.pool.query<Put>(
    `select ${putFields}, act_at < ${databaseTime('$1')} - $2 * interval '1 millisecond' as "isOverdue"
     from payout_file_puts p where act_at <= ${databaseTime('$1')} order by act_at limit 20`,
    [timeToPass(desk.now), overdueMs],
  )
  for (const each of due) {
    const put = await claim(desk, each)
    if (!put) continue
    try {
      if (each.isOverdue) throw new Overdue(put)
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

/** By the database's clock: those of the processes may differ by more than a lease. */
async function claim({ pool, now }: PayoutDesk, put: Put): Promise<Put | undefined> {
  const { rows } = await pool.query<Put>(
    `update payout_file_puts p set tries = tries + 1,
       act_at = ${databaseTime('$4')} + $5 * interval '1 millisecond'
     where account = $1 and file_id = $2 and tries = $3 and act_at <= ${databaseTime('$4')}
     returning ${putFields}`,
    [put.account, put.fileId, put.tries, timeToPass(now), leaseMs],
  )
  return rows[0]
}

/**
 * Uploads under a name that banks leave alone, then gives the file its own. That it is about to is on disk before each:
 * if nothing of it is found there later, the bank may have taken it, and nobody puts it a second time.
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
        return refuseOther(session, remotePath, put)
      }
      const { bytes, steps } = await mayGo(desk, put)
      const hasBegun = steps.includes('uploading')
      const size = await session.sizeOf(temporary)
      if (hasBegun && size === undefined) throw new Lost(put)
      // Bytes of it are there, and nobody here has sent any: the bank may be taking them at this moment.
      if (!hasBegun && size !== undefined && size > 0) throw new Unknown(temporary)
      // What is there in full is not written again: the bank may be taking it at this moment.
      if (!hasBegun || !(await isOurs(session, temporary, put))) {
        if (steps.includes('renaming')) throw new Other(temporary)
        await session.write(temporary, bytes, async () => {
          await mayGo(desk, put, 'uploading')
        })
        await refuseOther(session, temporary, put)
      }
      await mayGo(desk, put, 'renaming')
      await session.rename(temporary, remotePath)
    },
    limitMs,
  )
  await arrive(desk, put)
}

/** What a person has to look into: trying again would not help, or might pay twice. */
class ForPeople extends SftpFault {}

class Overdue extends ForPeople {
  constructor({ remotePath }: Put) {
    super(
      `${remotePath} should have gone long ago. If the database was restored from a backup, the bank may have it: look there first. If it has not, send it again.`,
    )
  }
}

class Other extends ForPeople {
  constructor(path: string) {
    super(`${path} is at the bank with other bytes than the file has: it is left as it is.`)
  }
}

class Unknown extends ForPeople {
  constructor(path: string) {
    super(
      `${path} is at the bank, and nobody has sent it from here: it is left as it is. If the database was restored from a backup, the bank may have the file.`,
    )
  }
}

class Lost extends ForPeople {
  constructor({ remotePath }: Put) {
    super(
      `${remotePath} was being put there when the connection broke, and nothing of it is there now: the bank may have taken it. Ask the bank. If it has the file, say so; it is not put a second time.`,
    )
  }
}

/** What is there is what we put, byte by byte, or nothing is touched. */
async function refuseOther(session: SftpSession, path: string, put: Put): Promise<void> {
  if (!(await isOurs(session, path, put))) throw new Other(path)
}

async function isOurs(session: SftpSession, path: string, put: Put): Promise<boolean> {
  if ((await session.sizeOf(path)) !== put.size) return false
  const bytes = await session.read(path, put.size)
  return createHash('sha256').update(bytes).digest('hex') === put.sha256
}

/**
 * The bytes, if nothing keeps them here at this moment and no other try has taken over. The step that comes next is on
 * disk with that: who downloads or gives up the file waits, and finds it.
 */
async function mayGo(
  desk: PayoutDesk,
  put: Put,
  step?: 'uploading' | 'renaming',
): Promise<{ bytes: Buffer; steps: Step[] }> {
  return inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, put)
    const known = await stateOf(tx, put)
    if (known?.underWay !== put.tries) {
      throw new Problem('invalid_transition', 'Another try has taken over.')
    }
    const why = whyBrought(file, known)
    if (why !== undefined) throw new ForPeople(why)
    const seal = await readSeal(tx, file)
    if (seal?.sha256 !== put.sha256) throw new Error(`payout file ${put.fileId} has other bytes`)
    await refuseToLeave(tx, file, seal, desk.now(), known.steps.includes('uploading'))
    if (step && !known.steps.includes(step)) await noteStep(tx, put, step, desk.now())
    return { bytes: seal.bytes, steps: known.steps }
  })
}

async function noteStep(
  tx: Tx,
  { account, fileId, tries }: Put,
  step: Exclude<Step, 'withdrawn'>,
  at: Date,
): Promise<void> {
  await tx.query(
    `insert into payout_file_put_steps (account, file_id, step, follows, try, at)
     values ($1, $2, $3, $4, $5, $6)`,
    [account, fileId, step, step === 'renaming' ? 'uploading' : null, tries, at],
  )
}

/** The bank has the file, under its remote name. */
async function arrive(desk: PayoutDesk, put: Put): Promise<void> {
  const at = desk.now()
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, put)
    const known = await stateOf(tx, put)
    if (!known?.steps.includes('arrived')) await noteStep(tx, put, 'arrived', at)
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
  const said = error instanceof Error ? error.message : String(error)
  const isForPeople = error instanceof ForPeople || tries >= mostTries
  const isGivenUp = isForPeople && !(error instanceof ForPeople)
  const advice = isGivenUp ? ' It is not tried again by itself: send it again, or bring it.' : ''
  const words = `${said.slice(0, 900) || '-'}${advice}`
  const restMs = isForPeople ? null : Math.min(2 ** Math.min(tries, 10) * 1_000, longestRestMs)
  const { rowCount } = await desk.pool.query(
    `update payout_file_puts set fault = $4,
       act_at = ${databaseTime('$5')} + $6::float8 * interval '1 millisecond'
     where account = $1 and file_id = $2 and tries = $3 and act_at is not null`,
    [account, fileId, tries, words, timeToPass(desk.now), restMs],
  )
  const at = desk.now()
  if (error instanceof SftpFault && !(error instanceof ForPeople)) {
    await noteConnection(desk.pool, account, said, at)
  }
  if (rowCount === 0 || !isForPeople || put.fault === words) return
  const alarm = `Payout file ${fileId} of ${account} did not go by SFTP. ${words}`
  await raiseAlarm(desk.pool, { at, by: account, words: alarm })
}
