import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { camt, dayAt, importFile } from '../support/bank-accounts.ts'
import { companyDocument, prepare } from '../support/company.ts'
import { type ConsoleBrowser, desktop, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type PayingAccount, payingAccount, withdrawals } from '../support/payout-files.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let other: AgentClient
let admin: OperatorClient
let account: PayingAccount
/** One that was downloaded, and one that waits for its approval. */
let payoutFiles: [done: string, draft: string]
let txnId: string
let foreignTxnId: string

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  agent = await test.agent({ name: 'Chao Phraya Books' })
  other = await test.agent({ name: 'Somebody Else' })
  await agent.fund(5000)
  txnId = (await agent.withdraw({ refId: 'MINE' })).json.txn_id
  foreignTxnId = (await other.deposit({ refId: 'THEIRS' })).json.txn_id
  const wrong = (await agent.deposit({ refId: 'WRONG' })).json.txn_id
  await agent.trigger(wrong, 'PAID', { paidAmount: 90 })
  account = await payingAccount(test, { name: 'kbank', payoutCutoffs: '11:00,15:30' })
  admin = await signIn(test, 'admin')
  payoutFiles = await makePayoutFiles()
  await admin.put('/limits', {
    app_id: agent.appId,
    ...{ name: 'user-day', kind: 'withdraw', measure: 'amount', per: 'user', period: 'day' },
    ...{ most: '110', outcome: 'hold', reason: 'a test', code: admin.code() },
  })
  await prepare(test, 'imaginary', companyDocument({ url: 'https://pay.example' }))
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

async function makePayoutFiles(): Promise<[string, string]> {
  const maker = await signIn(test, 'operator')
  await other.fund(1000)
  const draft = async () => {
    await withdrawals(test, other, account, 120)
    return (await maker.post('/payout-files', { account: account.name })).json
  }
  const { id, digest } = await draft()
  await admin.post(`/payout-files/${id}/approve`, { digest, code: admin.code() })
  const given = { reason: 'to bring it to the bank', code: maker.code() }
  expect((await maker.post(`/payout-files/${id}/export`, given)).status).toBe(200)
  const { id: draftId } = await draft()
  await withdrawals(test, other, account, 130)
  return [id, draftId]
}

/** Every page, and what is there once it has loaded. */
async function everyPage(): Promise<[path: string, shows: string][]> {
  const lines = [{ amount: '-5.00', text: 'FEE' }, { amount: '70.00' }]
  await importFile(
    test,
    account,
    camt({ account: account.account, day: dayAt(test.clock()), lines }),
  )
  const { json } = await admin.get('/payments')
  const wrong = json.data.find(({ amount }: { amount: number }) => amount === 90)
  const payment = encodeURIComponent(wrong.payment_id)
  return [
    ['/', 'Today'],
    ['/insights', 'Insights'],
    ['/orders', 'Orders'],
    [`/orders/${txnId}`, 'Withdrawal MINE'],
    ['/callbacks', 'Callbacks'],
    [`/callbacks/${agent.appId}/1`, 'Callback #1: Paid'],
    ['/queue', 'Queue'],
    ['/payments', 'Payments to decide'],
    [`/payments/${payment}`, 'Payment of 90.00 THB'],
    ['/wallets', 'Wallets'],
    [`/wallets/${agent.appId}`, 'Wallet of Chao Phraya Books'],
    ['/books', 'Books'],
    ['/agents', 'Agents'],
    [`/agents/${agent.appId}`, 'Chao Phraya Books'],
    [`/agents/${agent.appId}/audit`, 'What was done'],
    ['/providers', 'Providers'],
    ['/connectors', 'Connectors'],
    ['/connectors/new', 'Add a connector'],
    ['/connectors/imaginary', 'imaginary'],
    ['/connectors/imaginary?view=document', 'imaginary'],
    ['/connectors/imaginary?view=samples', 'imaginary'],
    ['/connectors/imaginary?view=try', 'imaginary'],
    ['/connectors/imaginary/new-version', 'New version of imaginary'],
    ['/bank-accounts', 'Bank accounts'],
    ['/bank-accounts/new', 'Add a bank account'],
    ['/bank-accounts/kbank', 'kbank'],
    ['/bank-accounts/kbank?view=movements', 'kbank'],
    ['/bank-accounts/kbank?view=files', 'kbank'],
    ['/bank-accounts/kbank/edit', 'Change kbank'],
    ['/bank-accounts/kbank/import', 'Import a file for kbank'],
    ['/bank-accounts/kbank/record', 'Record a payment to kbank'],
    ['/payout-files', 'Payout files'],
    ...payoutFiles.map((id): [string, string] => [`/payout-files/${id}`, 'Payout file of kbank']),
    ['/reconciliation', 'Reconciliation'],
    ['/open-items', 'Open items'],
    ['/approvals', 'Approvals'],
    ['/rules', 'Two people and stops'],
    ['/alerts', 'Alerts'],
    ['/reports', 'Reports'],
    ['/api-log', 'API log'],
    ['/limits', 'Limits and lists'],
    ['/users', 'Users'],
    ['/audit', 'Audit'],
    ['/settings', 'Settings'],
    ['/me', 'Your account'],
    ['/signature', 'Signature debugger'],
    ['/test-orders', 'Test orders'],
  ]
}

