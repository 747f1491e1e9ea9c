import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { saveBrand } from '../../src/agents/agent-brand.ts'
import { axeFaults } from '../support/axe.ts'
import { launchChromium } from '../support/chromium.ts'
import { freePort } from '../support/process.ts'
import { AgentClient, startTestService, type TestService } from '../support/service.ts'
import { openShop, type Shop } from '../support/shop.ts'
import { Tabs } from '../support/tabs.ts'

let test: TestService
let browser: Browser
let shop: Shop
let stranger: Shop
let agent: AgentClient

const phone = { width: 390, height: 844 }
const desktop = { width: 1280, height: 800 }
let tabs: Tabs

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  const sluice = () => test.service.desk.publicUrl()
  shop = await openShop(sluice)
  stranger = await openShop(sluice)
  agent = await test.agent({
    name: 'Chao Phraya Books',
    support: 'Call 02 123 4567.',
    frameOrigins: [shop.origin],
  })
  browser = await launchChromium()
  tabs = new Tabs(browser, { viewport: phone, locale: 'en-GB' })
})

afterEach(async () => {
  await tabs.closeAll()
  // The clock stands still, and with it what an address may ask.
  test.clock.advance(10_000)
})

afterAll(async () => {
  await browser?.close()
  await shop?.close()
  await stranger?.close()
  await test?.prove()
  await test?.close()
})

const newTab = (options: BrowserContextOptions = {}) => tabs.open(options)

async function order(fields: Record<string, unknown> = {}, of = agent) {
  const { json } = await of.deposit(fields)
  return { link: json.link as string, txnId: json.txn_id as string, json }
}

const shows = (page: Pick<Page, 'waitForSelector'>, state: string) =>
  page.waitForSelector(`main[data-state="${state}"]`)

