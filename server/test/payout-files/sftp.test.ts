import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { keepWatch } from '../../src/alerts/keep-watch.ts'
import { brokenConnections } from '../../src/bank-accounts/bank-connections.ts'
import { visitMs } from '../../src/bank-accounts/sftp-session.ts'
import { BankInbox } from '../../src/payments/fetch-bank-files.ts'
import { draftPayoutFile } from '../../src/payout-files/draft-file.ts'
import { putDueFiles } from '../../src/payout-files/put-file.ts'
import { booked, camt, dayAt } from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import {
  type PayingAccount,
  pain002,
  payingAccount,
  statesOf,
  withdrawals,
} from '../support/payout-files.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'
import { newKey, type SftpServer, startSftpServer } from '../support/sftp-server.ts'

let s: TestService
let agent: AgentClient
let maker: OperatorClient
let checker: OperatorClient
let server: SftpServer

beforeAll(async () => {
  // Without a worker, which visits the bank's server too, at times of its own.
  s = await startTestService({ env: { ROLE: 'api' } })
  agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(1_000_000)
  maker = await signIn(s, 'operator')
  checker = await signIn(s, 'admin')
})
beforeEach(async () => {
  server = await startSftpServer()
})
afterEach(async () => {
  await server.close()
  await s.prove()
})
afterAll(() => s.close())

const never = (error: unknown) => {
  throw error
}

/** An account whose bank has the server. */
function served(more: Parameters<typeof payingAccount>[1] = {}, key = server.privateKey) {
  return payingAccount(
    s,
    {
      ...{ sftpHost: '127.0.0.1', sftpPort: server.port, sftpUser: 'us' },
      ...{ sftpHostKey: server.hostKey, sftpPutFolder: '/in', sftpGetFolder: '/out' },
      // A file is for a later day, whatever the time is.
      payoutCutoffs: '00:01',
      ...more,
    },
    key,
  )
}

async function approved(account: PayingAccount, ...amounts: number[]): Promise<Answer> {
  await withdrawals(s, agent, account, ...amounts)
  const { json } = await maker.post('/payout-files', { account: account.name })
  const code = checker.code()
  const file = await checker.post(`/payout-files/${json.id}/approve`, { digest: json.digest, code })
  expect(file.json.state).toBe('approved')
  return file
}

const send = ({ json }: Answer, by = maker): Promise<Answer> =>
  by.post(`/payout-files/${json.id}/send`, { reason: 'today’s payouts', code: by.code() })

const look = async ({ json }: Answer) => (await maker.get(`/payout-files/${json.id}`)).json

/** Tries what is due until a try has ended. */
async function tried(file: Answer, state: string): Promise<void> {
  await expect
    .poll(
      async () => {
        await putDueFiles(s.service.desk, never)
        const { put } = await look(file)
        return put.fault === null && put.state === 'waiting' ? 'under way' : put.state
      },
      { interval: 50 },
    )
    .toBe(state)
}

/** The next try comes when its time has come. */
async function again(file: Answer, state: string): Promise<void> {
  s.clock.advance(visitMs * 3)
  await expect
    .poll(
      async () => {
        s.clock.advance(60_000)
        await putDueFiles(s.service.desk, never)
        return (await look(file)).put.state
      },
      { interval: 50 },
    )
    .toBe(state)
}

const take = ({ json }: Answer, by = checker): Promise<Answer> =>
  by.post(`/payout-files/${json.id}/export`, { reason: 'by hand', code: by.code() })

/** Keeps a file from being tried by itself in other tests. */
const hold = ({ json }: Answer) =>
  s.sql('update payout_file_puts set act_at = null where file_id = $1', [json.id])

const alarmsAbout = async (words: string) =>
  (await s.sql('select words from alarms where words like $1', [`%${words}%`])).rows

const names = () => [...server.files.keys()].sort()
const done = (what: string) => server.log.filter((each) => each.startsWith(what))

