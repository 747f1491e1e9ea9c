import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findBankAccount } from '../../src/bank-accounts/bank-account.ts'
import { axeFaults } from '../support/axe.ts'
import { booked, camt, dayAt, importFile, routed } from '../support/bank-accounts.ts'
import { type ConsoleBrowser, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { goToMorning } from '../support/payout-files.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Bank accounts in live, as two people at the console set one up and reconcile its days. */

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let maker: OperatorClient
let other: OperatorClient
let page: Page
let otherPage: Page

beforeAll(async () => {
  test = await startTestService({
    env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32), TIME_ZONE: 'Asia/Bangkok' },
    outside: { providers: [] },
  })
  // What follows happens on one day of the bank.
  goToMorning(test.clock)
  agent = await test.agent({ name: 'Chao Phraya Books' })
  day = dayAt(test.clock())
  maker = await signIn(test, 'admin')
  other = await signIn(test, 'admin')
  console = await openConsole(test)
  page = await console.tab(maker)
  otherPage = await console.tab(other)
})
afterEach(() => {
  expect(console.faults()).toEqual([])
})
afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
})

/** The bank's day of everything that follows. */
let day: string
const account = { accountNo: '1112223334', currency: 'THB' } as const
const open = async (path: string, title: string, at = page) => {
  await at.goto(console.at(path))
  await at.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
}
const field = (name: string) => page.getByRole('textbox', { name, exact: true })
const choice = (name: string) => page.getByRole('combobox', { name, exact: true })

/** Fills in what a dialog asks for, and confirms it. */
async function confirmIn(at: Page, who: OperatorClient, button: string, reason: string | null) {
  const dialog = at.getByRole('dialog')
  if (reason !== null) await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByLabel('Code from your authenticator').fill(who.code())
  await dialog.getByRole('button', { name: button, exact: true }).click()
}

const chooseFile = (at: Page, name: string, buffer: Buffer) =>
  at.setInputFiles('input[type=file]', { name, mimeType: 'text/xml', buffer })

