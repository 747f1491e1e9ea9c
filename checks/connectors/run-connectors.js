/**
 * `npm run connectors [-- NAME ...]`: runs the documents of server/connectors through a real service, against Stripe's own
 * mock server and stand-ins of the other companies: a deposit or a payout, the company's notice, and a forged one.
 * stripe-mock is fetched as a Go module, unless STRIPE_MOCK_PATH names it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from 'sluice-sdk'
import { startSluice } from '../../demo/start-sluice.js'
import { freePort } from '../free-port.js'
import { connectors, omiseTakes, openCompany, stripeTakes, xenditTakes } from './companies.js'

const stripeMock = 'github.com/stripe/stripe-mock@v0.203.0'
const limitMs = 60_000
const folder = fileURLToPath(new URL('../../server/connectors/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-connectors-'))
const children = []
const mockNames = { stripe: 'stripe-mock', xendit: 'stand-in', omise: 'stand-in' }

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(connectors, name))
if (unknown.length > 0) {
  console.error(
    `There is no connector ${unknown.join(', ')}; there are ${Object.keys(connectors).join(', ')}.`,
  )
  process.exit(1)
}
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
})

const names = asked.length > 0 ? asked : Object.keys(connectors)
const needsStripe = names.some((name) => connectors[name].company === 'stripe')
const mockUrl = needsStripe ? await startStripeMock() : undefined
console.log('Starting the service ...')
const service = await startSluice({
  PORT: '0',
  DATA_DIR: join(scratch, 'data'),
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
})
const results = []
try {
  await service.sluice('provider', 'set', 'sandbox', 'off')
  for (const name of names) results.push(await resultOf(name, connectors[name]))
  await service.sluice('verify')
} finally {
  await service.stop()
}
console.log(tableOf(results))
process.exit(results.some(({ failed }) => failed) ? 1 : 0)

/** Stripe's mock server on a port of its own. */
async function startStripeMock() {
  let program = process.env.STRIPE_MOCK_PATH
  if (!program) {
    console.log(`Fetching ${stripeMock} ...`)
    const env = { ...process.env, GOBIN: join(scratch, 'bin'), GOFLAGS: '-modcacherw' }
    const { status, stderr } = spawnSync('go', ['install', stripeMock], { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`go could not install stripe-mock: ${stderr}`)
    program = join(scratch, 'bin', 'stripe-mock')
  }
  const port = await freePort()
  children.push(spawn(program, ['-http-port', String(port)], { stdio: 'ignore' }))
  const url = `http://127.0.0.1:${port}`
  await until('stripe-mock answers', () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  return url
}

async function resultOf(name, terms) {
  const result = { name, mock: mockNames[terms.company], taken: 0, failed: true, note: '' }
  const company = await openCompany(takes(terms.company))
  try {
    const client = await connected(name, terms, company)
    const did = terms.payout
      ? await payout(name, terms, company, client)
      : await deposit(name, terms, company, client)
    const refused = company.calls.filter(({ status }) => status >= 400)
    if (refused.length > 0) throw new Error(`it refused ${JSON.stringify(refused[0])}`)
    Object.assign(result, { taken: company.calls.length, failed: false, note: did })
  } catch (error) {
    result.note = error.message.trim().split('\n').slice(0, 6).join(' / ')
  } finally {
    await service.sluice('provider', 'set', name, 'off').catch(() => {})
    company.server.close()
    company.server.closeAllConnections()
  }
  console.log(`${name.padEnd(17)} ${result.failed ? `FAILED: ${result.note}` : 'passed'}`)
  return result
}

function takes(company) {
  if (company === 'stripe') return stripeTakes(mockUrl)
  return company === 'xendit' ? xenditTakes() : omiseTakes()
}

/** Adds, tries and uses the document, as an operator does; returns an agent's client. */
async function connected(name, { secrets, currency, payees }, company) {
  const document = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
  if (document.payees) document.payees = payees
  // Of the document only where the company is, whom it can pay and how soon it is asked about a deposit are other than in
  // the file.
  if (document.askDeposit) document.askDeposit.everyS = 2
  const file = join(scratch, `${name}.json`)
  writeFileSync(file, JSON.stringify({ ...document, base: company.url }))
  const given = Object.entries(secrets).map(([secret, value]) => `${secret}=${value}`)
  await service.sluice('provider', 'add', file, '--secret', ...given)
  await service.sluice('provider', 'test', name, '--sample', join(folder, `${name}.samples.json`))
  await service.sluice('provider', 'use', name)
  // A new connector gets no orders until somebody switches it on.
  await service.sluice('provider', 'set', name, 'on')
  const agent = await service.createAgent('--name', name, '--currency', currency)
  const client = createClient({ baseUrl: service.url, ...agent })
  return Object.assign(client, { appId: agent.appId })
}

async function deposit(name, terms, company, client) {
  const { party, amount, paid } = terms
  const request = { ...party, userId: 'user-1', refId: `${name}-1`, amount }
  const order = await created(() => client.createDeposit(request))
  const wanted = company.calls.filter(({ method }) => method === 'POST')
  if (terms.company === 'stripe' && wanted.length < 2) {
    throw new Error('an answer about another payment was taken')
  }
  await until('it is asked about the deposit', () =>
    company.calls.some(({ method }) => method === 'GET'),
  )
  await statusIs(client, order.txn_id, 'WAITING')
  await tell(name, terms, paid, order.txn_id, company)
  await statusIs(client, order.txn_id, 'PAID')
  return 'deposit taken, asked about, told of and PAID; forged notice refused'
}

async function payout(name, terms, company, client) {
  const { party, amount } = terms
  const reason = 'to have something to pay out'
  await service.sluice('wallet', 'adjust', client.appId, String(amount * 3), '--reason', reason)
  const request = { ...party, userId: 'user-1', refId: `${name}-1`, amount }
  const order = await created(() => client.createWithdraw(request))
  await until('the payout is handed over', () =>
    company.calls.some(({ method }) => method === 'POST'),
  )
  const [{ body }] = company.calls.filter(({ method }) => method === 'POST')
  const reference = /SX[0-9A-Z]{11}/.exec(body)?.[0]
  await statusIs(client, order.txn_id, 'WAITING')
  const [done, back] = terms.payout
  await tell(name, terms, done, reference, company)
  await statusIs(client, order.txn_id, 'PAID')
  if (!back) return 'payout taken, told of and PAID; forged notice refused'
  await tell(name, terms, back, reference, company)
  await statusIs(client, order.txn_id, 'REVERT')
  return 'payout taken, told of, PAID, came back and REVERT; forged notice refused'
}

/** Creates an order; a connector is routed to within a second of its use. */
async function created(create) {
  let last
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    try {
      return (await create()).order
    } catch (error) {
      last = error
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  throw last
}

/** Sends a sample of a notice as if it were of this order: first forged, then signed. */
async function tell(name, { secrets, sign, company, amount }, sample, reference, standIn) {
  const set = JSON.parse(readFileSync(join(folder, `${name}.samples.json`), 'utf8'))
  const { body } = set.samples.find((each) => each.name === sample)
  const value = company === 'xendit' ? amount : amount * 100
  const now = new Date()
  const text = JSON.stringify(body, (key, each) =>
    /^amount(_received|_total)?$/.test(key) ? value : each,
  )
    .replaceAll(set.order.reference, reference)
    .replaceAll(/pr-5a4b3c2d[0-9a-f-]+/g, (id) => standIn.idOf?.(reference) ?? id)
    .replaceAll('1769848200', String(Math.floor(now.getTime() / 1000)))
    .replaceAll(/2026-01-31T08:30:[\d.]+Z/g, now.toISOString())
  const send = (headers) =>
    fetch(`${service.url}/providers/${name}/notices`, { method: 'POST', headers, body: text })
  const forged = await send(sign(text, Buffer.from('of nobody').toString('base64')))
  if (forged.status !== 401) throw new Error(`a forged notice was answered ${forged.status}`)
  // A company whose notices have no signature is asked whether it is true.
  standIn.becomes?.(reference, JSON.parse(text))
  const { status } = await send(sign(text, secrets.hook))
  if (status !== 200) throw new Error(`a notice was answered ${status}`)
}

async function statusIs(client, txnId, status) {
  let found
  await until(`${txnId} is ${status}`, async () => {
    found = (await client.getOrder(txnId)).status
    return found === status
  }).catch((error) => {
    throw new Error(`${error.message}; it is ${found}`)
  })
}

async function until(what, isSo) {
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    if (await isSo()) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`not in time: ${what}`)
}

function tableOf(rows) {
  const head = { name: 'CONNECTOR', mock: 'AGAINST', taken: 'REQUESTS', note: '' }
  const line = ({ name, mock, taken, note }) =>
    `${name.padEnd(17)} ${mock.padEnd(12)} ${String(taken).padEnd(9)} ${note}`.trimEnd()
  return `\n${[head, ...rows].map(line).join('\n')}\n`
}
