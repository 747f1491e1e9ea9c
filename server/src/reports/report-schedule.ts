import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Resealed, resealRows } from '../db/reseal-rows.ts'
import { localTimeIn, momentOf } from '../lib/local-time.ts'
import { daysAfter, mondayOf, periodNamed } from '../lib/period.ts'
import { Problem } from '../lib/problem.ts'
import type { SecretKeys } from '../lib/secret-box.ts'
import type { ReportFormat } from './make-report.ts'

export const reportEvery = ['day', 'week', 'month'] as const

/** A report that is made and sent by itself. */
export interface ReportSchedule {
  scheduleId: string
  name: string
  /** Null: the house, with a line for each agent. */
  agentId: bigint | null
  every: (typeof reportEvery)[number]
  /** The time of day at which it is made, after the period has ended. */
  madeAt: string
  zone: string
  formats: ReportFormat[]
  withRows: boolean
  way: 'mail' | 'sftp'
  recipients: string[]
  sftpHost: string | null
  sftpPort: number | null
  sftpUser: string | null
  sftpHostKey: string | null
  sftpFolder: string | null
  sealedSftpKey: Buffer | null
  isOn: boolean
  startsAt: Date
  updatedAt: Date
  updatedBy: string
}

export interface ReportRun {
  scheduleId: string
  period: string
  state: 'waiting' | 'sent' | 'given_up'
  attempts: number
  createdAt: Date
  dueAt: Date | null
  endedAt: Date | null
  error: string | null
  files: { format: ReportFormat; name: string; size: number }[]
}

/** Where a report goes. */
export interface ReportPlace {
  way: ReportSchedule['way']
  /** Mail addresses, or the one place on a server. */
  to: string[]
}

/** Where a schedule sends its reports now. */
export function placeOfReports(schedule: ReportSchedule): ReportPlace {
  const { way, recipients, sftpUser, sftpHost, sftpPort, sftpFolder } = schedule
  const to = way === 'mail' ? recipients : [`${sftpUser}@${sftpHost}:${sftpPort} ${sftpFolder}`]
  return { way, to }
}

/**
 * Where the report of a period goes: where it was sent before, or else where its schedule sends. A server whose place in the
 * schedule was taken by another is not visited any more: its key is gone.
 */
export function placeOfRun(schedule: ReportSchedule, sent: ReportPlace | null): ReportPlace {
  const place = placeOfReports(schedule)
  if (!sent || sent.way === 'mail') return sent ?? place
  if (place.way === 'sftp' && place.to[0] === sent.to[0]) return sent
  const detail = `It was sent to ${sent.to[0]}, and the report goes elsewhere now: download it instead.`
  throw new Problem('invalid_transition', detail)
}

export interface ReportFile {
  format: ReportFormat
  name: string
  sha256: string
  content: Buffer
}

export const scheduleColumns = `schedule_id as "scheduleId", name, agent_id as "agentId", every,
  made_at as "madeAt", zone, formats, with_rows as "withRows", way, recipients, sftp_host as "sftpHost",
  sftp_port as "sftpPort", sftp_user as "sftpUser", sftp_host_key as "sftpHostKey",
  sftp_folder as "sftpFolder", sealed_sftp_key as "sealedSftpKey", is_on as "isOn",
  starts_at as "startsAt", updated_at as "updatedAt", updated_by as "updatedBy"`

export async function readSchedules(db: Pool | Tx): Promise<ReportSchedule[]> {
  const { rows } = await db.query<ReportSchedule>(
    `select ${scheduleColumns} from report_schedules order by name`,
  )
  return rows
}

export async function findSchedule(
  db: Pool | Tx,
  scheduleId: string,
): Promise<ReportSchedule | undefined> {
  const { rows } = await db.query<ReportSchedule>(
    `select ${scheduleColumns} from report_schedules where schedule_id = $1`,
    [scheduleId],
  )
  return rows[0]
}

/**
 * Makes a schedule, or changes the one with its id; its name and its agent stay. What it would still have sent by itself
 * stays here once it is off.
 */
