import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { findAgentById } from '../agents/find-agent.ts'
import type { SendMail } from '../alerts/alert-senders.ts'
import {
  SftpFault,
  type SftpPlace,
  type SftpSession,
  visitMs,
  withSftp,
} from '../bank-accounts/sftp-session.ts'
import { databaseTime, timeToPass } from '../db/database-time.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Clock } from '../lib/clock.ts'
import { periodNamed } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import { type SecretKeys, unseal } from '../lib/secret-box.ts'
import { makeReport } from './make-report.ts'
import {
  findSchedule,
  keepReportFiles,
  periodsDue,
  placeOfRun,
  type ReportFile,
  type ReportPlace,
  type ReportSchedule,
  readReportFiles,
  readSchedules,
  reportKeyOwner,
  sentPlaceOf,
  startRun,
} from './report-schedule.ts'

/** After each failure it is tried again after so long; after the last, never. */
const pausesMs = [1, 5, 15, 60, 180, 360, 720, 1440].map((minutes) => minutes * 60_000)
/** Nobody else takes a report for this long after it was claimed: longer than making and bringing one takes. */
const leaseMs = 5 * visitMs
/** How often it is tried to record what became of a report, well within that time, and how long after one another. */
const mostRecords = 30
const recordAgainMs = 2_000
/** What most mail servers take. */
const mostMailBytes = 15_000_000

interface ReportDesk {
  pool: Pool
  /** Where reports are read: a long one keeps nothing else waiting. */
  books: Pool
  secretKeys: SecretKeys
  now: Clock
  /** The addresses of a server, or why they may not be dialled. */
  addressesOf: (host: string) => Promise<string[] | string>
  /** Undefined if mail is not set up. */
  sendMail: SendMail | undefined
}

/** Why a report did not go out, in words for people. */
class ReportFault extends Error {}

interface Run {
  scheduleId: string
  period: string
  attempts: number
}

/** Starts a report for each period that is due: the row is its key, so that there is one for each. */
export async function startReports({
  pool,
  now,
}: Pick<ReportDesk, 'pool' | 'now'>): Promise<'done'> {
  for (const schedule of await readSchedules(pool)) {
    if (!schedule.isOn) continue
    for (const period of periodsDue(schedule, schedule.startsAt, now())) {
      await startRun(pool, { scheduleId: schedule.scheduleId, period }, now())
    }
  }
  return 'done'
}

/**
 * Makes and sends the report that is due, if one is. It is claimed before and recorded afterwards: if the process ends in
 * between it is sent once more, with the same bytes.
 */
export async function sendReport(
  desk: ReportDesk,
  onError: (error: unknown) => void,
): Promise<'done' | 'more'> {
  const { pool, now } = desk
  const { rows } = await pool.query<Run>(
    `with at as (select ${databaseTime('$1')} as now), due as (
       select schedule_id, period from report_runs
       where state = 'waiting' and due_at <= ${databaseTime('$1')}
       order by due_at limit 1 for update skip locked
     )
     update report_runs r set attempts = r.attempts + 1,
       due_at = (select now from at) + $2 * interval '1 millisecond' from due
     where r.schedule_id = due.schedule_id and r.period = due.period
     returning r.schedule_id as "scheduleId", r.period, r.attempts`,
    [timeToPass(now), leaseMs],
  )
  const [run] = rows
  if (!run) return 'done'
  let place: ReportPlace | undefined
  const error = await bring(desk, run).then(
    (brought) => {
      place = brought
      return undefined
    },
    (fault: unknown) => {
      const isExpected =
        fault instanceof ReportFault || fault instanceof SftpFault || fault instanceof Problem
      if (isExpected) return fault.message
      onError(fault)
      // Only the kind of error: its text may hold an address or a password.
      return fault instanceof Error && 'code' in fault ? String(fault.code) : 'it failed'
    },
  )
  const pauseMs = error === undefined ? undefined : pausesMs[run.attempts - 1]
  const state = error === undefined ? 'sent' : pauseMs === undefined ? 'given_up' : 'waiting'
  const record = () =>
    pool.query(
      `with at as (select ${databaseTime('$4')} as now)
     update report_runs set state = $5, error = $6,
       due_at = (select now from at) + $7::double precision * interval '1 millisecond',
       ended_at = case when $7::double precision is null then (select now from at) end,
       sent_way = coalesce(sent_way, $8), sent_to = coalesce(sent_to, $9)
     where schedule_id = $1 and period = $2 and attempts = $3
       and (state = 'waiting' or ($5 = 'sent' and state = 'given_up'))`,
      [
        ...[run.scheduleId, run.period, run.attempts, timeToPass(now), state],
        ...[error?.slice(0, 500) || null, pauseMs ?? null, place?.way ?? null, place?.to ?? null],
      ],
    )
  // What has left and is not recorded would be sent again. It was sent, even if the report was switched off meanwhile.
  for (let tries = 1; ; tries++) {
    try {
      await record()
      return 'more'
    } catch (fault) {
      if (tries === mostRecords) throw fault
      onError(fault)
      await setTimeout(recordAgainMs)
    }
  }
}