it('a file that a person sends goes under a name that banks leave alone, gets its own, and is sent', async () => {
  const account = await served()
  const file = await approved(account, 100, 200)
  expect(file.json.can_send).toBe(true)
  expect((await send(file)).json).toMatchObject({ state: 'exported', put: { state: 'waiting' } })
  await tried(file, 'arrived')
  const path = `/in/${file.json.sealed.name}`
  expect(names()).toEqual([path])
  expect(done('rename')).toEqual([`rename ${path}.tmp ${path}`])
  const { bytes } = server.files.get(path) ?? { bytes: Buffer.alloc(0) }
  const taken = await checker.post(`/payout-files/${file.json.id}/export`, {
    reason: 'to compare',
    code: checker.code(),
  })
  expect(bytes.toString()).toBe(taken.text)
  expect(await look(file)).toMatchObject({
    state: 'sent',
    downloads: [{ by: maker.email, reason: 'today’s payouts' }, {}],
    sent: { by: 'sluice', bank_reference: path },
    put: { path, by: maker.email, state: 'arrived', fault: null },
  })
  expect((await send(file)).json.detail).toContain('at the bank already')
})

it('one that somebody has downloaded may be at the bank already, and does not go', async () => {
  const account = await served()
  const file = await approved(account, 110)
  await checker.post(`/payout-files/${file.json.id}/export`, {
    reason: 'by hand',
    code: checker.code(),
  })
  expect((await send(file)).json).toMatchObject({ status: 409 })

  // Nor one of which bytes are there that nobody has sent from here.
  const stray = await approved(account, 111)
  const path = `/in/${stray.json.sealed.name}.tmp`
  server.put(path, 'what the bank may be taking')
  await send(stray)
  await tried(stray, 'held')
  expect((await look(stray)).put.fault).toContain('nobody has sent it from here')
  expect(String(server.files.get(path)?.bytes)).toBe('what the bank may be taking')
})

it('an upload that breaks off is begun again, and what arrives is whole', async () => {
  const file = await approved(await served(), 120)
  let left = 1
  server.breaks = (step) => (step === 'write' && left-- > 0 ? 'after' : undefined)
  server.put('/in/other.txt', 'of somebody else')
  await send(file)
  await tried(file, 'waiting')
  const path = `/in/${file.json.sealed.name}`
  expect(names()).toEqual([`${path}.tmp`, '/in/other.txt'].sort())
  expect((await look(file)).state).toBe('exported')
  await again(file, 'arrived')
  expect(names()).toEqual([path, '/in/other.txt'].sort())
})

it('a file that got its name just before the connection broke is not put again', async () => {
  const file = await approved(await served(), 130)
  let left = 1
  server.breaks = (step) => (step === 'rename' && left-- > 0 ? 'after' : undefined)
  await send(file)
  await tried(file, 'waiting')
  await again(file, 'arrived')
  expect(done('write')).toHaveLength(1)
  expect(done('rename')).toHaveLength(1)
  expect((await look(file)).state).toBe('sent')
})