export async function saveSchedule(tx: Tx, schedule: ReportSchedule): Promise<void> {
  const { sftpHost, sftpPort, sftpUser, sftpHostKey, sftpFolder, sealedSftpKey } = schedule
  await tx.query(
    `insert into report_schedules (schedule_id, name, agent_id, every, made_at, zone, formats, with_rows, way,
       recipients, sftp_host, sftp_port, sftp_user, sftp_host_key, sftp_folder, sealed_sftp_key, is_on,
       updated_at, updated_by, starts_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
     on conflict (schedule_id) do update set every = excluded.every, made_at = excluded.made_at, zone = excluded.zone, formats = excluded.formats,
       with_rows = excluded.with_rows, way = excluded.way, recipients = excluded.recipients,
       sftp_host = excluded.sftp_host, sftp_port = excluded.sftp_port, sftp_user = excluded.sftp_user,
       sftp_host_key = excluded.sftp_host_key, sftp_folder = excluded.sftp_folder,
       sealed_sftp_key = excluded.sealed_sftp_key, is_on = excluded.is_on,
       updated_at = excluded.updated_at, updated_by = excluded.updated_by,
       starts_at = excluded.starts_at`,
    [
      ...[schedule.scheduleId, schedule.name, schedule.agentId, schedule.every, schedule.madeAt],
      ...[schedule.zone, schedule.formats, schedule.withRows, schedule.way, schedule.recipients],
      ...[sftpHost, sftpPort, sftpUser, sftpHostKey, sftpFolder, sealedSftpKey],
      ...[schedule.isOn, schedule.updatedAt, schedule.updatedBy, schedule.startsAt],
    ],
  )
  if (schedule.isOn) return
  await tx.query(
    `update report_runs set state = 'given_up', ended_at = $2, due_at = null,
       error = 'The report was switched off.'
     where schedule_id = $1 and state = 'waiting'`,
    [schedule.scheduleId, schedule.updatedAt],
  )
}

/** Removes a schedule with all that was made by it; false if there is none. */
export async function removeSchedule(tx: Tx, scheduleId: string): Promise<boolean> {
  await tx.query('delete from report_files where schedule_id = $1', [scheduleId])
  await tx.query('delete from report_runs where schedule_id = $1', [scheduleId])
  const { rowCount } = await tx.query('delete from report_schedules where schedule_id = $1', [
    scheduleId,
  ])
  return rowCount === 1
}

/** The last reports, newest first. */
export async function readRuns(pool: Pool): Promise<ReportRun[]> {
  const { rows } = await pool.query<ReportRun>(
    `select schedule_id as "scheduleId", period, state, attempts, created_at as "createdAt", due_at as "dueAt",
       ended_at as "endedAt", error,
       coalesce((select json_agg(json_build_object('format', f.format, 'name', f.name, 'size', f.size)
           order by f.format)
         from report_files f where f.schedule_id = r.schedule_id and f.period = r.period), '[]') as files
     from report_runs r order by created_at desc, schedule_id, period desc limit 100`,
  )
  return rows
}

export async function readReportFiles(
  db: Pool | Tx,
  { scheduleId, period }: { scheduleId: string; period: string },
): Promise<ReportFile[]> {
  const { rows } = await db.query<ReportFile>(
    `select format, name, sha256, content from report_files where schedule_id = $1 and period = $2
     order by format`,
    [scheduleId, period],
  )
  return rows
}

