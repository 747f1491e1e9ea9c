import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, openConsole } from '../support/console-browser.ts'
import { handOver } from '../support/hand-over.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let console: ConsoleBrowser
let receiver: Receiver
let agent: AgentClient
let admin: OperatorClient
let page: Page

/** One tab for everything an admin does in a day. */
beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  receiver = await startReceiver()
  agent = await test.agent({
    name: 'Chao Phraya Books',
    depositCallbackUrl: `${receiver.url}/deposit`,
    withdrawCallbackUrl: `${receiver.url}/withdraw`,
  })
  await agent.fund(10_000)
  admin = await signIn(test, 'admin')
  console = await openConsole(test)
  page = await console.tab(admin)
})

afterEach(() => {
  expect(console.faults()).toEqual([])
})

afterAll(async () => {
  await console?.close()
  await receiver?.close()
  await test?.prove()
  await test?.close()
})

const open = (path: string) => page.goto(console.at(path))
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
const group = (name: string) => page.getByRole('group', { name, exact: true })
const dialog = () => page.getByRole('dialog')
const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor()

/** Fills in what a dialog asks for and confirms it; where it closes, it was done. */
async function confirm(label: string) {
  const asked = dialog()
  const button = asked.getByRole('button', { name: label, exact: true })
  // What it asks for is there together with its button.
  await button.waitFor()
  const reason = asked.getByLabel('Reason')
  if ((await reason.count()) > 0) await reason.fill('as the bank says')
  const code = asked.getByLabel('Code from your authenticator')
  if ((await code.count()) > 0) await code.fill(admin.code())
  await button.click()
}

describe('orders', () => {
  it('are filtered in the address, keep their columns and views, and come in by themselves', async () => {
    await agent.deposit({ refId: 'DEP-1', amount: 250 })
    await agent.withdraw({ refId: 'WIT-1', amount: 300 })
    await open('/orders')
    await page.getByRole('cell', { name: /^DEP-1/ }).waitFor()
    await page.getByLabel('Kind').selectOption('withdraw')
    await expect.poll(() => page.getByRole('cell', { name: /^DEP-1/ }).count()).toBe(0)
    expect(new URL(page.url()).search).toBe('?kind=withdraw')
    await page.reload()
    await page.getByRole('cell', { name: /^WIT-1/ }).waitFor()
    expect(await page.getByLabel('Kind').inputValue()).toBe('withdraw')

    await agent.withdraw({ refId: 'WIT-2', amount: 40 })
    await page.getByRole('cell', { name: /^WIT-2/ }).waitFor()

    await button('Columns').click()
    await page.getByRole('menuitemcheckbox', { name: 'Fee' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'Fee' }).waitFor()
    await button('Views').click()
    await page.getByLabel('Name these filters').fill('Payouts')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.keyboard.press('Escape')
    await open('/orders')
    await page.getByRole('columnheader', { name: 'Fee' }).waitFor()
    await button('Views').click()
    await button('Payouts').click()
    await expect.poll(() => new URL(page.url()).search).toBe('?kind=withdraw')
  })

  it('a view is renamed and forgotten, and the others stay', async () => {
    await open('/orders?status=PAID')
    await button('Views').click()
    await page.getByLabel('Name these filters').fill('Paid ones')
    await page.getByRole('button', { name: 'Save' }).click()
    expect(await axeFaults(page)).toEqual([])
    // It keeps its own filters, whichever are looked at by then.
    await open('/orders?kind=withdraw')
    await button('Views').click()
    await button('Rename Paid ones').click()
    await page.getByLabel('A new name for Paid ones').fill('Done')
    await page.getByRole('button', { name: 'Save' }).click()
    await button('Forget Payouts').click()
    await page.reload()
    await button('Views').click()
    await button('Done').waitFor()
    expect(await button('Payouts').count()).toBe(0)
    expect(await button('Paid ones').count()).toBe(0)
    expect(await button('Failed').count()).toBe(1)
    await button('Done').click()
    await expect.poll(() => new URL(page.url()).search).toBe('?status=PAID')
    await open('/orders?kind=withdraw')
  })

  it('are saved as CSV with the same filters', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), button('CSV').click()])
    const parts: Buffer[] = []
    for await (const part of await download.createReadStream()) parts.push(part)
    const [head, ...rows] = Buffer.concat(parts).toString().trim().split('\n')
    expect(head).toContain('txn_id')
    expect(rows.map((row) => /WIT-\d/.exec(row)?.[0]).toSorted()).toEqual(['WIT-1', 'WIT-2'])
    await page.getByText('2 orders saved as CSV.').waitFor()
  })

  it('one is told in words and in a timeline, and what cannot be done says why', async () => {
    const { json } = await agent.deposit({ refId: 'DEP-2', amount: 500 })
    await agent.trigger(json.txn_id, 'PAID')
    await receiver.until(2)
    await open(`/orders/${json.txn_id}`)
    await heading('Deposit DEP-2')
    await page.getByText('The money came in and was credited to the wallet.').waitFor()
    await button('Open all').click()
    await page.getByText('"refId": "DEP-2"').first().waitFor()
    await button('Void').hover()
    expect(await page.getByRole('tooltip').textContent()).not.toBe('')
    await button('Resend callback').click()
    const before = receiver.received.length
    await confirm('Resend callback')
    await receiver.until(before + 1)
    await expect.poll(() => dialog().count()).toBe(0)
  })

  it('one is cancelled with a reason and a code; a wrong code loses nothing that was typed', async () => {
    const { json } = await agent.withdraw({ refId: 'WIT-3', amount: 70 })
    const balance = await agent.balance()
    await open(`/orders/${json.txn_id}`)
    await button('Cancel withdrawal').click()
    await dialog().getByLabel('Reason').fill('the payer asked')
    const code = dialog().getByLabel('Code from your authenticator')
    await code.fill('000000')
    await dialog().locator('button[type="submit"]').click()
    await dialog().getByRole('alert').waitFor()
    expect(await dialog().getByLabel('Reason').inputValue()).toBe('the payer asked')
    await code.fill(admin.code())
    await dialog().locator('button[type="submit"]').click()
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    expect(await agent.balance()).toBe(balance + 70)
    expect((await agent.get(`/payment/orders/${json.txn_id}`)).json.status).toBe('CANCEL')
  })

  it('one is refunded in part; it shows the refund, which leads back to it', async () => {
    const { json } = await agent.deposit({ refId: 'DEP-4', amount: 300 })
    await agent.trigger(json.txn_id, 'PAID')
    await open(`/orders/${json.txn_id}`)
    await button('Refund').click()
    const amount = dialog().getByLabel('Amount to refund')
    expect(await amount.inputValue()).toBe('300')
    await amount.fill('120.5')
    await dialog().getByLabel('Reason').fill('the payer asked')
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().locator('button[type="submit"]').click()
    await page.getByText('179.5 THB is left').first().waitFor()
    await page.getByRole('heading', { name: 'Refunds' }).waitFor()
    await page.getByRole('link', { name: /^refund-/ }).click()
    await page.getByRole('link', { name: json.txn_id }).click()
    await heading('Deposit DEP-4')
  })
})

