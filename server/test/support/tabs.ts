import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** What tests listen to on a page. */
const events = ['console', 'pageerror', 'request', 'response'] as const

/** How long a busy machine may take to show what is waited for. */
export const patienceMs = 120_000

/**
 * Tabs of one Chromium, each in a context to itself. A tab that is done with is emptied and used again: a new one
 * costs more than most pages, in a window and a process of its own, and would compile the page's scripts anew.
 */
export class Tabs {
  private readonly browser: Browser
  private readonly always: BrowserContextOptions
  private readonly free = new Map<string, Page[]>()
  private readonly taken = new Map<BrowserContext, string>()

  constructor(browser: Browser, always: BrowserContextOptions) {
    this.browser = browser
    this.always = always
  }

  /** `isAlone` is for a test that changes more of the context than cookies and storage. */
  async open(options: BrowserContextOptions = {}, { isAlone = false } = {}): Promise<Page> {
    const { viewport, colorScheme, ...rest } = { ...this.always, ...options }
    const key = isAlone ? '' : JSON.stringify(rest)
    const page = this.free.get(key)?.pop() ?? (await this.newPage(rest))
    this.taken.set(page.context(), key)
    if (viewport) await page.setViewportSize(viewport)
    if (colorScheme) await page.emulateMedia({ colorScheme })
    return page
  }

  private async newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await this.browser.newContext(options)
    context.setDefaultTimeout(patienceMs)
    return context.newPage()
  }

  async closeAll(): Promise<void> {
    for (const [context, key] of this.taken) {
      const [page, ...others] = context.pages()
      if (key === '' || !page) {
        await context.close()
        continue
      }
      for (const other of others) await other.close()
      await empty(page)
      await context.clearCookies()
      this.free.set(key, [...(this.free.get(key) ?? []), page])
    }
    this.taken.clear()
  }
}

async function empty(page: Page): Promise<void> {
  for (const event of events) page.removeAllListeners(event)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()').catch(() => {})
  await page.goto('about:blank')
  await page.emulateMedia({ media: null, colorScheme: null })
}