/** Keeps the files of a report; those of whoever came first stay. */
export async function keepReportFiles(
  tx: Tx,
  { scheduleId, period }: { scheduleId: string; period: string },
  files: readonly ReportFile[],
  at: Date,
): Promise<void> {
  for (const { format, name, sha256, content } of files) {
    await tx.query(
      `insert into report_files (schedule_id, period, format, name, size, sha256, content, made_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [scheduleId, period, format, name, content.length, sha256, content, at],
    )
  }
}

/** Starts a report for a period, once; false if there is one. */
export async function startRun(
  tx: Tx | Pool,
  { scheduleId, period }: { scheduleId: string; period: string },
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into report_runs (schedule_id, period, state, attempts, created_at, due_at)
     values ($1, $2, 'waiting', 0, $3, least($3::timestamptz, now())) on conflict do nothing`,
    [scheduleId, period, at],
  )
  return rowCount === 1
}

/** Where the report of a period was sent; null if it was not yet, undefined if there is none. */
export async function sentPlaceOf(
  db: Tx | Pool,
  { scheduleId, period }: { scheduleId: string; period: string },
): Promise<ReportPlace | null | undefined> {
  const { rows } = await db.query<{ way: ReportPlace['way'] | null; to: string[] | null }>(
    `select sent_way as way, sent_to as to from report_runs where schedule_id = $1 and period = $2`,
    [scheduleId, period],
  )
  const [run] = rows
  return run && (run.way && run.to ? { way: run.way, to: run.to } : null)
}

/** Lets a report that was sent or given up go out once more; false if it has not ended, or is not known. */
export async function sendRunAgain(
  tx: Tx,
  { scheduleId, period }: { scheduleId: string; period: string },
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update report_runs set state = 'waiting', attempts = 0, due_at = least($3::timestamptz, now()),
       ended_at = null, error = null
     where schedule_id = $1 and period = $2 and ended_at is not null`,
    [scheduleId, period, at],
  )
  return rowCount === 1
}

/** How many periods back are made up for, if the service was down. */
const mostMissed = 31

/** The periods that have ended, and whose hour has come, since a schedule began; the oldest first. */
export function periodsDue(
  { every, madeAt, zone }: Pick<ReportSchedule, 'every' | 'madeAt' | 'zone'>,
  since: Date,
  now: Date,
): string[] {
  const localTime = localTimeIn(zone)
  const due: string[] = []
  let day = localTime(now).slice(0, 10)
  for (let n = 0; n < mostMissed; n++) {
    const { name, first } = periodBefore(every, day)
    const period = periodNamed(name, zone)
    // The day after the period, at the hour.
    const end = period && localTime(period.to).slice(0, 10)
    const at = end && momentOf(end, period.to, localTime, madeAt)
    if (!at || at < since) break
    if (at <= now) due.push(name)
    day = first
  }
  return due.reverse()
}

/** The last whole day, week or month before a day. */
function periodBefore(
  every: ReportSchedule['every'],
  day: string,
): { name: string; first: string } {
  if (every === 'day') {
    const first = daysAfter(day, -1)
    return { name: first, first }
  }
  if (every === 'month') {
    const name = daysAfter(`${day.slice(0, 7)}-01`, -1).slice(0, 7)
    return { name, first: `${name}-01` }
  }
  const first = daysAfter(mondayOf(day), -7)
  // A week belongs to the year that its Thursday is in.
  const thursday = daysAfter(first, 3)
  const year = thursday.slice(0, 4)
  const firstMonday = mondayOf(`${year}-01-04`)
  const weeks = (Date.parse(first) - Date.parse(firstMonday)) / (7 * 86_400_000)
  return { name: `${year}-W${String(weeks + 1).padStart(2, '0')}`, first }
}

/** Who the private key of a schedule is sealed for. */
export function reportKeyOwner(scheduleId: string): string {
  return `sftp key of report ${scheduleId}`
}

/** Seals the private keys of reports with the current key. For the owner's login. */
export async function resealReportKeys(owner: Pool, secretKeys: SecretKeys): Promise<Resealed> {
  const { rows } = await owner.query<{ id: string; owner: string; sealed: Buffer }>(
    `select schedule_id as id, 'sftp key of report ' || replace(schedule_id::text, '-', '') as owner,
       sealed_sftp_key as sealed
     from report_schedules where sealed_sftp_key is not null order by schedule_id`,
  )
  return resealRows(secretKeys, rows, async (row, sealed) => {
    const { rowCount } = await owner.query(
      'update report_schedules set sealed_sftp_key = $2 where schedule_id = $1 and sealed_sftp_key = $3',
      [row.id, sealed, row.sealed],
    )
    return rowCount
  })
}

/** Deletes files of reports that were made long ago; that they were sent stays known. */
export async function forgetReportFiles(pool: Pool, before: Date): Promise<'done' | 'more'> {
  const page = 50
  const { rowCount } = await pool.query(
    `delete from report_files f using (
       select schedule_id, period, format from report_files where made_at < $1 limit $2) old
     where f.schedule_id = old.schedule_id and f.period = old.period and f.format = old.format`,
    [before, page],
  )
  return rowCount === page ? 'more' : 'done'
}
