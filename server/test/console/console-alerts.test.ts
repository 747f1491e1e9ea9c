import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, openConsole, phone } from '../support/console-browser.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** Rules, what was sent, and a person's own hours, by hand in a browser. */

let mail: MailServer
let test: TestService
let console: ConsoleBrowser
let admin: OperatorClient
let page: Page

beforeAll(async () => {
  mail = await startMailServer()
  const env = { SMTP_URL: mail.url, MAIL_FROM: 'sluice@pay.example', TIME_ZONE: 'Asia/Bangkok' }
  test = await startTestService({ env })
  // Noon in Bangkok: no day ends and no report comes due before a test wants it to.
  const dayMs = 86_400_000
  test.clock.advance((dayMs + 5 * 3_600_000 - (test.clock().getTime() % dayMs)) % dayMs)
  admin = await signIn(test, 'admin')
  const agent = await test.agent({ name: 'Chao Phraya Books' })
  await agent.fund(100)
  console = await openConsole(test)
  page = await console.tab(admin)
})
afterEach(() => expect(console.faults()).toEqual([]))
afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
  await mail?.close()
})

const dialog = () => page.getByRole('dialog')
const code = () => dialog().getByLabel('Code from your authenticator')
const confirm = async (name: string) => {
  await code().fill(admin.code())
  await dialog().getByRole('button', { name, exact: true }).click()
  await dialog().waitFor({ state: 'detached' })
}
const fitsPhone = () =>
  expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)

/** Begins with none, also when a test is tried once more. */
async function withoutRules(): Promise<void> {
  for (const { name } of (await admin.get('/alert-rules')).json.data) {
    await admin.post('/alert-rules/remove', { name, code: admin.code() })
  }
}

async function withoutReports(): Promise<void> {
  for (const { id } of (await admin.get('/report-schedules')).json.data) {
    await admin.post('/report-schedules/remove', { id, code: admin.code() })
  }
}

let tries = 0