describe('an account', () => {
  it('is added after its QR code and ten lines of a statement were seen; its secret is shown once', async () => {
    await open('/bank-accounts', 'Bank accounts')
    await page.getByText('No bank accounts yet').waitFor()
    await page.getByRole('button', { name: 'Add an account' }).click()
    await field('Name').fill('scb-main')
    await choice('Bank').selectOption('SCB')
    await field('Account number or IBAN').fill('11')
    await field('Name of the holder').fill('Acme Co Ltd')
    await choice('Kind of QR code').selectOption('promptpay-mobile')
    await field('Value').fill('0801234567')
    await choice('Feed').selectOption('signed')
    await page.getByText('must be 4 to 34 letters and digits').waitFor()
    const save = page.getByRole('button', { name: 'Save', exact: true })
    expect(await save.getAttribute('aria-disabled')).toBe('true')
    await field('Account number or IBAN').fill('111-222-3334')
    await page.getByAltText('The QR code of a sample order').waitFor()
    await page.getByText('5406100.07').waitFor()
    const lines = Array.from({ length: 12 }, (_, at) => ({
      amount: `${at + 1}.00`,
      text: `L-${at}`,
    }))
    const sample = camt({ account, day: '2026-11-16', lines })
    await page.getByLabel('Or paste its content').fill(String(sample))
    const table = page.getByRole('group', { name: 'How a file of the bank would be read' })
    await table.getByText('L-9').waitFor()
    expect(await table.getByText('L-10').count()).toBe(0)
    expect((await maker.get('/bank-accounts')).json.data).toEqual([])
    // What was typed outlives a reload; the statement was not kept.
    await page.reload()
    await page.getByText('5406100.07').waitFor()
    await save.click()
    await confirmIn(page, maker, 'Save', 'our account at SCB')
    await page.getByText(/^fs_[0-9a-f]{64}$/).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText('It takes no deposits yet').waitFor()
    const confirm = page.getByRole('button', { name: 'Confirm', exact: true })
    expect(await confirm.getAttribute('aria-description')).toContain('another person')
    expect((await agent.deposit()).status).toBe(503)
  })

  it('is confirmed by another person, while every page says that it was added', async () => {
    await open('/orders', 'Orders', otherPage)
    const notice = otherPage.getByRole('complementary', { name: 'Bank accounts that were changed' })
    await notice.getByText(`was added by ${maker.email}`).waitFor()
    await notice.getByText('until another person confirms it').waitFor()
    await notice.getByRole('link', { name: 'scb-main' }).click()
    await otherPage.getByRole('button', { name: 'Confirm', exact: true }).click()
    await otherPage.getByRole('dialog').getByText('1112223334').waitFor()
    expect(await axeFaults(otherPage)).toEqual([])
    await confirmIn(otherPage, other, 'Confirm', 'compared with the bank’s letter')
    await expect.poll(() => otherPage.getByText('It takes no deposits yet').count()).toBe(0)
    await routed(test, 'scb-main')
    expect((await agent.deposit()).status).toBe(201)
  })

  it('shows what a change means, and waits again after one of its number', async () => {
    await open('/bank-accounts/scb-main/edit', 'Change scb-main')
    await field('Most that it may be asked to take in a day').fill('500000')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await expect.poll(() => save.getAttribute('aria-disabled')).toBeNull()
    await save.click()
    await page.getByRole('dialog').getByText('Most that it may be asked').waitFor()
    await confirmIn(page, maker, 'Save', 'the bank’s own limit')
    await page.getByText('500,000.00').waitFor()
    expect((await maker.get('/bank-accounts/scb-main')).json.state).toBe('on')
    await page.getByRole('button', { name: 'New feed secret' }).click()
    await confirmIn(page, maker, 'New feed secret', 'the phone was lost')
    await page.getByText(/^fs_/).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByText('It takes no deposits yet').waitFor()
    await open('/bank-accounts/scb-main', 'scb-main', otherPage)
    await otherPage.getByRole('button', { name: 'Confirm', exact: true }).click()
    await confirmIn(otherPage, other, 'Confirm', 'we did it together')
    await expect.poll(() => otherPage.getByText('It takes no deposits yet').count()).toBe(0)
  })
})

describe('a feed with a token', () => {
  it('has limits and a profile, which the form asks for and the page shows', async () => {
    await open('/bank-accounts/scb-main/edit', 'Change scb-main')
    const limit = field('Largest payment that a token is believed')
    expect(await limit.count()).toBe(0)
    await choice('Feed').selectOption('token')
    await limit.fill('2000')
    await field('Most that tokens are believed in a day').fill('7000')
    await choice('Messages are read by').selectOption('own')
    await page.getByText('says nowhere where the amount stands').waitFor()
    await choice('Messages are read by').selectOption('sepay')
    await field('Deducted from each payment').fill('3.25')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await expect.poll(() => save.getAttribute('aria-disabled')).toBeNull()
    await save.click()
    await page.getByRole('dialog').getByText('Largest payment that a token').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await confirmIn(page, maker, 'Save', 'a phone reads the messages')
    for (const text of ['2,000.00', '7,000.00', '3.25', 'Profile of the messages'])
      await page.getByText(text).first().waitFor()
    const { json } = await maker.get('/bank-accounts/scb-main')
    expect(json).toMatchObject({
      state: 'unconfirmed',
      feed: 'token',
      token_limit: '2000',
      token_day_limit: '7000',
      feed_profile: expect.stringContaining('/transfer_type'),
      expected_deduction: '3.25',
    })
    await open('/bank-accounts/scb-main', 'scb-main', otherPage)
    await otherPage.getByRole('button', { name: 'Confirm', exact: true }).click()
    await confirmIn(otherPage, other, 'Confirm', 'I saw the phone')
    await expect.poll(() => otherPage.getByText('It takes no deposits yet').count()).toBe(0)
  })
})

