import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { axeFaults } from '../support/axe.ts'
import { type ConsoleBrowser, desktop, openConsole, phone } from '../support/console-browser.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let test: TestService
let console: ConsoleBrowser
let agent: AgentClient
let admin: OperatorClient
let txnId: string

beforeAll(async () => {
  test = await startTestService({ env: { TIME_ZONE: 'Asia/Bangkok' } })
  agent = await test.agent({ name: 'Chao Phraya Books' })
  txnId = (await agent.deposit({ refId: 'MINE', amount: 1234 })).json.txn_id
  await agent.trigger(txnId, 'PAID')
  const wrong = (await agent.deposit({ refId: 'WRONG' })).json.txn_id
  await agent.trigger(wrong, 'PAID', { paidAmount: 90 })
  admin = await signIn(test, 'admin')
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

const paths = ['/', '/orders', 'order', '/callbacks', '/queue', '/payments', 'wallet', '/agents']

/** The heading of each of these pages, a moment and an amount, as each language has them. */
const spoken = [
  {
    tag: 'th',
    menu: 'บัญชีของคุณ',
    titles: [
      'วันนี้',
      'รายการ',
      'ฝาก MINE',
      'Callback',
      'คิวงาน',
      'การชำระเงินที่รอตัดสินใจ',
      'กระเป๋าเงินของ Chao Phraya Books',
      'เอเจนต์',
    ],
    time: /^\d\d\/\d\d\/20\d\d \d\d:\d\d:\d\d$/,
    amount: '1,234.00',
  },
  {
    tag: 'vi',
    menu: 'Tài khoản của bạn',
    titles: [
      'Hôm nay',
      'Lệnh',
      'Nạp MINE',
      'Callback',
      'Hàng đợi',
      'Khoản tiền cần quyết định',
      'Ví của Chao Phraya Books',
      'Đại lý',
    ],
    time: /^\d\d:\d\d:\d\d \d\d\/\d\d\/20\d\d$/,
    amount: '1.234,00',
  },
  {
    tag: 'zh-CN',
    menu: '您的账户',
    titles: [
      '今天',
      '订单',
      '充值 MINE',
      '回调',
      '待办队列',
      '待决定的款项',
      'Chao Phraya Books 的钱包',
      '代理商',
    ],
    time: /^20\d\d\/\d\d\/\d\d \d\d:\d\d:\d\d$/,
    amount: '1,234.00',
  },
  {
    tag: 'pt-BR',
    menu: 'Sua conta',
    titles: [
      'Hoje',
      'Ordens',
      'Depósito MINE',
      'Callbacks',
      'Fila',
      'Pagamentos a decidir',
      'Carteira de Chao Phraya Books',
      'Agentes',
    ],
    time: /^\d\d\/\d\d\/20\d\d, \d\d:\d\d:\d\d$/,
    amount: '1.234,00',
  },
]

/** What the service says of a deposit that was paid, and of how it began. */
const told: Record<string, [why: string, began: string]> = {
  th: ['เงินเข้าแล้วและเข้ายอดกระเป๋าเงิน', 'เอเจนต์สร้างรายการ'],
  vi: ['Tiền đã vào và được ghi có vào ví.', 'Đại lý tạo lệnh'],
  'zh-CN': ['款项已到账并记入钱包。', '代理商创建了订单'],
  'pt-BR': ['O dinheiro entrou e foi creditado na carteira.', 'O agente criou a ordem'],
}

const shows = (page: Page, title: string) =>
  page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
const lang = (page: Page) => page.evaluate('document.documentElement.lang')

/** In the user's menu, which is named in the language that was spoken before. */
async function switchTo(page: Page, menu: string, tag: string): Promise<void> {
  await page.getByRole('button', { name: menu, exact: true }).click()
  await page.locator('select', { has: page.locator('option[value="vi"]') }).selectOption(tag)
}

describe('the console in other languages', () => {
  it('is switched by its user, fits a desk and a phone, and stays after a reload', async () => {
    const page = await console.tab(admin)
    const found: string[] = []
    await admin.put('/me/preferences', { time_zone: null, language: null })
    await page.goto(console.at('/'))
    await shows(page, 'Today')
    expect(await lang(page)).toBe('en')
    let menu = 'Your account'
    for (const language of spoken) {
      await page.setViewportSize(desktop)
      await switchTo(page, menu, language.tag)
      menu = language.menu
      for (const [at, path] of paths.entries()) {
        const title = language.titles[at] ?? ''
        const real = { order: `/orders/${txnId}`, wallet: `/wallets/${agent.appId}` }[path] ?? path
        await page.setViewportSize(desktop)
        // As a link leads there. The first page is where the language was switched.
        if (at > 0)
          await page.evaluate(`history.pushState({}, '', ${JSON.stringify(console.at(real))})`)
        await shows(page, title)
        await expect.poll(() => page.locator('.mantine-Skeleton-root').count()).toBe(0)
        if (path === '/orders') {
          const row = page.getByRole('row', { name: /MINE/ }).filter({ hasText: language.amount })
          await row.waitFor()
          expect(await row.locator('time').first().textContent()).toMatch(language.time)
        }
        if (path === 'order') {
          for (const text of told[language.tag] ?? []) await page.getByText(text).first().waitFor()
        }
        for (const size of [desktop, phone]) {
          await page.setViewportSize(size)
          await expect
            .poll(() => page.evaluate('document.documentElement.scrollWidth'))
            .toBe(size.width)
            .catch(() => found.push(`${language.tag} ${real} is too wide for ${size.width}`))
        }
      }
      await page.setViewportSize(desktop)
      await page.goto(console.at('/'))
      await shows(page, language.titles[0] ?? '')
      expect(await lang(page)).toBe(language.tag)
      for (const fault of await axeFaults(page)) found.push(`${language.tag}: ${fault}`)
    }
    expect(found).toEqual([])
    // Another browser follows: the choice is kept with the user.
    const other = await console.tab(admin)
    await other.goto(console.at('/'))
    await shows(other, spoken.at(-1)?.titles[0] ?? '')
    await other.close()
    // And back, by the palette.
    await page.getByRole('button', { name: /Buscar ou ir para/ }).click()
    await page.getByRole('textbox', { name: /id/ }).fill('English')
    await page.getByRole('button', { name: 'Idioma: English' }).click()
    await shows(page, 'Today')
    expect(await lang(page)).toBe('en')
  })

  it('begins in the browser’s language, and takes numbers as people write them in it', async () => {
    const out = await console.tab(undefined, { locale: 'vi-VN' })
    await out.goto(console.at('/sign-in'))
    await shows(out, 'Đăng nhập')
    // Somebody who has chosen nothing yet.
    const fresh = await signIn(test, 'admin')
    const page = await console.tab(fresh, { locale: 'pt-PT' })
    await page.goto(console.at(`/agents/${agent.appId}`))
    await shows(page, 'Chao Phraya Books')
    expect(await lang(page)).toBe('pt-BR')
    await page.getByLabel('Maior depósito').fill('2.000')
    await page.getByRole('button', { name: 'Salvar condições' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Motivo').fill('a test')
    // A refusal, too, is called something that people there understand.
    const salvar = dialog.getByRole('button', { name: 'Salvar', exact: true })
    await dialog.getByLabel('Código do seu autenticador').fill('000000')
    await salvar.click()
    await dialog.getByText('O código não é válido ou já foi usado').waitFor()
    await dialog.getByLabel('Código do seu autenticador').fill(fresh.code())
    await salvar.click()
    await expect.poll(() => dialog.count()).toBe(0)
    expect((await admin.get(`/agents/${agent.appId}`)).json.max_deposit).toBe(2000)
  })
})
