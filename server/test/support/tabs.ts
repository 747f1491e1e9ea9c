import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/**
 * Tabs of one Chromium, each in a context to itself. A context that is done with is emptied and used
 * again: it has the page's scripts at hand, which a new one would have to load and compile anew.
 */
export class Tabs {
  private readonly browser: Browser
  private readonly always: BrowserContextOptions
  private readonly free = new Map<string, BrowserContext[]>()
  private readonly taken = new Map<BrowserContext, string>()

  constructor(browser: Browser, always: BrowserContextOptions) {
    this.browser = browser
    this.always = always
  }

  /** `isAlone` is for a test that changes more of the context than cookies and storage. */
  async open(options: BrowserContextOptions = {}, { isAlone = false } = {}): Promise<Page> {
    const { viewport, colorScheme, ...rest } = { ...this.always, ...options }
    const key = isAlone ? '' : JSON.stringify(rest)
    const context = this.free.get(key)?.pop() ?? (await this.browser.newContext(rest))
    this.taken.set(context, key)
    const page = await context.newPage()
    if (viewport) await page.setViewportSize(viewport)
    if (colorScheme) await page.emulateMedia({ colorScheme })
    return page
  }

  async closeAll(): Promise<void> {
    for (const [context, key] of this.taken) {
      if (key === '') {
        await context.close()
        continue
      }
      for (const page of context.pages()) {
        await page.evaluate('localStorage.clear()').catch(() => {})
        await page.close()
      }
      await context.clearCookies()
      this.free.set(key, [...(this.free.get(key) ?? []), context])
    }
    this.taken.clear()
  }
}