describe('a file', () => {
  let order: { txn_id: string; transfer: { amount: number } }

  it('that would be refused says so with the line, and nothing is stored', async () => {
    await open('/bank-accounts/scb-main/import', 'Import a file for scb-main')
    const broken = String(camt({ account, day, lines: [{ amount: '5.00' }] }))
    await chooseFile(page, 'broken.xml', Buffer.from(broken.replace('>5.00<', '>5,0x<')))
    await page.getByText('It would be refused at line 3').waitFor()
    expect(await page.getByRole('button', { name: 'Import', exact: true }).count()).toBe(0)
    expect((await maker.get('/bank-accounts/scb-main/files')).json.data).toEqual([])
  })

  it('is looked at, imported with a code, and believed once another person confirms it', async () => {
    order = (await agent.deposit({ refId: 'BOOK-7' })).json
    await agent.deposit({ refId: 'BOOK-8' })
    const amount = order.transfer.amount.toFixed(2)
    const file = camt({
      account,
      day,
      lines: [
        { amount },
        { amount: '-5.00', text: 'ANNUAL FEE' },
        { amount: '100.00', text: 'books', payerName: 'SOMCHAI J' },
      ],
    })
    await chooseFile(page, 'day.xml', file)
    const rows = page.getByRole('group', { name: 'New movements' })
    await rows.getByText('Pays an order').waitFor()
    await rows.getByText('Nobody’s yet').waitFor()
    await rows.getByText('Unexplained').waitFor()
    await page.getByText('another person has confirmed it').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await confirmIn(page, maker, 'Import', null)
    await page.getByText('3 wait').first().waitFor()
    const own = page.getByRole('button', { name: 'Confirm', exact: true })
    expect(await own.getAttribute('aria-description')).toContain('You brought this file')

    await otherPage.goto(console.at('/bank-accounts/scb-main?view=files'))
    await otherPage.getByRole('button', { name: 'Confirm', exact: true }).click()
    await otherPage.getByRole('dialog').getByText('Confirm 3 movements').waitFor()
    await confirmIn(otherPage, other, 'Confirm', 'compared with the bank’s site')
    await otherPage.getByText(`Confirmed by ${other.email}`).waitFor()
    await booked(test, 'scb-main')
    const { json } = await agent.get(`/payment/orders/${order.txn_id}`)
    expect(json.status).toBe('PAID')
    await open('/bank-accounts/scb-main?view=movements&state=booked', 'scb-main')
    await page.getByRole('group', { name: 'Movements' }).getByText('Credited').waitFor()
  })
})

describe('what nobody can explain', () => {
  it('waits under Payments to decide, with candidates; a debit is explained there', async () => {
    await open('/payments', 'Payments to decide')
    await page.getByRole('link', { name: /^scb-main:/ }).click()
    await page.getByRole('heading', { name: 'Orders it may be for' }).waitFor()
    await page.getByText('BOOK-8').waitFor()
    await open('/payments', 'Payments to decide')
    const left = page.getByRole('group', { name: 'Unexplained on bank accounts' })
    await left.getByText('ANNUAL FEE').waitFor()
    await left.getByRole('button', { name: 'Explain' }).click()
    await page.getByRole('dialog').getByLabel('It was').selectOption('bank_fee')
    await confirmIn(page, maker, 'Explain', 'the yearly fee, as the contract says')
    // Another person approves it: the notice leads there.
    const notice = page.getByRole('alert').filter({ hasText: 'Proposed, not done yet' })
    const proposal = await notice.getByRole('link').getAttribute('href')
    await left.getByText('ANNUAL FEE').waitFor()
    await otherPage.goto(new URL(proposal ?? '', page.url()).href)
    await otherPage.getByRole('button', { name: 'Approve', exact: true }).click()
    await confirmIn(otherPage, other, 'Approve', null)
    await otherPage.getByText('Done', { exact: true }).first().waitFor()
    await open('/payments', 'Payments to decide')
    await expect.poll(() => left.count()).toBe(0)
  })
})