/** Brings a report to where it belongs, and says where that was. */
async function bring(desk: ReportDesk, run: Run): Promise<ReportPlace> {
  const schedule = await findSchedule(desk.pool, run.scheduleId)
  if (!schedule) throw new ReportFault('There is no such schedule any more.')
  const place = placeOfRun(schedule, (await sentPlaceOf(desk.pool, run)) ?? null)
  const files = await filesOf(desk, schedule, run.period)
  if (place.way === 'mail') await sendByMail(desk, schedule, place.to, run.period, files)
  else await putBySftp(desk, schedule, files)
  return place
}

/** The files of a report, made if they were not. */
async function filesOf(
  { pool, books, now }: ReportDesk,
  schedule: ReportSchedule,
  period: string,
): Promise<ReportFile[]> {
  const run = { scheduleId: schedule.scheduleId, period }
  const known = await readReportFiles(pool, run)
  if (known.length > 0) return known
  const { agentId, zone, formats, withRows } = schedule
  const span = periodNamed(period, zone)
  const agent = agentId === null ? null : await findAgentById(pool, agentId)
  if (!span || agent === undefined) throw new ReportFault('What it is about is gone.')
  const madeAt = now()
  const made = await makeReport(books, formats, { agent, period: span, zone, madeAt, withRows })
  const files = [...made].map(([format, content]) => ({
    format,
    content,
    name: `${fileName(schedule.name)}-${period}.${format}`,
    sha256: createHash('sha256').update(content).digest('hex'),
  }))
  await inTransaction(pool, (tx) => keepReportFiles(tx, run, files, madeAt))
  // Another process may have been first.
  return readReportFiles(pool, run)
}

/** A name of letters, digits and hyphens, which every server takes. */
function fileName(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'report'
}

async function sendByMail(
  { sendMail }: ReportDesk,
  { scheduleId, name }: ReportSchedule,
  recipients: string[],
  period: string,
  files: readonly ReportFile[],
): Promise<void> {
  if (!sendMail) throw new ReportFault('Mail is not set up: the service has no SMTP_URL.')
  const size = files.reduce((sum, { content }) => sum + content.length, 0)
  if (size > mostMailBytes) {
    throw new ReportFault(`${size} bytes are too many for a mail: take fewer rows, or SFTP.`)
  }
  await sendMail({
    to: recipients,
    subject: `Sluice: ${name}, ${period}`,
    text: `${name} for ${period}:\n\n${files.map((file) => file.name).join('\n')}\n`,
    id: `${scheduleId}.${period}`,
    files: files.map((file) => ({ filename: file.name, content: file.content })),
  })
}

async function putBySftp(
  { secretKeys, addressesOf }: ReportDesk,
  schedule: ReportSchedule,
  files: readonly ReportFile[],
): Promise<void> {
  const { sftpFolder } = schedule
  const place = placeOf(secretKeys, schedule)
  if (!place || sftpFolder === null) throw new ReportFault('No key opens its private key.')
  // Looked up now: what its name leads to may have changed since somebody set it.
  const found = await addressesOf(place.host)
  if (typeof found === 'string') throw new ReportFault(`${place.host} is not visited: ${found}.`)
  const [address] = found
  if (address === undefined) throw new ReportFault(`${place.host} has no address.`)
  await withSftp({ ...place, address }, async (session) => {
    for (const file of files) {
      const path = `${sftpFolder.replace(/\/+$/, '')}/${file.name}`
      if (await isThere(session, path, file)) continue
      await session.write(`${path}.tmp`, file.content, async () => {})
      await session.rename(`${path}.tmp`, path)
    }
  })
}

/** Whether an earlier try has put the file there. What others have put there is left as it is. */
async function isThere(
  session: SftpSession,
  path: string,
  { content }: ReportFile,
): Promise<boolean> {
  const size = await session.sizeOf(path)
  if (size === undefined) return false
  const isSame = size === content.length && content.equals(await session.read(path, size))
  if (!isSame) throw new ReportFault(`${path} is there with other bytes: it is left as it is.`)
  return true
}

function placeOf(secretKeys: SecretKeys, schedule: ReportSchedule): SftpPlace | undefined {
  const { scheduleId, sftpHost, sftpPort, sftpUser, sftpHostKey, sealedSftpKey } = schedule
  if (sftpHost === null || sftpPort === null || sftpUser === null) return undefined
  if (sftpHostKey === null || sealedSftpKey === null) return undefined
  const privateKey = unseal(secretKeys, reportKeyOwner(scheduleId), sealedSftpKey)
  if (privateKey === undefined) return undefined
  const hostKeys = sftpHostKey.split(',')
  return { host: sftpHost, port: sftpPort, user: sftpUser, hostKeys, privateKey }
}
