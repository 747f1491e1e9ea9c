import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium } from 'playwright-core'

/**
 * Where a Chromium is usually found. The one without windows comes first: it renders as the others do, and needs
 * little more than half the time.
 */
const usualPlaces = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** A real Chromium: the one that is there, or one that is installed now. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? installChromium(),
    args: [
      // Root has no user namespace to sandbox in; what is opened is our own page.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      // Nobody looks at most of what is drawn: no process that imitates a graphics card, nor one for the tab strip.
      '--disable-software-rasterizer',
      '--in-process-gpu',
      '--disable-extensions',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
}

function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named
    throw new Error(`CHROMIUM_PATH is ${named}, and there is nothing there`)
  }
  return [...usualPlaces, chromium.executablePath()].find((path) => existsSync(path))
}

function installChromium(): string {
  const attempts: [command: string, args: string[]][] = []
  // Several test files may find at once that there is none: each waits for the first one's installation.
  const patience = ['-o', 'DPkg::Lock::Timeout=240']
  const installing = ['install', '-y', '-qq', '--no-install-recommends', ...patience]
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    attempts.push(
      ['apt-get', ['update', '-qq']],
      ['apt-get', [...installing, 'chromium-headless-shell', 'fonts-noto-core']],
      // What an older Debian and Ubuntu have.
      ['apt-get', [...installing, 'chromium', 'fonts-noto-core']],
    )
  }
  const cli = createRequire(import.meta.url).resolve('playwright-core/cli.js')
  attempts.push([process.execPath, [cli, 'install', 'chromium']])
  const faults: string[] = []
  for (const [command, args] of attempts) {
    try {
      execFileSync(command, args, {
        stdio: 'pipe',
        timeout: 300_000,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      })
    } catch (error) {
      faults.push(`${command} ${args.join(' ')}: ${String(error).slice(0, 300)}`)
    }
    const found = findChromium()
    if (found !== undefined) return found
  }
  throw new Error(
    `The payment page is tested in a real Chromium, and none was found or could be installed. Install Chromium or Chrome, or set CHROMIUM_PATH to one.\n${faults.join('\n')}`,
  )
}
