import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { holdRestored, noteAsked, noteDifference } from '../../src/payouts/restore-hold.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import { axeFaults } from '../support/axe.ts'
import { camt, dayAt, importFile } from '../support/bank-accounts.ts'
import { type ConsoleBrowser, openConsole } from '../support/console-browser.ts'
import { FakeProvider } from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { payingAccount, withdrawals } from '../support/payout-files.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Two people bring a payout file to the bank by what the pages show them, and change their minds on the way. */

interface Person {
  client: OperatorClient
  page: Page
}

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let other: AgentClient
let anna: Person
let ben: Person
/** Gets no orders, and can never say what it has. */
const bank = new FakeProvider('bank', { deposits: false })
bank.onAsk = async () => ({ type: 'unknown', reason: 'closed' })

beforeAll(async () => {
  test = await startTestService({ outside: { moreProviders: [bank] } })
  await saveProviderState(test.backend.pool, 'bank', 'off', test.clock())
  agent = await test.agent({ name: 'Chao Phraya Books' })
  other = await test.agent({ name: 'Somebody Else' })
  await Promise.all([agent.fund(10_000), other.fund(10_000)])
  console = await openConsole(test)
  const person = async (role: 'operator' | 'admin'): Promise<Person> => {
    const client = await signIn(test, role)
    return { client, page: await console.tab(client) }
  }
  anna = await person('operator')
  ben = await person('admin')
})

afterEach(async () => {
  expect(console.faults()).toEqual([])
  await test.prove()
})

afterAll(async () => {
  await console?.close()
  await test?.close()
})

const button = ({ page }: Person, name: string) => page.getByRole('button', { name, exact: true })
const dialog = ({ page }: Person) => page.getByRole('dialog')

/** Fills in what the dialog asks for, and confirms it. */
async function confirm(person: Person, fields: Record<string, string> = {}): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await dialog(person).getByLabel(label).fill(text)
  }
  await dialog(person).getByLabel('Code from your authenticator').fill(person.client.code())
  await dialog(person).locator('button[type="submit"]').click()
}

async function done(person: Person): Promise<void> {
  await expect.poll(() => dialog(person).count()).toBe(0)
}

/** Where the file is that the tests here are about. */
let path = ''

it('a file is drafted and approved, two people take payouts out, and the rest is approved again', async () => {
  const account = await payingAccount(test, { name: 'kbank' })
  await withdrawals(test, agent, account, 100)
  const theirs = await withdrawals(test, other, account, 200, 300)

  await anna.page.goto(console.at('/payout-files'))
  await anna.page.getByLabel('Make a file for kbank').click()
  await anna.page.getByText('It pays 3 withdrawals').waitFor()
  path = new URL(anna.page.url()).pathname.replace('/console', '')
  expect(await button(anna, 'Approve').getAttribute('aria-disabled')).toBe('true')

  await ben.page.goto(console.at(path))
  await button(ben, 'Approve').click()
  await confirm(ben)
  await done(ben)
  await button(ben, 'Download').waitFor()

  // Two payouts of one agent are taken out together.
  await anna.page.goto(console.at(path))
  await anna.page
    .getByLabel(/^Take out SX/)
    .nth(1)
    .click()
  await dialog(anna).getByLabel('Also the other payout of the same agent').check()
  await dialog(anna).getByText('Take 2 payouts out, 500.00 THB').waitFor()
  expect(await dialog(anna).getByLabel('It fails').isChecked()).toBe(true)
  expect(await axeFaults(anna.page)).toEqual([])
  await confirm(anna, { Reason: 'their agent is looked into' })
  await done(anna)
  await anna.page.getByText('Payouts are to be taken out of the file').waitFor()

  await ben.page.goto(console.at(path))
  await ben.page.getByRole('link', { name: 'Open the proposal' }).click()
  await ben.page.getByText('2 payouts, 500 THB').waitFor()
  await button(ben, 'Approve').click()
  await confirm(ben)
  await done(ben)
  for (const id of theirs) {
    await expect
      .poll(async () => (await other.get(`/payment/orders/${id}`)).json.status)
      .toBe('FAILED')
  }

  await ben.page.goto(console.at(path))
  await ben.page.getByText('It pays one withdrawal').waitFor()
  await ben.page.getByText('it has to be approved again').waitFor()
  expect(await ben.page.getByText('Taken out', { exact: true }).count()).toBe(2)
  await button(ben, 'Approve').click()
  await confirm(ben)
  await done(ben)

  await button(ben, 'Download').waitFor()
})

it('it is downloaded and brought, and that the bank does not pay it is not believed at once', async () => {
  await anna.page.goto(console.at(path))
  await button(anna, 'Download').click()
  const downloading = anna.page.waitForEvent('download')
  await confirm(anna, { Reason: 'to bring it to the bank' })
  expect((await downloading).suggestedFilename()).toMatch(/\.xml$/)
  await done(anna)
  // Nothing can be taken out any more.
  await button(anna, 'The bank does not pay').waitFor()
  expect(await anna.page.getByLabel(/^Take out SX/).count()).toBe(0)

  await ben.page.goto(console.at(path))
  await button(ben, 'The bank has it').click()
  await confirm(ben, { 'The bank’s number of the file': 'B-77' })
  await done(ben)
  await ben.page.getByText('The bank’s number: B-77').waitFor()

  // That the bank does not pay is not believed before the bank's statements say so.
  await anna.page.goto(console.at(path))
  await button(anna, 'The bank does not pay').click()
  await confirm(anna, { Evidence: 'a call to the bank', Reason: 'it was lost' })
  await dialog(anna).getByText('wait until that is over').waitFor()
  await dialog(anna).getByRole('button', { name: 'Back' }).click()
})