describe('by itself', () => {
  it('is paid by its button, and asks nothing of anybody else', async () => {
    const { link, txnId } = await order({ amount: 1250 })
    const page = await newTab()
    const asked = new Set<string>()
    page.on('request', (request) => asked.add(new URL(request.url()).origin))
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(link)
    await shows(page, 'waiting')
    await page.getByRole('button', { name: 'Pay ฿1,250.00' }).click()
    await shows(page, 'paid')
    await expect.poll(() => page.title()).toContain('Paid')
    expect((await agent.get(`/payment/orders/${txnId}`)).json.status).toBe('PAID')
    expect([...asked].filter((origin) => origin !== 'null')).toEqual([new URL(link).origin])
    expect(faults).toEqual([])
  })

  it('changes by itself when money comes in, without being loaded again, and says so', async () => {
    const { link, txnId } = await order()
    const page = await newTab()
    await page.goto(link)
    await page.evaluate('window.sameDocument = true')
    await page.getByRole('button', { name: 'Copy Account number' }).focus()
    await agent.trigger(txnId, 'PAID')
    await shows(page, 'paid')
    expect(await page.evaluate('window.sameDocument')).toBe(true)
    await expect.poll(() => page.locator('#live').textContent()).toBe('Paid')
    // What had the focus is gone: it goes to the news.
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('state')
  })

  it('counts down, says politely that the end is near, and expires while it is open', async () => {
    const hasty = await test.agent({ expiresInS: 61 })
    const { link } = await order({}, hasty)
    const page = await newTab()
    await page.goto(link)
    const live = page.locator('#live')
    await expect.poll(() => live.textContent()).toMatch(/^(1 minute|\d+ seconds) left to pay$/)
    expect(await live.getAttribute('role')).toBe('status')
    expect(await page.locator('#left').textContent()).toMatch(/^0[01]:\d\d$/)
    test.clock.advance(62_000)
    await shows(page, 'expired')
    expect(await page.locator('svg').count()).toBe(0)
    expect(await page.getByText('Do not pay with these details').isVisible()).toBe(true)
  })

  it('without a stream it is refreshed when the tab returns, and by asking now and then', async () => {
    const { link, txnId } = await order()
    // The clock is the context's.
    const page = await tabs.open({}, { isAlone: true })
    await page.route('**/events', (route) => route.fulfill({ status: 503 }))
    // No timer of the page goes off by itself.
    await page.clock.install({ time: 0 })
    await page.goto(link)
    await page.clock.pauseAt(60_000)
    await agent.trigger(txnId, 'PAID', { paidAmount: 1 })
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await shows(page, 'wrong_amount')
    await agent.trigger(txnId, 'PAID')
    await page.clock.runFor(5_000)
    await shows(page, 'paid')
  })

  it('tells of a second payment, though the first has paid the order', async () => {
    const { link, txnId } = await order({ amount: 100 })
    const page = await tabs.open({}, { isAlone: true })
    await page.clock.install({ time: 0 })
    await page.goto(link)
    await page.clock.pauseAt(60_000)
    await agent.trigger(txnId, 'PAID', { paidAmount: 90 })
    await shows(page, 'wrong_amount')
    await agent.trigger(txnId, 'PAID')
    await shows(page, 'paid')
    const others = page.locator('[data-other="waiting"]')
    await expect.poll(() => others.count()).toBe(1)
    await agent.trigger(txnId, 'PAID', { paidAmount: 101 })
    await page.clock.runFor(31_000)
    await expect.poll(() => others.count()).toBe(2)
    await page.getByText('Another payment of ฿101.00 has arrived.').waitFor()
    await expect.poll(() => page.locator('#live').textContent()).toContain('Another payment')
    expect(await page.locator('main').getAttribute('data-state')).toBe('paid')
    // Long afterwards it asks when the tab returns, and not by itself.
    await page.clock.runFor(700_000)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.clock.runFor(120_000)
    expect(asked).toEqual([])
    await agent.trigger(txnId, 'PAID', { paidAmount: 7 })
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('Another payment of ฿7.00 has arrived.').waitFor()
  })

  it('finds its way back when the service was gone', async () => {
    const port = await freePort()
    const env = { PORT: String(port) }
    const before = await startTestService({ beside: test, env })
    const { appId, secret, agentId } = agent
    const client = new AgentClient(before.service.url, appId, secret, agentId, test.clock)
    const { link, txnId } = await order({}, client)
    const page = await newTab()
    await page.goto(link)
    await shows(page, 'waiting')
    await before.close()
    await page.locator('#offline').waitFor({ state: 'visible' })
    const after = await startTestService({ beside: test, env })
    await agent.trigger(txnId, 'PAID')
    await shows(page, 'paid')
    await after.close()
  })

  it('is complete without scripts: it is read, paid and refreshed', async () => {
    const { link, txnId } = await order({ amount: 300 })
    const page = await newTab({ javaScriptEnabled: false })
    await page.goto(link)
    expect(await page.locator('svg.qr').isVisible()).toBe(true)
    expect(await page.getByText('SANDBOX NOT A REAL ACCOUNT').isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: /Copy/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Larger view' }).click()
    await page.getByRole('link', { name: 'Back to the payment' }).click()
    await page.getByRole('button', { name: 'Pay less' }).click()
    await shows(page, 'wrong_amount')
    await agent.trigger(txnId, 'PAID')
    await shows(page, 'paid')
  })

  it('leads back from the larger view when there is nothing to scan any more', async () => {
    const { link, txnId } = await order()
    const page = await newTab()
    await page.goto(`${link}/qr`)
    await shows(page, 'waiting')
    await agent.trigger(txnId, 'PAID')
    await page.waitForURL(link)
    await shows(page, 'paid')
  })

  it('copies the bare value of every field', async () => {
    const { link, json } = await order({ amount: 12_500, refId: 'BOOK 7/ก' })
    const page = await newTab({ permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(link)
    for (const [name, value] of [
      ['Reference', 'BOOK 7/ก'],
      ['Bank', json.transfer.bank_code],
      ['Account number', json.transfer.account_number],
      ['Account name', json.transfer.account_name],
      ['Amount', '12500'],
    ]) {
      await page.getByRole('button', { name: `Copy ${name}` }).click()
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(value)
      await expect.poll(() => page.locator('#live').textContent()).toBe('Copied')
    }
  })

  it('saves the QR code as a picture', async () => {
    const { link, json } = await order()
    const page = await newTab()
    await page.goto(link)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save image' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('payment-qr.png')
    const saved: Buffer[] = []
    for await (const part of await download.createReadStream()) saved.push(part)
    const asTold = json.qrcode.qrcode_date_url.replace('data:image/png;base64,', '')
    expect(Buffer.concat(saved).toString('base64')).toBe(asTold)
  })

  it('tells times in the zone of who pays, on the deadline and on the receipt', async () => {
    const { link, txnId } = await order()
    const page = await newTab({ timezoneId: 'America/Sao_Paulo', locale: 'en-GB' })
    await page.goto(link)
    const time = page.locator('time')
    await expect.poll(() => time.textContent()).toMatch(/GMT-3|BRT/)
    const iso = (await time.getAttribute('datetime')) ?? ''
    expect(Date.parse(iso)).toBe(test.clock().getTime() + 900_000)
    await agent.trigger(txnId, 'PAID')
    await shows(page, 'paid')
    await expect.poll(() => time.textContent()).toMatch(/GMT-3|BRT/)
  })

  it('prints a receipt and nothing that can be pressed', async () => {
    const { link, txnId } = await order({ refId: 'PRINTED' })
    await agent.trigger(txnId, 'PAID')
    const page = await newTab({ viewport: desktop })
    await page.goto(link)
    expect(await page.getByRole('button', { name: 'Print or save' }).isVisible()).toBe(true)
    await page.emulateMedia({ media: 'print' })
    const receipt = page.locator('.receipt')
    for (const part of ['Chao Phraya Books', '฿100.00', 'PRINTED', txnId]) {
      expect(await receipt.getByText(part).isVisible()).toBe(true)
    }
    expect(await page.locator('button:visible, nav:visible').count()).toBe(0)
  })
})

describe('shown by a shop', () => {
  const openFrom = async (from: Shop, link: string, options: string) => {
    const page = await newTab({ viewport: desktop })
    await page.goto(from.origin)
    await page.evaluate(`openPage(${JSON.stringify(link)}, ${options})`)
    return page
  }
  interface Said {
    origin: string
    data: Record<string, unknown>
  }

  it('in a frame: tells only its parent, returns the focus and the result', async () => {
    const { link, txnId } = await order()
    const page = await openFrom(shop, link, `{ mode: 'iframe', lang: 'th' }`)
    const frame = page.frameLocator('iframe')
    await frame.locator('main[data-state="waiting"]').waitFor()
    expect(await frame.locator('html').getAttribute('lang')).toBe('th')
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('IFRAME')
    await frame.locator('button[value="pay"]').click()
    await frame.locator('main[data-state="paid"]').waitFor()
    await frame.locator('#close').click()
    expect(await page.evaluate('window.result')).toEqual({
      status: 'paid',
      txn_id: txnId,
      heard: ['waiting', 'paid'],
    })
    expect(await page.evaluate('document.activeElement.id')).toBe('pay')
    expect(await page.locator('dialog').count()).toBe(0)
    const said = (await page.evaluate('said')) as Said[]
    const common = { source: 'sluice', v: 1, txn_id: txnId }
    expect(new Set(said.map(({ origin }) => origin))).toEqual(new Set([new URL(link).origin]))
    for (const { data } of said) expect(data).toMatchObject(common)
    const of = (type: string) => said.map(({ data }) => data).filter((data) => data.type === type)
    expect(of('ready')[0]).toEqual({ ...common, type: 'ready' })
    expect(of('resize')[0]).toEqual({ ...common, type: 'resize', height: expect.any(Number) })
    expect(of('status').at(-1)).toEqual({ ...common, type: 'status', status: 'paid' })
    expect(of('close')).toEqual([{ ...common, type: 'close', status: 'paid' }])
    expect(page.url()).toBe(`${shop.origin}/`)
  })

  it('in a frame: the provider’s own page opens in a window that is not sandboxed', async () => {
    const { link, txnId } = await order()
    await test.sql('update orders set instructions = $2 where order_id = $1', [
      txnId.split('-')[1],
      JSON.stringify({ link: `${test.service.url}/docs` }),
    ])
    const page = await openFrom(shop, link, `{ mode: 'iframe' }`)
    const opened = page.waitForEvent('popup')
    await page.frameLocator('iframe').getByRole('link', { name: 'Continue to payment' }).click()
    const provider = await opened
    await provider.waitForURL(`${test.service.url}/docs`)
    // A sandboxed window has no origin of its own.
    expect(await provider.evaluate('origin')).toBe(test.service.url)
    await provider.close()
    await test.sql('update orders set instructions = null where order_id = $1', [
      txnId.split('-')[1],
    ])
  })

  it('in a frame: Escape closes it, wherever the focus is', async () => {
    const { link } = await order()
    const page = await openFrom(shop, link, `{ mode: 'iframe' }`)
    const frame = page.frameLocator('iframe')
    await frame.locator('main').waitFor()
    await frame.getByRole('button', { name: 'Copy Reference' }).press('Escape')
    expect(await page.evaluate('window.result')).toMatchObject({ status: 'waiting' })
  })

  it('in no way where the link is not one of the web', async () => {
    const page = await newTab({ viewport: desktop })
    await page.goto(shop.origin)
    for (const link of ['javascript:window.wasRun=1', 'data:text/html,x', 'blob:x']) {
      for (const mode of ['popup', 'iframe']) {
        const opened = `Sluice.open(${JSON.stringify(link)}, { mode: '${mode}' })`
        expect(await page.evaluate(`${opened}.catch((error) => error.name)`)).toBe('TypeError')
      }
    }
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(await page.locator('iframe').count()).toBe(0)
  })

  it('in a container: as high as it needs, done when the order is', async () => {
    const { link, txnId } = await order()
    const page = await openFrom(
      shop,
      link,
      `{ mode: 'iframe', container: document.getElementById('here') }`,
    )
    const frame = page.frameLocator('#here iframe')
    await frame.locator('main[data-state="waiting"]').waitFor()
    await expect
      .poll(() => page.evaluate(`document.querySelector('iframe').offsetHeight`))
      .toBeGreaterThan(700)
    await agent.trigger(txnId, 'FAILED')
    expect(await page.evaluate('window.result')).toMatchObject({ status: 'failed' })
  })

  it('as a popup: tells its opener, and the result is there when it is closed', async () => {
    const { link, txnId } = await order()
    const page = await newTab({ viewport: desktop })
    await page.goto(shop.origin)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(`openPage(${JSON.stringify(link)}, { mode: 'popup' })`),
    ])
    await shows(popup, 'waiting')
    await popup.getByRole('button', { name: 'Pay ฿100.00' }).click()
    await shows(popup, 'paid')
    // The window may be gone before the click has been reported.
    const closed = popup.waitForEvent('close')
    await popup
      .getByRole('button', { name: 'Close' })
      .click()
      .catch(() => {})
    await closed
    expect(await page.evaluate('window.result')).toEqual({
      status: 'paid',
      txn_id: txnId,
      heard: ['waiting', 'paid'],
    })
    expect(page.url()).toBe(`${shop.origin}/`)
  })

  it('a popup that is simply closed has a result too', async () => {
    const { link } = await order()
    const page = await newTab({ viewport: desktop })
    await page.goto(shop.origin)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(`openPage(${JSON.stringify(link)}, { mode: 'popup' })`),
    ])
    await shows(popup, 'waiting')
    await popup.close()
    expect(await page.evaluate('window.result')).toMatchObject({ status: 'waiting' })
  })

  it('a parent that the agent has not named sees nothing and hears nothing', async () => {
    const live = await startTestService({
      beside: test,
      env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32) },
    })
    const { link: shown, txnId } = await order()
    const link = live.service.url + new URL(shown).pathname
    const page = await newTab({ viewport: desktop })
    const refusals: string[] = []
    page.on('console', (message) => refusals.push(message.text()))
    await page.goto(stranger.origin)
    await page.evaluate(`openPage(${JSON.stringify(link)}, { mode: 'iframe' })`)
    await expect.poll(() => refusals.join('\n')).toContain('frame-ancestors')
    expect(await page.frameLocator('iframe').locator('main').count()).toBe(0)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(`openPage(${JSON.stringify(link)}, { mode: 'popup' })`),
    ])
    await shows(popup, 'waiting')
    await agent.trigger(txnId, 'PAID')
    await shows(popup, 'paid')
    expect(await page.evaluate('said')).toEqual([])
    await tabs.closeAll()
    await live.close()
  })
})

