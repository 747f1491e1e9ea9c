/**
 * `npm run test:sdk-runtimes [-- bun node@24 ...]`: packs the SDK, installs it in an empty folder, and runs a round trip with it
 * against a real service in every runtime that it is made for, as ES module and as CommonJS.
 */
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startSluice } from '../../../demo/start-sluice.js'

/** Each from npm, in its newest version; Node.js must be there, the others where they can be had. */
const runtimes = [
  { from: 'node@20', program: ['node'], isRequired: true },
  { from: 'node@24', program: ['node'], isRequired: true },
  { from: 'deno', program: ['deno', 'run', '-A'] },
  { from: 'bun', program: ['bun', 'run'] },
]
const asked = process.argv.slice(2)
const modules = {
  'run.mjs': `import * as sdk from 'sluice-sdk'`,
  'run.cjs': `const sdk = require('sluice-sdk')`,
}
const limitMs = 180_000
const sdkFolder = fileURLToPath(new URL('../..', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }))

console.log('Packing the SDK and installing it ...')
const project = installedProject()
console.log('Starting the service ...')
const starting = startSluice({ PORT: '0', DATA_DIR: join(scratch, 'data'), LOG_LEVEL: 'warn' })
process.on('SIGINT', () => {
  void starting.then((service) => service.stop()).finally(() => process.exit(1))
})
const service = await starting
const rows = []
try {
  for (const runtime of runtimes) {
    if (asked.length > 0 && !asked.includes(runtime.from)) continue
    rows.push(...(await resultsOf(runtime)))
  }
  await service.sluice('verify')
} finally {
  await service.stop()
}
const failures = rows.filter(({ failed }) => failed).length
console.log(
  failures === 0 ? '\nAll of them passed, but for what could not be had.' : `\n${failures} failed.`,
)
if (failures > 0) process.exitCode = 1

/** An empty folder of an agent's, with nothing but what npm would publish. */
function installedProject() {
  const folder = join(scratch, 'project')
  mkdirSync(folder)
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  const [{ filename }] = JSON.parse(npm('pack', sdkFolder, '--json', '--silent'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npm('install', '--no-audit', '--no-fund', `./${filename}`)
  const text = readFileSync(new URL('round-trip.js', import.meta.url), 'utf8')
  for (const [name, first] of Object.entries(modules)) {
    writeFileSync(join(folder, name), `${first}\n${text}`)
  }
  return folder
}

async function resultsOf({ from, program: [file, ...args], isRequired = false }) {
  const npx = (more, env = {}) =>
    promisify(execFile)('npx', ['--yes', '--package', from, '--', file, ...more], {
      cwd: project,
      env: { ...process.env, ...env },
      timeout: limitMs,
    })
  try {
    await npx(['--version'])
  } catch (error) {
    return [rowOf(from, '', `not run, it cannot be had: ${lastLine(error)}`, isRequired)]
  }
  const results = []
  for (const module of Object.keys(modules)) {
    const kind = module.endsWith('.mjs') ? 'ES module' : 'CommonJS'
    try {
      const { stdout } = await npx([...args, module], await newAgent())
      const passed = /^passed (.*)$/m.exec(stdout)?.[1]
      results.push(rowOf(from, kind, passed ?? `said ${stdout}`, !passed))
    } catch (error) {
      results.push(rowOf(from, kind, `FAILED: ${error.stderr || error}`, true))
    }
  }
  return results
}

function rowOf(from, kind, outcome, failed) {
  const text = `${from.padEnd(8)} ${kind.padEnd(10)} ${outcome}`
  console.log(text)
  return { text, failed }
}

/** One for each run, with a port of its own to be called back on. */
async function newAgent() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  const { appId, secret } = await service.createAgent(
    ...['--name', 'Runtime', '--deposit-callback', `http://127.0.0.1:${port}/`],
  )
  return {
    SLUICE_URL: service.url,
    SLUICE_APP_ID: appId,
    SLUICE_SECRET: secret,
    PORT: String(port),
  }
}

function lastLine(error) {
  return String(error.stderr || error)
    .trim()
    .split('\n')
    .at(-1)
}