it('a rule is made, tried, told of by mail, shown as sent, and sent again', async () => {
  await withoutRules()
  // The same rule is not told of twice within minutes: each try has its own.
  const name = `Low wallet ${++tries}`
  await page.goto(console.at('/alerts'))
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
  await page.getByText('No rules yet').waitFor()
  await page.getByRole('button', { name: 'Add a rule', exact: true }).click()
  await dialog().getByLabel('Name').fill(name)
  await dialog().getByLabel('Tell of').selectOption({ label: 'A balance below' })
  await dialog().getByLabel('Below this amount').fill('500')
  await dialog().getByLabel('Agent').selectOption({ label: 'Chao Phraya Books' })
  await dialog().getByLabel('Mail').check()
  await dialog().getByRole('button', { name: 'Try it' }).click()
  await dialog().getByText('Chao Phraya Books has 100.00 THB available').waitFor()
  await dialog()
    .getByText(/It would have fired .* in the last 7 days/)
    .waitFor()
  expect(await axeFaults(page)).toEqual([])
  await confirm('Add a rule')
  const rule = page.getByRole('row').filter({ hasText: 'An available balance below 500 THB' })
  await rule.getByText('admin, operator: Mail').waitFor()
  // The worker looks, hands out and sends; a test's clock stands still, so it is moved on.
  const isTold = () => {
    test.clock.advance(6_000)
    return mail.mails.some(({ data }) => data.includes(`${name}: Chao Phraya`))
  }
  await expect.poll(isTold, { interval: 2_000 }).toBe(true)
  await page.reload()
  await rule.getByText('wrong').waitFor()
  const sent = page.getByRole('row').filter({ hasText: `${name}: Chao Phraya Books` })
  await sent.getByText('sent', { exact: true }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  const before = mail.mails.length
  await sent.getByRole('button', { name: 'Send again' }).click()
  await expect.poll(() => mail.mails.length).toBeGreaterThan(before)
})

it("an agent's user makes a rule of their own, for themselves alone", async () => {
  // Of an agent of their own, so that there is no rule, also when this is tried once more.
  const owner = await signIn(test, 'agent', await test.agent())
  const theirs = await console.tab(owner, { viewport: phone, colorScheme: 'dark' })
  await theirs.goto(console.at('/alerts'))
  await theirs.getByText('No rules yet').waitFor()
  await theirs.getByRole('button', { name: 'Add a rule', exact: true }).click()
  const form = theirs.getByRole('dialog')
  await form.getByLabel('Name').fill('Low')
  await form.getByLabel('Below this amount').fill('500')
  await form.getByLabel('Tell', { exact: true }).selectOption({ label: 'only me' })
  const kinds = await form.getByLabel('Tell of').locator('option').allTextContents()
  expect(kinds).toHaveLength(5)
  expect(kinds).not.toContain('Books that do not prove')
  expect(await form.getByLabel('Agent').count()).toBe(0)
  expect(await axeFaults(theirs)).toEqual([])
  await form.getByLabel('Code from your authenticator').fill(owner.code())
  await form.getByRole('button', { name: 'Add a rule', exact: true }).click()
  await form.waitFor({ state: 'detached' })
  const made = theirs.getByRole('row').filter({ hasText: 'An available balance below 500 THB' })
  await made.getByText(`${owner.email}: wherever they want`).waitFor()
  expect(await axeFaults(theirs)).toEqual([])
  await theirs.getByRole('link', { name: 'Where you are told' }).waitFor()
  await theirs.close()
})

it('works on a phone, by night, and a rule is changed and removed there', async () => {
  await withoutRules()
  const made = await admin.put('/alert-rules', {
    ...{ name: 'No wallet', kind: 'balance_below', threshold: '1', currency: 'THB', is_on: true },
    ...{ roles: ['admin'], people: [], channels: [], code: admin.code() },
  })
  expect(made.status).toBe(200)
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(console.at('/alerts'))
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await dialog().getByLabel('On', { exact: true }).uncheck()
  expect(await axeFaults(page)).toEqual([])
  await confirm('Change')
  await page.getByText('off', { exact: true }).waitFor()
  await fitsPhone()
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await confirm('Remove')
  await page.getByText('No rules yet').waitFor()
})

it('a report is scheduled, made now, sent by mail, downloaded and removed', async () => {
  await withoutReports()
  const sentBefore = mail.mails.length
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(console.at('/reports'))
  await page.getByText('No reports yet').waitFor()
  await page.getByRole('button', { name: 'Add a report', exact: true }).click()
  await dialog().getByLabel('Name').fill('Yesterday')
  await dialog().getByLabel('Mail addresses').fill('books@pay.example')
  expect(await axeFaults(page)).toEqual([])
  await confirm('Add a report')
  await page.getByText('every day at 06:00 (Asia/Bangkok)').waitFor()
  await page.getByRole('button', { name: 'Make now', exact: true }).click()
  await confirm('Make now')
  const isSent = () =>
    mail.mails.slice(sentBefore).some(({ to }) => to.includes('books@pay.example'))
  await expect.poll(isSent).toBe(true)
  await page.reload()
  const link = page.getByRole('link', { name: /^Download Yesterday-.*xlsx$/ })
  await link.waitFor()
  await page.getByText('1 attempt', { exact: false }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await fitsPhone()
  const coming = page.waitForEvent('download')
  await link.click()
  expect((await coming).suggestedFilename()).toMatch(/^Yesterday-\d{4}-\d\d-\d\d\.xlsx$/)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('button', { name: 'Change', exact: true }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await confirm('Remove')
  await page.getByText('No reports yet').waitFor()
})

it('a person sets quiet hours and a digest', async () => {
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(console.at('/me'))
  await page.getByRole('button', { name: 'Set hours' }).click()
  await dialog().getByLabel('Quiet from').fill('22:00')
  await dialog().getByLabel('Until').fill('07:00')
  await dialog().getByLabel('Digest at').fill('08:30')
  expect(await axeFaults(page)).toEqual([])
  await confirm('Set hours')
  await page.getByText('22:00 to 07:00').waitFor()
  expect((await admin.get('/me/alerts')).json.times).toEqual({
    ...{ zone: 'Asia/Bangkok', quiet_from: '22:00', quiet_to: '07:00', digest_at: '08:30' },
  })
  await fitsPhone()
})