const shows = (page: Page, title: string) =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

describe('for everybody', () => {
  it('axe finds nothing on any page, light and dark, on a desk and on a phone', async () => {
    const page = await console.tab(admin)
    const found: string[] = []
    const look = async (where: string) => {
      for (const fault of await axeFaults(page)) found.push(`${where}: ${fault}`)
    }
    // By turns light on a desk and dark on a phone; CONSOLE_LOOKS=all looks at each page both ways.
    for (const [at, [path, title]] of (await everyPage()).entries()) {
      const isAll = process.env.CONSOLE_LOOKS === 'all'
      await page.setViewportSize(desktop)
      await page.emulateMedia({ colorScheme: 'light' })
      // As a link leads there: loading all of it for every page would only take longer.
      if (at === 0) await page.goto(console.at(path))
      else await page.evaluate(`history.pushState({}, '', ${JSON.stringify(console.at(path))})`)
      await shows(page, title)
      await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0)
      if (isAll || at % 2 === 0) await look(`${path} light desktop`)
      await page.setViewportSize(phone)
      await page.emulateMedia({ colorScheme: 'dark' })
      if (isAll || at % 2 === 1) await look(`${path} dark phone`)
      // What draws itself anew after the change has a moment for it.
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'))
        .toBe(phone.width)
        .catch(() => found.push(`${path} is too wide for a phone`))
    }
    expect(found).toEqual([])
  })

  it('nor on sign-in, in a dialog or in the palette', async () => {
    const out = await console.tab(undefined, { colorScheme: 'dark', viewport: phone })
    await out.goto(console.at('/sign-in'))
    await shows(out, 'Sign in')
    expect(await axeFaults(out), 'sign-in').toEqual([])
    // A link for looking around that nobody gave.
    await out.goto(console.at('/look'))
    await shows(out, 'Looking around')
    await out.getByRole('alert').waitFor()
    expect(await axeFaults(out), 'look').toEqual([])
    const page = await console.tab(admin, { colorScheme: 'dark' })
    await page.goto(console.at(`/orders/${txnId}`))
    await page.getByRole('button', { name: 'Cancel withdrawal', exact: true }).click()
    await page.getByRole('dialog').waitFor()
    expect(await axeFaults(page), 'dialog').toEqual([])
    await page.keyboard.press('Escape')
    const focused = () => page.evaluate('document.activeElement.textContent')
    await expect.poll(focused).toBe('Cancel withdrawal')
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Any id, user, name, account or amount, or where to go').waitFor()
    expect(await axeFaults(page), 'palette').toEqual([])
  })
})