describe('callbacks', () => {
  it('show their attempts, are resent, and a lane is paused and resumed', async () => {
    await open('/callbacks')
    await page.getByRole('row').nth(1).getByRole('link').first().click()
    await page
      .getByRole('button', { name: /HTTP 200/ })
      .first()
      .click()
    await group('Body of the answer').first().waitFor()
    expect(await group('As curl').textContent()).toContain('curl')
    const before = receiver.received.length
    await button('Resend').click()
    await confirm('Resend')
    await receiver.until(before + 1)

    receiver.answer = (_, response) => response.writeHead(500).end('broken')
    const { json } = await agent.deposit({ refId: 'DEP-3' })
    await agent.trigger(json.txn_id, 'PAID')
    await receiver.until(before + 2)
    await open('/callbacks?state=failing')
    await page.getByText('HTTP 500').first().waitFor()
    // An open lane is not green beside what was refused.
    const lanes = page.getByRole('list', { name: 'Lanes' })
    await lanes.getByText('1 failing').waitFor()
    expect(await lanes.locator('[data-tone="good"]').count()).toBe(0)
    await button('Pause').click()
    await confirm('Pause')
    await button('Resume').click()
    await confirm('Resume')
    await button('Pause').waitFor()
    receiver.answer = (_, response) => response.end('{"code":0}')
  })

  it('all that failed are replayed', async () => {
    await button('Replay failed').click()
    await confirm('Replay')
    await page.getByText(/callbacks? goe?s? out again\./).waitFor()
  })
})

