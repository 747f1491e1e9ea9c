import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { foldInsights } from '../../src/insights/fold-insights.ts'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, desktop, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Seeing how business goes, finding things, and what agents asked. */

const timeZone = 'Asia/Bangkok'
let test: TestService
let console: ConsoleBrowser
let shop: AgentClient
let viewer: OperatorClient

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: timeZone } })
  shop = await test.agent({ name: 'Chao Phraya Books', depositFee: '2%' })
  await shop.fund(1_500)
  const { txn_id } = (await shop.deposit({ refId: 'BOOK-7', userId: 'member-7', amount: 250 })).json
  await shop.trigger(txn_id, 'EXPIRED')
  await shop.deposit({ amount: -1 })
  while ((await foldInsights(test.backend.pool, { timeZone, now: test.clock() })) === 'more');
  viewer = await signIn(test, 'viewer')
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

it('insights are plots that keys go through, with a table beside, on a desk and on a phone', async () => {
  const page = await console.tab(viewer)
  await page.goto(console.at('/insights'))
  await page.getByText('1,500.00').first().waitFor()
  await page.getByText('1 of 2 ended', { exact: false }).first().waitFor()
  const plot = page.getByRole('group', { name: 'Volume in THB: the arrow keys go through' })
  await plot.focus()
  await page.keyboard.press('End')
  const panel = page.getByRole('region', { name: 'Volume in THB' })
  await panel.getByText('1,500.00').first().waitFor()
  await panel.getByText('As a table').click()
  await expect.poll(() => panel.getByRole('row').count()).toBe(25)
  // The bar of the chosen hour stands on the zero line and is the only one of its series.
  await expect.poll(() => plot.locator('rect[class*="bar"]').count()).toBe(1)
  await page.getByText('7 days', { exact: true }).click()
  await expect.poll(() => panel.getByRole('row').count()).toBe(8)
  await expect.poll(() => new URL(page.url()).searchParams.get('period')).toBe('7d')
  await page.getByRole('radiogroup', { name: 'Share paid by' }).getByText('Amount').click()
  await page.getByText('1,000 to 10,000 THB').waitFor()
  for (const size of [desktop, phone]) {
    await page.setViewportSize(size)
    // What draws itself anew after the change has a moment for it.
    const tooWide = () => page.evaluate('document.documentElement.scrollWidth - innerWidth')
    await expect.poll(tooWide).toBe(0)
  }
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('link', { name: '1', exact: true }).first().click()
  await page.getByText('BOOK-7').waitFor()
  // Of one agent: a figure's list has the orders of that agent alone.
  await page.goto(console.at(`/insights?agent=${shop.appId}`))
  await page.getByText('1,500.00').first().waitFor()
  const lists = page.getByRole('main').locator('a[href*="/orders?"]')
  await expect.poll(() => lists.count()).toBeGreaterThan(3)
  const hrefs = await Promise.all((await lists.all()).map((link) => link.getAttribute('href')))
  expect(hrefs.filter((href) => !href?.includes(`agent=${shop.appId}`))).toEqual([])
})

it('Ctrl K finds an order by its user while it is typed', async () => {
  const page = await console.tab(viewer)
  await page.goto(console.at('/'))
  await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()
  await page.getByRole('link', { name: 'A second admin' }).waitFor()
  await page.keyboard.press('Control+k')
  await page
    .getByPlaceholder('Any id, user, name, account or amount, or where to go')
    .pressSequentially('member-7')
  await page.getByText('Deposit BOOK-7, 250.00 THB').click()
  await page.getByRole('heading', { name: 'Deposit BOOK-7' }).waitFor()
})

it('an agent’s user sees what was asked, and takes it to the signature debugger', async () => {
  const user = await signIn(test, 'agent', shop)
  const page = await console.tab(user)
  await page.goto(console.at('/api-log?answered=refused'))
  await page.getByText('422 invalid_request').waitFor()
  expect(await page.getByText('201', { exact: true }).count()).toBe(0)
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Show POST /payment/deposit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('••••7890').waitFor()
  await dialog.getByRole('link', { name: 'Open in the signature debugger' }).click()
  await page.getByRole('heading', { name: 'Signature debugger' }).waitFor()
  await expect.poll(() => page.getByLabel('Body').inputValue()).toContain('••••7890')
  await page.goto(console.at('/insights'))
  await page.getByRole('heading', { name: 'Share paid by' }).waitFor()
  expect(await page.getByText('sandbox', { exact: true }).count()).toBe(0)
})

it('the demo’s link opens the console for looking around; it can be installed', async () => {
  const page = await console.tab()
  await page.goto(test.service.lookLink() ?? '')
  await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()
  const href = await page.locator('link[rel=manifest]').getAttribute('href')
  const manifest = await fetch(new URL(href ?? '', test.service.url))
  expect(manifest.headers.get('content-type')).toBe('application/manifest+json')
  const { icons } = (await manifest.json()) as { icons: { src: string }[] }
  for (const { src } of icons) {
    expect((await fetch(new URL(src, manifest.url))).headers.get('content-type')).toMatch(
      /^image\//,
    )
  }
})

it('the reference copies, shows examples in seven languages and finds words', async () => {
  const page = await console.tab(undefined, {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.goto(`${test.service.url}/docs`)
  await page.getByText('Python', { exact: true }).click()
  const tab = page.locator('.tab:visible')
  await tab.getByText('import hmac').waitFor()
  await tab.getByRole('button', { name: 'Copy' }).click()
  await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toContain('import hmac')
  expect(await page.locator('.tabs input').count()).toBe(7)
  const links = page.getByRole('navigation').getByRole('listitem')
  const all = await links.count()
  await page.getByRole('searchbox', { name: 'Search' }).fill('cancel')
  await expect.poll(() => links.filter({ visible: true }).count()).toBeLessThan(all)
  await page.getByRole('link', { name: '/cancel' }).first().waitFor()
  expect(await axeFaults(page)).toEqual([])
})
