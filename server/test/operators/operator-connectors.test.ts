import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { companyDocument, companySamples } from '../support/company.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, tempFolder } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let ann: OperatorClient
const document = JSON.stringify(companyDocument({ url: 'https://pay.example' }))
const samples = JSON.stringify(companySamples)
const reason = 'a contract was signed'

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
  ann = await signIn(s, 'admin')
})
afterAll(async () => {
  await s.close()
  await cleanUp()
})

const first = { version: 1, use: 0, secrets: { api: 1, hook: 1 } }
const change = (path: string, body: object) => ann.post(path, { ...body, reason, code: ann.code() })

describe('in the console', () => {
  it('a connector is added, gets its secrets, is tried and is used', async () => {
    const bad = await change('/connectors', { name: 'paycompany', document: '{"format":1}' })
    expect([bad.status, bad.json.code]).toEqual([422, 'invalid_request'])
    expect(bad.json.errors.length).toBeGreaterThan(0)
    const added = await change('/connectors', { name: 'paycompany', document })
    expect([added.status, added.json]).toEqual([
      201,
      { name: 'paycompany', version: 1, is_new: true },
    ])
    expect((await change('/connectors/paycompany/use', first)).json.detail).toContain(
      'Set the secrets api, hook first',
    )
    for (const secret of ['api', 'hook']) {
      const { status, json } = await change('/connectors/paycompany/secrets', {
        secret,
        value: `value of ${secret}`,
      })
      expect([status, json]).toEqual([201, { secret, n: 1 }])
    }
    expect((await change('/connectors/paycompany/use', first)).json.detail).toContain(
      'Version 1 has not passed its samples: try them first',
    )
    const ran = await ann.post('/connectors/paycompany/samples', { samples })
    expect(ran.json).toMatchObject({ version: 1, passed: true, missing: [] })
    const used = await change('/connectors/paycompany/use', first)
    expect([used.status, used.json]).toEqual([200, { name: 'paycompany', version: 1, use: 1 }])
    const late = await change('/connectors/paycompany/use', first)
    expect(late.json.code).toBe('changed_meanwhile')
  })

  it('is shown without its secrets, in the log too', async () => {
    const { json, text } = await ann.get('/connectors/paycompany')
    expect(json).toMatchObject({
      name: 'paycompany',
      company: 'Imaginary Pay',
      state: 'off',
      version: 1,
      use: 1,
      secrets: [
        { name: 'api', newest: 1, in_use: 1, found: 'of calls' },
        { name: 'hook', newest: 1, in_use: 1 },
      ],
      versions: [{ version: 1, passed: true }],
    })
    expect(text).not.toContain('value of')
    expect((await ann.get('/connectors')).json.data).toMatchObject([{ name: 'paycompany' }])
    const shown = await ann.get('/connectors/paycompany/versions/1')
    expect(shown.json).toEqual({ version: 1, document })
    const { rows } = await s.sql('select after::text, before::text, reason from audit_log')
    expect(JSON.stringify(rows)).not.toContain('value of')
    const { rows: kept } = await s.sql(
      `select encode(sealed, 'escape') as text from connector_secrets`,
    )
    expect(JSON.stringify(kept)).not.toContain('value of')
  })

  it('tells which rule an answer or a notice would fire, and what would happen', async () => {
    const attempt = (body: object) => ann.post('/connectors/paycompany/try', body)
    const answer = await attempt({
      call: 'askPayout',
      body: '{"ref":"SX1","state":"DONE"}',
      reference: 'SX1',
    })
    expect(answer.json).toEqual({
      version: 1,
      assumed: [],
      signature: null,
      tried: [{ rule: '/askPayout/answers/1', rule_name: null, got: ['paid'], fault: null }],
    })
    const html = await attempt({ call: 'askPayout', body: '<html>' })
    expect(html.json.tried).toMatchObject([{ rule: null, got: ['unknown'] }])
    const notice = await attempt({
      call: 'notice',
      body: JSON.stringify(companySamples.samples[1]?.body),
      headers: 'X-Sign: t=1,v1=00\ncontent-type: application/json',
    })
    expect(notice.json).toMatchObject({
      signature: 'By the secret in use, its signature is not right.',
      tried: [{ rule: '/notice/rules/0', got: ['payment 100 THB for SX0000000000A as pi_1'] }],
    })
    expect((await attempt({ call: 'notice', body: '{}', version: 9 })).status).toBe(404)
    // What is not given is taken from the answer, and said.
    const left = await attempt({ call: 'askPayout', body: '{"ref":"SX1","state":"DONE"}' })
    expect(left.json).toMatchObject({ assumed: ['reference'], tried: [{ got: ['paid'] }] })
    // A notice of a log is too old, and nothing else is wrong with it.
    const old = Math.floor(s.clock().getTime() / 1000) - 3_600
    const v1 = createHmac('sha256', 'value of hook').update(`${old}.{}`).digest('hex')
    const late = await attempt({ call: 'notice', body: '{}', headers: `x-sign: t=${old},v1=${v1}` })
    expect(late.json.signature).toBe('By the secret in use, its time is not now.')
  })

  it('tries what depends on an address or on an id of the company', async () => {
    const { notice, askPayout } = companyDocument({ url: 'https://pay.example' })
    const picky = {
      ...JSON.parse(document),
      notice: { ...notice, from: ['203.0.113.0/24'] },
      askPayout: { ...askPayout, echo: { reference: '/ref', theirId: '/id' } },
    }
    await change('/connectors', { name: 'paycompany', document: JSON.stringify(picky) })
    const attempt = (body: object) =>
      ann.post('/connectors/paycompany/try', { version: 2, ...body })
    const done = '{"ref":"SX1","id":"po_1","state":"DONE"}'
    const about = { call: 'askPayout', body: done, reference: 'SX1' }
    expect((await attempt({ ...about, their_id: 'po_1' })).json.tried[0].got).toEqual(['paid'])
    expect((await attempt({ ...about, their_id: 'po_2' })).json.tried[0].got).toEqual(['unknown'])
    const t = Math.floor(s.clock().getTime() / 1000)
    const v1 = createHmac('sha256', 'value of hook').update(`${t}.{}`).digest('hex')
    const told = { call: 'notice', body: '{}', headers: `x-sign: t=${t},v1=${v1}` }
    const said = async (more: object) => (await attempt({ ...told, ...more })).json.signature
    expect(await said({})).toContain('give the address')
    expect(await said({ address: '203.0.113.9' })).toBe('genuine')
    expect(await said({ address: '198.51.100.9' })).toContain('it comes from another address')
  })

  it('is used with another key of calls only if it is said whose that is', async () => {
    const secret = { secret: 'api', value: 'another key' }
    await change('/connectors/paycompany/secrets', secret)
    const next = { version: 1, use: 1, secrets: { api: 2, hook: 1 } }
    const unsaid = await change('/connectors/paycompany/use', next)
    expect([unsaid.status, unsaid.json.errors[0].field]).toEqual([422, 'same_account'])
    const used = await change('/connectors/paycompany/use', { ...next, same_account: true })
    expect(used.json).toMatchObject({ use: 2 })
    const { rows } = await s.sql(
      `select same_since from connector_uses where connector = 'paycompany' order by n`,
    )
    expect(rows).toEqual([{ same_since: 1 }, { same_since: 1 }])
    const strange = await change('/connectors/paycompany/secrets', { secret: 'apii', value: 'x' })
    expect([strange.status, strange.json.detail]).toEqual([
      422,
      expect.stringContaining('is in no version of the document'),
    ])
    expect((await ann.get('/connectors/nobody')).status).toBe(404)
  })

  it('that cannot be read is shown so, and the service goes on', async () => {
    const { rows: kept } = await s.sql(
      `select secret, n, sealed from connector_secrets where connector = 'paycompany'`,
    )
    await s.sql(`update connector_secrets set sealed = '\\x00' where connector = 'paycompany'`)
    // A process that has never read it.
    const beside = await startTestService({ beside: s, outside: { providers: [] } })
    try {
      const there = await signIn(beside, 'admin')
      const { data } = (await there.get('/connectors')).json
      const found = data.find(({ name }: { name: string }) => name === 'paycompany')
      expect(found.fault).toEqual(expect.any(String))
      expect((await there.get('/connectors/paycompany')).json.fault).toBe(found.fault)
      expect((await there.get('/home')).status).toBe(200)
    } finally {
      await beside.close()
      for (const { secret, n, sealed } of kept) {
        await s.sql(
          `update connector_secrets set sealed = $3 where connector = 'paycompany' and secret = $1 and n = $2`,
          [secret, n, sealed],
        )
      }
    }
  })

  it('is for admins alone', async () => {
    const bob = await signIn(s, 'operator')
    expect((await bob.get('/connectors')).status).toBe(403)
    expect((await bob.post('/connectors/paycompany/try', {})).status).toBe(403)
  })
})

