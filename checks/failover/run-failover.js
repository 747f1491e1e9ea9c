/**
 * `npm run failover`: three PostgreSQL servers with Patroni and etcd, two processes of the service, one with all servers in
 * DATABASE_URL and one by HAProxy, and load by signed requests. The primary is killed, frozen and cut off from the others at
 * random moments, ROUNDS times. Nothing that was acknowledged may be missing, nothing be done twice.
 *
 * ROUNDS=6, KINDS=kill,freeze,cut; SYNC=off replicates without waiting, and shows what that loses; NETWORK=proxies does
 * without network namespaces; KEEP=1 leaves the logs.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Company } from '../load/company.js'
import { Load } from '../load/load.js'
import { commandLine, serve, settings } from '../load/service.js'
import { Cluster, needPrograms, passwords } from './cluster.js'
import { longestGap, Probe } from './probe.js'

const rounds = Number(process.env.ROUNDS ?? 6)
const isSynchronous = process.env.SYNC !== 'off'
const kinds = (process.env.KINDS ?? (isSynchronous ? 'kill,freeze,cut' : 'cut,kill')).split(',')
const connections = Number(process.env.CONNECTIONS ?? 6)
/** How much later than the database the service may be there again. */
const mostLateMs = 2_000
const backWithinMs = 120_000

const strikes = {
  kill: {
    words: 'killed',
    strike: (cluster, node) => cluster.kill(node),
    heal: (cluster, node) => cluster.startNode(node),
  },
  freeze: {
    words: 'frozen',
    strike: (cluster, node) => cluster.freeze(node),
    heal: (cluster, node) => cluster.thaw(node),
  },
  cut: {
    words: 'cut off',
    strike: (cluster, node) => cluster.network.cut(node.at),
    heal: (cluster, node) => cluster.network.heal(node.at),
  },
}
for (const kind of kinds) {
  if (!Object.hasOwn(strikes, kind))
    throw new Error(`KINDS has ${kind}; there are kill, freeze, cut`)
}

const startedAt = Date.now()
const scratch = mkdtempSync(join(tmpdir(), 'sluice-failover-'))
chmodSync(scratch, 0o755)
const services = []
const failures = []
let cluster
let load
let company
const probes = []