describe('for everybody', () => {
  /** Between schemes only the colours differ. */
  const faultsOf = (page: Page, colorScheme: 'light' | 'dark') =>
    colorScheme === 'dark' ? axeFaults(page, ['color-contrast']) : axeFaults(page)

  it.each(['light', 'dark'] as const)('axe finds nothing in any state, %s', async (colorScheme) => {
    const page = await newTab({ colorScheme })
    const brands = ['#ffd500', '#0a5c36', null]
    const made = [
      ['waiting', 'en'],
      ['waiting', 'th'],
      ['waiting', 'vi'],
      ['paid', 'th'],
      ['expired', 'en'],
      ['failed', 'vi'],
      ['void', 'en'],
      ['wrong_amount', 'th'],
      ['paid_late', 'vi'],
      ['taken_back', 'en'],
    ] as const
    // The two looks take turns with the states; PAGE_LOOKS=all looks at each both ways.
    const isSecond = colorScheme === 'dark' ? 1 : 0
    for (const [at, [state, lang]] of made.entries()) {
      if (process.env.PAGE_LOOKS !== 'all' && at % 2 !== isSecond) continue
      const colour = brands[at % brands.length] ?? null
      await saveBrand(test.backend.pool, agent.agentId, { colour }, test.clock())
      const { link, txnId } = await order()
      for (const [outcome, more] of ways[state] ?? []) await agent.trigger(txnId, outcome, more)
      await page.goto(`${link}?lang=${lang}`)
      await shows(page, state)
      expect(await faultsOf(page, colorScheme), `${state} ${lang}`).toEqual([])
    }
    await saveBrand(test.backend.pool, agent.agentId, { colour: null }, test.clock())
    const { link } = await order()
    await page.goto(`${link}/qr`)
    expect(await faultsOf(page, colorScheme), 'qr').toEqual([])
    await page.goto(`${new URL(link).origin}/pay/wrong?lang=th`)
    expect(await faultsOf(page, colorScheme), 'not found').toEqual([])
  })

  const ways: Record<string, [string, Record<string, unknown>?][]> = {
    paid: [['PAID']],
    expired: [['EXPIRED']],
    failed: [['FAILED']],
    void: [['VOID']],
    wrong_amount: [['PAID', { paidAmount: 1 }]],
    paid_late: [['VOID'], ['PAID']],
    taken_back: [['PAID'], ['VOID']],
  }

  it('fits 320 pixels in every language, with long names, from either side', async () => {
    const long = await test.agent({
      name: 'x'.repeat(128),
      support: 'https://support.example/a-very-long-address-without-any-break-in-it'.repeat(4),
    })
    const { link } = await order({ amount: 999_999_999_999, refId: 'W'.repeat(64) }, long)
    const page = await newTab({ viewport: { width: 320, height: 640 } })
    for (const lang of ['en', 'th', 'vi']) {
      for (const at of ['', '/qr']) {
        await page.goto(`${link}${at}?lang=${lang}`)
        for (const dir of ['ltr', 'rtl']) {
          await page.evaluate(`document.documentElement.dir = '${dir}'`)
          const wide = await page.evaluate(
            `[...document.querySelectorAll('body *')].filter((e) => { const r = e.getBoundingClientRect(); return r.width > 1 && (r.right > 321 || r.left < -1) }).map((e) => e.outerHTML.slice(0, 80))`,
          )
          expect(wide, `${lang} ${at} ${dir}`).toEqual([])
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
        }
      }
    }
  })

  it('everything that can be pressed is large enough to be hit', async () => {
    const { link } = await order()
    const page = await newTab()
    await page.goto(link)
    for (const box of await page.locator('button:visible, a:visible').all()) {
      const { width = 0, height = 0 } = (await box.boundingBox()) ?? {}
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
    }
  })
})
