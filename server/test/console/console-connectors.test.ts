import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { companyDocument, companySamples } from '../support/company.ts'
import { type ConsoleBrowser, desktop, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** A payment company in live, as two people at the console connect it by its document. */

let test: TestService
let console: ConsoleBrowser
let maker: OperatorClient
let other: OperatorClient
let page: Page

const document = companyDocument({ url: 'https://pay.example' })
const secret = 'sk_live_0123456789'

beforeAll(async () => {
  test = await startTestService({
    env: { MODE: 'live', METRICS_TOKEN: 'x'.repeat(32), TIME_ZONE: 'Asia/Bangkok' },
    outside: { providers: [] },
  })
  maker = await signIn(test, 'admin')
  other = await signIn(test, 'admin')
  console = await openConsole(test)
  page = await console.tab(maker)
})
afterEach(() => {
  expect(console.faults()).toEqual([])
})
afterAll(async () => {
  await console?.close()
  await test?.prove()
  await test?.close()
})

/** Goes to a page as a link leads there, without loading the console again. */
const go = async (path: string, title: string, at = page) => {
  await at.evaluate(`history.pushState({}, '', ${JSON.stringify(console.at(path))})`)
  await at.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
}
const button = (name: string) => page.getByRole('button', { name, exact: true })
const whyNot = (name: string) => button(name).getAttribute('aria-description')
const saysWhyNot = (name: string) => expect.poll(() => whyNot(name))
const view = (name: string) => page.getByRole('link', { name, exact: true }).click()
const file = (name: string, value: unknown) =>
  page.setInputFiles('input[type=file]', {
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(value)),
  })

async function confirmIn(at: Page, who: OperatorClient, name: string, reason: string | null) {
  const dialog = at.getByRole('dialog')
  if (reason !== null) await dialog.getByLabel('Reason').fill(reason)
  await dialog.getByLabel('Code from your authenticator').fill(who.code())
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Axe in the light on a desk and in the dark on a phone, where nothing may be too wide. */
async function looks(where: string): Promise<void> {
  // Notices that slide in are half transparent for a moment.
  await page.evaluate(`document.querySelectorAll('[role=alert] button').forEach((x) => x.click())`)
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  expect(await axeFaults(page), `${where}, light, on a desk`).toEqual([])
  await page.setViewportSize(phone)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: where })
    .toBe(phone.width)
  expect(await axeFaults(page), `${where}, dark, on a phone`).toEqual([])
  await page.setViewportSize(desktop)
  await page.emulateMedia({ colorScheme: 'light' })
}

describe('a connector', () => {
  it('is added once nothing is wrong with its document; faults stand beside their place', async () => {
    await page.goto(console.at('/connectors'))
    await page.getByText('No connectors yet').waitFor()
    await button('Add a connector').click()
    await saysWhyNot('Save').toContain('name')
    await page.getByRole('textbox', { name: 'Name' }).fill('imaginary')
    const pasted = page.getByRole('textbox', { name: 'Document, as JSON' })
    await pasted.fill(JSON.stringify({ ...document, askPayout: undefined }))
    await page.getByText('/askPayout', { exact: true }).waitFor()
    await page.getByText('both calls or neither').waitFor()
    await saysWhyNot('Save').toContain('Something is wrong')
    await looks('a document with a fault')
    await file('imaginary.json', document)
    await page.getByText('Nothing is wrong with it').waitFor()
    expect((await maker.get('/connectors')).json.data).toEqual([])
    await button('Save').click()
    await confirmIn(page, maker, 'Save', 'a contract was signed')
    await page.getByRole('heading', { level: 1, name: 'imaginary', exact: true }).waitFor()
    await saysWhyNot('Use version 1').toContain('has not passed its samples')
    await saysWhyNot('Switch').toContain('No version is used yet')
  })

  it('runs its samples, and tells what each was read as and what the set does not show', async () => {
    const { samples, ...order } = companySamples
    const wrong = { ...samples[0], expect: ['rejected'] }
    await file('samples.json', { ...order, samples: [wrong, ...samples.slice(1, 2)] })
    await button('Run the samples').click()
    await page.getByText('Version 1 has not passed').waitFor()
    await page.getByText('a payout that is paid').waitFor()
    const first = page.getByRole('group', { name: 'Results' }).getByRole('row').nth(1)
    for (const text of ['Wrong', 'rejected', 'accepted with link'])
      await first.getByText(text, { exact: true }).waitFor()
    await file('samples.json', companySamples)
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Samples, as JSON' }).inputValue())
      .toContain('refused')
    await button('Run the samples').click()
    await page.getByText('Version 1 has passed').waitFor()
    await page.getByText('half of it').first().waitFor()
    await looks('samples')
    await saysWhyNot('Use version 1').toContain('api, hook')
  })

  it('keeps secrets by their names, and shows none', async () => {
    await view('Overview')
    for (const name of ['api', 'hook']) {
      await button(`Set ${name}`).click()
      await page.getByLabel('The secret itself').fill(secret)
      await confirmIn(page, maker, 'Keep it', 'from the company’s site')
      await button(`Rotate ${name}`).waitFor()
    }
    await page.getByText('Not used yet').first().waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(secret)
    await looks('overview')
  })

  it('is used only after another person has approved it', async () => {
    await saysWhyNot('Use version 1').toBeNull()
    await button('Use version 1').click()
    await expect.poll(() => page.getByRole('dialog').textContent()).toContain('another person')
    await confirmIn(page, maker, 'Use version 1', 'its samples have passed')
    await page.getByText('It waits for another person').waitFor()
    await saysWhyNot('Use version 1').toContain('waits for another person')
    await go('/connectors', 'Connectors')
    await page.getByText('Ready to be used').waitFor()
    await page.getByText('Waits for another person').waitFor()
    await looks('the list')
    await page.getByRole('link', { name: 'imaginary' }).click()
    const path = await page.getByRole('link', { name: 'Open the proposal' }).getAttribute('href')
    const otherPage = await console.tab(other)
    await otherPage.goto(new URL(path ?? '', page.url()).href)
    await otherPage.getByRole('button', { name: 'Approve', exact: true }).click()
    await confirmIn(otherPage, other, 'Approve', null)
    await otherPage.getByText('Done', { exact: true }).first().waitFor()
    await page.reload()
    await page.getByText('In use').first().waitFor()
    await saysWhyNot('Use version 1').toContain('is in use')
    expect((await maker.get('/connectors/imaginary')).json).toMatchObject({
      version: 1,
      state: 'off',
    })
  })
})

