import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { vettedAddresses } from '../../src/agents/callback-url.ts'
import { makeMailer } from '../../src/alerts/alert-senders.ts'
import type { Pool } from '../../src/db/pool.ts'
import { periodsDue } from '../../src/reports/report-schedule.ts'
import { sendReport, startReports } from '../../src/reports/send-reports.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { printedIn } from '../support/printed-text.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'
import { newKey, type SftpServer, startSftpServer } from '../support/sftp-server.ts'

let mail: MailServer
let server: SftpServer
let test: TestService
let admin: OperatorClient
let agent: AgentClient

const zone = 'Asia/Bangkok'

beforeAll(async () => {
  mail = await startMailServer()
  server = await startSftpServer()
  const env = { SMTP_URL: mail.url, MAIL_FROM: 'sluice@pay.example', TIME_ZONE: zone }
  // Without a worker: the test does its work, step by step.
  test = await startTestService({ env: { ...env, ROLE: 'api' } })
  admin = await signIn(test, 'admin')
  agent = await test.agent({ name: 'Chao Phraya Books' })
})
afterEach(() => test.prove())
afterAll(async () => {
  await test?.close()
  await mail?.close()
  await server?.close()
})

const base = {
  ...{ name: 'Daily books', every: 'day', made_at: '06:00', zone, with_rows: true, is_on: true },
  ...{ formats: ['csv', 'xlsx', 'pdf'], way: 'mail', recipients: ['Books@pay.example'] },
}
const set = (body: object) =>
  admin.put('/report-schedules', { ...base, app_id: null, ...body, code: admin.code() })
const schedule = async (name: string) =>
  (await admin.get('/report-schedules')).json.data.find(
    (each: { name: string }) => each.name === name,
  )

const addressesOf = (host: string) => vettedAddresses(host, 'near', async () => [])

/** Does what the worker does, as two processes at once. */
async function work(pool = test.backend.pool, onError = never): Promise<void> {
  const { secretKeys } = test.backend
  const settings = test.config.alerts.mail
  const sendMail = settings && makeMailer(settings)
  const desk = { pool, books: pool, secretKeys, now: test.clock, sendMail, addressesOf }
  const once = async () => {
    await startReports(desk)
    while ((await sendReport(desk, onError)) === 'more') {}
  }
  await Promise.all([once(), once()])
}

function never(error: unknown): void {
  throw error
}

/** A pool that breaks before what became of a report is recorded, so many times. */
function breaking(times: number): Pool {
  let left = times
  return new Proxy(test.backend.pool, {
    get(pool, name) {
      const value = Reflect.get(pool, name)
      if (typeof value !== 'function') return value
      if (name !== 'query') return value.bind(pool)
      return async (text: string, values?: unknown[]) => {
        if (text.includes('update report_runs set state') && left-- > 0) throw new Error('broken')
        return pool.query(text, values)
      }
    },
  })
}

/** Moves the clock on to the next time that it is so late in Bangkok. */
async function to(time: string): Promise<void> {
  const day = 86_400_000
  const wanted = Date.parse(`1970-01-02T${time}:00+07:00`) % day
  const aheadMs = (wanted - (test.clock().getTime() % day) + day) % day
  test.clock.advance(aheadMs)
  admin.cookie = (await admin.signInAgain()).cookie
}

/** The files of a mail, by name. */
function attached(data: string): Map<string, Buffer> {
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(data) ?? []
  const files = new Map<string, Buffer>()
  for (const part of data.split(`--${boundary}`)) {
    const [head = '', body = ''] = part.split('\r\n\r\n', 2)
    const [, name] = /filename="?([^"\r\n]+)"?/.exec(head) ?? []
    if (name !== undefined) files.set(name, Buffer.from(body.replaceAll('\r\n', ''), 'base64'))
  }
  return files
}