it('a file whose day is over says so, and leads to another day', async () => {
  const account = await payingAccount(test, { name: 'ktb' })
  await withdrawals(test, agent, account, 110)
  const { json } = await anna.client.post('/payout-files', { account: 'ktb' })
  const body = { digest: json.digest, code: ben.client.code() }
  await ben.client.post(`/payout-files/${json.id}/approve`, body)
  await test.sql(
    `update payout_file_seals set execution_date = execution_date - 30 where file_id = $1`,
    [json.id],
  )
  await anna.page.goto(console.at(`/payout-files/${json.id}`))
  await anna.page.getByText('Its day is over.').waitFor()
  await button(anna, 'Seal for a later day').click()
  await confirm(anna, { Reason: 'the bank was closed' })
  await done(anna)
  await anna.page.getByText('it has to be approved again').waitFor()
  await test.sql(
    `update payout_file_seals set execution_date = execution_date + 30 where file_id = $1`,
    [json.id],
  )
})

it('the home page tells of money that left against the books, and leads to where it is ended', async () => {
  const account = await payingAccount(test, { name: 'scb' })
  const lines = [{ amount: '-33.00', text: 'who knows' }]
  await importFile(test, account, camt({ ...account, day: dayAt(test.clock()), lines }))
  await ben.page.goto(console.at('/'))
  await ben.page.getByText('A debit of scb that nobody can explain').waitFor()
  expect(await axeFaults(ben.page)).toEqual([])
  await ben.page.getByRole('link', { name: 'Unexplained movements' }).click()
  await ben.page.getByText('who knows').waitFor()
  expect(new URL(ben.page.url()).search).toContain('state=unexplained')
})

it('the home page says that payouts are held after a restore, and what was found has to be said of each', async () => {
  const { pool } = test.backend
  const hold = await inTransaction(pool, (tx) =>
    holdRestored(tx, { since: test.clock(), found: 'It was said.', now: test.clock }),
  )
  const restoreId = hold?.restoreId ?? ''
  const [txn = ''] = await withdrawals(test, agent, await payingAccount(test, { name: 'ttb' }), 50)
  const words = `The bank could not say whether it has R-1 or R-2, of ${txn}.`
  await noteDifference(
    pool,
    restoreId,
    {
      ...{ subject: `${txn} at bank`, words, order: parseTxnId(txn) },
      at: { provider: 'bank', references: ['R-1', 'R-2'] },
    },
    test.clock(),
  )
  await noteAsked(pool, restoreId, test.clock())
  await anna.page.goto(console.at('/'))
  await anna.page.getByText('Payouts are held after a restore').waitFor()
  await anna.page.getByRole('link', { name: /^Differences to be looked into/ }).click()
  await anna.page.getByText(words).waitFor()
  await button(anna, 'Pay out again').click()
  const found = dialog(anna).getByLabel(`What was found: ${txn} at bank`)
  await found.waitFor()
  const submit = dialog(anna).locator('button[type="submit"]')
  await dialog(anna).getByLabel('Reason').fill('their list of the lost hour')
  await dialog(anna).getByLabel('Code from your authenticator').fill(anna.client.code())
  // Not before something is said of it.
  expect(await submit.isDisabled()).toBe(true)
  expect(await found.locator('option').allTextContents()).toEqual([
    'Choose what was found',
    'Not paid: it leaves again',
    'bank has R-1: it is asked about it',
    'bank has R-2: it is asked about it',
    'Seen, and booked where money is missing',
  ])
  await found.selectOption('Not paid: it leaves again')
  expect(await axeFaults(anna.page)).toEqual([])
  await submit.click()
  await done(anna)
  const { data } = (await ben.client.get('/approvals')).json
  const proposed = data.find(({ action }: { action: string }) => action === 'release_hold')
  await ben.page.goto(console.at(`/approvals/${proposed.id}`))
  await ben.page.getByText(`${txn} at bank: not paid, it leaves again`).waitFor()
})

it('after a restore a person says what the debit of a lost file paid, and what of it the bank charged', async () => {
  const account = await payingAccount(test, { name: 'bbl' })
  const [one = '', two = ''] = await withdrawals(test, agent, account, 60, 40)
  await test.sql(
    `insert into restores (restore_id, since, marked_by, marker, marked_at)
     values ($1, $2, 0, 'command line', $3)`,
    [randomUUID(), new Date(test.clock().getTime() - 86_400_000), test.clock()],
  )
  const lines = [{ amount: '-103.50', batchCount: 2, batchId: `PF${'0'.repeat(24)}7` }]
  await importFile(test, account, camt({ ...account, day: dayAt(test.clock()), lines }))
  await anna.page.goto(console.at('/payout-files'))
  await button(anna, 'Say what the debit of 103.50 THB paid').click()
  await dialog(anna).getByLabel('Withdrawals that it paid').fill(`${one}\n${two}`)
  expect(await axeFaults(anna.page)).toEqual([])
  await dialog(anna).locator('button[type="submit"]').click()
  // What is left of the debit is said, and not taken for granted.
  await dialog(anna).getByText('the other 3.5', { exact: false }).waitFor()
  await dialog(anna).getByLabel('Charged by the bank with it').fill('3.50')
  await dialog(anna).locator('button[type="submit"]').click()
  await done(anna)
  await anna.page.getByText('Paid by the debit').waitFor()
  await ben.page.goto(anna.page.url())
  await ben.page.getByText('None of these payouts').waitFor()
  await ben.page.getByText('a cost of the house').waitFor()
})
