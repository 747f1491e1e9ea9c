import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** The page with the trial balance. */

const dayMs = 86_400_000

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let admin: OperatorClient
let page: Page
let yesterday: Date

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  agent = await test.agent({ name: 'Tea House', depositFee: '2%' })
  await agent.fund(1000)
  yesterday = test.clock()
  test.clock.advance(dayMs)
  const wrong = (await agent.deposit({ amount: 100 })).json.txn_id
  await agent.trigger(wrong, 'PAID', { paidAmount: 90 })
  admin = await signIn(test, 'admin')
  console = await openConsole(test)
  page = await console.tab(admin)
})
afterEach(() => {
  expect(console.faults()).toEqual([])
})
afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
})

const open = async (path: string) => {
  await page.goto(console.at(path))
  await page.getByRole('heading', { level: 1, name: 'Books', exact: true }).waitFor()
}
const table = (name: string) => page.getByRole('group', { name, exact: true })
/** The amount of a line. */
const amountOf = (line: string) =>
  table('Trial balance in THB')
    .getByRole('row')
    .filter({ has: page.getByRole('cell', { name: line, exact: true }) })
    .getByRole('cell')
    .nth(1)
    .textContent()

describe('the page Books', () => {
  it('shows the lines of a currency, and that they balance', async () => {
    await open('/books')
    await page.getByText('The books balance', { exact: true }).waitFor()
    await table('Trial balance in THB').waitFor()
    expect(await amountOf('Owed to agents')).toBe('980.00 THB')
    expect(await amountOf('Suspense of agents')).toBe('90.00 THB')
    expect(await amountOf('Clearing')).toBe('−1,090.00 THB')
    expect(await amountOf('Fees')).toBe('20.00 THB')
    expect(await amountOf('Total')).toBe('0.00 THB')
    // Nothing has happened in the other currency.
    expect(await table('Trial balance in VND').count()).toBe(0)
  })

  it('shows where the money is, and leads to the wallets', async () => {
    await open('/books')
    await page.getByText('Clearing by provider in THB (1)').click()
    const providers = table('Clearing by provider in THB (1)')
    await providers.getByRole('cell', { name: 'sandbox' }).waitFor()
    expect(await providers.getByRole('cell').nth(1).textContent()).toBe('−1,090.00 THB')
    await page.getByText('Books in THB (1)').click()
    await table('Books in THB (1)').getByRole('link', { name: 'Tea House' }).click()
    await page.getByRole('heading', { name: 'Wallet of Tea House' }).waitFor()
  })

  it('shows an earlier time, which is in the address', async () => {
    await open(`/books?as_of=${encodeURIComponent(yesterday.toISOString())}`)
    await table('Trial balance in THB').waitFor()
    await expect.poll(() => amountOf('Clearing')).toBe('−1,000.00 THB')
    expect(await amountOf('Suspense of agents')).toBe('0.00 THB')
    await page.getByLabel('As of').fill('')
    await expect.poll(() => amountOf('Clearing')).toBe('−1,090.00 THB')
    expect(new URL(page.url()).search).toBe('')
    await page.getByLabel('As of').fill('2020-01-01T12:00')
    await page.getByText('No money has moved').waitFor()
    expect(new URL(page.url()).searchParams.get('as_of')).toMatch(/^2020-01-01T05:00/)
  })

  it('gives the table as a file', async () => {
    await open('/books')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('books.csv')
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain(`,THB,${agent.appId},Tea House,clearing,sandbox,-1090\r\n`)
  })

  it('shows the end of each of the last days', async () => {
    await open('/books')
    await page.getByText('Each day in THB').click()
    const days = table('Each day in THB')
    await days.waitFor()
    // One for its head.
    await expect.poll(() => days.getByRole('row').count()).toBe(31)
    const latest = await days.getByRole('row').nth(1).textContent()
    expect(latest).toContain('980.00')
    expect(latest).toContain('Balances')
  })

  it('says what is wrong if the books do not balance', async () => {
    const clearing = (change: number) =>
      test.sql('update clearings set balance = balance + $2 where agent_id = $1', [
        agent.agentId,
        change,
      ])
    await clearing(-1)
    try {
      await open('/books')
      const alert = page.getByRole('alert')
      await alert.waitFor()
      expect(await alert.textContent()).toContain(
        `Tea House (${agent.appId}): clearing is -1090 THB, but at providers it is -1090.01 THB.`,
      )
      expect(await page.getByText('The books balance', { exact: true }).count()).toBe(0)
      expect(await axeFaults(page)).toEqual([])
    } finally {
      await clearing(1)
    }
  })

  it.each(['light', 'dark'] as const)(
    'has nothing for axe when unfolded, and fits a phone: %s',
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme })
      await open('/books')
      await table('Trial balance in THB').waitFor()
      await page.getByText('Each day in THB').waitFor()
      for (const summary of await page.locator('summary').all()) await summary.click()
      expect(await axeFaults(page)).toEqual([])
      const before = page.viewportSize()
      await page.setViewportSize(phone)
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'))
        .toBe(phone.width)
      expect(await axeFaults(page)).toEqual([])
      if (before) await page.setViewportSize(before)
    },
  )
})