it('a day is reported once, by mail, and every format says the same', async () => {
  await to('12:00')
  const { json } = await agent.deposit({ amount: 1250 })
  await agent.trigger(json.txn_id, 'PAID')
  expect((await set({ app_id: agent.appId })).status).toBe(200)
  await work()
  await to('05:59')
  await work()
  // The day has ended; its hour has not come.
  expect(mail.mails).toEqual([])
  await to('06:00')
  await work()
  await work()
  expect(mail.mails).toHaveLength(1)
  const [sent] = mail.mails
  expect(sent?.to).toEqual(['books@pay.example'])
  const { runs, id } = await schedule('Daily books')
  const [{ period, state, files }] = runs
  expect([runs.length, state]).toEqual([1, 'sent'])
  expect(sent?.data).toContain(`Subject: Sluice: Daily books, ${period}`)
  const mailed = attached(sent?.data ?? '')
  expect([...mailed.keys()].sort()).toEqual([
    ...['csv', 'pdf', 'xlsx'].map((format) => `Daily-books-${period}.${format}`),
  ])
  const csv = mailed.get(`Daily-books-${period}.csv`)?.toString() ?? ''
  const [head, first] = csv.split('\r\n')
  expect(head).toBe('seq,at,event,txn_id,amount,held_change,fee,balance,held')
  expect(first).toContain(`deposit_paid,${json.txn_id},1250,0,0,1250,0`)
  const pdf = mailed.get(`Daily-books-${period}.pdf`) ?? Buffer.alloc(0)
  const texts = printedIn(pdf).map(({ text }) => text)
  expect(texts).toContain('Chao Phraya Books')
  expect(texts).toContain('Deposits paid (1)')
  expect(texts).toContain('1,250.00')
  // What is downloaded is what was sent, and both are in the audit log.
  const { size } = files.find((each: { format: string }) => each.format === 'csv')
  expect(size).toBe(Buffer.byteLength(csv))
  const download = await admin.get(`/report-schedules/${id}/${period}/csv`)
  expect(download.text).toBe(csv)
  const { rows } = await test.sql(
    `select outcome, before ->> 'format' as format from audit_log where action = 'export_report' order by at, outcome`,
  )
  expect(rows).toEqual([
    { outcome: 'asked', format: 'csv' },
    { outcome: 'done', format: 'csv' },
  ])
  // Once more are the same bytes.
  expect((await admin.post('/report-schedules/resend', { id, period })).status).toBe(200)
  await work()
  expect([...attached(mail.mails[1]?.data ?? '')]).toEqual([...mailed])
  // It stays about whom it was made for.
  const moved = await set({ id, app_id: null })
  expect(moved.json.errors).toMatchObject([{ field: 'app_id' }])
  // Others get what comes; what was sent goes again to whom it was sent.
  const off = { id, app_id: agent.appId, is_on: false }
  expect((await set({ ...off, recipients: ['new@pay.example'] })).status).toBe(200)
  expect((await admin.post('/report-schedules/resend', { id, period })).status).toBe(200)
  await work()
  // What was sent is recorded, although a connection breaks, and not sent once more.
  expect((await admin.post('/report-schedules/resend', { id, period })).status).toBe(200)
  const faults: unknown[] = []
  await work(breaking(1), (fault) => void faults.push(fault))
  expect(faults).toHaveLength(1)
  test.clock.advance(3_600_000)
  admin.cookie = (await admin.signInAgain()).cookie
  await work()
  expect(mail.mails.map(({ to }) => to)).toEqual([1, 2, 3, 4].map(() => ['books@pay.example']))
  // The other admins hear of every change, and where it sends.
  const { rows: told } = await test.sql(
    `select words, email as "except" from alerts join users on users.user_id = except_user_id
     where kind = 'authority_changed' and subject like 'report %' order by alert_id`,
  )
  const say = (what: string, to: string) => ({
    words: `${admin.email} ${what} the scheduled report "Daily books", by mail to ${to}.`,
    except: admin.email,
  })
  expect(told).toEqual([say('made', 'books@pay.example'), say('changed', 'new@pay.example')])
})