describe('payments to decide', () => {
  const wrong = async (refId: string) => {
    const { json } = await agent.deposit({ refId, amount: 100 })
    await agent.trigger(json.txn_id, 'PAID', { paidAmount: 90 })
  }
  const openFirst = async () => {
    await open('/payments')
    await page.getByRole('row').nth(1).getByRole('link').first().click()
    await heading('Payment of 90.00 THB')
  }

  it('one is taken, noted and credited to its order', async () => {
    await wrong('PAY-1')
    await openFirst()
    await button('Take it').click()
    await button('Let go').waitFor()
    await page.getByLabel('A note for the next who looks').fill('called the payer')
    await button('Add note').click()
    await page.getByRole('listitem').getByText('called the payer').waitFor()
    const before = await agent.balance()
    await button('Credit this order').first().click()
    await confirm('Credit the order')
    await page.getByText('Credited', { exact: true }).waitFor()
    expect(await agent.balance()).toBe(before + 90)
    // Who decided and why, instead of orders that it could be for.
    await page.getByRole('heading', { name: 'Decided', exact: true }).waitFor()
    await page.getByText(admin.email).first().waitFor()
    await page.getByText('as the bank says').first().waitFor()
    expect(await page.getByText('Orders it may be for').count()).toBe(0)
    await open('/payments?state=decided')
    await page.getByRole('row').nth(1).getByText('90.00').waitFor()
  })

  it('one is credited to a wallet, one is returned', async () => {
    await wrong('PAY-2')
    await openFirst()
    const before = await agent.balance()
    await button('Credit a wallet').click()
    await dialog().getByLabel('Whose wallet').selectOption(agent.appId)
    await confirm('Credit the wallet')
    await page.getByText('Credited', { exact: true }).waitFor()
    expect(await agent.balance()).toBe(before + 90)

    await wrong('PAY-3')
    await openFirst()
    await button('Mark returned').click()
    await confirm('Mark returned')
    await page.getByText('Returned', { exact: true }).waitFor()
    await open('/payments')
    await page.getByText('Nothing to decide').waitFor()
  })
})

describe('home', () => {
  it('counts what has ended, draws every hour as a bar, and warns of what is refused', async () => {
    const { json } = await admin.get('/home')
    const { paid, ended, orders } = json.deposits.today
    await open('/')
    await page
      .getByText(`${paid} of ${ended} ended, ${orders - ended} waiting`, { exact: false })
      .waitFor()
    // One for each hour and direction, most of them without height.
    // Every hour is there, with its zeros, for the eye, by keyboard and as a table.
    const plot = page.getByRole('group', { name: /^Volume by the hour, THB/ }).first()
    await plot.focus()
    await page.keyboard.press('End')
    await page.getByText(/In: \S+, Out: \S+/).waitFor({ state: 'attached' })
    await page.getByText('As a table').first().click()
    const hours = page.getByRole('group', { name: 'Volume by the hour, THB', exact: true })
    await expect.poll(() => hours.getByRole('row').count()).toBe(json.hours.length + 1)
    expect(await page.getByRole('heading', { name: 'Orders are refused' }).count()).toBe(0)
    const state = async (to: 'on' | 'off') => {
      const body = { state: to, reason: 'maintenance', code: admin.code() }
      const answer = await admin.send('PATCH', '/providers/sandbox', body)
      expect([answer.status, answer.text]).toEqual([200, answer.text])
      // The service knows it about a second later.
      await expect
        .poll(async () => (await admin.get('/home')).json.refuses.length)
        .toBe(to === 'on' ? 0 : 2)
      await page.reload()
      await heading('Today')
    }
    await state('off')
    await page.getByRole('heading', { name: 'Orders are refused' }).waitFor()
    await page
      .getByRole('alert')
      .getByText('No provider takes deposits in THB, withdrawals in THB', { exact: false })
      .waitFor()
    expect(await axeFaults(page)).toEqual([])
    await state('on')
    await expect
      .poll(() => page.getByRole('heading', { name: 'Orders are refused' }).count())
      .toBe(0)
  })
})

describe('wallets', () => {
  it('show the journal as of any time, are adjusted once, and give a statement', async () => {
    await open('/wallets')
    await page.getByRole('link', { name: 'Chao Phraya Books' }).click()
    await heading('Wallet of Chao Phraya Books')
    const before = await agent.balance()
    await button('Adjust').click()
    await dialog().getByLabel('Amount in THB').fill('-25')
    await confirm('Adjust')
    await expect.poll(() => agent.balance()).toBe(before - 25)
    await page.getByText('The journal has it.').waitFor()
    await button('Statement').click()
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ])
    expect(csv.suggestedFilename()).toMatch(/\.csv$/)
    await page.keyboard.press('Escape')
    await page.getByLabel('As of').fill('2020-01-01T00:00')
    await page.getByText('No movements').waitFor()
    await page.reload()
    await expect.poll(() => page.getByLabel('As of').inputValue()).toBe('2020-01-01T00:00')
  })
})

