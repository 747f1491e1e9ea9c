import { stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config.ts'
import { reasonOf } from './agent-events.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const mebibyte = 1024 * 1024
const answerLimitMs = 5_000

/** Checks the machine and the service's own address. */
export async function checkMachine(config: Config): Promise<Finding[]> {
  return [
    checkSettings(config),
    ...checkMail(config),
    ...(await checkSecretKey(config)),
    await checkDisk(config.dataDir),
    ...(await checkAddress(config)),
  ]
}

function checkSettings({ mode, role, publicUrl, databaseUrl, timeZone }: Config): Finding {
  const where = databaseUrl === undefined ? 'embedded database' : 'database of your own'
  const text = `MODE=${mode}, ROLE=${role}, ${where}, ${timeZone}`
  if (mode === 'live' && publicUrl?.startsWith('http:')) {
    return warn(
      'settings',
      `${text}; PUBLIC_URL is plain http`,
      'Set PUBLIC_URL to the https address that agents and payers use.',
    )
  }
  return ok('settings', text)
}

/** Every admin has an address: without mail, who has set up nothing else hears of nothing. */
function checkMail({ mode, alerts }: Config): Finding[] {
  if (mode !== 'live') return []
  if (alerts.mail) return [ok('alerts', `are sent by mail from ${alerts.mail.from}`)]
  return [
    warn(
      'alerts',
      'no mail is set up: alerts, those about sign-ins and secrets among them, reach only who has set up another channel',
      'Set SMTP_URL and MAIL_FROM.',
    ),
  ]
}

async function checkSecretKey({ secretKeys, dataDir }: Config): Promise<Finding[]> {
  if (secretKeys.length > 0) {
    const previous = secretKeys.length > 1 ? ', and SECRET_KEY_PREVIOUS' : ''
    return [ok('secret key', `SECRET_KEY is set${previous}`)]
  }
  const path = join(dataDir, 'secret.key')
  const file = await stat(path).catch(() => undefined)
  if (!file) return [ok('secret key', `is made at the first start, in ${path}`)]
  if ((file.mode & 0o077) !== 0 && process.platform !== 'win32') {
    return [warn('secret key', `others on this machine can read ${path}`, `Run: chmod 600 ${path}`)]
  }
  return [ok('secret key', `${path}; keep a copy with the backups`)]
}

async function checkDisk(dataDir: string): Promise<Finding> {
  for (let path = dataDir; ; path = dirname(path)) {
    const disk = await statfs(path).catch(() => undefined)
    if (disk) return diskFinding(path, disk.bavail * disk.bsize, disk.blocks * disk.bsize)
    if (path === dirname(path)) {
      return warn(
        'disk',
        `${dataDir} cannot be looked at`,
        'See that DATA_DIR is a folder that can be read.',
      )
    }
  }
}

export function diskFinding(path: string, freeBytes: number, allBytes: number): Finding {
  const percent = Math.floor((100 * freeBytes) / Math.max(allBytes, 1))
  const text = `${Math.floor(freeBytes / mebibyte)} MiB (${percent} %) free at ${path}`
  const advice = 'Make room, or move DATA_DIR: without space no order can be taken.'
  if (freeBytes < 256 * mebibyte) return fail('disk', text, advice)
  if (freeBytes < 2048 * mebibyte) return warn('disk', text, advice)
  return ok('disk', text)
}

/** Checks that the service answers at PUBLIC_URL and that its clock agrees with ours. */
async function checkAddress({ publicUrl }: Config): Promise<Finding[]> {
  if (publicUrl === undefined) return []
  const asked = Date.now()
  let answer: Response
  try {
    const signal = AbortSignal.timeout(answerLimitMs)
    answer = await fetch(`${publicUrl}/readyz`, { redirect: 'manual', signal })
    await answer.arrayBuffer()
  } catch (error) {
    return [
      warn(
        'service',
        `${publicUrl} does not answer: ${reasonOf(error)}`,
        'Start it with "sluice serve"; if it runs, see that PUBLIC_URL leads to it from here.',
      ),
    ]
  }
  if (answer.status !== 200) {
    const advice =
      'Look at its log; if this is something else, set PUBLIC_URL to where the service is.'
    return [fail('service', `${publicUrl}/readyz answers ${answer.status}`, advice)]
  }
  const told = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(told)) return [ok('service', `ready at ${publicUrl}`)]
  // The Date header is truncated to whole seconds.
  const aheadMs = told + 500 - (asked + Date.now()) / 2
  return [ok('service', `ready at ${publicUrl}`), clockFinding("the service's clock", aheadMs)]
}

/** Signatures tolerate 300 seconds, but a clock that is a little off will soon be off by more. */
export function clockFinding(whose: string, aheadMs: number): Finding {
  const seconds = Math.abs(Math.round(aheadMs / 1000))
  if (seconds <= 2) return ok('clock', `${whose} agrees with this machine's`)
  const text = `${whose} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`
  const advice =
    'Let both machines keep time by NTP: signatures are refused when they are 300 s off.'
  return seconds <= 60 ? warn('clock', text, advice) : fail('clock', text, advice)
}
