import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makeAccount } from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, type Env } from '../support/process.ts'
import {
  type AgentClient,
  type Answer,
  startTestService,
  type TestService,
} from '../support/service.ts'

/** Whatever text an agent puts into an order, every page and file about it opens, and says it as it was sent. */

let s: TestService
let shop: AgentClient
let admin: OperatorClient
let viewer: OperatorClient
let owner: OperatorClient
let env: Env
const made: Made[] = []

beforeAll(async () => {
  s = await startTestService()
  shop = await s.agent({ name: 'Shop' })
  admin = await signIn(s, 'admin')
  viewer = await signIn(s, 'viewer')
  owner = await signIn(s, 'agent', shop)
  env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'fatal',
  }
  await shop.fund(1_000_000)
})

afterEach(() => s.prove())
afterAll(async () => {
  await cleanUp()
  await s.close()
})

/** An order that was taken, with what was sent. */
interface Made {
  txnId: string
  kind: 'deposit' | 'withdraw'
  link: string | undefined
  refId: string
  userId: string
  accountName: string
  extraParams: string | null
}

const texts = [
  'a\u0000b',
  'a\ud800b',
  'a\udc00b',
  '\u202egnp.exe\u202c',
  '\u2066a\u2069',
  '\ufeffa',
  'a\u2028b',
  'tab\tand\nline',
  `'; drop table orders; --`,
  '"quoted"',
  'back\\slash \\u0000',
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '&amp;&#0;',
  '=1+2',
  '@cmd|calc',
  `-2+3";"`,
  '%00%0a%s',
  '$(id) {{7*7}} `id`',
  '😀👩‍👩‍👧'.repeat(2),
  'ก็ Nguyễn 王',
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  '',
  ' ',
]

const fields = ['refId', 'userId', 'accountName', 'accountNo', 'bankCode', 'timestamp'] as const

/** JSON as it may stand in a request; each comes back as the same bytes. */
const extras = [
  ...texts
    .filter(({ length }) => length < 1_000)
    .map((text) => JSON.stringify({ a: text, [text]: [text] })),
  '{"a":"\\u0000"}',
  '{"\\u0000":"\\ud800","b":"\\udc00\\ud800"}',
  '{ "spaced" : [ 1.50 , 1e2, 9007199254740993, -0 ] }',
  '{"__proto__":{"status":"PAID"},"constructor":{"prototype":{}},"toString":1}',
  '{"constructor":{"accountNo":"1234567890"},"status":"nasty"}',
  '{"a":{"b":{"c":{"d":1}}}}',
  '{"a":[[[[]]]]}',
  JSON.stringify({ long: 'é'.repeat(2_000) }),
  '{"escaped":"\\u0041\\/"}',
]

/** Creates an order from a body of text, and keeps it where it was taken. */
async function create(
  kind: Made['kind'],
  body: Record<string, unknown>,
  extraParams: string | null,
) {
  const json = JSON.stringify(body)
  const text = extraParams === null ? json : `${json.slice(0, -1)},"extraParams":${extraParams}}`
  const answer = await shop.send('POST', `/payment/${kind}`, text)
  expect(answer.status, answer.text).toBeLessThan(500)
  if (answer.status !== 201) return answer
  const { refId, userId, accountName } = body as Record<string, string>
  made.push({
    txnId: answer.json.txn_id,
    link: answer.json.link,
    kind,
    refId: refId ?? '',
    userId: userId ?? '',
    accountName: accountName ?? '',
    extraParams,
  })
  return answer
}

/** Each order comes to an end of its own, by everybody who can end one. */
function end({ txnId, kind }: Made, at: number): Promise<Answer> {
  if (kind === 'withdraw') {
    return at % 4 === 1 ? shop.post(`/payment/orders/${txnId}/cancel`) : shop.trigger(txnId, 'PAID')
  }
  const reason = 'as the test has it'
  if (at % 3 === 0) return admin.post(`/orders/${txnId}/void`, { reason, code: admin.code() })
  return shop.trigger(txnId, 'PAID', at % 3 === 1 ? { paidAmount: 99 } : {})
}