process.on('SIGINT', () => process.exit(130))
process.on('exit', () => {
  cluster?.close()
  if (!process.env.KEEP) rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

try {
  await run()
} catch (error) {
  failures.push(`${error.stack}${error.stdout ?? ''}`)
}
say(failures.length === 0 ? 'All of it holds.' : `FAILED:\n  ${failures.join('\n  ')}`)
if (process.env.KEEP) say(`Logs are in ${scratch}`)
process.exit(failures.length === 0 ? 0 : 1)

async function run() {
  needPrograms()
  cluster = await Cluster.open(scratch, { isSynchronous })
  say(`Three nodes with ${cluster.network.words}, ${isSynchronous ? '' : 'not '}synchronous ...`)
  await cluster.start()
  const leader = await cluster.leader()
  for (const statement of [
    `create role sluice_owner login createrole password '${passwords.owner}'`,
    `create role sluice_login login password '${passwords.login}'`,
    'create database sluice owner sluice_owner',
  ]) {
    await cluster.asSuperuser(leader, statement)
  }
  const sluice = ownersCommands()
  await sluice('migrate')
  await cluster.asSuperuser(
    leader,
    `create table public.failover_probe as select now() as at;
     grant select, update on public.failover_probe to sluice_login`,
    'sluice',
  )
  say('Two processes of the service ...')
  const byProxy = await cluster.startProxy('sluice_login', passwords.login)
  for (const [name, url] of [
    ['several', cluster.url('sluice_login', passwords.login)],
    ['haproxy', byProxy],
  ]) {
    services.push(await serve(scratch, name, settings(scratch, name, { DATABASE_URL: url })))
  }
  const doors = services.map(({ url }) => url)
  company = await Company.open()
  await company.connect(sluice, scratch, doors)
  load = new Load(doors, company)
  await load.prepare(sluice)
  // By the same ways as the services go.
  const nodes = cluster.nodes.map((node) =>
    cluster.addressOf(node, 'sluice_login', passwords.login),
  )
  probes.push(new Probe(nodes), new Probe([byProxy]))
  load.start(connections)
  await tellDoctor(sluice)

  const table = []
  for (let round = 1; round <= rounds; round++) {
    const kind = kinds[(round - 1) % kinds.length]
    table.push(await strikeOnce(round, kind))
    if (!isSynchronous && (await holds()) > 0) break
  }
  say('Waiting until everything has ended ...')
  await load.stop()
  if (isSynchronous) await proveAll(sluice)
  else await showLoss(sluice)
  for (const probe of probes) await probe.stop()
  say(tableOf(table))
}

/** One failover, from a settled cluster to a settled cluster. */
async function strikeOnce(round, kind) {
  const primary = await cluster.settled()
  await answered('before the next round')
  await pause(1_000 + Math.random() * 4_000)
  const { words, strike, heal } = strikes[kind]
  const before = load.taken.length
  const struckAt = Date.now()
  strike(cluster, primary)
  say(`${round}/${rounds}: ${primary.name} is ${words}, after ${before} orders`)
  const next = await newLeader(primary)
  await answered('after the failover', Date.now())
  heal(cluster, primary)
  // Somebody who wakes up and still takes itself for the primary must find nobody who believes it.
  await pause(3_000)
  const ways = load.doors.map(({ taken }, at) => {
    const database = longestGap(probes[at].written, struckAt)
    const service = longestGap(
      taken.map(({ at: takenAt }) => takenAt),
      struckAt,
    )
    const lateMs = service.to - database.to
    return { name: services[at].name, database, service, lateMs, usualMs: usual(taken, struckAt) }
  })
  const row = { round, kind, from: primary.name, to: next.name, ways }
  say(`    ${rowOf(row)}`)
  for (const { name, lateMs, usualMs } of ways) {
    // On a busy machine an order takes its time when nothing is wrong, too.
    if (isSynchronous && lateMs > mostLateMs + usualMs) {
      failures.push(`round ${round}: ${name} was back ${seconds(lateMs)} after the database`)
    }
  }
  const held = await holds()
  if (isSynchronous && held > 0) failures.push(`round ${round}: the service holds payouts back`)
  return row
}

/** How long an order took before a moment, in the middle. */
function usual(taken, before) {
  const times = taken.filter(({ at }) => at < before).map(({ at, sentAt }) => at - sentAt)
  return times.slice(-50).sort((a, b) => a - b)[Math.floor(Math.min(times.length, 50) / 2)] ?? 0
}

async function newLeader(old) {
  for (const until = Date.now() + backWithinMs; Date.now() < until; await pause(200)) {
    const leader = await cluster.leader()
    if (leader && leader !== old) return leader
  }
  throw new Error(`nobody took over from ${old.name} within ${backWithinMs / 1000} s`)
}

/** Waits until an order that was sent since a moment was taken at each door. */
async function answered(when, since = Date.now()) {
  for (const until = Date.now() + backWithinMs; Date.now() < until; await pause(50)) {
    const isBack = load.doors.every(({ taken }) => (taken.at(-1)?.sentAt ?? 0) > since)
    if (isBack) return
  }
  throw new Error(`no order was taken ${when} within ${backWithinMs / 1000} s`)
}

async function proveAll(sluice) {
  await Promise.race([company.settled(), pause(backWithinMs)])
  failures.push(...(await load.settle()), ...(await load.findings()))
  await sluice('verify').then(
    () => say('The books prove (sluice verify).'),
    (error) => failures.push(`sluice verify: ${error.stdout}${error.stderr}`),
  )
  const orders = load.taken
  const repeated = orders.filter(({ tries }) => tries > 1).length
  say(
    `${orders.length} orders acknowledged, ${repeated} of them after a repeat; ${company.payouts.length} payouts, ${load.callbacks} callbacks.`,
  )
  for (const [at, { answers }] of load.doors.entries()) {
    const counts = [...answers].map(([status, count]) => `${status}: ${count}`)
    say(`Answers by ${services[at].name}: ${counts.join(', ')}`)
  }
  say(`Notices: ${[...company.noticeAnswers].map(([status, n]) => `${status}: ${n}`).join(', ')}`)
}

/** Without synchronous replication: which of the orders that agents were told of are gone, and that nothing is paid out. */
async function showLoss(sluice) {
  const leader = await cluster.leader()
  const rows = await cluster.asSuperuser(leader, 'select ref_id from sluice.orders', 'sluice')
  const there = new Set(rows.map(({ ref_id }) => ref_id))
  const lost = load.taken.filter(({ refId }) => !there.has(refId))
  const some = lost.slice(0, 5).map(({ refId }) => refId)
  say(`${lost.length} of ${load.taken.length} acknowledged orders are lost: ${some.join(', ')} ...`)
  say(
    (await holds()) > 0
      ? 'The service has noticed, and holds payouts back until two people release them.'
      : 'Nothing of it was noticed by the service.',
  )
  if (lost.length > 0 && (await holds()) === 0) failures.push('rows are lost, and nothing is held')
  await sluice('verify').then(
    () => say('What is left proves (sluice verify).'),
    (error) => failures.push(`sluice verify: ${error.stdout}${error.stderr}`),
  )
}

/** How often the service has found that rows are missing. */
async function holds() {
  const leader = await cluster.leader()
  if (!leader) return 0
  const [{ count }] = await cluster.asSuperuser(
    leader,
    'select count(*)::int from sluice.restore_holds',
    'sluice',
  )
  return count
}

async function tellDoctor(sluice) {
  const told = await sluice.live('doctor').catch(({ stdout }) => JSON.parse(stdout))
  const { state, text } = told.findings.find(({ check }) => check === 'replica')
  say(`doctor in live about replicas: ${state}, ${text}`)
  if ((state === 'ok') !== isSynchronous) failures.push(`doctor says ${state} about replicas`)
}

/** Commands, with the owner's login. */
function ownersCommands() {
  const env = settings(scratch, 'commands', {
    DATABASE_URL: cluster.url('sluice_login', passwords.login),
    DATABASE_OWNER_URL: cluster.url('sluice_owner', passwords.owner),
  })
  return Object.assign(commandLine(env), { live: commandLine({ ...env, MODE: 'live' }) })
}

function rowOf({ kind, from, to, ways }) {
  const each = ways.map(
    ({ name, database, service, lateMs, usualMs }) =>
      `by ${name} ${seconds(database.ms)}, the service ${seconds(service.ms)} (${lateMs < 0 ? '' : '+'}${seconds(lateMs)}; an order takes ${seconds(usualMs)})`,
  )
  return `${kind.padEnd(6)} ${from} to ${to}: database away ${each.join('; ')}`
}

function tableOf(rows) {
  const lines = rows.map((row) => `  ${rowOf(row)}`)
  return [
    'How long each was away, and how much later than the database it was back:',
    ...lines,
  ].join('\n')
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}

function say(words) {
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${words}`)
}
