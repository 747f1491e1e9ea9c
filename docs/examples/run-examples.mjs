/**
 * `npm run examples [-- NAME ...]`: runs every example, or the named ones, against a real service. Each
 * creates an order, is sent its callback, and must refuse what is forged. What a language needs is
 * installed where apt and the right to use it are there.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from 'sluice-sdk'
import { startSluice } from '../../demo/start-sluice.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-examples-'))
const compiled = join(scratch, 'Agent.exe')
const limitMs = 60_000

/** `run` takes callbacks and creates an order, unless `serve` or `cgi` takes them. */
const examples = {
  curl: {
    tools: ['curl', 'openssl'],
    packages: ['curl', 'openssl'],
    run: ['bash', 'agent.sh'],
    cgi: ['bash', 'agent.sh', 'callback'],
    vectors: 'vectors.txt',
  },
  node: { run: [process.execPath, 'agent.mjs'] },
  'node-sdk': { run: [process.execPath, 'agent-sdk.mjs'] },
  python: { tools: ['python3'], packages: ['python3'], run: ['python3', 'agent.py'] },
  php: {
    tools: ['php'],
    packages: ['php-cli'],
    run: ['php', 'agent.php'],
    serve: (port) => ['php', '-S', `127.0.0.1:${port}`, 'agent.php'],
  },
  go: { tools: ['go'], packages: ['golang-go'], run: ['go', 'run', 'agent.go'] },
  java: {
    tools: ['java'],
    packages: ['default-jdk-headless'],
    run: ['java', 'Agent.java'],
    vectors: 'vectors.txt',
  },
  csharp: {
    tools: ['mcs', 'mono'],
    packages: ['mono-mcs', 'mono-runtime', 'libmono-system-net-http4.0-cil'],
    build: ['mcs', `-out:${compiled}`, '-r:System.Net.Http', 'Agent.cs'],
    run: ['mono', compiled],
    vectors: 'vectors.txt',
    mayBeMissing: true,
  },
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(examples, name))
if (unknown.length > 0) {
  console.error(
    `There is no example ${unknown.join(', ')}; there are ${Object.keys(examples).join(', ')}.`,
  )
  process.exit(1)
}
const results = []
const children = new Set()
process.on('exit', () => {
  for (const child of children) stop(child)
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})
process.on('SIGINT', () => process.exit(1))

console.log('Starting the service ...')
const service = await startSluice({
  PORT: '0',
  DATA_DIR: join(scratch, 'data'),
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
})
try {
  for (const name of asked.length > 0 ? asked : Object.keys(examples)) {
    results.push(await resultOf(name, examples[name]))
  }
  await service.sluice('verify')
} finally {
  await service.stop()
}
console.log(tableOf(results))
if (results.some(({ failed }) => failed)) process.exitCode = 1

async function resultOf(name, example) {
  const result = { name, vectors: '-', callback: '-', forged: '-', failed: true, note: '' }
  const started = performance.now()
  try {
    const missing = install(name, example)
    if (missing) {
      const note = `not run: ${missing} is not here and could not be installed`
      if (!example.mayBeMissing) return { ...result, note }
      return { ...result, note: `${note}; check it with vectors.txt`, failed: false }
    }
    if (example.build) run(example.build)
    progress(name, 'vectors')
    result.vectors = vectorsOf(example)
    progress(name, 'order and callback')
    await roundTrip(example, result)
    result.failed = false
  } catch (error) {
    result.note = error.message.trim().split('\n').slice(0, 6).join(' / ')
  } finally {
    for (const child of children) stop(child)
    children.clear()
  }
  progress(name, result.failed ? `FAILED: ${result.note}` : 'passed')
  return { ...result, seconds: ((performance.now() - started) / 1000).toFixed(1) }
}

