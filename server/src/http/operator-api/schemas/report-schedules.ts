import Type from 'typebox'
import { reportFormats } from '../../../reports/make-report.ts'
import { reportEvery } from '../../../reports/report-schedule.ts'
import { plainText } from '../../printable-text.ts'
import { appId, code, isoTime, oneOf, orNull, strict } from './shapes.ts'

const scheduleId = Type.String({ pattern: '^[0-9a-f]{32}$', description: 'the id of a schedule' })
const period = Type.String({
  pattern: '^[0-9]{4}-([0-9]{2}(-[0-9]{2})?|W[0-9]{2})$',
  description: 'a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11',
})
const format = oneOf(reportFormats, reportFormats.join(', '))

const shown = {
  name: plainText(1, 60, 'a name, 1 to 60 characters; files are named after it'),
  app_id: orNull(appId),
  every: oneOf(reportEvery, reportEvery.join(', ')),
  made_at: Type.String({
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    description: 'the time of day at which it is made, after the period has ended',
  }),
  zone: Type.String({ maxLength: 60, description: 'the time zone of periods and of made_at' }),
  formats: Type.Array(format, { minItems: 1, maxItems: 3, uniqueItems: true }),
  with_rows: Type.Boolean({
    description: 'every row of the journal, and not only what they come to',
  }),
  way: oneOf(['mail', 'sftp'], 'how it is sent'),
  recipients: Type.Array(Type.String({ maxLength: 254, description: 'a mail address' }), {
    maxItems: 20,
  }),
  sftp_host: orNull(Type.String({ maxLength: 253 })),
  sftp_port: orNull(Type.Integer({ minimum: 1, maximum: 65_535 })),
  sftp_user: orNull(Type.String({ maxLength: 100 })),
  sftp_host_key: orNull(
    Type.String({ maxLength: 400, description: "the server's key as ssh-keygen -l writes it" }),
  ),
  sftp_folder: orNull(plainText(1, 500, 'the folder that files are put into')),
  is_on: Type.Boolean(),
}

const RunView = Type.Object({
  period,
  state: oneOf(['waiting', 'sent', 'given_up'], 'what became of it'),
  attempts: Type.Integer(),
  error: orNull(Type.String({ description: 'what went wrong last' })),
  created_at: isoTime('when it was due'),
  due_at: orNull(isoTime('when it is tried next')),
  ended_at: orNull(isoTime('when it was sent or given up')),
  files: Type.Array(Type.Object({ format, name: Type.String(), size: Type.Integer() })),
})

export const ScheduleList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: scheduleId,
      ...shown,
      has_key: Type.Boolean({ description: 'whether a private key for SFTP is kept' }),
      updated_at: isoTime('when it was set'),
      updated_by: Type.String(),
      runs: Type.Array(RunView, { description: 'its last reports, newest first' }),
    }),
  ),
  mail: Type.Boolean({ description: 'whether mail is set up' }),
})

const { sftp_host, sftp_port, sftp_user, sftp_host_key, sftp_folder, ...always } = shown

export const SetScheduleBody = Type.Object(
  {
    id: Type.Optional(orNull(scheduleId)),
    ...always,
    sftp_host: Type.Optional(sftp_host),
    sftp_port: Type.Optional(sftp_port),
    sftp_user: Type.Optional(sftp_user),
    sftp_host_key: Type.Optional(sftp_host_key),
    sftp_folder: Type.Optional(sftp_folder),
    sftp_key: Type.Optional(
      orNull(
        Type.String({ maxLength: 16_384, description: 'a private key; left out: the one it has' }),
      ),
    ),
    code: Type.Optional(code),
  },
  strict,
)

export const ScheduleBody = Type.Object({ id: scheduleId, code: Type.Optional(code) }, strict)
export const RunBody = Type.Object({ id: scheduleId, period }, strict)
export const ReportFileParams = Type.Object({ id: scheduleId, period, format })
