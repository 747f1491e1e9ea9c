import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.js'

/**
 * Installs the packages as an operator would, with nothing of this repository around them, and has each pay an order:
 * the npm package into a folder of its own, the Debian package into a clean root. `npm run packages` makes them first.
 * The second needs root, Debian and mmdebstrap; without them it is left out, and said so.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-packages-'))
const started = new Set()
const faults = []

const run = (file, args, options = {}) =>
  execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options })

const filesIn = (folder, name) =>
  readdirSync(folder)
    .filter((each) => name.test(each))
    .map((each) => join(folder, each))

function ensure(holds, message) {
  if (!holds) throw new Error(message)
}

/** Starts a program, and reads the JSON that it prints once it serves. */
async function serving(file, args, options) {
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  started.add(child)
  let [out, err] = ['', '']
  child.stdout.on('data', (data) => (out += data))
  child.stderr.on('data', (data) => (err += data))
  for (let waited = 0; !out.endsWith('}\n'); waited++) {
    if (child.exitCode !== null || waited > 1_200)
      throw new Error(`it does not serve: ${err}${out}`)
    await sleep(100)
  }
  const told = JSON.parse(out)
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)))
    child.kill('SIGTERM')
    return ended
  }
  return { told, stop }
}

/** Creates a deposit, has the sandbox pay it, and looks at what people open. */
async function payAnOrder({ listening: url, app_id: appId, secret }) {
  const send = async (path, body) => {
    const text = JSON.stringify(body)
    const t = Math.floor(Date.now() / 1_000)
    const v1 = createHmac('sha256', secret).update(`${t}.POST ${path}.${text}`).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'x-appid': appId,
      'x-signature': `t=${t},v1=${v1}`,
    }
    const answer = await fetch(url + path, { method: 'POST', headers, body: text })
    ensure(
      answer.ok,
      `POST ${path} is answered with ${answer.status}: ${await answer.clone().text()}`,
    )
    return answer.json()
  }
  const order = await send('/payment/deposit', {
    ...{
      refId: 'first',
      userId: 'u',
      amount: 100,
      accountName: 'Somchai',
      accountNo: '1234567890',
    },
    ...{ bankCode: 'SCB', timestamp: new Date().toISOString() },
  })
  await send(`/sandbox/orders/${order.txn_id}`, { outcome: 'PAID' })
  for (const path of ['/readyz', '/docs', '/console', new URL(order.link).pathname]) {
    const answer = await fetch(url + path)
    ensure(answer.status === 200, `GET ${path} is answered with ${answer.status}`)
  }
  const page = await (await fetch(`${url}/console`)).text()
  const asset = /(?:src|href)="([^"]*assets\/[^"]+)"/.exec(page)?.[1]
  ensure(asset !== undefined, 'the console is not built in')
  ensure((await fetch(new URL(asset, url))).status === 200, `${asset} of the console is missing`)
}

async function check(name, work) {
  const before = performance.now()
  try {
    const leftOut = await work()
    const took = `${((performance.now() - before) / 1_000).toFixed(0)} s`
    console.log(typeof leftOut === 'string' ? `- ${name}: ${leftOut}` : `ok ${name} (${took})`)
  } catch (error) {
    faults.push(name)
    console.log(
      `FAILED ${name}: ${error instanceof Error ? (error.stderr ?? error.message) : error}`,
    )
  }
}

await check('the npm package installs, serves, pays an order and proves it', async () => {
  const prefix = join(scratch, 'prefix')
  const home = join(scratch, 'home')
  mkdirSync(home)
  const tarball = join(root, `build/sluice-${version}.tgz`)
  run('npm', ['install', '-g', '--prefix', prefix, '--no-audit', '--no-fund', '--silent', tarball])
  const sluice = join(prefix, 'bin/sluice')
  const env = { PATH: process.env.PATH, HOME: home, PORT: String(await freePort()) }
  const { told, stop } = await serving(sluice, ['serve', '--json'], { cwd: home, env })
  await payAnOrder(told)
  ensure((await stop()) === 0, 'it does not end when it is told to')
  const proof = JSON.parse(run(sluice, ['verify', '--json'], { cwd: home, env }))
  ensure(
    proof.ok === true && proof.checked.orders === 1,
    `it does not prove: ${JSON.stringify(proof)}`,
  )
})

await check('the systemd unit exposes little', () => {
  const unit = join(root, 'deploy/debian/sluice.service')
  if (!existsSync('/usr/bin/systemd-analyze')) return 'left out, systemd-analyze is not here'
  // 25 stands for 2.5.
  run('systemd-analyze', ['security', '--offline=yes', '--threshold=25', unit])
})

await check(
  'the Debian package installs into a clean root, serves, pays an order and proves it',
  async () => {
    const has = (program) =>
      ['/usr/bin', '/usr/sbin'].some((path) => existsSync(join(path, program)))
    if (process.getuid?.() !== 0 || !has('dpkg')) return 'left out, it needs root and Debian'
    if (!has('mmdebstrap')) return 'left out: apt-get install mmdebstrap'
    const clean = join(scratch, 'root')
    const [suite] = /(?<=VERSION_CODENAME=)\w+/.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
    const sources = [
      '/etc/apt/sources.list',
      ...filesIn('/etc/apt/sources.list.d', /\.(list|sources)$/),
    ]
    run('mmdebstrap', [
      ...['--quiet', '--variant=essential', '--include=adduser,ca-certificates,libstdc++6'],
      ...[
        suite,
        clean,
        ...sources.filter(
          (path) => existsSync(path) && /^(deb |Types:)/m.test(readFileSync(path, 'utf8')),
        ),
      ],
    ])
    // Its release may have an older Node.js; the package names the one it needs, and this one is it.
    copyFileSync(process.execPath, join(clean, 'usr/bin/node'))
    const [file] = filesIn(join(root, 'build'), /\.deb$/)
    copyFileSync(file, join(clean, 'tmp/sluice.deb'))
    const inside = (...args) => run('chroot', [clean, ...args])
    run('mount', ['--bind', '/proc', join(clean, 'proc')])
    try {
      inside('dpkg', '--force-depends', '-i', '/tmp/sluice.deb')
      const port = await freePort()
      inside(
        'sh',
        '-c',
        `printf 'PORT=${port}\\nTIME_ZONE=Asia/Bangkok\\n' > /etc/sluice/sluice.env`,
      )
      for (const [path, wanted] of [
        ['/var/lib/sluice', '700 sluice'],
        ['/etc/sluice/sluice.env', '640 root'],
      ]) {
        const found = inside('stat', '-c', '%a %U', path).trim()
        ensure(found === wanted, `${path} is ${found}, not ${wanted}`)
      }
      const { told, stop } = await serving('chroot', [clean, 'sluice', 'serve', '--json'], {})
      await payAnOrder(told)
      const owner = inside('stat', '-c', '%U', '/var/lib/sluice/postgres').trim()
      ensure(owner === 'sluice', `the database belongs to ${owner}`)
      ensure((await stop()) === 0, 'it does not end when it is told to')
      const proof = JSON.parse(inside('sluice', 'verify', '--json'))
      ensure(
        proof.ok === true && proof.checked.orders === 1,
        `it does not prove: ${JSON.stringify(proof)}`,
      )
      inside('dpkg', '--purge', 'sluice')
      ensure(existsSync(join(clean, 'var/lib/sluice/postgres')), 'the books went with the package')
    } finally {
      run('umount', [join(clean, 'proc')])
    }
  },
)

for (const child of started) child.kill('SIGKILL')

rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
if (faults.length > 0) process.exitCode = 1
