import { Readable } from 'node:stream'
import type { Static } from 'typebox'
import type { Agent } from '../../agents/agent.ts'
import { vettedAddresses } from '../../agents/callback-url.ts'
import { findAgent, listAgents } from '../../agents/find-agent.ts'
import { raiseAlert } from '../../alerts/raise-alert.ts'
import { sftpFaults, sftpKeyFault } from '../../bank-accounts/bank-account-terms.ts'
import { inTransaction, type Tx } from '../../db/in-transaction.ts'
import { sqlState } from '../../db/pool.ts'
import { newOrderId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { isTimeZone } from '../../lib/local-time.ts'
import { isPrintable } from '../../lib/printable.ts'
import { type FieldError, fieldProblem, Problem } from '../../lib/problem.ts'
import { seal, unseal } from '../../lib/secret-box.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { parseEmail } from '../../operators/user.ts'
import type { ReportFormat } from '../../reports/make-report.ts'
import {
  findSchedule,
  periodsDue,
  placeOfReports,
  placeOfRun,
  type ReportSchedule,
  readReportFiles,
  readRuns,
  readSchedules,
  removeSchedule,
  reportKeyOwner,
  saveSchedule,
  sendRunAgain,
  sentPlaceOf,
  startRun,
} from '../../reports/report-schedule.ts'
import { invalidRequest } from '../check.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  ReportFileParams,
  RunBody,
  ScheduleBody,
  ScheduleList,
  SetScheduleBody,
} from './schemas/report-schedules.ts'
import { Done } from './schemas/users.ts'
import { type ExportLimits, onceASecond, sendExport } from './send-export.ts'
import { twoPersonRoute } from './two-person-route.ts'

const types: Record<ReportFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pdf: 'application/pdf',
}

