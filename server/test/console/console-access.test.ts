import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createUser } from '../../src/operators/save-user.ts'
import {
  type ConsoleBrowser,
  desktop,
  openConsole,
  phone,
  signInAs,
} from '../support/console-browser.ts'
import { OperatorClient, signIn } from '../support/operator.ts'
import { freePort, root } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let operator: OperatorClient
let txnId: string

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  agent = await test.agent({ name: 'Chao Phraya Books' })
  operator = await signIn(test, 'operator')
  txnId = (await agent.deposit({ refId: 'BOOK-1' })).json.txn_id
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

async function invite(email: string, role: 'viewer' | 'operator') {
  const { token } = await createUser(
    test.backend.pool,
    { email, role, agentId: null },
    { operator: { userId: null, email: 'test', ip: null }, reason: null, at: test.clock() },
  )
  return token
}

describe('getting in', () => {
  it('an invitation is accepted with a password and an authenticator, and signs in', async () => {
    const page = await console.tab()
    const email = 'newcomer@sluice.example'
    await page.goto(console.at(`/invitation#${await invite(email, 'viewer')}`))
    await page.getByText(`${email} joins as Viewer`).waitFor()
    await page.getByAltText('QR code for the authenticator').waitFor()
    const totpSecret = (await page.getByText(/^[A-Z2-7]{32,}$/).textContent()) ?? ''
    const password = 'nine plain words put together'
    const newcomer = new OperatorClient(test.service.url, test.clock, {
      email,
      password,
      totpSecret,
    })
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Code').fill(newcomer.code())
    await page.getByRole('button', { name: 'Set up and sign in' }).click()
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()

    const again = await console.tab()
    await again.goto(console.at('/orders?kind=deposit'))
    await again.getByLabel('Email').fill(email)
    await again.getByLabel('Password', { exact: true }).fill('wrong')
    await again.getByLabel('Code').fill(newcomer.code())
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByRole('alert').waitFor()
    expect(await again.getByLabel('Email').inputValue()).toBe(email)
    await again.getByLabel('Password', { exact: true }).fill(password)
    await again.getByLabel('Code').fill(newcomer.code())
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.getByText('BOOK-1').waitFor()
    expect(new URL(again.url()).search).toBe('?kind=deposit')
  })

  it('a passkey is added, signs in alone, and stands for a code once, in its session alone', async () => {
    const own = await signIn(test, 'operator')
    const page = await console.tab(own)
    const at = (path: string) => console.at(path).replace('127.0.0.1', 'localhost')
    await signInAs(page.context(), own, at('').replace('/console', ''))
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    })
    await page.goto(at('/me'))
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('laptop')
    await dialog.getByLabel(/code/i).fill(own.code())
    await dialog.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('laptop').waitFor()

    // In the place of a code, from the same browser.
    const proofs: string[] = []
    page.on('response', async (response) => {
      if (response.url().endsWith('/prove')) proofs.push((await response.json()).code)
    })
    const answers: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/prove')) answers.push(request.postData() ?? '')
    })
    await page.getByRole('button', { name: 'Set' }).first().click()
    await dialog.getByLabel('Where it leads').fill('http://127.0.0.1:9/alerts')
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await dialog.getByText('Your passkey stands for the code.').waitFor()
    await expect.poll(() => proofs.length).toBe(1)
    const [proof = ''] = proofs
    const elsewhere = await own.signInAgain()
    const remove = (who: OperatorClient, code: string) =>
      who.post('/me/alerts/channels/remove', { channel: 'webhook', code })
    expect((await remove(elsewhere, proof)).json.code).toBe('code_refused')
    expect((await remove(await signIn(test, 'operator'), proof)).json.code).toBe('code_refused')
    await dialog.getByRole('button', { name: 'Set' }).click()
    await page.getByText('whsec_').waitFor()
    expect((await remove(own, proof)).json.code).toBe('code_refused')
    // What the authenticator answered counts once, and for its own session.
    for (const who of [own, elsewhere]) {
      const again = await who.post('/me/passkeys/prove', JSON.parse(answers[0] ?? ''))
      expect(again.json.code).toBe('code_refused')
    }
    const asSignIn = await own.send('POST', '/sign-in/passkey', JSON.parse(answers[0] ?? ''))
    expect(asSignIn.json.code).toBe('sign_in_refused')

    await page.context().clearCookies()
    await page.goto(at('/sign-in'))
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()
    // Credentials that begin anew have none of the old passkeys.
    const admin = await signIn(test, 'admin')
    const { id } = (await elsewhere.get('/me')).json.user
    await admin.post(`/users/${id}/reset`, { reason: 'lost the phone', code: admin.code() })
    await page.goto(at('/sign-in'))
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('This passkey does not sign in here').waitFor()
  })

  it('a link that was used says what to do', async () => {
    const page = await console.tab()
    await page.goto(console.at(`/invitation#${'x'.repeat(43)}`))
    await page.getByText('Ask whoever sent it for a new one').waitFor()
  })

  it('a session that is revoked while in use leads to sign-in and back to the same page', async () => {
    const own = await signIn(test, 'operator')
    const page = await console.tab(own)
    await page.goto(console.at(`/orders?kind=deposit&status=WAITING`))
    await page.getByText('BOOK-1').waitFor()
    await own.post('/sign-out')
    // The page asks again by itself.
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.getByText('Your session has ended').waitFor()
    await page.getByLabel('Email').fill(own.email)
    await page.getByLabel('Password', { exact: true }).fill(own.password)
    await page.getByLabel('Code').fill(own.code())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('BOOK-1').waitFor()
    expect(new URL(page.url()).search).toBe('?kind=deposit&status=WAITING')
  })

  it('ends another session of mine, and signs out', async () => {
    const mine = await signIn(test, 'operator')
    const elsewhere = await mine.signInAgain()
    const page = await console.tab(mine)
    await page.goto(console.at('/me'))
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await expect.poll(() => page.getByRole('button', { name: 'End', exact: true }).count()).toBe(0)
    expect((await elsewhere.get('/me')).status).toBe(401)
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect((await mine.get('/me')).status).toBe(401)
  })
})

