import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { qrPng } from '../../src/lib/qr-png.ts'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, openConsole } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What people put into the console's forms: files, and text that outlives a reload. */

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let admin: OperatorClient
let page: Page

beforeAll(async () => {
  test = await startTestService()
  agent = await test.agent({ name: 'Chao Phraya Books' })
  await agent.fund(10_000)
  admin = await signIn(test, 'admin')
  console = await openConsole(test)
  page = await console.tab(admin)
})

afterEach(async () => {
  expect(console.faults()).toEqual([])
  await test.prove()
})

afterAll(async () => {
  await console?.close()
  await test?.close()
})

const open = (path: string) => page.goto(console.at(path))
const button = (name: string) => page.getByRole('button', { name, exact: true })
const dialog = () => page.getByRole('dialog')

describe('a logo', () => {
  const png = qrPng('https://one.example')
  const other = qrPng('https://two.example')
  const field = () => page.getByRole('group', { name: 'Logo', exact: true })
  const shown = (place: ReturnType<typeof field> = field()) =>
    place.getByRole('img', { name: 'The logo' })

  async function choose(label: string, name: string, mimeType: string, buffer: Buffer) {
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      field().getByRole('button', { name: label, exact: true }).click(),
    ])
    await chooser.setFiles({ name, mimeType, buffer })
  }

  async function save(reason: string) {
    // Changes are told apart by when they were made.
    test.clock.advance(1000)
    await button('Save terms').click()
    await dialog().getByLabel('Reason').fill(reason)
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().getByRole('button', { name: 'Save', exact: true }).click()
  }

  const closed = () => expect.poll(() => dialog().count()).toBe(0)
  const dataUrl = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`
  const savedLogo = async () =>
    (await admin.get(`/agents/${agent.appId}`)).json.logo as string | null

  /** The logo on the payment page of a new order, as a browser shows it. */
  async function onPaymentPage(refId: string): Promise<Buffer | undefined> {
    const { json } = await agent.deposit({ refId })
    const link = test.service.url + new URL(json.link).pathname
    await page.goto(link)
    const picture = page.locator('img.logo')
    if ((await picture.count()) === 0) return undefined
    expect(await picture.evaluate('(img) => img.decode().then(() => img.naturalWidth)')).not.toBe(0)
    const src = await picture.getAttribute('src')
    const served = await fetch(new URL(src ?? '', link))
    return Buffer.from(await served.arrayBuffer())
  }

  it('is seen before it is saved, and appears on the payment page', async () => {
    await open(`/agents/${agent.appId}`)
    await choose('Choose a file', 'logo.png', 'image/png', png)
    await expect.poll(() => shown().getAttribute('src')).toBe(dataUrl(png))
    expect(await savedLogo()).toBeNull()
    await save('they sent us their logo')
    await closed()
    expect(await onPaymentPage('LOGO-1')).toEqual(png)
  })

  it('that is no picture, too large or damaged is refused in words, and nothing is changed', async () => {
    await open(`/agents/${agent.appId}`)
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    )
    for (const [name, type, bytes, told] of [
      ['logo.svg', 'image/svg+xml', svg, 'logo.svg is not a PNG, JPEG or WebP picture'],
      ['large.png', 'image/png', Buffer.alloc(33 * 1024), 'large.png has 33 KiB; at most 32'],
      ['svg.png', 'image/png', svg, 'svg.png is damaged'],
      ['half.png', 'image/png', png.subarray(0, 40), 'half.png is damaged'],
    ] as const) {
      await choose('Replace', name, type, bytes)
      await field().getByRole('alert').getByText(told).waitFor()
    }
    expect(await axeFaults(page)).toEqual([])
    const isAsBefore = async () => expect(await shown().getAttribute('src')).toBe(dataUrl(png))
    await isAsBefore()
    expect(await button('Save terms').getAttribute('aria-disabled')).toBe('true')

    // A picture that browsers show and the service does not take: it says so where it is saved.
    const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==', 'base64')
    await choose('Replace', 'gif.png', 'image/png', gif)
    await expect.poll(() => shown().getAttribute('src')).toContain(gif.toString('base64'))
    await save('they sent us their logo')
    await dialog().getByRole('alert').getByText('is not a PNG, JPEG or WebP picture').waitFor()
    expect(await savedLogo()).toBe(dataUrl(png))
    await dialog().getByRole('button', { name: 'Back' }).click()
    await button('Discard changes').click()
    await isAsBefore()
  })

  it('is replaced and removed, and the log says by which picture', async () => {
    await open(`/agents/${agent.appId}`)
    await choose('Replace', 'new.png', 'image/png', other)
    await expect.poll(() => shown().getAttribute('src')).toBe(dataUrl(other))
    await button('Save terms').click()
    expect(await shown(dialog()).nth(0).getAttribute('src')).toBe(dataUrl(png))
    expect(await shown(dialog()).nth(1).getAttribute('src')).toBe(dataUrl(other))
    expect(await axeFaults(page)).toEqual([])
    await dialog().getByRole('button', { name: 'Back' }).click()
    await save('a new look')
    await closed()
    expect(await onPaymentPage('LOGO-2')).toEqual(other)

    await open(`/agents/${agent.appId}`)
    await field().getByRole('button', { name: 'Remove' }).click()
    await save('no looks')
    await closed()
    expect(await onPaymentPage('LOGO-3')).toBeUndefined()

    const { data } = (await admin.get('/audit?action=change_agent')).json
    const logos = data.map((line: { before: { logo: string }; after: { logo: string } }) =>
      [line.before.logo, line.after.logo].map((logo) => logo?.slice(0, 40)),
    )
    const [first, second] = [logos[2][1], logos[1][1]]
    expect(first).toMatch(/^image\/png, \d+ bytes, sha256 [0-9a-f]+$/)
    expect(second).not.toBe(first)
    expect(logos).toEqual([
      [second, undefined],
      [first, second],
      [undefined, first],
    ])
    expect(data.map(({ reason }: { reason: string }) => reason)).toEqual([
      'no looks',
      'a new look',
      'they sent us their logo',
    ])
  })

  it('is seen and not changed by who may only look', async () => {
    const { json } = await admin.get(`/agents/${agent.appId}`)
    const change = { logo: dataUrl(png), updated_at: json.updated_at, reason: 'back again' }
    test.clock.advance(1000)
    expect(
      (await admin.patch(`/agents/${agent.appId}`, { ...change, code: admin.code() })).status,
    ).toBe(200)
    const viewer = await console.tab(await signIn(test, 'viewer'))
    await viewer.goto(console.at(`/agents/${agent.appId}`))
    await viewer.getByRole('img', { name: 'The logo' }).waitFor()
    expect(await viewer.locator('input[type="file"]').count()).toBe(0)
  })
})

describe('limits', () => {
  it('are tried on last month, set, shown with their use, and removed; an agent is stopped by a click', async () => {
    for (let made = 0; made < 3; made++) await agent.withdraw({ amount: 50 })
    await open('/limits')
    await button('Add a rule').click()
    await dialog().getByLabel('Agent').selectOption({ label: 'Chao Phraya Books' })
    await dialog().getByLabel('Name').fill('user-day')
    await dialog().getByLabel('At most').fill('120')
    await button('Try on last month').click()
    await dialog().getByText('1 of 3 orders go beyond it: 50 THB.').waitFor()
    await dialog().getByLabel('Reason').fill('asked for by risk')
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().getByRole('button', { name: 'Add a rule', exact: true }).click()
    await page.getByText('user-1: 150 of 120').waitFor()
    expect((await agent.withdraw({ amount: 1 })).json.code).toBe('limit_exceeded')
    await button('Remove').click()
    await dialog().getByLabel('Reason').fill('no longer')
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('No limits').waitFor()
    await open(`/agents/${agent.appId}`)
    await button('Stop payouts').click()
    await dialog().getByLabel('Reason').fill('a stolen key')
    await dialog().getByRole('button', { name: 'Stop payouts', exact: true }).click()
    await page.getByRole('link', { name: 'Payouts are stopped' }).waitFor()
    const { json } = await admin.get('/stops')
    expect(json.data).toMatchObject([{ app_id: agent.appId, reason: 'a stolen key' }])
    const lift = { reason: 'it is over', code: admin.code() }
    expect((await admin.post(`/stops/${json.data[0].id}/lift`, lift)).status).toBe(200)
  })
})

describe('what was typed', () => {
  const kept = (tab = page) =>
    tab.evaluate<string>('JSON.stringify(Object.entries(sessionStorage))')
  const back = () => dialog().getByRole('button', { name: 'Back' }).click()
  const closed = () => expect.poll(() => dialog().count()).toBe(0)

  it('is there after a reload, the dialog open, codes excepted; once done it is gone', async () => {
    await open(`/wallets/${agent.appId}`)
    await button('Adjust').click()
    const amount = () => dialog().getByLabel('Amount in THB')
    const reason = () => dialog().getByLabel('Reason')
    const code = () => dialog().getByLabel('Code from your authenticator')
    await amount().fill('-25')
    await reason().fill('the bank took it')
    await code().fill('123456')
    const ref = await dialog().getByLabel('Reference').inputValue()
    await page.reload()
    await expect.poll(() => amount().inputValue()).toBe('-25')
    expect(await reason().inputValue()).toBe('the bank took it')
    expect(await code().inputValue()).toBe('')
    expect(await kept()).not.toContain('123456')
    // The same reference: had it been sent before the reload, the money would move once all the same.
    expect(await dialog().getByLabel('Reference').inputValue()).toBe(ref)
    const before = await agent.balance()
    await code().fill(admin.code())
    await dialog().getByRole('button', { name: 'Adjust' }).click()
    await closed()
    expect(await agent.balance()).toBe(before - 25)
    await expect.poll(() => kept()).not.toContain('sluice.draft')
    await page.reload()
    await button('Adjust').click()
    expect(await amount().inputValue()).toBe('')
    expect(await dialog().getByLabel('Reference').inputValue()).not.toBe(ref)
    await back()
  })

  it('is gone when it is given up', async () => {
    await open('/callbacks')
    await button('Replay failed').click()
    await dialog().getByLabel('Reason').fill('they were down')
    await back()
    await closed()
    await button('Replay failed').click()
    expect(await dialog().getByLabel('Reason').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await closed()
    await expect.poll(() => kept()).not.toContain('sluice.draft')
  })

  it('on a page itself is there too, until it is discarded', async () => {
    await open(`/agents/${agent.appId}`)
    const largest = page.getByLabel('Largest deposit', { exact: true })
    await largest.fill('4321')
    await button('Save terms').click()
    await dialog().getByLabel('Reason').fill('as agreed')
    await page.reload()
    await dialog().getByText('4321').waitFor()
    expect(await dialog().getByLabel('Reason').inputValue()).toBe('as agreed')
    await back()
    expect(await largest.inputValue()).toBe('4321')
    await page.reload()
    await expect.poll(() => largest.inputValue()).toBe('4321')
    await button('Discard changes').click()
    await page.reload()
    await expect.poll(() => largest.inputValue()).toBe('1,000,000,000,000')
  })

  it('about an order is still about what was looked at', async () => {
    const { json } = await agent.withdraw({ refId: 'DRAFT-1', amount: 60 })
    await open(`/orders/${json.txn_id}`)
    await button('Cancel withdrawal').click()
    await dialog().getByLabel('Reason').fill('asked for by phone')
    await agent.post(`/payment/orders/${json.txn_id}/cancel`, {})
    await page.reload()
    await expect.poll(() => dialog().getByLabel('Reason').inputValue()).toBe('asked for by phone')
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().locator('button[type="submit"]').click()
    await dialog().getByRole('alert').getByText('it is CANCEL now').waitFor()
    await back()
  })

  it('in the form of routes is there, and so is when they were read', async () => {
    const route = (n: number) => dialog().getByRole('group', { name: `Route ${n}`, exact: true })
    await open('/providers')
    await button('Change routes').click()
    await dialog().getByRole('button', { name: 'Add a route' }).click()
    await route(1).getByLabel('Name').fill('spare')
    const { json: read } = await admin.get('/provider-routes')
    const faster = {
      provider: 'sandbox',
      route: 'faster',
      direction: 'deposit',
      currency: 'THB',
      banks: null,
      min_amount: 1,
      max_amount: 100,
      preference: 100,
      weight: 1,
    }
    const change = { version: read.version, routes: [faster], reason: 'meanwhile' }
    expect((await admin.put('/provider-routes', { ...change, code: admin.code() })).status).toBe(
      200,
    )
    await page.reload()
    await expect.poll(() => route(1).getByLabel('Name').inputValue()).toBe('spare')
    await dialog().getByRole('button', { name: 'Add a route' }).click()
    await route(2).getByLabel('Name').fill('second')
    expect(await route(1).getByLabel('Name').inputValue()).toBe('spare')
    await dialog().getByLabel('Reason').fill('a spare one')
    await dialog().getByLabel('Code from your authenticator').fill(admin.code())
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().getByRole('alert').getByText('Read them again').waitFor()
    expect((await admin.get('/provider-routes')).json.routes).toMatchObject([{ route: 'faster' }])
  })

  it('waits for who signs in again, and for nobody else; signing out forgets it in every tab', async () => {
    const [anna, ben] = [await signIn(test, 'operator'), await signIn(test, 'operator')]
    const tab = await console.tab(anna)
    const at = console.at('/callbacks')
    const reason = tab.getByRole('dialog').getByLabel('Reason')
    await tab.goto(at)
    await tab.getByRole('button', { name: 'Replay failed' }).click()
    await reason.fill('they were down')
    await tab.context().clearCookies()
    await tab.reload()
    const signInHere = async (who: OperatorClient) => {
      await tab.getByLabel('Email').fill(who.email)
      await tab.getByLabel('Password', { exact: true }).fill(who.password)
      await tab.getByLabel('Code').fill(who.code())
      await tab.getByRole('button', { name: 'Sign in' }).click()
    }
    await signInHere(anna)
    await expect.poll(() => reason.inputValue()).toBe('they were down')
    expect(await kept(tab)).not.toContain(anna.password)

    await tab.context().clearCookies()
    await tab.reload()
    await signInHere(ben)
    await tab.getByRole('button', { name: 'Replay failed' }).click()
    expect(await reason.inputValue()).toBe('')
    expect(await kept(tab)).not.toContain('they were down')

    await reason.fill('ben has a reason')
    const beside = await tab.context().newPage()
    await beside.goto(console.at('/'))
    await beside.getByRole('button', { name: 'Your account' }).click()
    await beside.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect.poll(() => kept(tab)).not.toContain('ben has a reason')
  })
})