describe('a payment that the bank has not reported', () => {
  it('is recorded from its order with a picture of the slip, and counts when another person has seen that', async () => {
    const made = (await agent.deposit({ refId: 'BOOK-9', userId: 'reader' })).json
    await open(`/orders/${made.txn_id}`, 'Deposit BOOK-9')
    await page.getByRole('button', { name: 'Record a payment' }).click()
    await page.getByRole('heading', { name: 'Record a payment to scb-main' }).waitFor()
    expect(await field('Order').inputValue()).toBe(made.txn_id)
    expect(Number(await field('Amount').inputValue())).toBe(made.transfer.amount)
    const button = page.getByRole('button', { name: 'Record', exact: true })
    expect(await button.getAttribute('aria-description')).toContain('are needed')
    await page.getByLabel('Day').fill(day)
    await field('Name').fill('SOMCHAI J')
    await field('Reference on the slip').fill('2026 1117 0042')
    const slip = { name: 'slip.png', mimeType: 'image/png', buffer: await page.screenshot() }
    await page.setInputFiles('input[type=file]', slip)
    await page.getByAltText('The picture of the slip').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await button.click()
    await confirmIn(page, maker, 'Record', 'the payer showed the slip')
    const notice = page.getByRole('alert').filter({ hasText: 'Proposed, not done yet' })
    const proposal = await notice.getByRole('link').getAttribute('href')
    await otherPage.goto(new URL(proposal ?? '', page.url()).href)
    const picture = otherPage.getByAltText('The picture of the slip that would be believed')
    await expect
      .poll(() =>
        picture.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBeGreaterThan(0)
    expect(await axeFaults(otherPage)).toEqual([])
    await otherPage.getByRole('button', { name: 'Approve', exact: true }).click()
    await confirmIn(otherPage, other, 'Approve', null)
    await otherPage.getByText('Done', { exact: true }).first().waitFor()
    expect((await agent.get(`/payment/orders/${made.txn_id}`)).json.status).toBe('PAID')
    await open('/bank-accounts/scb-main?view=movements&state=booked', 'scb-main')
    const rows = page.getByRole('group', { name: 'Movements' })
    await rows.getByText(`${maker.email}, ${other.email}`).waitFor()
    await rows.getByRole('link', { name: 'slip' }).waitFor()
  })
})

describe('the calendar', () => {
  it('leads to a day with its breaks; it is signed off with a reason, and is red if it changes', async () => {
    const batch = { amount: '900.00', batchCount: 3, batchId: 'B1' }
    const found = await findBankAccount(test.backend.pool, 'scb-main')
    if (!found) throw new Error('the account is gone')
    const folder = { via: 'folder', mode: 'live' } as const
    await importFile(
      test,
      { account: found, secret: '' },
      camt({ account, day, lines: [batch] }),
      folder,
    )
    await open('/reconciliation', 'Reconciliation')
    const cell = (at = page) => at.getByRole('link', { name: new RegExp(`^${day}, `) })
    await cell().click()
    await page.getByRole('heading', { name: `scb-main ${day}` }).waitFor()
    await page.getByText('Something is still to come: the statement').waitFor()
    // The sum of a batch is no payment that could be decided on: it is explained.
    await page.getByRole('group', { name: 'Breaks' }).getByRole('link', { name: 'Explain' }).click()
    const unexplained = page.getByRole('group', { name: 'Movements' })
    await unexplained.getByText('900.00').waitFor()
    await unexplained.getByRole('button', { name: 'Explain' }).waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Sign off' }).click()
    await confirmIn(page, maker, 'Sign off', 'the statement comes on Monday')
    await page.getByText(`by ${maker.email}`).first().waitFor()
    await page
      .getByRole('link', { name: new RegExp(`^${day}, Amber, 1 breaks?, signed off`) })
      .waitFor()
    expect(await axeFaults(page)).toEqual([])

    await maker.post('/bank-accounts/scb-main/files', {
      name: 'late.xml',
      content: camt({ account, day, lines: [{ amount: '3.00' }] }).toString('base64'),
      code: maker.code(),
    })
    await page.reload()
    await page.getByText('Changed after sign-off').waitFor()
    await page.getByRole('link', { name: new RegExp(`^${day}, Red, \\d breaks`) }).waitFor()
    await page.setViewportSize(phone)
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await axeFaults(page)).toEqual([])
  })
})