describe('finding one’s way', () => {
  it('the palette opens pages and finds an order by any id', async () => {
    const page = await console.tab(operator)
    await page.goto(console.at('/'))
    await page.getByRole('heading', { name: 'Today', exact: true }).waitFor()
    const box = page.getByPlaceholder('Any id, user, name, account or amount, or where to go')
    const type = async (text: string) => {
      await box.waitFor({ state: 'hidden' })
      await page.keyboard.press('Control+k')
      await box.fill(text)
    }
    await type('wall')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Wallets' }).waitFor()
    await type('BOOK-1')
    await page.getByText('Search orders for “BOOK-1”').click()
    await page.getByRole('table').getByText('BOOK-1').waitFor()
    await page.getByRole('searchbox', { name: 'Any id' }).focus()
    await type(txnId)
    await page.getByText(/^Deposit BOOK-1, /).click()
    await page.getByRole('heading', { name: 'Deposit BOOK-1' }).waitFor()
  })

  it('copies an id, and tells a time exactly', async () => {
    const page = await console.tab(operator, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.goto(console.at(`/orders/${txnId}`))
    await page.getByRole('button', { name: `Copy ${txnId}` }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(txnId)
    const title = await page.locator('time').first().getAttribute('title')
    expect(title).toMatch(/Asia\/Bangkok\n\d{4}-.*Z\n/)
  })

  it('dark and light are chosen and kept', async () => {
    const page = await console.tab(operator, { colorScheme: 'light' })
    await page.goto(console.at('/wallets'))
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByText('Dark', { exact: true }).click()
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    await expect.poll(scheme).toBe('dark')
    await page.reload()
    await expect.poll(scheme).toBe('dark')
  })

  it('on a phone the menu opens, leads on and closes', async () => {
    const page = await console.tab(operator, { viewport: phone })
    await page.goto(console.at('/'))
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('link', { name: 'Callbacks', exact: true }).click()
    await page.getByRole('heading', { name: 'Callbacks' }).waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(phone.width)
    await expect.poll(() => page.getByRole('link', { name: 'Audit' }).isVisible()).toBe(false)
  })
})

describe('as a page', () => {
  it('the first load is under 400 KB compressed', async () => {
    const page = await console.tab(operator, { viewport: desktop })
    const loaded: string[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (/\.(js|css|svg)$/.test(pathname)) loaded.push(pathname)
    })
    await page.goto(console.at('/orders'))
    await page.getByText('BOOK-1').waitFor()
    const sizes = loaded.map((path) => {
      const bytes = readFileSync(join(root, 'console/dist', path.replace('/console/', '')))
      return gzipSync(bytes).length
    })
    const total = sizes.reduce((sum, size) => sum + size, 0)
    expect(total).toBeGreaterThan(100_000)
    expect(total).toBeLessThan(400_000)
  })

  it('is used under the path of PUBLIC_URL; who comes in beside it is led there', async () => {
    const port = await freePort()
    const under = await startTestService({
      beside: test,
      env: { PORT: String(port), PUBLIC_URL: `http://localhost:${port}/sluice` },
    })
    const page = await console.tab()
    await page.goto(`${under.service.url}/console/orders?kind=deposit`)
    await page.getByLabel('Email').fill(operator.email)
    await page.getByLabel('Password', { exact: true }).fill(operator.password)
    await page.getByLabel('Code').fill(operator.code())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('BOOK-1').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sluice/console/orders')
    await page.getByRole('link', { name: 'Wallets', exact: true }).click()
    await page.getByRole('heading', { name: 'Wallets' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/sluice/console/wallets')
    await page.reload()
    await page.getByRole('heading', { name: 'Wallets' }).waitFor()
    await page.close()
    await under.close()
    // It is another host to this browser; 401 before signing in is an answer like any other.
    const expected = [
      `asked ${under.service.url}/`,
      'Failed to load resource: the server responded with a status of 401',
    ]
    const faults = console
      .faults()
      .filter((each) => !expected.some((text) => each.startsWith(text)))
    expect(faults).toEqual([])
  })

  it('an address that leads nowhere says so', async () => {
    const page = await console.tab(operator)
    await page.goto(console.at('/no-such-page'))
    await page.getByText('There is nothing here').waitFor()
  })
})