describe('agents', () => {
  it('one is created, its secret shown once, its terms changed, suspended and resumed', async () => {
    await open('/agents')
    await button('Create an agent').click()
    await dialog().getByLabel('Name').fill('Night Bazaar')
    await confirm('Create an agent')
    expect(await group('Secret').textContent()).toContain('sk_')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Night Bazaar' }).click()
    await heading('Night Bazaar')
    await page.getByLabel('Largest deposit').fill('5000')
    await button('Save terms').click()
    await confirm('Save')
    await page.getByText('Saved.').first().waitFor()
    await expect.poll(() => page.getByLabel('Largest deposit').inputValue()).toBe('5,000')
    await button('Suspend').click()
    await confirm('Suspend')
    await button('Resume').click()
    await confirm('Resume')
    await button('Suspend').waitFor()
  })

  it('a change on top of another’s is refused and says what to do', async () => {
    await page.getByLabel('Smallest deposit').fill('20')
    const appId = new URL(page.url()).pathname.split('/').at(-1)
    const { json } = await admin.get(`/agents/${appId}`)
    test.clock.advance(1000)
    const change = { rate_limit: 7, updated_at: json.updated_at, reason: 'meanwhile' }
    expect((await admin.patch(`/agents/${appId}`, { ...change, code: admin.code() })).status).toBe(
      200,
    )
    await button('Save terms').click()
    await confirm('Save')
    await dialog().getByText('Read it again').waitFor()
    await dialog().getByRole('button', { name: 'Back' }).click()
  })

  it('an address is tried for real, fees are tried out, a secret is rotated', async () => {
    await open(`/agents/${agent.appId}`)
    await button('Check Deposit callback').click()
    await page.getByText('Answer', { exact: true }).waitFor()
    await page
      .getByRole('textbox', { name: 'Withdrawal callback' })
      .fill(`${receiver.url}/elsewhere`)
    await button('Save addresses').click()
    await confirm('Save')
    await expect
      .poll(async () => (await admin.get(`/agents/${agent.appId}`)).json.withdraw_callback)
      .toBe(`${receiver.url}/elsewhere`)
    await page.getByLabel('Deposit fee').first().fill('10%')
    await button('Preview').click()
    await page.getByRole('columnheader', { name: 'Would be' }).waitFor()
    await button('Rotate').click()
    await confirm('Rotate')
    expect(await group('Secret').textContent()).toContain('sk_')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => group('Secrets').getByRole('row').count()).toBe(3)
    await group('Secrets').getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('dialog').getByLabel('Reason').fill('the new one leaked')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => group('Secrets').getByRole('row').count()).toBe(2)
  })
})

