/**
 * `npm run examples [-- NAME ...]`: runs every example, or the named ones, against a real service. Each
 * creates an order, is sent its callback, and must refuse what is forged. What a language needs is
 * installed where apt and the right to use it are there. Clients made from the descriptions pay an order too.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'sluice-sdk'
import { startSluice } from '../../../demo/start-sluice.js'
import { generatedClients } from './generated-clients.mjs'
import {
  folder,
  freePort,
  limitMs,
  openCgiHost,
  startProgram,
  stopPrograms,
  until,
} from './programs.mjs'
import { sendForgeries } from './send-forgeries.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'sluice-examples-'))
const compiled = join(scratch, 'Agent.exe')

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
  ...generatedClients,
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
process.on('exit', () => {
  stopPrograms()
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

console.log('Starting the service ...')
const starting = startSluice({
  PORT: '0',
  DATA_DIR: join(scratch, 'data'),
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
})
process.on('SIGINT', () => {
  void starting.then((service) => service.stop()).finally(() => process.exit(1))
})
const service = await starting
try {
  const agent = await rotatedAgent()
  for (const name of asked.length > 0 ? asked : Object.keys(examples)) {
    results.push(await resultOf(name, examples[name], agent))
  }
  await service.sluice('verify')
} finally {
  await service.stop()
}
console.log(tableOf(results))
if (results.some(({ failed }) => failed)) process.exitCode = 1

async function resultOf(name, example, agent) {
  const result = { name, vectors: '-', callback: '-', forged: '-', failed: true, note: '' }
  const started = performance.now()
  try {
    const missing = install(name, example)
    if (missing) {
      const note = `not run: ${missing} is not here and could not be installed`
      if (!example.mayBeMissing) return { ...result, note }
      return { ...result, note: `${note}; check it with vectors.txt`, failed: false }
    }
    if (example.check) {
      progress(name, 'made from the descriptions')
      result.note = await checked(example, agent)
      return { ...result, failed: false, seconds: secondsSince(started) }
    }
    if (example.build) run(example.build)
    progress(name, 'vectors')
    result.vectors = vectorsOf(example)
    progress(name, 'order and callback')
    await roundTrip(example, agent, result)
    result.failed = false
  } catch (error) {
    result.note = error.message.trim().split('\n').slice(0, 6).join(' / ')
  } finally {
    stopPrograms()
  }
  progress(name, result.failed ? `FAILED: ${result.note}` : 'passed')
  return { ...result, seconds: secondsSince(started) }
}

function secondsSince(started) {
  return ((performance.now() - started) / 1000).toFixed(1)
}

/** In a folder of its own, with the descriptions as the service serves them. */
async function checked({ check }, { appId, secrets }) {
  const at = mkdtempSync(join(scratch, 'made-'))
  const textOf = async (path) => (await fetch(service.url + path)).text()
  const descriptions = {
    agents: await textOf('/openapi.json'),
    console: await textOf('/console/api/openapi.json'),
  }
  const env = { SLUICE_URL: service.url, SLUICE_APP_ID: appId, SLUICE_SECRET: secrets[0] }
  return check(at, descriptions, env)
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
  return execFileSync(file, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: limitMs,
  })
}

function vectorsOf({ run: command, vectors = 'vectors.json' }) {
  const said = run([...command, '--vectors', vectors])
  const count = /^vectors (\d+)$/m.exec(said)?.[1]
  if (!count) throw new Error(`it said of its vectors: ${said}`)
  return `${count} right`
}

/** With two live secrets, as while a key is rotated: callbacks are signed with both. */
async function rotatedAgent() {
  const { appId, secret: older } = await service.createAgent('--name', 'Examples')
  const { secret: newest } = await service.sluice('agent', 'rotate-key', appId)
  return { appId, secrets: [newest, older] }
}

async function roundTrip(example, { appId, secrets }, result) {
  const port = await freePort()
  const callbackUrl = `http://127.0.0.1:${port}/callbacks`
  await service.sluice('agent', 'set', appId, '--deposit-callback', callbackUrl)
  const env = {
    SLUICE_URL: service.url,
    SLUICE_APP_ID: appId,
    SLUICE_SECRETS: secrets.join(),
    PORT: String(port),
  }
  const output = { text: '' }
  const host = example.cgi && (await openCgiHost(port, example.cgi, env, output))
  if (example.serve) startProgram(example.serve(port), env, output)
  try {
    if (example.serve) await until(output, /started/)
    startProgram(example.run, env, output)
    const [, txnId] = await until(output, /^created .*?(\d+-[0-9a-f]{32})/m)

    const sluice = createClient({ baseUrl: service.url, appId, secret: secrets[0] })
    const { ref_id: refId } = await sluice.triggerOutcome(txnId, { outcome: 'PAID' })
    await until(output, new RegExp(`verified .*${refId}.*PAID`))
    const event = await delivered(sluice, txnId)
    result.callback = 'taken'

    await sendForgeries(callbackUrl, event.body, secrets, output)
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
