import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseLogo, saveBrand } from '../../src/agents/agent-brand.ts'
import { pageToken } from '../../src/orders/page-token.ts'
import { signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, serve, tempFolder } from '../support/process.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let agent: AgentClient

beforeAll(async () => {
  test = await startTestService()
  agent = await test.agent({ name: 'Chao Phraya Books', support: 'Call 02 123 4567.' })
})
// The clock stands still, and with it what an address may ask.
beforeEach(() => test.clock.advance(10_000))
afterAll(async () => {
  await cleanUp()
  await test?.prove()
  await test?.close()
})

/** The path of a new order's page. */
async function newPage(of = agent, fields: Record<string, unknown> = {}) {
  const { json } = await of.deposit(fields)
  return { path: new URL(json.link).pathname, txnId: json.txn_id as string, order: json }
}

async function open(path: string, init: RequestInit = {}, of = test) {
  const response = await fetch(of.service.url + path, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('what the page shows', () => {
  it('amount and reference first, then the ways to pay', async () => {
    const { path, order } = await newPage(agent, { amount: 1250, refId: 'BOOK-1' })
    const { status, text } = await open(path)
    expect(status).toBe(200)
    const body = text.slice(text.indexOf('<main'))
    const places = ['฿1,250.00', 'BOOK-1', 'id="state"', '<svg', order.transfer.account_number].map(
      (part) => body.indexOf(part),
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places[0]).toBeGreaterThan(0)
    expect(text).toContain('Call 02 123 4567.')
    expect(text).toContain('15:00')
    expect(text).toContain('data-copy="1250"')
  })

  it.each([
    ['link', true, true],
    ['link+qrcode', true, false],
    ['link+transfer', false, true],
    ['link+qrcode+transfer', true, true],
  ] as const)('by %s: QR %s, transfer %s', async (method, qr, transfer) => {
    const { path } = await newPage(await test.agent({ method }))
    const { text } = await open(path)
    expect(text.includes('<svg class="qr"')).toBe(qr)
    expect(text.includes('SANDBOX NOT A REAL ACCOUNT')).toBe(transfer)
    expect((await open(`${path}/qr`)).status).toBe(qr ? 200 : 303)
    expect((await open(`${path}/qr.png`)).status).toBe(qr ? 200 : 404)
  })

  it('the app of the payer’s bank, where a link for it is published, and never one that was guessed', async () => {
    const hanoi = await test.agent({ name: 'Hanoi Books', currency: 'VND' })
    const linked = await newPage(hanoi, { amount: 250_000, bankCode: 'VIETCOMBANK' })
    const { text } = await open(linked.path)
    expect(text).toMatch(/href="https:\/\/dl\.vietqr\.io\/pay\?app=vcb" rel="noopener noreferrer"/)
    expect(text).toContain('Open the <bdi>Vietcombank</bdi> app')
    for (const [of, fields] of [
      [hanoi, { amount: 250_000, bankCode: 'STB' }],
      [agent, { bankCode: 'SCB' }],
    ] as const) {
      expect((await open((await newPage(of, fields)).path)).text).not.toContain(
        'class="actions app"',
      )
    }
    await hanoi.trigger(linked.txnId, 'PAID')
    expect((await open(linked.path)).text).not.toContain('dl.vietqr.io')
  })

  it('names that are markup stay text', async () => {
    const nasty = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`
    const hostile = await test.agent({ name: nasty, support: `${nasty} {amount}` })
    const { path } = await newPage(hostile, { refId: `"><script>x` })
    for (const at of [path, `${path}/qr`, `${path}?lang=${encodeURIComponent(nasty)}`]) {
      const { text } = await open(at)
      expect(text).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>/)
      expect(text).toContain('&#60;script&#62;')
    }
  })

  it.each([
    ['PAID', {}, 'paid', 'has reached'],
    ['FAILED', {}, 'failed', 'No money has arrived'],
    ['VOID', {}, 'void', 'cancelled'],
    ['EXPIRED', {}, 'expired', 'time to pay is over'],
    ['PAID', { paidAmount: 90 }, 'wrong_amount', '฿90.00 has arrived instead of'],
  ])('after %s %o it is %s and says so, and whom to ask', async (outcome, more, state, says) => {
    const { path, txnId } = await newPage()
    expect((await agent.trigger(txnId, outcome, more)).status).toBe(200)
    const { text } = await open(path)
    expect(text).toContain(`data-state="${state}"`)
    expect(text).toContain(says)
    expect(text).toContain('Call 02 123 4567.')
    // Nobody should pay with it any more.
    expect(text).not.toContain('<svg')
    expect(text).not.toContain('SANDBOX NOT A REAL ACCOUNT')
    expect((await open(`${path}/qr`)).headers.get('location')).toBe(path)
    expect((await open(`${path}/qr.png`)).status).toBe(303)
  })

  it('money that cannot be counted for a reason of the agent is being checked', async () => {
    const dear = await test.agent({ depositFee: '10', lateMoney: 'credit' })
    const { path, txnId } = await newPage(dear)
    expect((await dear.trigger(txnId, 'PAID', { paidAmount: 5 })).status).toBe(200)
    const { text } = await open(path)
    expect(text).toContain('data-state="received"')
    expect(text).toContain('฿5.00 has arrived')
  })

  it('late money and money taken back are told apart from the rest', async () => {
    const voided = await newPage()
    await agent.trigger(voided.txnId, 'VOID')
    await agent.trigger(voided.txnId, 'PAID')
    expect((await open(voided.path)).text).toContain('data-state="paid_late"')
    const back = await newPage()
    await agent.trigger(back.txnId, 'PAID')
    await agent.trigger(back.txnId, 'VOID')
    expect((await open(back.path)).text).toContain('data-state="taken_back"')
  })

  it('a second payment is said to have arrived, and what became of it', async () => {
    const { path, txnId } = await newPage()
    await agent.trigger(txnId, 'PAID')
    expect((await open(path)).text).not.toContain('data-other=')
    await agent.trigger(txnId, 'PAID', { paidAmount: 70 })
    const { text } = await open(path)
    expect(text).toContain('data-state="paid"')
    expect(text).toContain('data-others="waiting"')
    expect(text).toMatch(/Another payment of <b>฿70\.00<\/b> has arrived/)
    expect(JSON.parse((await open(`${path}/state`)).text)).toEqual({
      state: 'paid',
      remaining: 0,
      others: ['waiting'],
    })
    const admin = await signIn(test, 'admin')
    const { rows } = await test.sql(
      `select payment_id from payments where order_id = $1 and state = 'waiting'`,
      [txnId.split('-')[1]],
    )
    const payment = encodeURIComponent(rows[0].payment_id)
    const sentBack = await admin.post(`/payments/${payment}/return`, {
      evidence: 'transfer 99',
      reason: 'paid twice',
      code: admin.code(),
    })
    expect([sentBack.status, sentBack.text]).toEqual([200, sentBack.text])
    expect((await open(path)).text).toContain('A payment of <b>฿70.00</b> was sent back')
  })

  it('a wrong amount is not forgotten when the right one follows', async () => {
    const { path, txnId, order } = await newPage()
    await agent.trigger(txnId, 'PAID', { paidAmount: order.amount - 10 })
    await agent.trigger(txnId, 'PAID')
    const { text } = await open(path)
    expect(text).toContain('data-state="paid"')
    expect(text).toMatch(/Another payment of <b>฿[\d,.]+<\/b> has arrived/)
  })

  it('a paid order has a receipt', async () => {
    const { path, txnId } = await newPage(agent, { amount: 500, refId: 'BOOK-2' })
    await agent.trigger(txnId, 'PAID')
    const { text } = await open(path)
    const receipt = text.slice(text.indexOf('class="card receipt"'))
    for (const part of ['Chao Phraya Books', '฿500.00', 'BOOK-2', txnId]) {
      expect(receipt).toContain(part)
    }
  })

  it('a way back to the shop, where the agent has named it', async () => {
    const own = await test.agent({
      returnUrl: 'https://shop.example/thanks',
      frameOrigins: ['https://pay.shop.example'],
    })
    const linkOf = async (extraParams: Record<string, unknown>, pays = false) => {
      const { path, txnId } = await newPage(own, { extraParams })
      if (pays) await own.trigger(txnId, 'PAID')
      return /<a id="back" class="([^"]*)" href="([^"]*)" rel="noopener noreferrer">/.exec(
        (await open(path)).text,
      )
    }
    const agents = ['button', 'https://shop.example/thanks']
    expect((await linkOf({}))?.slice(1)).toEqual(agents)
    expect((await linkOf({}, true))?.slice(1)).toEqual(['button main', agents[1]])
    const asked = 'https://pay.shop.example/order/7'
    expect((await linkOf({ returnUrl: asked }))?.[2]).toBe(asked)
    for (const returnUrl of ['javascript:alert(1)', '//evil.example', 7, 'https://evil.example/']) {
      expect((await linkOf({ returnUrl }))?.slice(1)).toEqual(agents)
    }
    const { path } = await newPage(agent, { extraParams: { returnUrl: asked } })
    expect((await open(path)).text).not.toContain('id="back"')
  })

  it('without scripts it loads itself again while anything can still happen', async () => {
    const { path, txnId } = await newPage()
    const refresh = '<noscript><meta http-equiv="refresh"'
    expect((await open(path)).text).toContain(refresh)
    await agent.trigger(txnId, 'PAID')
    expect((await open(path)).text).not.toContain('http-equiv="refresh"')
  })
})

describe('languages', () => {
  it.each([
    ['', 'th', 'th', 'หมายเลขอ้างอิง'],
    ['', 'vi-VN,vi;q=0.9', 'vi', 'Mã tham chiếu'],
    ['?lang=vi', 'th', 'vi', 'Mã tham chiếu'],
    ['', 'zh-CN', 'zh', '参考号'],
    ['?lang=pt', 'th', 'pt', 'Referência'],
    ['?lang=xx', 'de', 'en', 'Reference'],
  ])('%s with Accept-Language %s is %s', async (query, accepted, lang, says) => {
    const { path } = await newPage()
    const { text } = await open(path + query, { headers: { 'accept-language': accepted } })
    expect(text).toContain(`<html lang="${lang}" dir="ltr">`)
    expect(text).toContain(says)
  })

  it('a language asked for is kept on the way through the page', async () => {
    const { path } = await newPage()
    const { text } = await open(`${path}?lang=th`)
    expect(text).toContain(`${path}/qr?lang=th`)
    expect(text).toContain(`action="${path}/sandbox?lang=th"`)
  })

  it('a wrong link is answered in the language of who follows it', async () => {
    const { status, text } = await open('/pay/wrong', { headers: { 'accept-language': 'th' } })
    expect(status).toBe(404)
    expect(text).toContain('ลิงก์ชำระเงินนี้ไม่ถูกต้อง')
  })
})

describe('safety', () => {
  const policy = (origins: string) =>
    new RegExp(
      `^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[\\w+/=]{44}'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${origins}$`,
    )

  let live: TestService
  beforeAll(async () => {
    live = await startTestService({
      beside: test,
      env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    })
  })
  afterAll(() => live.close())

  it('nobody keeps, lists, frames or leaks the page', async () => {
    const { path } = await newPage()
    for (const at of [path, `${path}/qr`, '/pay/wrong']) {
      const { headers } = await open(at, {}, live)
      expect(headers.get('content-security-policy')).toMatch(policy("'none'"))
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    for (const at of ['/state', '/qr.png', '/events']) {
      const controller = new AbortController()
      const { headers } = await fetch(test.service.url + path + at, { signal: controller.signal })
      expect(headers.get('cache-control'), at).toBe('no-store')
      controller.abort()
    }
  })

  it.each([
    ['in the sandbox', () => test, []],
    ['in the sandbox, whatever the agent says', () => test, ['https://shop.example']],
    ['where the agent says so', () => live, ['any']],
  ])('every origin may frame it %s', async (_where, of, frameOrigins) => {
    const { path } = await newPage(await test.agent({ frameOrigins }))
    const { headers, text } = await open(`${path}?origin=https%3A%2F%2Fa.example`, {}, of())
    expect(headers.get('content-security-policy')).toMatch(policy('\\*'))
    expect(headers.get('x-frame-options')).toBeNull()
    expect(text).toContain('data-parent-origin="https://a.example"')
    expect((await open(`${path}?origin=*`, {}, of())).text).toContain('data-parent-origin=""')
  })

  it('only the origins the agent names may frame it', async () => {
    const framed = await test.agent({
      frameOrigins: ['https://shop.example', 'http://localhost:3000'],
    })
    const { path } = await newPage(framed)
    const { headers } = await open(path, {}, live)
    expect(headers.get('content-security-policy')).toMatch(
      policy('https://shop\\.example http://localhost:3000'),
    )
    expect(headers.get('x-frame-options')).toBeNull()
  })

  it.each([
    ['?origin=https%3A%2F%2Fshop.example', {}, 'https://shop.example'],
    ['', { referer: 'https://shop.example/basket' }, 'https://shop.example'],
    ['?origin=https%3A%2F%2Fevil.example', {}, ''],
    ['', { referer: 'https://evil.example/' }, ''],
    ['?origin=*', {}, ''],
    ['?origin=https%3A%2F%2Fshop.example&origin=*', {}, ''],
  ])('with %s and %o it speaks to "%s" alone', async (query, headers, origin) => {
    const framed = await test.agent({ frameOrigins: ['https://shop.example'] })
    const { path } = await newPage(framed)
    const { text } = await open(path + query, { headers }, live)
    expect(text).toContain(`data-parent-origin="${origin}"`)
  })

  it('asks nothing of anybody else and runs nothing inline', async () => {
    const { path } = await newPage()
    const { text } = await open(path)
    expect(text).not.toMatch(/https?:\/\/|\sstyle=|\son\w+=|javascript:/)
    expect(text.match(/<script/g)).toHaveLength(1)
    expect(text).toMatch(/<script type="module" src="\/pay\/assets\/page\.[0-9a-f]{16}\.js">/)
  })

  it('the page weighs less than 30 KB with all that belongs to it', async () => {
    const { path } = await newPage()
    for (const lang of ['en', 'th', 'vi', 'zh', 'pt']) {
      const { text } = await open(`${path}?lang=${lang}`)
      const files = [...text.matchAll(/\/pay\/assets\/[\w.]+/g)].map(String)
      expect(files).toHaveLength(2)
      let bytes = Buffer.byteLength(text)
      for (const file of files) {
        const { status, text: content, headers } = await open(file)
        expect(status).toBe(200)
        expect(headers.get('cache-control')).toContain('immutable')
        bytes += Buffer.byteLength(content)
      }
      expect(bytes, lang).toBeLessThan(30_000)
    }
  })

  it('opening it changes nothing', async () => {
    const { path, txnId } = await newPage()
    const rows = () =>
      test.sql(
        `select (select jsonb_agg(o order by order_id) from orders o) as orders,
           (select count(*) from journal) as journal, (select count(*) from payments) as payments,
           (select jsonb_agg(b) from agent_brands b) as brands`,
      )
    const before = (await rows()).rows
    for (const method of ['GET', 'HEAD']) {
      for (const at of ['', '/qr', '/qr.png', '/state', '/logo', '?lang=th']) {
        await open(path + at, { method })
      }
    }
    expect((await open(`${path}/sandbox`)).status).toBe(405)
    expect((await rows()).rows).toEqual(before)
    expect((await agent.get(`/payment/orders/${txnId}`)).json.status).toBe('WAITING')
  })

  it('HEAD says what GET would, without the page', async () => {
    const { path } = await newPage()
    const { status, headers, text } = await open(path, { method: 'HEAD' })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(text).toBe('')
  })

  it('one address cannot ask without end, and is told so as a page', async () => {
    const other = await startTestService({ beside: test })
    const answers = await Promise.all(
      Array.from({ length: 501 }, () => open('/pay/wrong', {}, other)),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(1)
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(refused[0]?.text).toContain('Too many requests')
    await other.close()
  })

  it("no token but the order's own opens it; all wrong ones look alike", async () => {
    const { path, txnId } = await newPage()
    const other = await newPage(await test.agent())
    const keys = test.backend.secretKeys
    const [agentId = '', orderId = ''] = txnId.split('-')
    const mark = path.split('-').slice(2).join('-')
    const withdrawal = await (async () => {
      await agent.fund(1_000)
      const { json } = await agent.withdraw()
      return pageToken(keys, BigInt(agentId), json.txn_id.split('-')[1])
    })()
    const wrong = [
      `/pay/${txnId}`,
      `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`,
      `/pay/${other.txnId}-${mark}`,
      `/pay/${pageToken(keys, BigInt(agentId) + 5n, orderId)}`,
      // A withdrawal has no page, even for who has the key.
      `/pay/${withdrawal}`,
    ]
    const answers = await Promise.all(wrong.map((each) => open(each)))
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 404))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    for (const each of wrong) {
      expect((await open(`${each}/state`)).status).toBe(404)
      expect((await open(`${each}/events`)).status).toBe(404)
    }
  })
})

describe('the buttons of the sandbox', () => {
  const press = (path: string, outcome: string, headers: Record<string, string> = {}) =>
    open(`${path}/sandbox`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: `outcome=${outcome}`,
    })

  it.each([
    ['pay', 'paid'],
    ['less', 'wrong_amount'],
    ['more', 'wrong_amount'],
    ['other', 'paid'],
    ['fail', 'failed'],
  ])('%s makes it %s', async (outcome, state) => {
    const { path } = await newPage()
    const { status, headers } = await press(path, outcome)
    expect([status, headers.get('location')]).toEqual([303, path])
    expect((await open(path)).text).toContain(`data-state="${state}"`)
  })

  it('pressed again it changes nothing, and an order that ended has none', async () => {
    const { path, txnId } = await newPage()
    await press(path, 'pay')
    expect((await press(path, 'fail')).status).toBe(303)
    const { text } = await open(path)
    expect(text).toContain('data-state="paid"')
    expect(text).not.toContain('/sandbox')
    expect((await agent.get(`/payment/orders/${txnId}`)).json.status).toBe('PAID')
  })

  it('cannot be pressed by another site, nor for what they do not say', async () => {
    const { path, txnId } = await newPage()
    expect((await press(path, 'pay', { 'sec-fetch-site': 'cross-site' })).status).toBe(404)
    expect((await press(path, 'pay', { origin: 'https://evil.example' })).status).toBe(404)
    expect((await press(path, 'everything')).status).toBe(404)
    expect((await press(`${path}x`, 'pay')).status).toBe(404)
    expect((await agent.get(`/payment/orders/${txnId}`)).json.status).toBe('WAITING')
    expect((await press(path, 'pay', { 'sec-fetch-site': 'same-origin' })).status).toBe(303)
  })

  it('forms are taken there and nowhere else', async () => {
    const { status } = await agent.send('POST', '/payment/deposit', 'amount=1', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(status).toBe(415)
  })

  it('in live there are none, nor a banner', async () => {
    const live = await startTestService({
      beside: test,
      env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    })
    try {
      const { path } = await newPage()
      const shown = await open(path, {}, live)
      expect(shown.status).toBe(200)
      expect(shown.text).toContain('SANDBOX NOT A REAL ACCOUNT')
      expect(shown.text).not.toMatch(/\/sandbox|class="banner"/)
      expect(
        (await open(`${path}/sandbox`, { method: 'POST', body: 'outcome=pay' }, live)).status,
      ).toBe(404)
    } finally {
      await live.close()
    }
  })
})

describe('live state', () => {
  /** The events of a stream, one by one. */
  async function listen(path: string, of = test) {
    const controller = new AbortController()
    const response = await fetch(`${of.service.url}${path}/events`, { signal: controller.signal })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let held = ''
    return {
      status: response.status,
      headers: response.headers,
      close: () => controller.abort(),
      async next(): Promise<{ state: string; remaining: number; others: string[] } | undefined> {
        for (;;) {
          const match = /event: state\ndata: (.*)\n\n/.exec(held)
          if (match?.[1]) {
            held = held.slice((match.index ?? 0) + match[0].length)
            return JSON.parse(match[1])
          }
          const read = await reader?.read()
          if (!read || read.done) return undefined
          held += read.value
        }
      },
    }
  }

  it('tells the state at once and every other one when it comes', async () => {
    const { path, txnId } = await newPage()
    const stream = await listen(path)
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(await stream.next()).toEqual({ state: 'waiting', remaining: 900, others: [] })
    await agent.trigger(txnId, 'PAID')
    expect(await stream.next()).toEqual({ state: 'paid', remaining: 0, others: [] })
    await agent.trigger(txnId, 'PAID', { paidAmount: 7 })
    expect(await stream.next()).toEqual({ state: 'paid', remaining: 0, others: ['waiting'] })
    stream.close()
  })

  it('one link has a bounded number of streams, and another link has its own', async () => {
    const [crowded, other] = [await newPage(), await newPage()]
    const streams = await Promise.all(Array.from({ length: 21 }, () => listen(crowded.path)))
    expect(streams.map(({ status }) => status).filter((status) => status !== 200)).toEqual([429])
    const beside = await listen(other.path)
    expect(beside.status).toBe(200)
    for (const each of [...streams, beside]) each.close()
  })

  it('tells what happened in another process', async () => {
    const other = await startTestService({ beside: test })
    const { path, txnId } = await newPage()
    const stream = await listen(path, other)
    expect((await stream.next())?.state).toBe('waiting')
    await agent.trigger(txnId, 'FAILED')
    expect((await stream.next())?.state).toBe('failed')
    stream.close()
    await other.close()
  })

  it('ends when the process does, which does not wait for it', async () => {
    const other = await startTestService({ beside: test })
    const { path } = await newPage()
    const stream = await listen(path, other)
    await stream.next()
    await other.close()
    expect(await stream.next()).toBeUndefined()
  })

  it('nor for a browser that has connected ahead of need', async () => {
    const other = await startTestService({ beside: test })
    const silent = connect(Number(new URL(other.service.url).port), '127.0.0.1')
    await once(silent, 'connect')
    const closed = once(silent, 'close')
    await other.close()
    await closed
  })

  it('an address has a bounded number of streams, which it gets back', async () => {
    const pages = await Promise.all(Array.from({ length: 11 }, () => newPage()))
    const path = pages[0]?.path ?? ''
    const streams = await Promise.all(
      Array.from({ length: 205 }, (_, at) => listen(pages[at % 11]?.path ?? '')),
    )
    const refused = streams.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.headers.get('retry-after')).toBe('30')
    expect((await open(`${path}/state`)).status).toBe(200)
    for (const { close } of streams) close()
    await expect
      .poll(async () => {
        const again = await listen(path)
        again.close()
        return again.status
      })
      .toBe(200)
  })

  it('can be asked for instead', async () => {
    const { path, txnId } = await newPage()
    expect(JSON.parse((await open(`${path}/state`)).text)).toEqual({
      state: 'waiting',
      remaining: 900,
      others: [],
    })
    await agent.trigger(txnId, 'PAID', { paidAmount: 5 })
    expect(JSON.parse((await open(`${path}/state`)).text).state).toBe('wrong_amount')
  })
})

