import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from './chromium.ts'
import type { OperatorClient } from './operator.ts'
import type { TestService } from './service.ts'
import { Tabs } from './tabs.ts'

export const phone = { width: 390, height: 844 }
export const desktop = { width: 1280, height: 800 }

/** A Chromium at the console, that remembers everything it should not have seen. */
export interface ConsoleBrowser {
  /** A tab of its own, signed in as the operator where one is named. */
  tab(operator?: OperatorClient, options?: BrowserContextOptions): Promise<Page>
  /** Where a page of the console is. */
  at(path: string): string
  /** Console errors, exceptions, breaches of the policy, requests to anybody else. */
  faults(): string[]
  closeTabs(): Promise<void>
  close(): Promise<void>
}

export async function openConsole(test: TestService): Promise<ConsoleBrowser> {
  const browser: Browser = await launchChromium()
  const tabs = new Tabs(browser, { viewport: desktop, locale: 'en-GB', reducedMotion: 'reduce' })
  const faults: string[] = []
  const { url } = test.service
  return {
    async tab(operator, options = {}) {
      const page = await tabs.open(options)
      if (operator) await signInAs(page.context(), operator, url)
      watch(page, url, faults)
      return page
    },
    at: (path) => `${url}/console${path}`,
    faults: () => faults.splice(0),
    closeTabs: () => tabs.closeAll(),
    close: () => browser.close(),
  }
}

export async function signInAs(
  context: BrowserContext,
  { cookie }: Pick<OperatorClient, 'cookie'>,
  url: string,
): Promise<void> {
  const cookies = cookie.split('; ').map((each) => {
    const [name = '', value = ''] = each.split('=')
    return { name, value, url: `${url}/console` }
  })
  await context.addCookies(cookies)
}

function watch(page: Page, url: string, faults: string[]): void {
  page.on('request', (request) => {
    const { origin, protocol } = new URL(byNumber(request.url()))
    if (origin !== url && protocol !== 'data:' && protocol !== 'blob:') {
      faults.push(`asked ${request.url()}`)
    }
  })
  page.on('console', (message) => {
    // A refusal is an answer like any other; the browser notes each as an error.
    const isRefusal = message.text().startsWith('Failed to load resource')
    const isOurs = byNumber(message.location().url).startsWith(`${url}/console/api/`)
    if (message.type() === 'error' && !(isRefusal && isOurs)) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
}

/** The other name of this machine, which passkeys need, is the same place. */
function byNumber(url: string): string {
  return url.replace(/^http:\/\/localhost:/, 'http://127.0.0.1:')
}