it('while a file is on its way nobody gets it, and what the bank has by other means does not go any more', async () => {
  const file = await approved(await served(), 132)
  server.breaks = (step) => (step === 'open' ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  const taken = await checker.post(`/payout-files/${file.json.id}/export`, {
    reason: 'by hand',
    code: checker.code(),
  })
  expect(taken.json.detail).toContain('on its way')
  await checker.post(`/payout-files/${file.json.id}/sent`, {
    bank_reference: 'B-8',
    code: checker.code(),
  })
  server.breaks = () => undefined
  await again(file, 'held')
  expect(names()).toEqual([])
  expect(done('write')).toHaveLength(1)
})

it('what is stopped while a file is about to get its name keeps it from getting it', async () => {
  const file = await approved(await served(), 133)
  let left = 1
  server.breaks = (step) => (step === 'rename' && left-- > 0 ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  await s.sql(
    `insert into stops (agent_id, stop_id, deposits, stopped_by, reason, stopped_at)
     values (0, gen_random_uuid(), false, 'a person', 'a test', now())`,
  )
  await again(file, 'waiting')
  await expect.poll(async () => (await look(file)).put.fault).toBe('Everything is stopped.')
  expect(names()).toEqual([`/in/${file.json.sealed.name}.tmp`])
  await s.sql('delete from stops where agent_id = 0')
  await again(file, 'arrived')
  expect(done('write')).toHaveLength(1)
})

it('what somebody downloads that never went is withdrawn for ever; what may be there is not given out', async () => {
  const file = await approved(await served(), 134)
  server.breaks = (step) => (step === 'open' ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  await hold(file)
  server.breaks = () => undefined
  expect((await take(file)).status).toBe(200)
  expect((await send(file)).json.detail).toContain('downloaded the file since')
  // Whatever sets it going again.
  await s.sql('update payout_file_puts set act_at = $2 where file_id = $1', [
    file.json.id,
    s.clock(),
  ])
  await tried(file, 'held')
  expect(names()).toEqual([])

  const other = await approved(await served(), 135)
  server.breaks = (step) => (step === 'write' ? 'before' : undefined)
  await send(other)
  await tried(other, 'waiting')
  await hold(other)
  expect((await take(other)).json.detail).toContain('which may have it')
})

it('a bank that takes what is being uploaded gets it once', async () => {
  const file = await approved(await served(), 136)
  server.breaks = (step) => (step === 'write' ? 'after' : undefined)
  await send(file)
  await tried(file, 'waiting')
  server.breaks = () => undefined
  server.files.clear()
  await again(file, 'held')
  expect((await look(file)).put.fault).toContain('the bank may have taken it')
  await send(file)
  await again(file, 'held')
  expect(done('write')).toHaveLength(1)
  expect(names()).toEqual([])
})

it('what should have gone long ago is for a person, who presses again', async () => {
  const file = await approved(await served(), 137)
  server.breaks = (step) => (step === 'open' ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  server.breaks = () => undefined
  await s.sql(
    `update payout_file_puts set act_at = $2::timestamptz - interval '16 minutes' where file_id = $1`,
    [file.json.id, s.clock()],
  )
  await tried(file, 'held')
  expect((await look(file)).put.fault).toContain('should have gone long ago')
  expect(await alarmsAbout(`${file.json.id}%long ago`)).toHaveLength(1)
  expect(names()).toEqual([])
  await send(file)
  await tried(file, 'arrived')
  const { rows } = await s.sql(
    `select email from audit_log where action = 'send_payout_file' and subject_id = $1 order by at`,
    [file.json.id],
  )
  expect(rows[0]).toEqual({ email: maker.email })
})

it('a try that another one has taken over does nothing more', async () => {
  const file = await approved(await served(), 138)
  const others: Promise<unknown>[] = []
  server.breaks = (step) => {
    if (step !== 'write' || others.length > 0) return undefined
    others.push(
      s.sql('update payout_file_puts set tries = tries + 1 where file_id = $1', [file.json.id]),
    )
    return undefined
  }
  await send(file)
  await expect
    .poll(async () => {
      await putDueFiles(s.service.desk, never)
      await Promise.all(others)
      return others.length > 0 && names().length
    })
    .toBe(1)
  await putDueFiles(s.service.desk, never)
  expect(done('rename')).toEqual([])
  expect((await look(file)).put).toMatchObject({ state: 'waiting', fault: null })
  await again(file, 'arrived')
  expect(done('write')).toHaveLength(1)
})

it('what is left of a file after a payout was taken out goes, and bytes of other payouts do not', async () => {
  const account = await served()
  await withdrawals(s, agent, account, 250, 260)
  const { json: draft } = await maker.post('/payout-files', { account: account.name })
  const approve = async () => {
    const { json } = await maker.get(`/payout-files/${draft.id}`)
    const code = checker.code()
    return checker.post(`/payout-files/${draft.id}/approve`, { digest: json.digest, code })
  }
  const [first] = (await approve()).json.items
  const asked = { codes: [first.code], may_try_another: false, reason: 'a wrong payee' }
  const { json: proposed } = await maker.post(`/payout-files/${draft.id}/take-out`, {
    ...asked,
    code: maker.code(),
  })
  const { digest } = (await checker.get(`/approvals/${proposed.proposal}`)).json
  await checker.post(`/approvals/${proposed.proposal}/approve`, { digest, code: checker.code() })
  const file = await approve()
  await s.sql('update payout_file_seals set items = 2 where file_id = $1 and round = 2', [draft.id])
  expect((await send(file)).status).toBe(500)
  await s.sql('update payout_file_seals set items = 1 where file_id = $1 and round = 2', [draft.id])
  await send(file)
  await tried(file, 'arrived')
})

it('a file that was about to get its name when the connection broke gets it', async () => {
  const file = await approved(await served(), 131)
  let left = 1
  server.breaks = (step) => (step === 'rename' && left-- > 0 ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  await again(file, 'arrived')
  expect(done('write')).toHaveLength(1)
})

it('a file that the bank may have taken while the connection broke is for a person, and never put twice', async () => {
  const file = await approved(await served(), 140)
  server.breaks = (step) => (step === 'rename' ? 'after' : undefined)
  server.onRenamed = (path) => server.files.delete(path)
  await send(file)
  await tried(file, 'waiting')
  await again(file, 'held')
  expect((await look(file)).put.fault).toContain('the bank may have taken it')
  const alarms = await s.sql('select words from alarms where words like $1', [
    `%${file.json.id}%did not go by SFTP%`,
  ])
  expect(alarms.rows).toHaveLength(1)
  expect((await send(file)).status).toBe(200)
  await again(file, 'held')
  expect(done('write')).toHaveLength(1)
  // The bank says that it has it.
  const sent = await checker.post(`/payout-files/${file.json.id}/sent`, {
    bank_reference: 'B-9',
    code: checker.code(),
  })
  expect(sent.json).toMatchObject({ state: 'sent', sent: { bank_reference: 'B-9' } })
})

it('what is at the bank under the name of a file with other bytes is left as it is', async () => {
  const file = await approved(await served(), 150)
  const path = `/in/${file.json.sealed.name}`
  server.put(path, 'something else')
  await send(file)
  await tried(file, 'held')
  expect(server.files.get(path)?.bytes.toString()).toBe('something else')
  expect(done('write')).toEqual([])
})

it('with a server that has another key nothing is exchanged, and people are told', async () => {
  const account = await served({ sftpHostKey: `SHA256:${'A'.repeat(43)}` })
  const file = await approved(account, 160)
  await send(file)
  await tried(file, 'waiting')
  expect((await look(file)).put.fault).toContain(server.hostKey)
  expect(done('sign in')).toEqual([])
  expect(names()).toEqual([])
  const { json } = await maker.get(`/bank-accounts/${account.name}`)
  expect(json.sftp_state.fault).toContain('not the one that is set')
  const { pool } = s.backend
  await keepWatch(pool, 'bank_connection', await brokenConnections(pool), s.clock())
  const { rows } = await s.sql(
    `select words from alerts where kind = 'bank_connection'
    and subject = $1`,
    [`bank account ${account.name}`],
  )
  expect(rows).toEqual([{ words: expect.stringContaining(server.hostKey) }])
  // The bank says, by other means, that it has a new key.
  await s.sql('update bank_accounts set sftp_host_key = $2 where name = $1', [
    account.name,
    `SHA256:${'A'.repeat(43)},${server.hostKey}`,
  ])
  await again(file, 'arrived')
  expect((await maker.get(`/bank-accounts/${account.name}`)).json.sftp_state.fault).toBeNull()
})

it('a key that the bank does not know, and a port where nobody is, are told in words', async () => {
  const one = await approved(await served({}, newKey().private), 170)
  await send(one)
  await tried(one, 'waiting')
  expect((await look(one)).put.fault).toContain('does not let us in')
  const two = await approved(await served({ sftpPort: 1 }), 171)
  await send(two)
  await tried(two, 'waiting')
  expect((await look(two)).put.fault).toContain('cannot be reached at port 1')
  for (const file of [one, two]) await hold(file)
})

it('what nobody signed in to make is sent by another person than who approved it', async () => {
  const account = await served()
  await withdrawals(s, agent, account, 180)
  const by = { userId: null, email: 'schedule', ip: null }
  const { fileId } = await draftPayoutFile(s.service.desk, account.account, by)
  const { json } = await maker.get(`/payout-files/${fileId}`)
  const code = checker.code()
  const file = await checker.post(`/payout-files/${fileId}/approve`, { digest: json.digest, code })
  expect((await send(file, checker)).json.code).toBe('same_person')
  await send(file)
  await tried(file, 'arrived')
  expect((await look(file)).state).toBe('sent')
})

it('what is stopped after it was sent stays here until the stop is lifted', async () => {
  const file = await approved(await served(), 190)
  server.breaks = (step) => (step === 'open' ? 'before' : undefined)
  await send(file)
  await tried(file, 'waiting')
  server.breaks = () => undefined
  await s.sql(
    `insert into stops (agent_id, stop_id, deposits, stopped_by, reason, stopped_at)
     values (0, gen_random_uuid(), false, 'a person', 'a test', now())`,
  )
  await again(file, 'waiting')
  await expect.poll(async () => (await look(file)).put.fault).toBe('Everything is stopped.')
  expect(names()).toEqual([])
  await s.sql('delete from stops where agent_id = 0')
  await again(file, 'arrived')
})

/** Sends a file and returns what its bank names it by. */
async function sent(account: PayingAccount, ...amounts: number[]) {
  const file = await approved(account, ...amounts)
  await send(file)
  await tried(file, 'arrived')
  const codes: string[] = file.json.items.map((item: { code: string }) => item.code)
  return { file, codes, messageId: file.json.sealed.message_id as string }
}

function inbox() {
  const refused: string[] = []
  const box = new BankInbox(
    s.service.desk,
    'sandbox',
    0,
    (file, why) => refused.push(`${file}: ${why}`),
    never,
  )
  return { box, refused }
}

it('what the bank answers and reports is fetched, acts at once, and is read once', async () => {
  const account = await served()
  const { file, codes, messageId } = await sent(account, 200, 210, 220)
  const [bad = '', twice = '', good = ''] = codes
  const { box, refused } = inbox()
  server.put('/out/1.xml', pain002(messageId, { group: 'ACCP' }))
  server.put('/out/half.xml.tmp', 'not yet')
  await box.poll()
  expect(statesOf({ json: await look(file) } as Answer)).toEqual(['waiting', 'waiting', 'waiting'])
  await box.poll()
  expect(statesOf({ json: await look(file) } as Answer)).toEqual([
    'accepted',
    'accepted',
    'accepted',
  ])
  server.put(
    '/out/2.xml',
    pain002(messageId, {
      items: [
        { code: bad, status: 'RJCT', reason: 'AC04' },
        { code: twice, status: 'RJCT', reason: 'DU01' },
        { code: good, status: 'ACSC' },
      ],
    }),
  )
  server.put('/out/3.xml', pain002('SOMEBODYELSE', { group: 'ACCP' }))
  server.put('/out/4.txt', 'this is no bank file')
  const day = dayAt(s.clock())
  const lines = [{ amount: '-220.00', endToEndId: good }]
  server.put('/out/5.xml', camt({ ...account, day, opening: '220.00', closing: '0.00', lines }))
  await box.poll()
  await box.poll()
  expect(statesOf({ json: await look(file) } as Answer)).toEqual(['rejected', 'unknown', 'paid'])
  await booked(s, account.name)
  const { rows } = await s.sql(
    'select name, became from bank_fetches where account = $1 order by name',
    [account.name],
  )
  expect(rows).toEqual([
    { name: '1.xml', became: 'report' },
    { name: '2.xml', became: 'report' },
    { name: '3.xml', became: 'refused' },
    { name: '4.txt', became: 'refused' },
    { name: '5.xml', became: 'statement' },
  ])
  expect(refused).toHaveLength(2)
  expect(await alarmsAbout(`for ${account.name} was not taken`)).toHaveLength(2)
  const movements = await s.sql('select explained_by from bank_movements where account = $1', [
    account.name,
  ])
  expect(movements.rows).toEqual([{ explained_by: 'payout' }])
  const reads = done('read /out').length
  await box.poll()
  expect(done('read /out')).toHaveLength(reads)
  expect(names().filter((each) => each.startsWith('/out'))).toHaveLength(6)
  expect(done('rename /out')).toEqual([])
})

it('in live what is fetched from the pinned server is the bank’s word', async () => {
  const account = await served()
  const { file, codes, messageId } = await sent(account, 230)
  const items = codes.map((code) => ({ code, status: 'ACSC' }))
  server.put('/out/paid.xml', pain002(messageId, { items }))
  const box = new BankInbox(s.service.desk, 'live', 0, () => {}, never)
  await box.poll()
  await box.poll()
  expect(await look(file)).toMatchObject({ state: 'closed', items: [{ state: 'paid' }] })
})

it('a connection that breaks while it reads loses nothing', async () => {
  const account = await served()
  const { file, messageId } = await sent(account, 240)
  server.put('/out/1.xml', pain002(messageId, { group: 'ACCP' }))
  let left = 1
  server.breaks = (step) => (step === 'read' && left-- > 0 ? 'before' : undefined)
  const { box } = inbox()
  await box.poll()
  await box.poll()
  expect((await maker.get(`/bank-accounts/${account.name}`)).json.sftp_state.fault).not.toBeNull()
  await box.poll()
  expect((await look(file)).state).toBe('acknowledged')
  expect((await maker.get(`/bank-accounts/${account.name}`)).json.sftp_state.fault).toBeNull()
})

it('a refusal in a file of which there are copies is unknown, until two people confirm it', async () => {
  const { file, codes, messageId } = await sent(await served(), 270, 280)
  const [bad = ''] = codes
  await take(file)
  const { box } = inbox()
  // The first copy took the cover.
  const items = [{ code: bad, status: 'RJCT', reason: 'AM04' }]
  server.put('/out/1.xml', pain002(messageId, { group: 'RJCT', reason: 'FF01', items }))
  await box.poll()
  await box.poll()
  expect(statesOf({ json: await look(file) } as Answer)).toEqual(['unknown', 'unknown'])
  expect(await alarmsAbout(`${file.json.id}%copies of it`)).toHaveLength(1)
  const [report] = (await look(file)).reports
  const rejected = await checker.post(`/payout-files/${file.json.id}/reports/${report.id}/reject`, {
    reason: 'the bank says that it has one copy',
    code: checker.code(),
  })
  expect(rejected.status, rejected.text).toBe(202)
})

it('a file that comes short is read again, and those that fail hold no others up', async () => {
  const account = await served()
  const { file, messageId } = await sent(account, 290)
  server.put('/out/1.xml', 'x'.repeat(100))
  server.put('/out/2.xml', pain002(messageId, { group: 'ACCP' }))
  const { box } = inbox()
  await box.poll()
  const whole = server.files.get('/out/1.xml')
  // It is listed as it was, and shrinks whenever it is read.
  server.breaks = (step, path) => {
    if (step === 'list' && whole) server.files.set('/out/1.xml', whole)
    if (step === 'read' && path === '/out/1.xml') {
      server.files.set(path, { bytes: Buffer.from('x'), modifiedS: whole?.modifiedS ?? 0 })
    }
    return undefined
  }
  if (whole) server.files.set('/out/1.xml', whole)
  await box.poll()
  expect((await maker.get(`/bank-accounts/${account.name}`)).json.sftp_state.fault).toContain(
    'listed with 100 bytes',
  )
  if (whole) server.files.set('/out/1.xml', whole)
  await box.poll()
  expect((await look(file)).state).toBe('acknowledged')
  const { rows } = await s.sql('select name from bank_fetches where account = $1', [account.name])
  expect(rows).toEqual([{ name: '2.xml' }])
})

it('an answer about a file that nobody has had is an alarm, and the file stays', async () => {
  const account = await served()
  const file = await approved(account, 300, 301)
  const { box, refused } = inbox()
  const said = pain002(file.json.sealed.message_id, { group: 'RJCT', reason: 'AC04' })
  server.put('/out/1.xml', said)
  await box.poll()
  await box.poll()
  expect(refused).toEqual([])
  expect(await alarmsAbout(`${file.json.id}%nobody has had`)).toHaveLength(1)
  const { state, reports, items } = await look(file)
  expect([state, items[0].state]).toEqual(['approved', 'waiting'])
  expect(reports).toMatchObject([{ breaks: [{ what: 'never_left' }] }])
  const reads = done('read /out').length
  await box.poll()
  expect(done('read /out')).toHaveLength(reads)
  const [one] = file.json.items
  const refusals = [
    await take(file),
    await send(file),
    await maker.post(`/payout-files/${file.json.id}/take-out`, {
      ...{ codes: [one.code], may_try_another: false, reason: 'a wrong payee', code: maker.code() },
    }),
  ]
  for (const { status, json } of refusals) {
    expect([status, json?.detail]).toEqual([409, expect.stringContaining('restored from a backup')])
  }
  expect(names().filter((each) => each.startsWith('/in'))).toEqual([])

  // A debit of another such file says the same.
  const other = await approved(account, 302)
  const lines = [{ amount: '-302.00', endToEndId: other.json.items[0].code }]
  const day = dayAt(s.clock())
  server.put('/out/2.xml', camt({ ...account, day, opening: '302.00', closing: '0.00', lines }))
  await box.poll()
  await box.poll()
  await booked(s, account.name)
  expect(await alarmsAbout(`${other.json.id}%nobody has had`)).toHaveLength(1)
})

it('what fits nothing in a fetched answer is an alarm, and stays with the file', async () => {
  const account = await served()
  const { file, codes, messageId } = await sent(account, 310)
  const { box } = inbox()
  const items = [{ code: codes[0] ?? '', status: 'RJCT', reason: 'AC04' }]
  const said = pain002(messageId, { items }).replace(
    '</OrgnlMsgNmId>',
    '</OrgnlMsgNmId><OrgnlNbOfTxs>2</OrgnlNbOfTxs>',
  )
  server.put('/out/1.xml', said)
  await box.poll()
  await box.poll()
  expect(await look(file)).toMatchObject({
    items: [{ state: 'waiting' }],
    reports: [{ breaks: [{ what: 'sum_differs', found: '2' }] }],
  })
  expect(await alarmsAbout(`${file.json.id}%sum_differs 2`)).toHaveLength(1)

  // In UTF-16, or far down in its file, it is an answer too.
  const other = await sent(account, 330, 331)
  const [one = '', two = ''] = other.codes
  const refusing = (code: string) =>
    pain002(other.messageId, { items: [{ code, status: 'RJCT', reason: 'AC04' }] })
  const wide = `\ufeff${refusing(one).replace('UTF-8', 'UTF-16')}`
  server.put('/out/2.xml', Buffer.from(wide, 'utf16le'))
  server.put(
    '/out/3.xml',
    refusing(two).replace('<Document', `<!-- ${'-x'.repeat(4_000)} --><Document`),
  )
  await box.poll()
  await box.poll()
  expect(statesOf({ json: await look(other.file) } as Answer)).toEqual(['rejected', 'rejected'])
})

it('an answer for another account of ours is an alarm, unless that account looks into the same folder', async () => {
  const here = await served()
  const { box } = inbox()
  const elsewhere = await approved(await payingAccount(s, { payoutCutoffs: '00:01' }), 320)
  await take(elsewhere)
  const beside = await sent(await served(), 321)
  server.put('/out/a.xml', pain002(elsewhere.json.sealed.message_id, { group: 'ACCP' }))
  server.put('/out/b.xml', pain002(beside.messageId, { group: 'ACCP' }))
  await box.poll()
  await box.poll()
  expect(await alarmsAbout(`for ${here.name} was not taken: a.xml%`)).toHaveLength(1)
  expect(await alarmsAbout(`for ${here.name} was not taken: b.xml%`)).toHaveLength(0)
  expect((await look(beside.file)).state).toBe('acknowledged')
})

it('the settings are set in the console, and the private key is never shown', async () => {
  const account = await payingAccount(s)
  const { json: before } = await checker.get(`/bank-accounts/${account.name}`)
  const draft = {
    ...{ bank: before.bank, account_no: before.account_no, account_name: before.account_name },
    ...{ city: null, address: null, qr_kind: before.qr_kind, qr_value: before.qr_value },
    ...{ day_limit: null, file_limit: '0', feed: before.feed, csv_profile: null, encoding: null },
    ...{ own_accounts: [], version: before.version, reason: 'the bank has a server' },
    ...{ sftp_host: 'sftp.bank.example', sftp_user: 'us', sftp_host_key: server.hostKey },
    ...{ sftp_put_folder: '/in', sftp_get_folder: '/out' },
  }
  const change = (more: object) =>
    checker.patch(`/bank-accounts/${account.name}`, { ...draft, ...more, code: checker.code() })
  expect((await change({})).json.errors).toMatchObject([{ field: 'sftp_key' }])
  expect((await change({ sftp_key: 'no key', sftp_host_key: 'MD5:1' })).json.errors).toMatchObject([
    { field: 'sftp_host_key' },
    { field: 'sftp_key' },
  ])
  const key = newKey().private
  const changed = await change({ sftp_key: key })
  expect(changed.json.account).toMatchObject({ sftp_host: 'sftp.bank.example', sftp_port: 22 })
  expect(changed.json.account.changed).toContain('sftp')
  const { rows } = await s.sql('select sftp_key from bank_accounts where name = $1', [account.name])
  expect(rows[0].sftp_key).not.toContain('PRIVATE')
  const audit = await s.sql('select before, after from audit_log where subject_id = $1', [
    account.name,
  ])
  for (const text of [changed.text, JSON.stringify(audit.rows)]) {
    expect(text).not.toContain(key.split('\n')[1] ?? key)
    expect(text).not.toContain(rows[0].sftp_key)
  }
})
