import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConsoleBrowser, openConsole } from '../support/console-browser.ts'
import { handOver } from '../support/hand-over.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Two operators at the same thing: one does it, the other is told so and sees what is true now. */

interface Person {
  client: OperatorClient
  page: Page
}

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let anna: Person
let ben: Person

beforeAll(async () => {
  test = await startTestService()
  agent = await test.agent({ name: 'Chao Phraya Books' })
  await agent.fund(10_000)
  console = await openConsole(test)
  const person = async (): Promise<Person> => {
    const client = await signIn(test, 'operator')
    return { client, page: await console.tab(client) }
  }
  anna = await person()
  ben = await person()
})

afterEach(async () => {
  expect(console.faults()).toEqual([])
  await test.prove()
})

afterAll(async () => {
  await console?.close()
  await test?.close()
})

const both = () => [anna, ben]
const button = ({ page }: Person, name: string) => page.getByRole('button', { name, exact: true })
const dialog = ({ page }: Person) => page.getByRole('dialog')

/** Fills in what the dialog of an action asks for. */
async function fill(person: Person, more: { code?: boolean } = {}) {
  await dialog(person).getByLabel('Reason').fill('as the bank says')
  if (more.code) {
    const code = dialog(person).getByLabel('Code from your authenticator')
    await code.fill(person.client.code())
  }
}

const press = (person: Person) => dialog(person).locator('button[type="submit"]').click()

/** A payment of another amount than was asked for, which both look at. */
async function lookAtPayment(refId: string): Promise<void> {
  const { json } = await agent.deposit({ refId, amount: 100 })
  await agent.trigger(json.txn_id, 'PAID', { paidAmount: 90 })
  const { json: waiting } = await anna.client.get('/payments')
  const { payment_id } = waiting.data[0]
  for (const { page } of both()) {
    await page.goto(console.at(`/payments/${encodeURIComponent(payment_id)}`))
    await page.getByRole('cell', { name: refId }).waitFor()
  }
}

it('both decide on a payment: it is credited once, and the other sees it decided', async () => {
  await lookAtPayment('PAY-1')
  const before = await agent.balance()
  await button(anna, 'Credit this order').first().click()
  await fill(anna, { code: true })
  await button(ben, 'Mark returned').click()
  await fill(ben, { code: true })
  await press(anna)
  await anna.page.getByText('Credited', { exact: true }).waitFor()
  await press(ben)
  await dialog(ben).getByText('Somebody has already decided on this payment.').waitFor()
  // Behind the dialog, nothing is left to be pressed.
  await ben.page.getByText('Credited', { exact: true }).waitFor()
  await dialog(ben).getByRole('button', { name: 'Back' }).click()
  expect(await button(ben, 'Mark returned').getAttribute('aria-disabled')).toBe('true')
  expect(await agent.balance()).toBe(before + 90)
})

it('both take a payment: one has it, and the other sees who', async () => {
  await lookAtPayment('PAY-2')
  await button(anna, 'Take it').click()
  await button(anna, 'Let go').waitFor()
  await button(ben, 'Take it').click()
  await ben.page
    .getByRole('alert')
    .getByText(`${anna.client.email} is looking into it now.`)
    .waitFor()
  await ben.page.getByRole('strong').getByText(anna.client.email).waitFor()
  // Having seen it, Ben may take it over all the same.
  await button(ben, 'Take it').click()
  await button(ben, 'Let go').waitFor()
})

it('one marks a withdrawal paid and the other failed: the first counts, and money moves once', async () => {
  const { json } = await agent.withdraw({ refId: 'WIT-1', amount: 300 })
  await handOver(test, json.txn_id, 'unknown')
  const before = await agent.balance()
  for (const person of both()) {
    await person.page.goto(console.at(`/orders/${json.txn_id}`))
    const label = person === anna ? 'Mark failed' : 'Mark paid'
    await button(person, label).click()
    await fill(person, { code: true })
  }
  await press(anna)
  await anna.page.getByText('Failed', { exact: true }).first().waitFor()
  await press(ben)
  await dialog(ben).getByText('it is FAILED now').waitFor()
  await ben.page.getByText('Failed', { exact: true }).first().waitFor()
  await dialog(ben).getByRole('button', { name: 'Back' }).click()
  await expect.poll(() => button(ben, 'Mark failed').getAttribute('aria-disabled')).toBe('true')
  expect(await agent.balance()).toBe(before + 300)
  expect((await agent.get('/payment/wallet')).json.held).toBe(0)
})

it('both change terms: the second sees the first’s, and keeps what they typed', async () => {
  const field = ({ page }: Person, label: string) => page.getByLabel(label, { exact: true })
  for (const person of both()) {
    await person.page.goto(console.at(`/agents/${agent.appId}`))
    await field(person, person === anna ? 'Largest deposit' : 'Largest withdrawal').fill('7000')
    await button(person, 'Save terms').click()
    await fill(person, { code: true })
    test.clock.advance(1000)
  }
  await press(anna)
  await expect.poll(() => dialog(anna).count()).toBe(0)
  await press(ben)
  await dialog(ben).getByText('Read it again').waitFor()
  await expect.poll(() => field(ben, 'Largest deposit').inputValue()).toBe('7,000')
  // Pressing again what was looked at before does not write over it either.
  await fill(ben, { code: true })
  await press(ben)
  await dialog(ben).getByText('Read it again').waitFor()
  await dialog(ben).getByRole('button', { name: 'Back' }).click()
  expect(await field(ben, 'Largest withdrawal').inputValue()).toBe('7000')
  await button(ben, 'Save terms').click()
  await fill(ben, { code: true })
  await press(ben)
  await expect.poll(() => dialog(ben).count()).toBe(0)
  const { json } = await ben.client.get(`/agents/${agent.appId}`)
  expect(json).toMatchObject({ max_deposit: 7000, max_withdraw: 7000 })
})
