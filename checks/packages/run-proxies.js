import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.js'

/**
 * Puts each proxy of deploy/proxies before two addresses of the service, one of which is dead, and has an agent and a
 * payer come through it over TLS. A proxy that is not installed is left out, and said so.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-proxies-'))
const children = []
let hasFailed = false

function start(file, args, options = {}) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  child.out = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      child.out += data
    })
  }
  children.push(child)
  return child
}

async function until(what, holds) {
  for (let tries = 0; tries < 300; tries++) {
    const value = await Promise.resolve(holds()).catch(() => undefined)
    if (value) return value
    await sleep(100)
  }
  throw new Error(`not in time: ${what()}`)
}

/** A request over TLS whose certificate is the proxy's own; `onData` sees what comes as it comes. */
function ask(port, { method = 'GET', path, headers = {}, body, onData }) {
  return new Promise((resolve, reject) => {
    const options = { host: 'localhost', port, method, path, headers, rejectUnauthorized: false }
    const sent = request(options, (answer) => {
      let text = ''
      answer.on('data', (data) => {
        text += data
        onData?.(text, sent)
      })
      answer.on('end', () => resolve({ status: answer.statusCode, text }))
      answer.on('error', () => resolve({ status: answer.statusCode, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const [servicePort, deadPort] = [await freePort(), await freePort()]
const folder = join(scratch, 'data')
mkdirSync(folder)
const service = start(process.execPath, [join(root, 'server/bin/sluice.js'), 'serve', '--json'], {
  cwd: folder,
  env: {
    ...{ PATH: process.env.PATH, HOME: folder, DATA_DIR: folder, PORT: String(servicePort) },
    ...{ PUBLIC_URL: 'https://localhost', TRUSTED_PROXIES: '127.0.0.1' },
  },
})
let printed = ''
service.stdout.on('data', (data) => {
  printed += data
})
const { app_id: appId, secret } = await until(
  () => service.out,
  async () => printed.endsWith('}\n') && JSON.parse(printed),
)

function signed(method, path, body) {
  const t = Math.floor(Date.now() / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${method} ${path}.${body}`).digest('hex')
  return {
    ...{ 'content-type': 'application/json', 'x-appid': appId, 'x-signature': `t=${t},v1=${v1}` },
    // A client may say what it likes of its own address.
    'x-forwarded-for': '203.0.113.9',
  }
}

async function post(port, path, value) {
  const body = JSON.stringify(value)
  const headers = { ...signed('POST', path, body), 'content-length': Buffer.byteLength(body) }
  const answer = await ask(port, { method: 'POST', path, headers, body })
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return JSON.parse(answer.text)
}

/** What an agent and a payer do, and what the proxy wrote down of it. */
async function useIt(port, proxy) {
  await until(
    () => proxy.out,
    async () => (await ask(port, { path: '/readyz' })).status === 200,
  )
  const order = await post(port, '/payment/deposit', {
    ...{ refId: `through-${port}`, userId: 'u', amount: 100, accountName: 'Somchai' },
    ...{ accountNo: '1234567890', bankCode: 'SCB', timestamp: new Date().toISOString() },
  })
  const page = new URL(order.link).pathname
  let seen = ''
  const events = ask(port, {
    path: `${page}/events`,
    headers: { accept: 'text/event-stream' },
    onData: (text, sent) => {
      seen = text
      if (/paid/i.test(text)) sent.destroy()
    },
  }).catch(() => undefined)
  await until(
    () => 'the page is not connected',
    async () => seen !== '',
  )
  const before = performance.now()
  await post(port, `/sandbox/orders/${order.txn_id}`, { outcome: 'PAID' })
  await until(
    () => `the page was not told: ${seen}`,
    async () => /paid/i.test(seen),
  )
  const toldMs = Math.round(performance.now() - before)
  await events
  const token = page.split('/').at(-1)
  const log = existsSync(join(scratch, 'proxy.log')) ? inScratch('proxy.log') : ''
  if (`${proxy.out}${log}`.includes(token))
    throw new Error('the log of the proxy holds a payer’s link')
  const logged = service.out.split('\n').filter((line) => line.includes('/payment/deposit'))
  if (logged.at(-1)?.includes('203.0.113.9')) throw new Error('a client chose its own address')
  return toldMs
}

const certificate = join(scratch, 'both.pem')
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
    ...['-keyout', join(scratch, 'key.pem'), '-out', join(scratch, 'cert.pem')],
  ],
  { stdio: 'ignore' },
)
const inScratch = (name) => readFileSync(join(scratch, name), 'utf8')
writeFileSync(certificate, inScratch('cert.pem') + inScratch('key.pem'))

const addressed = (name, port) =>
  readFileSync(join(root, 'deploy/proxies', name), 'utf8')
    .replaceAll('10.0.0.1:8080', `127.0.0.1:${servicePort}`)
    .replaceAll('10.0.0.2:8080', `127.0.0.1:${deadPort}`)
    .replace('443 ssl', `${port} ssl`)
    .replace(':443 ssl', `:${port} ssl`)

const proxies = {
  Caddy: (port) => {
    const env = {
      ...{ PATH: process.env.PATH, HOME: scratch, XDG_DATA_HOME: scratch },
      ...{ PUBLIC_HOST: `localhost:${port}` },
      UPSTREAMS: `127.0.0.1:${servicePort} 127.0.0.1:${deadPort}`,
    }
    const config = join(scratch, 'Caddyfile')
    // Its own authority asks to be trusted by the machine, which is nobody's wish here.
    const own = '{\n\tskip_install_trust\n\tadmin off\n\tauto_https disable_redirects\n}\n'
    writeFileSync(config, own + readFileSync(join(root, 'deploy/proxies/Caddyfile'), 'utf8'))
    return start('caddy', ['run', '--adapter', 'caddyfile', '--config', config], { env })
  },
  nginx: (port) => {
    const config = addressed('nginx.conf', port)
      .replace('/etc/ssl/private/pay.example.com.key', join(scratch, 'key.pem'))
      .replace('/etc/ssl/pay.example.com.pem', join(scratch, 'cert.pem'))
      .replace('/var/log/nginx/sluice.log', join(scratch, 'proxy.log'))
      .replace('server_name pay.example.com', 'server_name localhost')
    const file = join(scratch, 'nginx.conf')
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((each) => `${each}_temp_path ${scratch}/${each};`)
      .join(' ')
    const pid = `pid ${scratch}/nginx.pid; error_log stderr; daemon off;`
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    writeFileSync(file, `${user} ${pid}\nevents {}\nhttp { ${paths}\n${config}\n}\n`)
    return start('nginx', ['-c', file, '-p', scratch])
  },
  HAProxy: (port) => {
    const file = join(scratch, 'haproxy.cfg')
    const text = addressed('haproxy.cfg', port)
    writeFileSync(file, text.replace('/etc/haproxy/pay.example.com.pem', certificate))
    return start('haproxy', ['-db', '-f', file])
  },
}

for (const [name, run] of Object.entries(proxies)) {
  const program = name.toLowerCase()
  if (!['/usr/bin', '/usr/sbin'].some((path) => existsSync(join(path, program)))) {
    console.log(`- ${name}: left out, it is not installed`)
    continue
  }
  const port = await freePort()
  const proxy = run(port)
  try {
    const toldMs = await useIt(port, proxy)
    console.log(`ok ${name}: an order is made and paid, and its page is told after ${toldMs} ms`)
  } catch (error) {
    hasFailed = true
    console.log(`FAILED ${name}: ${error instanceof Error ? error.message : error}`)
  }
  proxy.kill('SIGTERM')
}
service.kill('SIGTERM')
await new Promise((resolve) => service.once('exit', resolve))
for (const child of children) child.kill('SIGKILL')
rmSync(scratch, { recursive: true, force: true, maxRetries: 10 })
if (hasFailed) process.exitCode = 1
