import { fileURLToPath } from 'node:url'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { parseLogo, saveBrand } from '../../src/agents/agent-brand.ts'
import { seedOrders } from '../../src/seed/seed-orders.ts'
import { launchChromium } from '../support/chromium.ts'
import { desktop, signInAs } from '../support/console-browser.ts'
import { startDemo } from '../support/demo.ts'
import { signIn } from '../support/operator.ts'
import { cleanUp } from '../support/process.ts'
import { startTestService } from '../support/service.ts'
import { openShop } from '../support/shop.ts'

const folder = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url))
const phone = { width: 390, height: 844 }

afterEach(cleanUp)

it('takes the pictures of the payment page', async () => {
  const test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  const shop = await openShop(() => test.service.desk.publicUrl())
  const browser = await launchChromium()
  const agent = await test.agent({
    name: 'Chao Phraya Books',
    support: 'Write to help@chaophraya.example or call 02 123 4567, every day from 9 to 18.',
    frameOrigins: [shop.origin],
  })
  const take = async (
    name: string,
    options: BrowserContextOptions,
    prepare: (page: Page) => Promise<unknown>,
  ) => {
    const context = await browser.newContext({
      viewport: phone,
      deviceScaleFactor: 1.5,
      ...options,
    })
    const page = await context.newPage()
    await prepare(page)
    await page.screenshot({ path: `${folder}${name}.png` })
    await context.close()
  }
  const pay = async (outcome?: string) => {
    const { json } = await agent.deposit({ amount: 1250, refId: `BOOK-${outcome ?? 'OPEN'}-2041` })
    if (outcome !== undefined) await agent.trigger(json.txn_id, outcome)
    return json.link as string
  }
  const open = await pay()

  const drawing = await browser.newPage()
  await drawing.setContent(
    `<svg width="72" height="72" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#0a6b4f"/><path d="M5 7c3-1 5-1 7 .5C14 6 16 6 19 7v10c-3-1-5-1-7 .5-2-1.5-4-1.5-7-.5zM12 7.5v10" fill="none" stroke="#fff" stroke-width="1.6"/></svg>`,
  )
  const logo = parseLogo(await drawing.locator('svg').screenshot({ omitBackground: true }))
  if (typeof logo === 'string') throw new Error(logo)
  await saveBrand(test.backend.pool, agent.agentId, { colour: '#0a6b4f', logo }, test.clock())

  await take('pay-phone', {}, (page) => page.goto(`${open}?lang=en`, { waitUntil: 'load' }))
  await take('pay-phone-dark-thai', { colorScheme: 'dark' }, (page) => page.goto(`${open}?lang=th`))
  const paid = await pay('PAID')
  await take('paid-phone', {}, (page) => page.goto(`${paid}?lang=en`))
  await take(
    'pay-in-a-shop',
    { viewport: { width: 1100, height: 760 }, deviceScaleFactor: 1 },
    async (page) => {
      await page.goto(shop.origin)
      await page.evaluate(`openPage(${JSON.stringify(open)}, { mode: 'iframe', lang: 'en' })`)
      await page.frameLocator('iframe').locator('main').waitFor()
      await page.waitForFunction(`document.querySelector('iframe').style.height !== '640px'`)
    },
  )
  await browser.close()
  await shop.close()
  await test.close()
})

it('takes the pictures of the console', async () => {
  const test = await startTestService({
    env: { TIME_ZONE: 'Asia/Bangkok' },
    realTime: true,
    outside: { provesLedger: true },
  })
  await seedOrders(
    { ...test.service.desk, bulkPool: test.backend.pool },
    { orders: 6000, now: test.clock(), start: 1 },
  )
  const admin = await signIn(test, 'admin')
  const paid = (await admin.get('/orders?status=PAID&kind=withdraw&limit=1')).json.data[0].txn_id
  const browser = await launchChromium()
  const take = async (
    name: string,
    path: string,
    shows: string,
    options: BrowserContextOptions = {},
  ) => {
    const context = await browser.newContext({ viewport: desktop, ...options })
    await signInAs(context, admin, test.service.url)
    const page = await context.newPage()
    await page.goto(`${test.service.url}/console${path}`)
    await page.locator(shows).first().waitFor({ timeout: 60_000 })
    await expect
      .poll(() => page.locator('.mantine-Skeleton-root').count(), { timeout: 15_000 })
      .toBe(0)
    await page.screenshot({ path: `${folder}${name}.png` })
    await context.close()
  }
  const proved = 'text="The ledger is proved"'
  await take('console-home', '/', proved)
  await take('console-home-dark', '/', proved, { colorScheme: 'dark' })
  await take('console-orders', '/orders', 'td a')
  await take('console-order', `/orders/${paid}`, 'ol')
  await take('console-phone', '/orders', 'td a', {
    viewport: phone,
    deviceScaleFactor: 1.5,
  })
  await browser.close()
  await test.close()
})

it('takes the picture of the demo', async () => {
  const { shopUrl } = await startDemo()
  const browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 1180, height: 1560 } })
  await page.goto(shopUrl)
  await page.getByRole('button', { name: 'Pay in a frame' }).click()
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Pay ฿120.00' }).click()
  await frame.locator('main[data-state="paid"]').waitFor()
  await frame.locator('#close').click()
  await page.locator('.verified').waitFor()
  await page.getByRole('button', { name: 'Send a forged one' }).click()
  await page.locator('.refused').waitFor()
  await page.locator('.steps:visible summary').first().click()
  await page.screenshot({ path: `${folder}demo-shop.png` })
  await browser.close()
})
