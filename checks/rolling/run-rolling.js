/**
 * `npm run rolling -- --against REV`: an upgrade as docs/operate.md has it, under load. The earlier version is built from REV
 * (the last tag, if none is named) and serves; this version migrates the database beside it, serves too, and the earlier one
 * is stopped. Whatever either has acknowledged is there in the end, and the books prove. LOAD_SECONDS=15 for each step.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openEmbeddedPostgres } from '../../server/dist/db/embedded.js'
import { Company } from '../load/company.js'
import { Load } from '../load/load.js'
import { commandLine, serve, settings } from '../load/service.js'

const { values } = parseArgs({ options: { against: { type: 'string' } } })
const repository = fileURLToPath(new URL('../../', import.meta.url))
const stepMs = Number(process.env.LOAD_SECONDS ?? 15) * 1000
const scratch = mkdtempSync(join(tmpdir(), 'sluice-rolling-'))
const before = join(scratch, 'before')
const startedAt = Date.now()
const failures = []
let postgres
try {
  await run()
} catch (error) {
  failures.push(`${error.stack}${error.stdout ?? ''}`)
} finally {
  await postgres?.close()
  if (existsSync(before)) git('worktree', 'remove', '--force', before)
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
}
say(failures.length === 0 ? 'All of it holds.' : `FAILED:\n  ${failures.join('\n  ')}`)
process.exit(failures.length === 0 ? 0 : 1)

async function run() {
  const revision = values.against ?? lastTag()
  const old = build(revision)
  const dataDir = join(scratch, 'database')
  postgres = await openEmbeddedPostgres({ dataDir, use: 'command', log: () => {} })
  const env = (name) => settings(scratch, name, { DATABASE_URL: postgres.url })
  const owner = { ...env('commands'), DATABASE_OWNER_URL: postgres.ownerUrl }
  const [oldSluice, sluice] = [commandLine(owner, old), commandLine(owner)]

  await oldSluice('migrate')
  const first = await serve(scratch, 'before', env('before'), old)
  const company = hasConnectors() ? await Company.open() : undefined
  if (!company) say('The earlier version has no connectors: the bank of the sandbox pays.')
  await company?.connect(oldSluice, scratch, [first.url])
  const load = new Load([first.url], company)
  await load.prepare(oldSluice)
  load.start(6)
  await step('the earlier version alone', load)
  const { applied } = (await sluice('migrate')) ?? {}
  await step(
    `migrated${applied ? `, ${applied.length} files` : ''}; the earlier version goes on`,
    load,
  )
  const second = await serve(scratch, 'after', env('after'))
  load.addDoor(second.url)
  await step('both versions', load)
  await serve(scratch, 'again', env('again'), old).then(
    () => failures.push('the earlier version starts on a newer database'),
    ({ message }) => say(`The earlier version does not start again: ${message.split('\n')[0]}`),
  )
  load.removeDoor(first.url)
  company?.movedTo([second.url])
  await first.stop()
  await step('this version alone', load)
  await load.stop()
  if (company) await Promise.race([company.settled(), pause(120_000)])
  failures.push(...(await load.settle()), ...(await load.findings()))
  await sluice('verify').then(
    () => say('The books prove (sluice verify).'),
    (error) => failures.push(`sluice verify: ${error.stdout}${error.stderr}`),
  )
  await second.stop()
  load.close()
  company?.close()
}

async function step(words, load) {
  const taken = load.taken.length
  await pause(stepMs)
  say(`${words}: ${load.taken.length - taken} orders in ${stepMs / 1000} s`)
  if (load.taken.length === taken) failures.push(`${words}: no order was taken`)
}

function lastTag() {
  try {
    return git('describe', '--tags', '--abbrev=0').trim()
  } catch {
    throw new Error('there is no tag yet: name a commit with --against')
  }
}

/** The program of an earlier version, built beside this one. */
function build(revision) {
  const commit = git('rev-parse', '--short', `${revision}^{commit}`).trim()
  const changed = git(
    ...['diff', '--diff-filter=MDR', '--name-only', commit, '--', 'server/src/db/migrations'],
  )
  if (changed !== '') {
    throw new Error(`since ${revision} migrations have changed that it applies: ${changed.trim()}`)
  }
  say(`Building ${revision} (${commit}) ...`)
  git('worktree', 'add', '--detach', before, commit)
  const run = (command, ...args) =>
    execFileSync(command, args, { cwd: before, stdio: ['ignore', 'ignore', 'pipe'] })
  // Installing is slow, and mostly nothing has changed.
  const needed = (root) =>
    JSON.stringify(JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')).dependencies)
  if (needed(before) === needed(repository)) {
    symlinkSync(join(repository, 'node_modules'), join(before, 'node_modules'))
  } else run('npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund')
  // Without the console, which nobody opens here.
  const tsc = join(before, 'node_modules/.bin/tsc')
  // Types are its own matter.
  run(tsc, '-p', 'server/tsconfig.build.json', '--noCheck')
  run(tsc, '-p', 'server/src/http/payment-page/client', '--noCheck')
  return join(before, 'server/bin/sluice.js')
}

function hasConnectors() {
  return existsSync(join(before, 'server/src/connectors'))
}

function git(...args) {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: 'pipe' })
}

function say(words) {
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${words}`)
}
