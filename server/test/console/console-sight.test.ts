import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { foldInsights } from '../../src/insights/fold-insights.ts'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What people see at a glance, and what they see of an agent's console. */

let test: TestService
let console: ConsoleBrowser
let shop: AgentClient
let other: AgentClient
let operator: OperatorClient
let txnId: string

beforeAll(async () => {
  test = await startTestService()
  // Noon: today does not end while it is looked at.
  const dayMs = 86_400_000
  test.clock.advance((dayMs + dayMs / 2 - (test.clock().getTime() % dayMs)) % dayMs)
  shop = await test.agent({ name: 'Chao Phraya Books' })
  other = await test.agent({ name: 'Somebody Else' })
  await shop.fund(5000)
  txnId = (await shop.deposit({ refId: 'MINE', userId: 'somchai', amount: 250 })).json.txn_id
  await shop.trigger(txnId, 'PAID')
  await other.deposit({ refId: 'THEIRS', userId: 'somsri' })
  operator = await signIn(test, 'operator')
  await operator.post(`/orders/${txnId}/marks`, { about: 'order', tag: 'vip' })
  for (let more = 'more'; more === 'more'; ) {
    more = await foldInsights(test.backend.pool, { timeZone: 'UTC', now: test.clock() })
  }
  console = await openConsole(test)
})

afterEach(async () => {
  await console.closeTabs()
  expect(console.faults()).toEqual([])
})

afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
})

it('an operator views as an agent: marked on every page and tab, without a way to change anything, with a way out', async () => {
  const page = await console.tab(operator)
  await page.goto(console.at(`/agents/${shop.appId}`))
  const beside = await page.context().newPage()
  await beside.goto(console.at('/queue'))
  await beside.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  await page.getByRole('button', { name: 'View as this agent' }).click()
  const banner = page.getByRole('complementary', { name: 'You see the console of an agent' })
  await banner.getByText('Chao Phraya Books').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  expect(await page.getByRole('link', { name: 'Agents', exact: true }).count()).toBe(0)
  // The tab beside it shares the session, and shows the same.
  const mark = beside.getByRole('complementary', { name: 'You see the console of an agent' })
  await mark.waitFor()
  await beside.close()

  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('cell', { name: /^MINE/ }).waitFor()
  expect(await page.getByText('THEIRS').count()).toBe(0)
  await page.getByRole('link', { name: 'Keys and addresses' }).click()
  const rotate = page.getByRole('button', { name: 'Rotate', exact: true })
  await rotate.waitFor()
  expect(await rotate.getAttribute('aria-disabled')).toBe('true')
  expect(await rotate.getAttribute('aria-description')).toContain('nothing can be changed')

  await page.setViewportSize(phone)
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
  await banner.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('button', { name: 'View as this agent' }).waitFor()
  expect(await banner.count()).toBe(0)
  expect((await operator.get('/me')).json.view).toBeNull()
})

it('wallets, agents, providers and lanes have their last days beside them, also in words', async () => {
  const page = await console.tab(operator)
  for (const [path, name] of [
    [
      '/wallets',
      'Available at the end of each day, 30 days: least 0.00, most 5,250.00, today 5,250.00 THB',
    ],
    ['/agents', 'Paid, 30 days: least 0.00, most 5,250.00, today 5,250.00 THB'],
    ['/providers', 'Orders paid, 30 days: least 0, most 2, today 2'],
    ['/callbacks', 'Callbacks accepted, 30 days: least 0, most 0, today 0'],
  ] as const) {
    await page.goto(console.at(path))
    await page.getByRole('img', { name }).first().waitFor()
  }
})

it('the wall has today in large type without navigation, and changes by itself', async () => {
  const page = await console.tab(operator)
  await page.goto(console.at('/wall'))
  const tile = (name: string) =>
    page.locator('section', { has: page.getByRole('heading', { name }) })
  // It shows what the books have, more each time that this is tried.
  const paidIn = async (moreMinor = 0) => {
    const { rows } = await test.sql(
      `select sum(amount)::int as minor from orders where kind = 'deposit' and status = 'PAID'`,
    )
    const minor = rows[0].minor + moreMinor
    return (minor / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })
  }
  await tile('Paid in')
    .getByText(await paidIn())
    .waitFor()
  await tile('Books')
    .getByText(/proved/)
    .waitFor()
  await tile('Unknown payouts').getByText('0', { exact: true }).waitFor()
  await tile('Callback lanes').getByText('all open').waitFor()
  expect(await page.getByRole('navigation').count()).toBe(0)
  expect(await axeFaults(page)).toEqual([])
  const after = await paidIn(750_00)
  const { json } = await shop.deposit({ amount: 750 })
  await shop.trigger(json.txn_id, 'PAID')
  await tile('Paid in').getByText(after).waitFor()
  await page.setViewportSize(phone)
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
})

it('a row leads to its order, its user to their orders, and a tag to what has it', async () => {
  const page = await console.tab(operator)
  await page.goto(console.at('/orders'))
  const row = page.getByRole('row').filter({ hasText: 'MINE' })
  await row.getByRole('link', { name: 'vip' }).click()
  await page.getByText('THEIRS').waitFor({ state: 'detached' })
  expect(await page.getByRole('textbox', { name: 'Tag' }).inputValue()).toBe('vip')
  await row.getByRole('link', { name: 'somchai' }).click()
  await page.waitForURL(/user=somchai/)
  await row.waitFor()
  // Where nothing else takes the click.
  await row.getByText('Deposit', { exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Deposit MINE' }).waitFor()
})

it('on a phone amounts come first, and every control is large enough for a thumb', async () => {
  const page = await console.tab(operator, { viewport: phone, hasTouch: true })
  for (const [path, title] of [
    ['/orders', 'Orders'],
    [`/orders/${txnId}`, 'Deposit MINE'],
    ['/queue', 'Queue'],
    [`/agents/${shop.appId}`, 'Chao Phraya Books'],
    ['/callbacks', 'Callbacks'],
  ] as const) {
    await page.goto(console.at(path))
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0)
    const small =
      await page.evaluate(`[...document.querySelectorAll('button, input, select, summary')]
      .filter((each) => each.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      .map((each) => [each.getBoundingClientRect(), each.getAttribute('aria-label') ?? each.textContent])
      .filter(([{ width, height }]) => width > 1 && height > 1 && (width < 39.5 || height < 39.5))
      .map(([{ width, height }, text]) => text + ' ' + Math.round(width) + ' x ' + Math.round(height))`)
    expect(small, path).toEqual([])
    if (path !== '/orders') continue
    const card = page.getByRole('row').filter({ hasText: 'MINE' })
    const top = async (text: string) => (await card.getByText(text).first().boundingBox())?.y ?? 0
    expect(await top('250.00')).toBeLessThan(await top('Deposit'))
    expect(await top('250.00')).toBeLessThan(await top('Chao Phraya Books'))
  }
})