/** The tool that is not there and cannot be had. */
function install(name, { tools = [], packages = [] }) {
  const missing = () => tools.find((tool) => spawnSync('which', [tool]).status !== 0)
  if (!missing()) return undefined
  if (process.getuid?.() === 0 && spawnSync('which', ['apt-get']).status === 0) {
    progress(name, `installing ${packages.join(' ')}`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const apt = (...args) => spawnSync('apt-get', [...args], { env, stdio: 'ignore' })
    apt('update', '-qq')
    apt('install', '-y', '-qq', '--no-install-recommends', ...packages)
  }
  return missing()
}

function run([file, ...args]) {
  return execFileSync(file, args, { cwd: here, encoding: 'utf8', stdio: 'pipe', timeout: limitMs })
}

function vectorsOf({ run: command, vectors = 'vectors.json' }) {
  const said = run([...command, '--vectors', vectors])
  const count = /^vectors (\d+)$/m.exec(said)?.[1]
  if (!count) throw new Error(`it said of its vectors: ${said}`)
  return `${count} right`
}

async function roundTrip(example, result) {
  const port = await freePort()
  const callbackUrl = `http://127.0.0.1:${port}/callbacks`
  const { appId, secret: older } = await service.createAgent(
    ...['--name', 'Example', '--deposit-callback', callbackUrl],
  )
  // Two live secrets, as while a key is rotated: callbacks are signed with both.
  const { secret: newest } = await service.sluice('agent', 'rotate-key', appId)
  const env = {
    SLUICE_URL: service.url,
    SLUICE_APP_ID: appId,
    SLUICE_SECRETS: `${newest},${older}`,
    PORT: String(port),
  }
  const output = { text: '' }
  const host = example.cgi && (await openCgiHost(port, example.cgi, env, output))
  if (example.serve) start(example.serve(port), env, output)
  try {
    if (example.serve) await until(output, /started/)
    start(example.run, env, output)
    const [, txnId] = await until(output, /^created .*?(\d+-[0-9a-f]{32})/m)

    const sluice = createClient({ baseUrl: service.url, appId, secret: newest })
    const { ref_id: refId } = await sluice.triggerOutcome(txnId, { outcome: 'PAID' })
    await until(output, new RegExp(`verified .*${refId}.*PAID`))
    const event = await delivered(sluice, txnId)
    result.callback = 'taken'

    await refusesForgeries(callbackUrl, event.body, [newest, older], output)
    result.forged = 'refused'
  } finally {
    host?.close()
  }
}

/** The service has heard 200. */
async function delivered(sluice, txnId) {
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    for await (const event of sluice.eachEvent()) {
      if (event.txn_id === txnId && event.delivery === 'delivered') return event
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the service was not answered 200')
}

/** What it must refuse, and between it what it must take, so that refusing everything is not enough. */
async function refusesForgeries(url, body, [newest, older], output) {
  const now = Math.floor(Date.now() / 1000)
  const v1 = (secret, t, text = body) =>
    `v1=${createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')}`
  const rich = body.replace(/"balance":/, '"balance":9')
  const sent = [
    ['a wrong secret', 401, `t=${now},${v1('sk_somebody_else', now)}`],
    ['the older secret alone', 200, `t=${now},${v1(older, now)}`],
    ['another body', 401, `t=${now},${v1(newest, now)}`, rich],
    ['no signature', 401, undefined],
    ['a time long ago', 401, `t=${now - 400},${v1(newest, now - 400)}`],
    ['a time to come', 401, `t=${now + 400},${v1(newest, now + 400)}`],
    ['a time that was not signed', 401, `t=${now - 1},${v1(newest, now)}`],
    ['a second time', 401, `t=${now},t=${now},${v1(newest, now)}`],
    ['one right signature of two', 200, `t=${now},${v1('sk_other', now)},${v1(newest, now)}`],
  ]
  for (const [what, status, header, text = body] of sent) {
    const headers = { 'content-type': 'application/json', ...(header && { 'x-signature': header }) }
    const response = await fetch(url, { method: 'POST', headers, body: text })
    await response.text()
    if (response.status !== status) throw new Error(`${what}: answered ${response.status}`)
  }
  // The last one is to be believed; when it has been, whatever was believed before has been told.
  const believed = 1 + sent.filter(([, status]) => status === 200).length
  await until(output, new RegExp(`(?:verified [\\s\\S]*){${believed}}`))
  if (output.text.split('verified ').length > believed + 1) throw new Error('it believed a forgery')
}

/** Hands each callback to a program that reads it from its input, as web servers do with CGI. */
async function openCgiHost(port, [file, ...args], env, output) {
  const server = createServer((request, response) => {
    const signature = request.headers['x-signature']
    const child = spawn(file, args, {
      cwd: here,
      env: { ...process.env, ...env, ...(signature && { HTTP_X_SIGNATURE: signature }) },
    })
    let answer = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.text += text
    })
    child.stdout.setEncoding('utf8').on('data', (text) => {
      answer += text
    })
    child.on('close', () => {
      const [, status, body] = /^Status: (\d+)\n[\s\S]*?\n\n([\s\S]*)$/.exec(answer) ?? [0, 500, '']
      response.writeHead(Number(status)).end(body)
    })
    request.pipe(child.stdin)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** In a group of its own: `go run` and others start a second process. */
function start([file, ...args], env, output) {
  const child = spawn(file, args, {
    cwd: here,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  children.add(child)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output.text += text
    })
  }
  child.on('error', (error) => {
    output.fault = error
  })
  child.on('exit', (code) => {
    if (code) output.fault = new Error(`it ended with ${code}: ${output.text}`)
  })
}

function stop(child) {
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

async function until(output, pattern) {
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    const match = pattern.exec(output.text)
    if (match) return match
    if (output.fault) throw output.fault
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`nothing like ${pattern} in: ${output.text}`)
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

function progress(name, text) {
  console.log(`${name.padEnd(9)} ${text}`)
}

function tableOf(rows) {
  const heads = { name: 'EXAMPLE', vectors: 'VECTORS', callback: 'CALLBACK', forged: 'FORGERIES' }
  const all = [{ ...heads, seconds: 'SECONDS', note: '' }, ...rows]
  const line = ({ name, vectors, callback, forged, seconds = '-', note }) =>
    [
      name.padEnd(9),
      vectors.padEnd(9),
      callback.padEnd(9),
      forged.padEnd(10),
      seconds.padEnd(8),
      note,
    ]
      .join(' ')
      .trimEnd()
  return `\n${all.map(line).join('\n')}\n`
}