it('the house has a line for each agent and sums, over SFTP with a pinned key, and goes on where it broke', async () => {
  const sftp = {
    ...{ name: 'House', formats: ['csv', 'xlsx', 'pdf'], way: 'sftp', recipients: [] },
    ...{ sftp_host: '127.0.0.1', sftp_port: server.port, sftp_user: 'us' },
    ...{ sftp_host_key: server.hostKey, sftp_folder: '/in/' },
  }
  const metadata = await set({ ...sftp, sftp_host: '169.254.169.254', sftp_key: server.privateKey })
  expect(metadata.json.errors).toMatchObject([{ field: 'sftp_host' }])
  const refused = await set(sftp)
  expect(refused.json.errors).toMatchObject([{ field: 'sftp_key' }])
  const made = await set({ ...sftp, sftp_key: server.privateKey })
  expect(made.status).toBe(200)
  expect(made.text).not.toContain('PRIVATE')
  const { id, has_key } = await schedule('House')
  expect(has_key).toBe(true)
  // The key of one server is not shown to another.
  const elsewhere = await set({ ...sftp, id, sftp_host: 'files.example' })
  expect(elsewhere.json.errors).toMatchObject([{ field: 'sftp_key' }])
  server.breaks = (step, path) => (step === 'rename' && path.includes('.pdf') ? 'after' : undefined)
  const run = () => admin.post('/report-schedules/run', { id, code: admin.code() })
  expect((await run()).status).toBe(200)
  expect((await run()).json.code).toBe('invalid_transition')
  await work()
  const [failed] = (await schedule('House')).runs
  expect(failed).toMatchObject({ state: 'waiting', attempts: 1, error: expect.any(String) })
  server.breaks = () => undefined
  test.clock.advance(60_000)
  await work()
  const { period, state, attempts } = (await schedule('House')).runs[0]
  expect([state, attempts]).toEqual(['sent', 2])
  const names = [...server.files.keys()].sort()
  expect(names).toEqual(['csv', 'pdf', 'xlsx'].map((format) => `/in/House-${period}.${format}`))
  const csv = server.files.get(`/in/House-${period}.csv`)?.bytes.toString() ?? ''
  const [head = '', ...lines] = csv.trim().split('\r\n')
  expect(head).toBe(
    'app_id,name,currency,opening_balance,deposits_paid,withdrawals_paid,other_movements,fees,closing_balance',
  )
  expect(lines).toEqual([`${agent.appId},Chao Phraya Books,THB,0,1250,0,0,0,1250`])
  const pdf = server.files.get(`/in/House-${period}.pdf`)?.bytes ?? Buffer.alloc(0)
  const texts = printedIn(pdf).map(({ text }) => text)
  expect(texts).toContain('Deposits THB')
  expect(texts.filter((text) => text === '1,250.00')).toHaveLength(4)
  // What was put to one place is not put to another.
  expect((await set({ ...sftp, id, sftp_folder: '/elsewhere' })).status).toBe(200)
  const strayed = await admin.post('/report-schedules/resend', { id, period })
  expect([strayed.json.code, strayed.json.detail]).toEqual([
    ...['invalid_transition', expect.stringContaining('download it instead')],
  ])
  // A server with another key gets nothing.
  const other = newKey()
  expect(other.public).not.toBe(server.hostKey)
  const wrong = await set({ ...sftp, id, sftp_host_key: `SHA256:${'A'.repeat(43)}` })
  expect(wrong.status).toBe(200)
  server.files.clear()
  expect((await admin.post('/report-schedules/resend', { id, period })).status).toBe(200)
  await work()
  expect(server.files.size).toBe(0)
  expect((await schedule('House')).runs[0].error).toContain('which is not the one that is set')
})

it('what a mail server refuses is tried again, and given up after the ninth time', async () => {
  const { id } = await schedule('Daily books')
  const { period } = (await schedule('Daily books')).runs[0]
  mail.answer = '451 later'
  await admin.post('/report-schedules/resend', { id, period })
  const given: unknown[] = []
  const { pool, secretKeys } = test.backend
  const settings = test.config.alerts.mail
  const sendMail = settings && makeMailer(settings)
  const desk = { pool, books: pool, secretKeys, now: test.clock, sendMail, addressesOf }
  for (let n = 0; n < 9; n++) {
    while ((await sendReport(desk, (error) => given.push(error))) === 'more') {}
    test.clock.advance(24 * 3_600_000)
  }
  mail.answer = '250 taken'
  admin.cookie = (await admin.signInAgain()).cookie
  expect((await schedule('Daily books')).runs[0]).toMatchObject({ state: 'given_up', attempts: 9 })
  const gone = await admin.post('/report-schedules/remove', { id, code: admin.code() })
  expect(gone.json.data.map(({ name }: { name: string }) => name)).toEqual(['House'])
})