describe('by role', () => {
  it('a viewer sees everything masked, and what they may not do says so', async () => {
    const viewer = await signIn(test, 'viewer')
    const page = await console.tab(viewer)
    await page.goto(console.at(`/orders/${txnId}`))
    await shows(page, 'Withdrawal MINE')
    expect(await page.getByText('1234567890').count()).toBe(0)
    await page.goto(console.at(`/payout-files/${payoutFiles[1]}`))
    await page.getByRole('cell', { name: '••••7890' }).waitFor()
    expect(await page.getByText('1234567890').count()).toBe(0)
    for (const [path, action] of [
      [`/orders/${txnId}`, 'Cancel withdrawal'],
      [`/wallets/${agent.appId}`, 'Adjust'],
      ['/agents', 'Create an agent'],
      ['/callbacks', 'Replay failed'],
      ['/bank-accounts', 'Add an account'],
      ['/bank-accounts/kbank', 'Change'],
      ['/payout-files', 'Make a file for kbank'],
      [`/payout-files/${payoutFiles[1]}`, 'Approve'],
    ] as const) {
      await page.goto(console.at(path))
      const button = page.getByRole('button', { name: action, exact: true })
      await button.waitFor()
      expect(await button.getAttribute('aria-disabled'), path).toBe('true')
      expect(await button.getAttribute('aria-description'), path).not.toBe('')
      await button.focus()
      await page.keyboard.press('Enter')
      expect(await page.getByRole('dialog').count(), path).toBe(0)
    }
    expect(await page.getByRole('link', { name: 'Users', exact: true }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Connectors', exact: true }).count()).toBe(0)
    await page.goto(console.at('/users'))
    await page.getByRole('alert').waitFor()
    // Who does not see persons is offered no search for them, and a link with one shows the rest.
    await page.goto(console.at('/bank-accounts/kbank?view=movements&text=SOMCHAI'))
    await page.getByRole('textbox', { name: 'Amount', exact: true }).waitFor()
    expect(await page.getByRole('searchbox', { name: 'Text or payer' }).count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('an agent’s user sees one agent, and nothing of another', async () => {
    const user = await signIn(test, 'agent', agent)
    const page = await console.tab(user)
    await page.goto(console.at('/orders'))
    await page.getByRole('cell', { name: /^MINE/ }).waitFor()
    expect(await page.getByText('THEIRS').count()).toBe(0)
    for (const name of [
      'To decide',
      'Wallets',
      'Books',
      'Agents',
      'Providers',
      'Connectors',
      'Bank accounts',
      'Payout files',
      'Reconciliation',
      'Users',
      'Settings',
    ]) {
      expect(await page.getByRole('link', { name, exact: true }).count(), name).toBe(0)
    }
    await page.goto(console.at(`/orders/${foreignTxnId}`))
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'Wallet', exact: true }).click()
    await shows(page, 'Wallet of Chao Phraya Books')
    expect(await page.getByRole('button', { name: 'Adjust' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Keys and addresses' }).click()
    await shows(page, 'Chao Phraya Books')
    const terms = page.getByRole('button', { name: 'Save terms' })
    expect(await terms.getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('a new server')
    await page.getByRole('dialog').getByLabel('Code from your authenticator').fill(user.code())
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await page.getByText('never shown again').waitFor()
  })

  it('an agent’s user finds out what is wrong with a signature, and makes a test order', async () => {
    const user = await signIn(test, 'agent', other)
    const page = await console.tab(user)
    await page.goto(console.at('/signature'))
    const body = JSON.stringify(other.order())
    await page.getByLabel('Body').fill(body)
    await page.getByLabel('x-signature').fill(other.sign('POST', '/payment/withdraw', body))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('It does not match').waitFor()
    await page.getByLabel('x-signature').fill(other.sign('POST', '/payment/deposit', body))
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('It matches').waitFor()

    await page.getByRole('link', { name: 'Test orders' }).click()
    await page.getByLabel('Story').selectOption({ label: 'late: paid after it has expired' })
    await page.getByLabel('refId').fill('TRY-1')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'Open the order' }).click()
    await shows(page, 'Deposit TRY-1')
  })
})