describe('on the command line', () => {
  it('a connector is added, tried, switched on and shown', async () => {
    const folder = await tempFolder()
    const env = {
      DATABASE_URL: s.database.url,
      DATABASE_OWNER_URL: s.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const file = join(folder, 'clipay.json')
    const set = join(folder, 'samples.json')
    await writeFile(file, document)
    await writeFile(set, samples)
    const secrets = ['--secret', 'api=one', 'hook=two']
    expect(await commandJson(['provider', 'add', file, ...secrets], env)).toEqual({
      name: 'clipay',
      version: 1,
      is_new: true,
    })
    const early = await command(['provider', 'set', 'clipay', 'on'], env)
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('has not passed')])
    const half = JSON.stringify({ ...companySamples, samples: companySamples.samples.slice(0, 3) })
    await writeFile(join(folder, 'half.json'), half)
    const failed = await command(
      ['provider', 'test', 'clipay', '--sample', join(folder, 'half.json')],
      env,
    )
    expect(failed.code).toBe(1)
    expect(failed.stdout).toContain('a payout that is paid')
    const passed = await command(['provider', 'test', 'clipay', '--sample', set], env)
    expect([passed.code, passed.stdout]).toEqual([0, expect.stringContaining('has passed')])
    const on = await commandJson(['provider', 'set', 'clipay', 'on'], env)
    expect(on).toEqual({ name: 'clipay', state: 'on' })
    const list = await commandJson(['provider', 'list'], env)
    expect(list).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'clipay', state: 'on' })]),
    )
    const shown = await commandJson(['provider', 'show', 'clipay'], env)
    expect(shown).toMatchObject({
      in_use: 1,
      versions: [1],
      document: { company: 'Imaginary Pay' },
    })
    const { stderr } = await command(['provider', 'add', set, '--name', 'wrong'], env)
    expect(stderr).toContain('document')
  })
})