describe('where it is served', () => {
  it('links respect the path of PUBLIC_URL, whether a proxy keeps it or not', async () => {
    const under = await startTestService({
      beside: test,
      env: { PUBLIC_URL: 'https://pay.example/money' },
    })
    try {
      const { appId, secret, agentId } = agent
      const client = new AgentClient(under.service.url, appId, secret, agentId, under.clock)
      const body = JSON.stringify(client.order())
      const made = await client.send('POST', '/payment/deposit', body, {
        'x-signature': client.sign('POST', '/money/payment/deposit', body),
      })
      const { pathname } = new URL(made.json.link)
      expect(pathname).toMatch(/^\/money\/pay\//)
      for (const at of [pathname, pathname.replace('/money', '')]) {
        const { status, text } = await open(at, {}, under)
        expect(status).toBe(200)
        const links = [...text.matchAll(/(?:href|src|action|data-base)="(\/[^"]*)"/g)].map(
          (m) => m[1],
        )
        expect(links.length).toBeGreaterThan(5)
        expect(links.filter((link) => !link?.startsWith('/money/pay/'))).toEqual([])
        for (const asset of links.filter((link) => link?.includes('/assets/'))) {
          expect((await open(asset ?? '', {}, under)).status).toBe(200)
        }
      }
    } finally {
      await under.close()
    }
  })

  it('the log holds no token', async () => {
    const running = await serve({
      DATABASE_URL: test.database.url,
      DATABASE_OWNER_URL: test.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'trace',
    })
    const { path } = await newPage()
    for (const at of ['', '/qr', '/state', 'x', '/nothing', '/%']) {
      await fetch(running.url + path + at)
    }
    const { stderr } = await running.stop()
    expect(stderr).toContain('/pay/:token')
    expect(stderr).not.toContain(path.split('/').at(-1))
    expect(stderr).not.toContain(path.split('-').slice(2).join('-'))
  })

  it('the loader and its types are there for every origin', async () => {
    const script = await open('/embed.js')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(script.text).toContain('window.Sluice')
    expect((await open('/embed.d.ts')).text).toContain('interface SluiceLoader')
  })
})