describe('providers, users, settings and the log', () => {
  it('how a provider did is told, and its unknown payouts are one click away', async () => {
    const withdrawal = async (refId: string): Promise<string> =>
      (await agent.withdraw({ refId, amount: 30 })).json.txn_id
    await handOver(test, await withdrawal('LOST-1'), 'unknown')
    await handOver(test, await withdrawal('KEPT-1'), 'accepted')
    await agent.trigger(await withdrawal('KEPT-2'), 'PAID')
    await agent.trigger(await withdrawal('KEPT-3'), 'FAILED')
    const [{ deposits, payouts }] = (await admin.get('/provider-figures')).json.data
    const told = ({ paid, ended }: { paid: number; ended: number }) =>
      `${((100 * paid) / ended).toFixed(1)}% (${paid} of ${ended})`
    expect(told(deposits)).not.toBe(told(payouts))
    await open('/providers')
    const cells = page.getByRole('row').filter({ hasText: 'sandbox' }).getByRole('cell')
    await cells.getByText(told(payouts), { exact: true }).waitFor()
    const texts = await cells.allInnerTexts()
    // Between them are the last thirty days, as a line.
    expect([3, 4, 6, 7].map((at) => texts[at])).toEqual([told(deposits), told(payouts), '2', '1'])
    await page.getByRole('link', { name: '1', exact: true }).click()
    await page.getByRole('cell', { name: /^LOST-1/ }).waitFor()
    expect(new URL(page.url()).search).toBe('?payout=unknown&provider=sandbox')
    expect(await page.getByRole('cell', { name: /^KEPT/ }).count()).toBe(0)
  })

  it('a provider is drained and switched on again', async () => {
    await open('/providers')
    await page.getByLabel('Paid in').selectOption('168')
    await expect.poll(() => new URL(page.url()).search).toBe('?hours=168')
    for (const [state, shown] of [
      ['draining', 'Draining'],
      ['on', 'On'],
    ] as const) {
      await button('Switch').first().click()
      await dialog().getByLabel('State').selectOption(state)
      await confirm('Switch')
      await page.getByRole('cell').getByText(shown, { exact: true }).waitFor()
    }
  })

  it('routes are added, tried, put right, moved and removed', async () => {
    const route = (n: number) => dialog().getByRole('group', { name: `Route ${n}`, exact: true })
    const saved = async () => (await admin.get('/provider-routes')).json.routes
    await open('/providers')
    await button('Change routes').click()
    await button('Add a route').click()
    await route(1).getByLabel('Name').fill('Small Ones')
    await route(1).getByRole('combobox', { name: 'Banks' }).fill('SCB')
    await page.getByRole('listbox').getByRole('option', { name: /^SCB / }).click()
    await route(1).getByLabel('To', { exact: true }).fill('500')
    await button('Add a route').click()
    await route(2).getByLabel('Name').fill('rest')
    await route(2).getByLabel('Weight').fill('none')
    await confirm('Save')
    await route(2).getByText('must be a whole number from 1 to 1000').waitFor()
    await route(2).getByLabel('Weight').fill('3')
    await confirm('Save')
    await route(1).getByText('must be 1 to 32 small letters').waitFor()
    await route(1).getByLabel('Name').fill('small')

    const order = dialog().getByRole('group', { name: 'Try an order' })
    await order.getByLabel('Bank').selectOption('SCB')
    await order.getByLabel('Amount').fill('500')
    await order.getByRole('button').click()
    await order.getByText('by its route small').waitFor()
    await order.getByLabel('Amount').fill('501')
    await order.getByRole('button').click()
    await order.getByText('by its route rest').waitFor()

    await route(2).getByRole('button', { name: 'Try this route earlier' }).click()
    await expect.poll(() => route(1).getByLabel('Name').inputValue()).toBe('rest')
    await confirm('Save')
    await expect.poll(() => dialog().count()).toBe(0)
    expect(await saved()).toMatchObject([
      { route: 'rest', banks: null, preference: 100, weight: 3 },
      { route: 'small', banks: ['SCB'], max_amount: 500, preference: 101, weight: 1 },
    ])

    await button('Change routes').click()
    await route(2).getByRole('button', { name: 'Try this route earlier' }).click()
    await confirm('Save')
    await expect.poll(() => dialog().count()).toBe(0)
    const turns = (await saved()).toSorted(
      (a: { preference: number }, b: { preference: number }) => a.preference - b.preference,
    )
    expect(turns).toMatchObject([
      { route: 'small', preference: 100 },
      { route: 'rest', preference: 101 },
    ])

    await button('Change routes').click()
    for (const _ of [1, 2]) {
      await route(1).getByRole('button', { name: 'Remove this route' }).click()
    }
    await confirm('Save')
    await expect.poll(() => dialog().count()).toBe(0)
    expect(await saved()).toEqual([])
  })

  it('a user is invited, given another role, reset and disabled', async () => {
    await open('/users')
    await button('Invite a user').click()
    await dialog().getByLabel('Email').fill('new@sluice.example')
    await confirm('Invite a user')
    expect(await group('Their link').textContent()).toContain('/console/invitation#')
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click()
    const row = page.getByRole('row', { name: /new@sluice\.example/ })
    await row.getByRole('button', { name: 'Role' }).click()
    await dialog().getByLabel('Role').selectOption('viewer')
    await confirm('Role')
    await row.getByText('Viewer').waitFor()
    await row.getByRole('button', { name: 'Reset' }).click()
    await confirm('Reset')
    await group('Their link').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click()
    await row.getByRole('button', { name: 'Disable' }).click()
    await confirm('Disable')
    await row.getByText('Disabled').waitFor()
  })

  it('everything that was done is in the log, with its reason', async () => {
    await open(`/audit?actor=${admin.email}`)
    await page.getByLabel('What was done').selectOption({ label: 'Adjust wallet' })
    await expect.poll(() => new URL(page.url()).searchParams.get('action')).toBe('adjust_wallet')
    // One row, though it was written down before and after.
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.getByRole('cell', { name: 'Adjust wallet' }).waitFor()
    await page.getByLabel('What was done').selectOption({ label: 'Any action' })
    await page.getByLabel('To what').selectOption({ label: 'Order' })
    await page.getByRole('cell', { name: 'as the bank says' }).first().waitFor()
    await button('Details').first().click()
    await dialog().getByText('Before', { exact: true }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click()
    await open('/settings')
    await page.getByText('Time zone').waitFor()
  })
})