describe('text of every kind in every field', () => {
  it.each(fields)('%s is taken as it is or refused by name', async (field) => {
    for (const [at, text] of texts.entries()) {
      const kind = at % 2 === 0 ? 'deposit' : 'withdraw'
      const answer = await create(kind, shop.order({ [field]: text }), null)
      if (answer.status === 201) continue
      expect([400, 422], `${JSON.stringify(text)}: ${answer.text}`).toContain(answer.status)
      if (answer.json.errors) expect(answer.json.errors).toMatchObject([{ field }])
    }
  })

  it('extraParams may hold any JSON', async () => {
    for (const [at, text] of extras.entries()) {
      const kind = at % 2 === 0 ? 'deposit' : 'withdraw'
      expect((await create(kind, shop.order(), text)).status, text).toBe(201)
    }
  })

  it('keeps no order from coming to its end', async () => {
    expect(made.length).toBeGreaterThan(70)
    for (const [at, order] of made.entries()) {
      const { status, text } = await end(order, at)
      expect(status, text).toBe(200)
    }
  })
})

describe('an order with such text', () => {
  it('is read by its agent as it was sent, and so are its callbacks', async () => {
    const told = new Map<string, string>()
    for (let after = 0; ; ) {
      const { json } = await shop.get(`/payment/events?limit=200&after=${after}`)
      for (const { txn_id, body } of json.data) told.set(txn_id, body)
      if (json.next === null) break
      after = json.next
    }
    for (const { txnId, refId, userId, extraParams } of made) {
      const { json } = await shop.get(`/payment/orders/${txnId}`)
      expect(json).toMatchObject({ ref_id: refId, user_id: userId })
      // As fetch writes it, so that what is signed is what is sent.
      const query = new URLSearchParams({ refId })
      const found = await shop.get(`/payment/orders?${query}`)
      expect(found.json).toMatchObject({ txn_id: txnId })
      const body = told.get(txnId)
      if (body !== undefined)
        expect(body).toContain(`"extParams":${extraParams ?? '{}'},"successAt"`)
    }
    expect(told.size).toBeGreaterThan(50)
  })

  it('opens in the console for everybody, and hides persons from viewers', async () => {
    for (const { txnId, refId, userId, accountName, extraParams } of made) {
      const [all, masked, own, found] = await Promise.all([
        admin.get(`/orders/${txnId}`),
        viewer.get(`/orders/${txnId}`),
        owner.get(`/orders/${txnId}`),
        admin.get(`/orders?${new URLSearchParams({ q: refId })}`),
      ])
      for (const { status, text } of [all, masked, own]) expect(status, text).toBe(200)
      const expected = { ref_id: refId, user_id: userId, account_name: accountName }
      expect(all.json.order).toMatchObject({ ...expected, extra_params: extraParams })
      expect(masked.text).not.toContain('1234567890')
      expect(found.json.data).toMatchObject([{ txn_id: txnId }])
    }
  })

  it('is looked for by any text', async () => {
    for (const text of texts) {
      const { status } = await admin.get(`/orders?${new URLSearchParams({ q: text })}`)
      expect(status, JSON.stringify(text)).toBeLessThan(500)
    }
  })

  it('leaves every other page and file of the console open', async () => {
    const { json: description } = await admin.get('/openapi.json')
    const { json: payments } = await admin.get('/payments?limit=200')
    expect(payments.data.length).toBeGreaterThan(5)
    const seqs: number[] = []
    for (let cursor = ''; ; ) {
      const { status, text, json } = await admin.get(`/callbacks?limit=50${cursor}`)
      expect(status, text).toBe(200)
      seqs.push(...json.data.map(({ seq }: { seq: number }) => seq))
      if (json.next === null) break
      cursor = `&cursor=${json.next}`
    }
    expect(seqs.length).toBeGreaterThan(50)
    // What a provider would have contradicted: a withdrawal with such text, as it ended.
    const { rows: items } = await s.sql(
      `insert into open_items (agent_id, item_id, kind, order_id, provider, reference, amount, currency,
         provider_said, order_status, opened_at)
       select agent_id, 'failed_after_paid-' || provider_ref, 'failed_after_paid', order_id, provider,
         provider_ref, amount, 'THB', 'FAILED', status, now()
       from orders where agent_id = $1 and kind = 'withdraw' and status = 'PAID' limit 20
       returning item_id`,
      [shop.agentId],
    )
    expect(items.length).toBeGreaterThan(0)
    const values: Record<string, (string | number)[]> = {
      item_id: items.map(({ item_id }) => item_id),
      txn_id: made.slice(0, 1).map(({ txnId }) => txnId),
      app_id: [shop.appId],
      seq: seqs,
      payment_id: payments.data.map(({ payment_id }: { payment_id: string }) => payment_id),
      period: ['30d'],
      of: ['wallets', 'agents', 'providers', 'lanes'],
      format: ['csv'],
      q: made.map(({ refId }) => refId).filter((refId) => refId.length > 1),
      from: ['2020-01-01T00:00:00Z'],
      to: ['2090-01-01T00:00:00Z'],
      currency: ['THB'],
      name: [(await makeAccount(s, { accountName: '<img src=x>' }, { isOff: true })).account.name],
      // In the sandbox nothing is proposed, and nobody has brought a slip.
      id: [],
      slip: [],
    }
    for (const [path, { get }] of Object.entries<Answer['json']>(description.paths)) {
      if (!get) continue
      const asked = get.parameters.filter(({ required }: { required: boolean }) => required)
      // Agents' text does not come near the documents of connectors.
      if (path.startsWith('/console/api/connectors/{name}')) continue
      for (const address of addresses(path.replace('/console/api', ''), asked, values)) {
        for (const client of address.includes('callbacks/') ? [admin, viewer] : [admin]) {
          const { status, text } = await client.get(address)
          expect(status, `${address}: ${text}`).toBe(200)
        }
      }
    }
  })

  it('stands in the table of orders, where no text is a formula', async () => {
    const { status, text } = await admin.get('/orders.csv')
    expect(status).toBe(200)
    for (const { refId, userId } of made) {
      for (const each of [refId, userId]) {
        const plain = /^\s*[=+\-@]/.test(each) ? `'${each}` : each
        expect(text).toContain(/[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain)
      }
    }
    expect(text).not.toMatch(/(^|,)"?[=@]/m)
  })

  it('has a payment page, on which no text is a tag', async () => {
    const deposits = made.filter(({ link }) => link !== undefined)
    expect(deposits.length).toBeGreaterThan(30)
    for (const [at, { link }] of deposits.entries()) {
      if (at % 50 === 49) s.clock.advance(60_000)
      for (const part of at % 5 === 0 ? ['', '/qr', '/state'] : ['']) {
        const page = await fetch(`${link}${part}`)
        expect(page.status).toBe(200)
        const html = await page.text()
        expect(html).not.toContain('<script>alert')
        expect(html).not.toContain('<img src=x')
      }
    }
  })

  it('is shown and listed on the command line', async () => {
    for (const { txnId, refId, userId } of made.filter((_order, at) => at % 20 === 0)) {
      const shown = await commandJson(['order', 'show', txnId], env)
      expect(shown).toMatchObject({ ref_id: refId, user_id: userId })
    }
    for (const args of [
      ['order', 'show', made[0]?.txnId ?? ''],
      ['callback', 'list', '--agent', shop.appId, '--limit', '500'],
      ['payments', 'list'],
      ['payout', 'list'],
      ['wallet', 'show', shop.appId],
      ['agent', 'show', shop.appId],
    ]) {
      const { code, stderr } = await command(args, env)
      expect(code, stderr).toBe(0)
    }
  })
})

/** Every address a path has with these values. */
function addresses(
  path: string,
  asked: { name: string; in: string }[],
  values: Record<string, (string | number)[]>,
): string[] {
  return asked.reduce(
    (all: string[], { name, in: where }) => {
      const known = values[name]
      if (!known) throw new Error(`say which ${name} GET ${path} is to be opened with`)
      return known.flatMap((value) => {
        const text = encodeURIComponent(value)
        return all.map((one) =>
          where === 'path'
            ? one.replace(`{${name}}`, text)
            : `${one}${one.includes('?') ? '&' : '?'}${name}=${text}`,
        )
      })
    },
    [path],
  )
}