describe('branding', () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )

  it('the colour and the logo of the agent, and nobody else’s', async () => {
    const branded = await test.agent({ name: 'Branded' })
    const logo = parseLogo(png)
    if (typeof logo === 'string') throw new Error(logo)
    await saveBrand(test.backend.pool, branded.agentId, { colour: '#0a5c36', logo }, test.clock())
    const { path } = await newPage(branded)
    const { text } = await open(path)
    expect(text).toContain('--accent:#0a5c36')
    expect(text).toContain(`src="${path}/logo"`)
    const served = await fetch(`${test.service.url}${path}/logo`)
    expect(served.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await served.arrayBuffer())).toEqual(png)
    const plain = await newPage()
    expect((await open(plain.path)).text).not.toContain('/logo')
    expect((await open(`${plain.path}/logo`)).status).toBe(404)
    await saveBrand(test.backend.pool, branded.agentId, { logo: null }, test.clock())
    const { text: without } = await open(path)
    expect(without).toContain('--accent:#0a5c36')
    expect(without).not.toContain('/logo')
  })

  it('is set on the command line', async () => {
    const env = {
      DATABASE_URL: test.database.url,
      DATABASE_OWNER_URL: test.database.ownerUrl,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const folder = await tempFolder()
    const file = join(folder, 'logo.png')
    const drawing = join(folder, 'logo.svg')
    writeFileSync(file, png)
    writeFileSync(drawing, '<svg/>')
    const made = await commandJson(
      ['agent', 'create', '--name', 'Shop', '--colour', '#0A5C36', '--logo', file, '--json'],
      env,
    )
    const show = () => commandJson(['agent', 'show', made.app_id, '--json'], env)
    expect(await show()).toMatchObject({
      colour: '#0a5c36',
      logo: `image/png, ${png.length} bytes`,
    })
    await commandJson(['agent', 'set', made.app_id, '--logo', 'none', '--json'], env)
    expect(await show()).toMatchObject({ colour: '#0a5c36', logo: null })
    const refused = await command(
      ['agent', 'set', made.app_id, '--colour', 'red', '--logo', drawing],
      env,
    )
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('--colour: "red" is not a colour')
    expect(refused.stderr).toContain('is not a PNG, JPEG or WebP picture')
    expect(await show()).toMatchObject({ colour: '#0a5c36', logo: null })
  })

  it('only small PNG, JPEG and WebP pictures, by what they hold', () => {
    expect(parseLogo(png)).toMatchObject({ type: 'image/png' })
    expect(parseLogo(Buffer.from('ffd8ffe000', 'hex'))).toMatchObject({ type: 'image/jpeg' })
    expect(parseLogo(Buffer.from('RIFF....WEBPVP8 '))).toMatchObject({ type: 'image/webp' })
    expect(parseLogo(Buffer.from('<svg onload="alert(1)"/>'))).toMatch(/not a PNG/)
    expect(parseLogo(Buffer.concat([png, Buffer.alloc(32_768)]))).toMatch(/at most 32768/)
  })
})
