import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, desktop, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** A queue is cleared by keyboard, and one code confirms several decisions. */

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let admin: OperatorClient
let page: Page

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  agent = await test.agent({ name: 'Chao Phraya Books' })
  admin = await signIn(test, 'admin')
  for (const refId of ['BOOK-1', 'BOOK-2', 'BOOK-3', 'BOOK-4']) {
    const { json } = await agent.deposit({ refId })
    await agent.trigger(json.txn_id, 'PAID', { paidAmount: 90 })
  }
  console = await openConsole(test)
  page = await console.tab(admin)
})
afterEach(() => expect(console.faults()).toEqual([]))
afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
})

const button = (name: string) => page.getByRole('button', { name, exact: true })
const menu = (name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name })
const basket = (text: string) => page.getByRole('status').filter({ hasText: text })

it('payments are decided one after the other, and confirmed together', async () => {
  await page.goto(console.at('/queue'))
  await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
  await menu('Queue').getByText('4 to decide').waitFor({ state: 'attached' })
  await page.getByText('1 of 4').waitFor()
  await page.keyboard.press('j')
  await page.getByText('2 of 4').waitFor()
  await page.keyboard.press('k')
  await page.getByText('1 of 4').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await button('Credit to BOOK-1').click()
  await page.getByText('2 of 4').waitFor()
  await button('Return').click()
  await page.getByText('3 of 4').waitFor()
  await basket('2 decisions in THB').waitFor()
  // Looking through the agents decides nothing: a button does.
  const wallets = page.getByLabel('Credit to a wallet')
  await wallets.selectOption({ label: `Chao Phraya Books (${agent.appId})` })
  await page.getByText('3 of 4').waitFor()
  await button('Credit the wallet').click()
  await page.getByText('4 of 4').waitFor()
  await basket('3 decisions in THB').waitFor()
  await page.keyboard.press('k')
  await page.getByText('3 of 4').waitFor()
  await button('Leave it').click()
  await basket('2 decisions in THB').waitFor()
  // What was decided outlives a reload; nothing is done yet.
  await page.reload()
  await basket('2 decisions in THB').waitFor()
  expect((await admin.get('/queue/counts')).json.payment).toBe(4)
  await button('Confirm with one code').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Together 180.00 THB').waitFor()
  // Whose order it is can be checked before it is confirmed.
  await dialog.getByRole('link', { name: 'Chao Phraya Books' }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await dialog.getByLabel('Reason').fill('page 7 of the statement')
  await dialog.getByLabel('Code from your authenticator').fill(admin.code())
  await dialog.getByRole('button', { name: 'Confirm with one code' }).click()
  await basket('2 payments were decided.').waitFor()
  const results = page.getByRole('group', { name: 'What was decided' })
  await expect.poll(() => results.getByRole('row').count()).toBe(3)
  await results.getByRole('link', { name: 'Chao Phraya Books' }).waitFor()
  await page.getByText('1 of 2').waitFor()
  await menu('Queue').getByText('2 to decide').waitFor({ state: 'attached' })
  expect((await admin.get('/queue/counts')).json.payment).toBe(2)
})

it('several orders are tagged, told again and noted, and a view is shared', async () => {
  await page.goto(console.at('/orders'))
  for (const refId of ['BOOK-1', 'BOOK-2']) await page.getByLabel(`Choose ${refId}`).check()
  await page.getByRole('status').filter({ hasText: '2 orders chosen' }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('textbox', { name: 'Tag', exact: true }).fill('late-bank')
  await button('Add tag').click()
  await page.getByRole('alert').filter({ hasText: '2 orders: done' }).waitFor()
  await page.getByLabel('Choose BOOK-1').check()
  await button('Resend callbacks').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('they asked for it')
  await dialog.getByRole('button', { name: 'Resend callbacks' }).click()
  await page.getByRole('alert').filter({ hasText: 'One order: done' }).waitFor()
  await page.goto(console.at('/orders?kind=deposit'))
  await button('Views').click()
  await page.getByLabel('Name these filters').fill('Deposits')
  await page.getByRole('button', { name: 'Save' }).click()
  await button('Share Deposits with everybody').click()
  await button('Share Deposits no more').waitFor()
  expect((await admin.get('/shared-views')).json.data).toMatchObject([
    { name: 'Deposits', filters: 'kind=deposit' },
  ])
  const { data } = (await admin.get('/orders?q=BOOK-1')).json
  await page.goto(console.at(`/orders/${data[0].txn_id}`))
  const marks = page.getByRole('region', { name: 'Notes and tags' })
  await marks.getByText('late-bank').waitFor()
  await marks.getByLabel('A note or a tag: User').fill('asks every week')
  await marks.getByRole('button', { name: 'Note', exact: true }).nth(1).click()
  await marks.getByText('asks every week').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await page.goto(console.at('/queue'))
})

it('is used with a thumb, by night, and what has its own code opens its page', async () => {
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.getByText('1 of 2').waitFor()
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
  expect(await axeFaults(page)).toEqual([])
  await button('Open').click()
  await page.getByRole('heading', { name: 'Payment of 90.00 THB' }).waitFor()
})

it('a contradiction is told with what can be done about it, on a phone and on a desk', async () => {
  await agent.fund(1000)
  const deposit = (await agent.deposit()).json.txn_id
  await agent.trigger(deposit, 'PAID')
  const body = { refId: `BACK-${deposit}`, amount: 60, timestamp: test.clock().toISOString() }
  const refund = (await agent.post(`/payment/orders/${deposit}/refund`, body)).json.txn_id
  await agent.trigger(refund, 'PAID')
  const said = { reason: 'a test', evidence: 'the bank wrote', code: admin.code() }
  expect((await admin.post(`/orders/${deposit}/take-back`, said)).status).toBe(200)
  const { data } = (await admin.get('/open-items')).json
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(console.at(`/open-items/${encodeURIComponent(data[0].item_id)}`))
  await page.getByRole('heading', { name: 'Payout of 60.00 THB: who is right?' }).waitFor()
  await page.getByText('The payer may get the money twice').waitFor()
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
  expect(await axeFaults(page)).toEqual([])
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await axeFaults(page)).toEqual([])
})