describe('the tester', () => {
  const body = () => page.getByRole('textbox', { name: 'Body' })
  const step = (name: string) => page.getByRole('combobox', { name: 'Step' }).selectOption(name)

  it('says which rule an answer fires and what would happen; what no rule fits is unknown', async () => {
    await view('Try an answer')
    await step('askPayout')
    await body().fill('{"ref":"SX1","state":"DONE"}')
    await page.getByRole('textbox', { name: 'Our reference' }).fill('SX1')
    await page.keyboard.press('Enter')
    await page.getByText('The payout is paid.').waitFor()
    await page.getByText('/askPayout/answers/1', { exact: true }).waitFor()
    await page.getByRole('group', { name: 'The rule at /askPayout/answers/1' }).waitFor()
    await body().fill('<html>We are being updated</html>')
    await button('Try it').click()
    await page.getByText('The outcome is unknown').waitFor()
    await page.getByText('No rule fits').waitFor()
    expect(await page.getByText('The payout is paid.').count()).toBe(0)
  })

  it('says whether a notice is genuine, and which events it gives', async () => {
    await step('notice')
    const [, paid] = companySamples.samples
    const text = JSON.stringify(paid?.body)
    const t = Math.floor(test.clock().getTime() / 1000)
    const signed = (key: string) =>
      `X-Sign: t=${t},v1=${createHmac('sha256', key).update(`${t}.${text}`).digest('hex')}`
    const headers = page.getByRole('textbox', { name: 'Headers of the notice' })
    await body().fill(text)
    await headers.fill(signed('somebody else'))
    await button('Try it').click()
    await page.getByText('It is not genuine').waitFor()
    await headers.fill(signed(secret))
    await button('Try it').click()
    await page.getByText('It is genuine').waitFor()
    await page.getByText(/^A payment of 100 THB for /).waitFor()
    await page.getByText('/notice/rules/0', { exact: true }).waitFor()
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('v1=')
    await looks('the tester')
  })
})

describe('later', () => {
  it('another key of calls is used only once it is said whose it is', async () => {
    await view('Overview')
    await button('Rotate api').click()
    await page.getByLabel('The secret itself').fill('another key of calls')
    await confirmIn(page, maker, 'Keep it', 'the old one is too old')
    await saysWhyNot('Use version 1').toBeNull()
    await button('Use version 1').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('a new key')
    await dialog.getByLabel('Code from your authenticator').fill(maker.code())
    const confirm = dialog.getByRole('button', { name: 'Use version 1', exact: true })
    expect(await confirm.isEnabled()).toBe(false)
    await dialog.getByRole('checkbox', { name: /Take no notice any more/ }).check()
    await dialog.getByRole('radio', { name: /The same account/ }).check()
    await expect.poll(() => confirm.isEnabled()).toBe(true)
    await looks('the use of a key')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('a new version begins with the newest, and has its samples to pass before it is used', async () => {
    await button('New version').click()
    await page.getByRole('heading', { level: 1, name: 'New version of imaginary' }).waitFor()
    await button('Begin with the newest version').click()
    const pasted = page.getByRole('textbox', { name: 'Document, as JSON' })
    const text = await pasted.inputValue()
    await pasted.fill(text.replace('"company": "Imaginary Pay"', '"company": "Imaginary Pay Ltd"'))
    await page.getByText('Imaginary Pay Ltd', { exact: true }).waitFor()
    await saysWhyNot('Save').toBeNull()
    await button('Save').click()
    await confirmIn(page, maker, 'Save', 'they were renamed')
    await saysWhyNot('Use version 2').toContain('has not passed')
    await view('Document')
    await page.getByText('they were renamed').waitFor()
    await page.getByText('its samples have passed').waitFor()
    await page.getByRole('group', { name: 'Document of version 2' }).waitFor()
    await page.getByRole('combobox', { name: 'Version' }).selectOption('1')
    const shown = page.getByRole('group', { name: 'Document of version 1' })
    await expect.poll(() => shown.textContent()).not.toContain('Ltd')
    await looks('the document')
  })

  it('one person alone switches it off', async () => {
    await button('Switch').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'State' }).selectOption('off')
    await dialog.getByLabel('Reason').fill('they do not pay')
    await dialog.getByRole('button', { name: 'Switch', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await view('Overview')
    await page.getByText('Off', { exact: true }).waitFor()
  })

  it('who may not manage providers sees nothing of it', async () => {
    const operator = await signIn(test, 'operator')
    const own = await console.tab(operator)
    await own.goto(console.at('/connectors'))
    await own.getByRole('alert').waitFor()
    expect(await own.getByRole('link', { name: 'Connectors', exact: true }).count()).toBe(0)
    const add = own.getByRole('button', { name: 'Add a connector' })
    expect(await add.getAttribute('aria-disabled')).toBe('true')
  })
})
