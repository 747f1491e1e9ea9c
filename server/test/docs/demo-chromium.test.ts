import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { launchChromium } from '../support/chromium.ts'
import { type Demo, startDemo } from '../support/demo.ts'
import { cleanUp, postmasterPid, sluice } from '../support/process.ts'
import { patienceMs } from '../support/tabs.ts'

let demo: Demo
let browser: Browser
let page: Page
const asked = new Set<string>()
const faults: string[] = []

beforeAll(async () => {
  demo = await startDemo()
  browser = await launchChromium()
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  page.context().setDefaultTimeout(patienceMs)
  page.on('request', (request) => asked.add(new URL(request.url()).origin))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.goto(demo.shopUrl)
})

afterAll(async () => {
  await browser?.close()
  await cleanUp()
})

const balance = () => page.locator('#balance').textContent()
const verified = () => page.locator('.callbacks .verified')

/** The callback of an order has come, checked, and the wallet says what it said. */
async function settles(status: string, amount: string, balanceAfter: string, times: number) {
  await expect.poll(() => verified().count()).toBe(times)
  await expect
    .poll(() => verified().first().textContent())
    .toContain(`Verified ${status} ${amount}`)
  await expect.poll(balance).toBe(balanceAfter)
  await expect.poll(() => page.locator('.steps:visible li.done').count()).toBe(4)
}

test('a withdrawal that the wallet does not cover is refused in words', async () => {
  await page.getByRole('button', { name: 'Pay out' }).click()
  await page.locator('#withdraw-said', { hasText: 'balance' }).waitFor()
  expect(await balance()).toBe('฿0.00')
  // The answer's status is a line of the console, and the only one to be there.
  await expect.poll(() => faults).toEqual([expect.stringContaining('422')])
  faults.length = 0
})

test('a deposit is paid in a popup', async () => {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Pay in a popup' }).click(),
  ])
  await popup.getByRole('button', { name: 'Pay ฿120.00' }).click()
  await popup.locator('main[data-state="paid"]').waitFor()
  // The window may be gone before the click has been reported.
  const closed = popup.waitForEvent('close')
  await popup
    .getByRole('button', { name: 'Close' })
    .click()
    .catch(() => {})
  await closed
  await settles('PAID', '฿120.00', '฿118.20', 1)
  await page.getByText('it said: paid').waitFor()
})

test('a deposit is paid in a frame', async () => {
  await page.getByLabel('Tea for two').check()
  await page.getByRole('button', { name: 'Pay in a frame' }).click()
  const frame = page.frameLocator('iframe')
  await frame.getByRole('button', { name: 'Pay ฿480.00' }).click()
  await frame.locator('main[data-state="paid"]').waitFor()
  await frame.locator('#close').click()
  await settles('PAID', '฿480.00', '฿591.00', 2)
})

test('a deposit is paid through its link', async () => {
  await page.getByLabel('Gift box').check()
  await page.getByRole('button', { name: 'Get a link' }).click()
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.locator('#deposit-said a').click(),
  ])
  await tab.getByRole('button', { name: 'Pay ฿1,250.00' }).click()
  await tab.locator('main[data-state="paid"]').waitFor()
  await tab.close()
  await settles('PAID', '฿1,250.00', '฿1,822.25', 3)
})

test('a withdrawal is paid', async () => {
  await page.getByLabel('Amount in baht').fill('800')
  await page.getByRole('button', { name: 'Pay out' }).click()
  await settles('PAID', '฿800.00', '฿1,017.25', 4)
  await expect.poll(() => page.locator('#held').textContent()).toBe('฿0.00')
})

test('a forged callback is refused, and a repeated one counts once', async () => {
  await page.getByRole('button', { name: 'Send a forged one' }).click()
  await page.locator('.refused', { hasText: 'No secret matches' }).waitFor()
  await verified().first().getByRole('button', { name: 'Ask for it again' }).click()
  await verified().first().getByText('Came 2 times, counted once').waitFor()
  expect(await verified().count()).toBe(4)
  expect(await balance()).toBe('฿1,017.25')
})

test('the page shows the code that runs, asks nothing of anybody else and has no fault', async () => {
  for (const code of await page.locator('.steps pre').all()) {
    expect(await code.textContent()).toMatch(/await|secret/)
  }
  expect([...asked].sort()).toEqual([demo.shopUrl, demo.sluiceUrl].sort())
  expect(faults).toEqual([])
})

test.each(['light', 'dark'] as const)(
  'axe finds nothing, and it fits a phone: %s',
  async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme })
    for (const summary of await page.locator('.steps:visible summary').all()) await summary.click()
    expect(await axeFaults(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  },
)

test('another site can neither press the buttons nor read what they answer', async () => {
  const press = (headers: Record<string, string>) =>
    fetch(`${demo.shopUrl}/deposits`, { method: 'POST', headers, body: '{"item":"Gift box"}' })
  expect((await press({ origin: 'http://evil.example' })).status).toBe(403)
  expect((await press({})).status).toBe(403)
  expect((await press({ origin: demo.shopUrl })).status).toBe(200)
})

test('the ledger is proved, and Ctrl-C ends the shop, the service and its database', async () => {
  expect(await sluice(['verify'], demo.env)).toMatchObject({ code: 0 })
  expect(postmasterPid(demo.env.DATA_DIR)).toBeDefined()
  process.kill(-demo.running.pid, 'SIGINT')
  expect(await demo.running.ended).toMatchObject({ code: 0, stderr: '' })
  expect(postmasterPid(demo.env.DATA_DIR)).toBeUndefined()
})