/** Reports that go out by themselves. */
export function reportScheduleRoutes(
  api: OperatorApi,
  { desk, alertChannels, callbackTargets, resolveHost }: OperatorDeps,
  limits: ExportLimits,
): void {
  const { pool, now, secretKeys } = desk
  const common = { tag: 'Reports', agents: 'none' } as const

  const list = async () => {
    const agents = await listAgents(pool)
    const runs = await readRuns(pool)
    return {
      mail: alertChannels.includes('mail'),
      data: (await readSchedules(pool)).map((schedule) => ({
        id: schedule.scheduleId,
        ...viewOf(schedule, agents),
        has_key: schedule.sealedSftpKey !== null,
        updated_at: schedule.updatedAt.toISOString(),
        updated_by: schedule.updatedBy,
        runs: runs
          .filter(({ scheduleId }) => scheduleId === schedule.scheduleId)
          .map(({ period, state, attempts, error, files, ...run }) => ({
            ...{ period, state, attempts, error, files },
            created_at: run.createdAt.toISOString(),
            due_at: run.dueAt?.toISOString() ?? null,
            ended_at: run.endedAt?.toISOString() ?? null,
          })),
      })),
    }
  }

  const scheduleNamed = async (id: string): Promise<ReportSchedule> => {
    const found = await findSchedule(pool, id)
    if (!found) throw new Problem('not_found', 'There is no such report any more.')
    return found
  }

  const scheduleIn = async (
    body: Static<typeof SetScheduleBody>,
    by: string,
  ): Promise<ReportSchedule> => {
    const before = body.id == null ? undefined : await scheduleNamed(String(body.id))
    const agent = body.app_id == null ? null : await findAgent(pool, String(body.app_id))
    if (agent === undefined) throw fieldProblem('app_id', 'is not the app id of an agent')
    if (before && before.name !== body.name) throw fieldProblem('name', 'cannot be changed')
    if (before && before.agentId !== (agent?.agentId ?? null)) {
      throw fieldProblem('app_id', 'cannot be changed: make another report')
    }
    const isSftp = body.way === 'sftp'
    const recipients = body.recipients.map((text) => parseEmail(text))
    const faults: FieldError[] = []
    const say = (field: string, message: string) => faults.push({ field, message })
    if (body.name.trim() !== body.name || !isPrintable(body.name, 60)) {
      say('name', 'must be 1 to 60 characters, with no space at its ends')
    }
    if (!isTimeZone(body.zone)) say('zone', 'must be a time zone such as Asia/Bangkok')
    if (recipients.includes(undefined)) say('recipients', 'must be mail addresses')
    if (isSftp !== (recipients.length === 0)) {
      say('recipients', isSftp ? 'do not go with SFTP' : 'must name somebody')
    }
    if (!isSftp && body.sftp_host != null) say('sftp_host', 'does not go with mail')
    const id = before?.scheduleId ?? newOrderId(now())
    const place = {
      sftpHost: isSftp ? textOf(body.sftp_host) : null,
      sftpPort: isSftp && body.sftp_port != null ? Number(body.sftp_port) : null,
      sftpUser: isSftp ? textOf(body.sftp_user) : null,
      sftpHostKey: isSftp ? textOf(body.sftp_host_key) : null,
      sftpFolder: isSftp ? textOf(body.sftp_folder) : null,
    }
    const { sftpFolder, ...others } = place
    if (isSftp && place.sftpHost === null) say('sftp_host', 'is needed for SFTP')
    else faults.push(...sftpFaults({ ...others, sftpPutFolder: sftpFolder, sftpGetFolder: null }))
    if (place.sftpHost !== null && faults.length === 0) {
      // A name that does not resolve now may do so later; it is looked up anew before each visit.
      const found = await vettedAddresses(place.sftpHost, callbackTargets, resolveHost).catch(
        () => [],
      )
      if (typeof found === 'string') say('sftp_host', found)
    }
    if (isSftp && sftpFolder === null) say('sftp_folder', 'is needed for SFTP')
    const key = isSftp ? keyIn(body) : null
    const keyFault = key === null ? undefined : sftpKeyFault(`${key.trim()}\n`)
    if (keyFault !== undefined) say('sftp_key', keyFault)
    // A key that was given for one server is not shown to another.
    const isSamePlace = before?.sftpHost === place.sftpHost && before?.sftpUser === place.sftpUser
    const kept = isSamePlace ? (before?.sealedSftpKey ?? null) : null
    const sealed = key === null ? kept : seal(secretKeys, reportKeyOwner(id), `${key.trim()}\n`)
    if (isSftp && sealed === null) say('sftp_key', 'is needed for this server')
    if (faults.length > 0) throw invalidRequest(faults)
    return {
      ...place,
      scheduleId: id,
      name: body.name,
      agentId: agent?.agentId ?? null,
      every: body.every as ReportSchedule['every'],
      madeAt: body.made_at,
      zone: body.zone,
      formats: body.formats as ReportFormat[],
      withRows: body.with_rows,
      way: isSftp ? 'sftp' : 'mail',
      recipients: recipients.flatMap((each) => each ?? []),
      sealedSftpKey: isSftp ? sealed : null,
      isOn: body.is_on,
      // What is switched on again makes nothing up for the time that it was off.
      startsAt: before?.isOn === body.is_on ? before.startsAt : now(),
      updatedAt: now(),
      updatedBy: by,
    }
  }

  /** The key in a request, or sealed in a proposal: for one server and user, so that it opens nowhere else. */
  const keyIn = (body: Static<typeof SetScheduleBody>): string | null => {
    const text = textOf(body.sftp_key)
    if (text === null || !text.startsWith(sealedMark)) return text
    const sealed = Buffer.from(text.slice(sealedMark.length), 'base64')
    return unseal(secretKeys, proposedKeyOwner(body), sealed) ?? text
  }

  const withSealedKey = (body: Static<typeof SetScheduleBody>) => {
    const key = textOf(body.sftp_key)
    if (key === null) return body
    const sealed = seal(secretKeys, proposedKeyOwner(body), key)
    return { ...body, sftp_key: sealedMark + sealed.toString('base64') }
  }

  /** Whether a request only switches a report off. */
  const onlyStops = async (body: Static<typeof SetScheduleBody>): Promise<boolean> => {
    const before = body.id == null ? undefined : await findSchedule(pool, String(body.id))
    if (!before?.isOn || body.is_on || body.sftp_key != null) return false
    const agents = await listAgents(pool)
    const after = await scheduleIn(body, before.updatedBy).catch(() => undefined)
    return (
      after !== undefined &&
      jsonText({ ...viewOf(before, agents), is_on: false }) === jsonText(viewOf(after, agents))
    )
  }

  const noted = async (tx: Tx, operator: Operator, name: string, entry: object) =>
    writeAudit(tx, {
      at: now(),
      operator,
      action: 'change_reports',
      subject: { kind: 'report', id: name },
      agentId: null,
      ...entry,
    })

  /** Figures leave the house by it: the other admins hear of each change, and where they go. */
  const tellOthers = async (tx: Tx, operator: Operator, schedule: ReportSchedule, what: string) => {
    const at = now()
    const { way, to } = placeOfReports(schedule)
    await raiseAlert(tx, {
      kind: 'authority_changed',
      // Each by itself: what was set in between is not hidden by what came after.
      subject: `report ${schedule.scheduleId} ${newOrderId(at)}`,
      words: `${operator.email} ${what} the scheduled report "${schedule.name}", by ${way} to ${to.join(', ')}.`,
      to: { roles: ['admin'], except: operator.userId },
      at,
    })
  }

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/report-schedules',
    summary: 'Reports that go out by themselves, and the last of each',
    permission: 'view_audit',
    schema: { response: ScheduleList },
    handler: list,
  })

  twoPersonRoute(api, {
    ...common,
    method: 'PUT',
    url: '/report-schedules',
    summary: 'Make a report that goes out by itself, or change one',
    permission: 'manage_policy',
    withoutCode: async ({ body }) =>
      (await onlyStops(body)) ? 'keeping reports here must be quick' : undefined,
    bodyLimit: 64 * 1024,
    schema: { body: SetScheduleBody, response: ScheduleList },
    approval: {
      action: 'change_reports',
      repeats: 'effect',
      kept: (body) => withSealedKey(body as Static<typeof SetScheduleBody>),
      view: async ({ operator, body }) => {
        const before = body.id == null ? undefined : await scheduleNamed(String(body.id))
        const schedule = await scheduleIn(body, operator.email)
        const agents = await listAgents(pool)
        const newKey = body.sftp_key == null ? {} : { sftp_key: 'another one' }
        return {
          subject: { kind: 'report', id: schedule.name },
          agentId: null,
          before: before ? viewOf(before, agents) : null,
          after: { ...viewOf(schedule, agents), ...newKey },
        }
      },
    },
    handler: async ({ operator, body, withCode }) => {
      if (!withCode && !(await onlyStops(body))) {
        throw new Problem('changed_meanwhile', 'The report was changed: read it again.')
      }
      const schedule = await scheduleIn(body, operator.email)
      const agents = await listAgents(pool)
      await inTransaction(pool, async (tx) => {
        const before = await findSchedule(tx, schedule.scheduleId)
        await saveSchedule(tx, schedule)
        await takeEffect(tx, operator, now())
        await noted(tx, operator, schedule.name, {
          ...(before && { before: viewOf(before, agents) }),
          after: viewOf(schedule, agents),
        })
        await tellOthers(tx, operator, schedule, before ? 'changed' : 'made')
      }).catch((error) => {
        if (sqlState(error) === '23505') throw fieldProblem('name', 'is the name of another report')
        throw error
      })
      return list()
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/report-schedules/remove',
    summary: 'Remove a report, with all files that were made of it',
    permission: 'manage_policy',
    schema: { body: ScheduleBody, response: ScheduleList },
    handler: async ({ operator, body: { id } }) => {
      const schedule = await scheduleNamed(id)
      const before = viewOf(schedule, await listAgents(pool))
      await inTransaction(pool, async (tx) => {
        await removeSchedule(tx, id)
        await noted(tx, operator, schedule.name, { before })
        await tellOthers(tx, operator, schedule, 'removed')
      })
      return list()
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/report-schedules/run',
    summary: 'Make and send the report of the last period that has ended, if it was not made',
    permission: 'manage_policy',
    schema: { body: ScheduleBody, response: ScheduleList },
    handler: async ({ operator, body: { id } }) => {
      const schedule = await scheduleNamed(id)
      const period = periodsDue({ ...schedule, madeAt: '00:00' }, new Date(0), now()).at(-1)
      await inTransaction(pool, async (tx) => {
        if (!period || !(await startRun(tx, { scheduleId: id, period }, now()))) {
          const detail = `The report for ${period} was made already: send it again instead.`
          throw new Problem('invalid_transition', detail)
        }
        await noted(tx, operator, schedule.name, { after: { period } })
      })
      return list()
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'POST',
    url: '/report-schedules/resend',
    summary: 'Send a report once more, with the same bytes to whom it was sent',
    permission: 'manage_policy',
    withoutCode: 'it only sends the same to the same again',
    schema: { body: RunBody, response: Done },
    handler: async ({ operator, body: { id, period } }) => {
      const schedule = await scheduleNamed(id)
      await inTransaction(pool, async (tx) => {
        placeOfRun(schedule, (await sentPlaceOf(tx, { scheduleId: id, period })) ?? null)
        if (!(await sendRunAgain(tx, { scheduleId: id, period }, now()))) {
          throw new Problem('not_found', 'It is on its way already, or no longer known.')
        }
        await noted(tx, operator, schedule.name, { after: { resent: period } })
      })
      return {}
    },
  })

  operatorRoute(api, {
    ...common,
    method: 'GET',
    url: '/report-schedules/:id/:period/:format',
    summary: 'A file of a report, as it was sent',
    permission: 'view_audit',
    schema: {
      params: ReportFileParams,
      response: { status: 200, type: 'application/octet-stream' },
    },
    handler: async ({ operator, params, request, reply }) => {
      const { id, period, format } = params
      const schedule = await scheduleNamed(id)
      const files = await readReportFiles(pool, { scheduleId: id, period })
      const file = files.find((each) => each.format === format)
      if (!file) throw new Problem('not_found', 'There is no such file any more.')
      return sendExport(
        desk,
        reply,
        {
          name: file.name,
          type: types[file.format],
          content: Readable.from([file.content]),
          stillMay: onceASecond(() => api.door.operatorOf(request)),
          entry: {
            operator,
            action: 'export_report',
            subject: { kind: 'report', id: schedule.name },
            agentId: schedule.agentId,
            before: { period, format, sha256: file.sha256 },
          },
        },
        limits,
      )
    },
  })
}

/** How a key begins that waits sealed in a proposal. */
const sealedMark = 'sealed:'

function proposedKeyOwner({ sftp_user, sftp_host }: Static<typeof SetScheduleBody>): string {
  return `sftp key of ${sftp_user}@${sftp_host} in a proposal`
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function viewOf(schedule: ReportSchedule, agents: readonly Pick<Agent, 'agentId' | 'appId'>[]) {
  return {
    name: schedule.name,
    app_id: agents.find(({ agentId }) => agentId === schedule.agentId)?.appId ?? null,
    every: schedule.every,
    made_at: schedule.madeAt,
    zone: schedule.zone,
    formats: schedule.formats,
    with_rows: schedule.withRows,
    way: schedule.way,
    recipients: schedule.recipients,
    sftp_host: schedule.sftpHost,
    sftp_port: schedule.sftpPort,
    sftp_user: schedule.sftpUser,
    sftp_host_key: schedule.sftpHostKey,
    sftp_folder: schedule.sftpFolder,
    is_on: schedule.isOn,
  }
}