it('what is switched off sends nothing more, and begins anew when it is on again', async () => {
  await to('12:00')
  mail.answer = '451 later'
  const before = mail.mails.length
  expect((await set({ name: 'Paused' })).status).toBe(200)
  await to('06:00')
  await work(test.backend.pool, () => {})
  const { id, runs } = await schedule('Paused')
  expect(runs).toMatchObject([{ state: 'waiting', attempts: 1 }])
  expect((await set({ name: 'Paused', id, is_on: false })).status).toBe(200)
  mail.answer = '250 taken'
  test.clock.advance(40 * 86_400_000 + 3_600_000)
  admin.cookie = (await admin.signInAgain()).cookie
  await work()
  expect((await schedule('Paused')).runs).toMatchObject([
    { state: 'given_up', error: 'The report was switched off.' },
  ])
  expect((await set({ name: 'Paused', id })).status).toBe(200)
  await work()
  expect((await schedule('Paused')).runs).toMatchObject([{ state: 'given_up' }])
  expect(mail.mails.length).toBe(before)
  await to('06:00')
  await work()
  expect((await schedule('Paused')).runs).toMatchObject([{ state: 'sent' }, { state: 'given_up' }])
  await admin.post('/report-schedules/remove', { id, code: admin.code() })
})

it('what cannot be a report is refused, and only admins set them', async () => {
  const fields = async (body: object) =>
    (await set(body)).json.errors.map(({ field }: { field: string }) => field)
  expect(await fields({ name: 'X', recipients: [] })).toEqual(['recipients'])
  expect(await fields({ name: 'X', recipients: ['nobody'] })).toEqual(['recipients'])
  expect(await fields({ name: 'X', zone: 'Mars' })).toEqual(['zone'])
  expect(await fields({ name: 'X', way: 'sftp', recipients: [] })).toEqual([
    ...['sftp_host', 'sftp_folder', 'sftp_key'],
  ])
  expect(await fields({ name: 'House' })).toEqual(['name'])
  expect(await fields({ name: 'X', app_id: 'nobody' })).toEqual(['app_id'])
  const viewer = await signIn(test, 'viewer')
  expect((await viewer.get('/report-schedules')).status).toBe(403)
  const operator = await signIn(test, 'operator')
  expect((await operator.get('/report-schedules')).status).toBe(200)
  const tried = await operator.put('/report-schedules', { ...base, app_id: null })
  expect(tried.status).toBe(403)
})

it('periods are whole days, weeks and months of a zone, made up for after a pause', () => {
  const due = (every: 'day' | 'week' | 'month', since: string, now: string) =>
    periodsDue({ every, madeAt: '06:00', zone }, new Date(since), new Date(now))
  // 06:00 in Bangkok is 23:00 of the day before.
  expect(due('day', '2026-11-14T00:00:00Z', '2026-11-16T22:59:59Z')).toEqual([
    ...['2026-11-14', '2026-11-15'],
  ])
  expect(due('day', '2026-11-14T00:00:00Z', '2026-11-16T23:00:00Z')).toEqual([
    ...['2026-11-14', '2026-11-15', '2026-11-16'],
  ])
  expect(due('week', '2026-12-20T00:00:00Z', '2027-01-04T00:00:00Z')).toEqual([
    ...['2026-W51', '2026-W52', '2026-W53'],
  ])
  expect(due('month', '2026-11-01T00:00:00Z', '2027-01-01T00:00:00Z')).toEqual([
    ...['2026-11', '2026-12'],
  ])
  expect(due('month', '2026-12-31T23:00:01Z', '2027-01-31T22:00:00Z')).toEqual([])
})
