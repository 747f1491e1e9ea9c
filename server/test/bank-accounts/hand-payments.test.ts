import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pruneSlips } from '../../src/bank-accounts/slips.ts'
import { notShown } from '../../src/http/operator-api/personal-data.ts'
import { parseTxnId } from '../../src/lib/ids.ts'
import { explainMovement } from '../../src/payments/explain-movement.ts'
import { creditPayment } from '../../src/payments/payments.ts'
import { recordPayment, seenPayment } from '../../src/payments/record-payment.ts'
import { redDays } from '../../src/reconcile/red-days.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
  push,
  routed,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, type Env, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** A payment that two people record from a slip is one more report: it credits once, and the bank has the last word. */

const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' }
const reason = 'the payer showed the slip'
let s: TestService
let account: TestAccount
let agent: AgentClient
let one: OperatorClient
let two: OperatorClient

beforeAll(async () => {
  s = await startTestService({ env: live, outside: { providers: [] } })
  // Codes move the clock by many minutes: no day ends in Bangkok meanwhile.
  const hour = (s.clock().getUTCHours() + 7) % 24
  if (hour >= 20) s.clock.advance((25 - hour) * 3_600_000)
  account = await makeAccount(s, { match: 'code' }, { mode: 'live' })
  agent = await s.agent()
  one = await signIn(s, 'admin')
  two = await signIn(s, 'admin')
})
afterEach(() => s.prove())
afterAll(async () => {
  await cleanUp()
  await s.close()
})

/** A picture that nobody has seen before. */
const picture = () => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(24)])

async function bring(bytes = picture(), by = one): Promise<string> {
  const { status, json, text } = await by.post('/slips', { content: bytes.toString('base64') })
  expect([status, text]).toEqual([201, text])
  return json.slip
}

let amounts = 300
async function deposit() {
  const { status, json, text } = await agent.deposit({ userId: 'u1', amount: ++amounts })
  expect([status, text]).toEqual([201, text])
  return { txn_id: json.txn_id as string, amount: `${amounts}.00` }
}

type Fields = Record<string, unknown>

function paymentOf(fields: Fields) {
  return { day: dayAt(s.clock()), payer: { name: 'SOMCHAI J' }, reason, ...fields }
}

const path = () => `/bank-accounts/${account.account.name}/payments`

async function propose(fields: Fields, by = one) {
  return by.post(path(), { ...paymentOf(fields), code: by.code() })
}

async function approve(proposal: string, by = two) {
  const { digest } = (await by.get(`/approvals/${proposal}`)).json
  return by.post(`/approvals/${proposal}/approve`, { digest, code: by.code() })
}

/** Two people record a payment. Returns what became of it. */
async function record(fields: Fields) {
  const { status, json, text } = await propose(fields)
  expect([status, text]).toEqual([202, text])
  return (await approve(json.proposal)).json
}

/** Records it as the route does when two people have decided. */
async function recordNow(fields: {
  slip: string
  amount: string
  txn_id: string
  reference?: string
}) {
  const { pool } = s.service.desk
  const told = { day: dayAt(s.clock()), payer: { name: 'SOMCHAI J' }, ...fields }
  const payment = await seenPayment(pool, account.account, told)
  const by = { recordedBy: one.email, proposalId: null, approvedBy: null, also: async () => {} }
  return recordPayment(s.service.desk, account.account, payment, by)
}

function orderIn(txnId: string) {
  const named = parseTxnId(txnId)
  if (!named) throw new Error(`${txnId} is no order`)
  return named
}

const statusOf = async (txnId: string) => (await one.get(`/orders/${txnId}`)).json.order.status
const ofAmount = async (amount: string) =>
  (await movementsOf(s, account)).filter(
    ({ amountMinor }) => amountMinor === BigInt(amount.replace('.', '')),
  )

const statementOf = (day: string, ...lines: { amount: string; text?: string; ref?: string }[]) =>
  camt({ account: account.account, day, lines })

describe('two people record a payment', () => {
  it('which pays the order with its callback, and the statement that comes later adds nothing', async () => {
    const { txn_id, amount } = await deposit()
    const slip = await bring()
    const proposed = await propose({ txn_id, amount, slip, reference: '2026-1117 AB' })
    expect(proposed.status, proposed.text).toBe(202)
    const shown = (await two.get(`/approvals/${proposed.json.proposal}`)).json
    expect(shown).toMatchObject({
      action: 'record_payment',
      amount: Number(amount),
      before: { movement: null, order: txn_id },
      after: { slip, goes_to: txn_id },
    })
    // A viewer learns nothing of the payer.
    const viewer = await signIn(s, 'viewer')
    const viewed = (await viewer.get(`/approvals/${proposed.json.proposal}`)).json.after
    expect(viewed).toMatchObject({ payer: { account_name: 'S•••' }, payer_reference: notShown })
    expect(JSON.stringify(viewed)).not.toMatch(/SOMCHAI|1117 AB/)
    const seen = await fetch(`${s.service.url}/console/api/slips/${slip}`, {
      headers: { cookie: two.cookie },
    })
    expect([seen.status, seen.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(await statusOf(txn_id)).toBe('WAITING')
    expect((await approve(proposed.json.proposal, one)).status).toBe(403)
    expect((await approve(proposed.json.proposal)).json.state).toBe('done')
    expect(await statusOf(txn_id)).toBe('PAID')
    expect((await two.get(`/orders/${txn_id}`)).json.callbacks).toHaveLength(1)
    const [movement] = await ofAmount(amount)
    expect(movement).toMatchObject({
      sources: ['hand'],
      hand: { recordedBy: one.email, approvedBy: two.email, reference: '20261117AB' },
    })
    const balance = await agent.balance()
    await importFile(s, account, statementOf(dayAt(s.clock()), { amount, text: 'TRF' }), {
      via: 'folder',
      mode: 'live',
    })
    await push(s, account, { id: 'late', amount, text: 'TRF' })
    expect(await ofAmount(amount)).toMatchObject([{ sources: ['hand', 'push', 'statement'] }])
    expect(await agent.balance()).toBe(balance)
  })

  it('whose picture and reference are used once, over all accounts; what was declined is not used', async () => {
    const first = await deposit()
    const second = await deposit()
    const bytes = picture()
    const slip = await bring(bytes)
    const declined = await propose({ ...first, slip, reference: 'REF 1' })
    const no = { reason: 'the slip is cut off', code: two.code() }
    await two.post(`/approvals/${declined.json.proposal}/decline`, no)
    expect((await record({ ...first, slip, reference: 'REF 1' })).state).toBe('done')
    expect(await bring(bytes, two)).toBe(slip)
    const again = await propose({ ...second, slip })
    expect([again.status, again.json.code]).toEqual([409, 'slip_used'])
    const elsewhere = await makeAccount(s, {}, { mode: 'live', isOff: true })
    const other = await one.post(`/bank-accounts/${elsewhere.account.name}/payments`, {
      ...paymentOf({ amount: '5.00', slip: await bring(), reference: 'ref-1' }),
      code: one.code(),
    })
    expect([other.status, other.json.code]).toEqual([409, 'slip_used'])
    expect(await statusOf(second.txn_id)).toBe('WAITING')
    expect(await ofAmount(second.amount)).toEqual([])
  })

  it('and who approves is warned of the same picture in another file', async () => {
    const head = Buffer.from('ffd8ffda0004', 'hex')
    const shown = Buffer.concat([head, randomBytes(24), Buffer.from('ffd9', 'hex')])
    const first = await deposit()
    const second = await deposit()
    expect((await record({ ...first, slip: await bring(shown) })).state).toBe('done')
    const again = await bring(Buffer.concat([shown, Buffer.from('saved again')]))
    const { json } = await propose({ ...second, slip: again })
    const { beside } = (await two.get(`/approvals/${json.proposal}`)).json
    expect(beside.after.beware).toMatch(
      new RegExp(`^Another file with the same picture was used .* which ${one.email} recorded[.]`),
    )
    await two.post(`/approvals/${json.proposal}/decline`, { reason: 'twice', code: two.code() })
  })

  it('once, although ten record it at once, by one picture or by one reference', async () => {
    const first = await deposit()
    const second = await deposit()
    const slip = await bring()
    const bySlip = await Promise.allSettled(
      Array.from({ length: 10 }, () => recordNow({ ...first, slip })),
    )
    expect(bySlip.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const slips = await Promise.all(Array.from({ length: 10 }, () => bring()))
    const byReference = await Promise.allSettled(
      slips.map((each) => recordNow({ ...second, slip: each, reference: 'TEN AT ONCE' })),
    )
    expect(byReference.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const { txn_id, amount } of [first, second]) {
      await booked(s, account.account.name)
      expect(await ofAmount(amount)).toHaveLength(1)
      expect(await statusOf(txn_id)).toBe('PAID')
    }
  })

  it('by the rules of the agent that gets it, although only its code is named', async () => {
    const { txn_id, amount } = await deposit()
    const [orderId] = txn_id.split('-').slice(1)
    const code = 'select code from expected_deposits where order_id = $1'
    const text = (await s.sql(code, [orderId])).rows[0].code
    const { json } = await propose({ amount, text, slip: await bring() })
    const { rows } = await s.sql(
      `select p.agent_id = o.agent_id as is_its from proposals p, expected_deposits o
       where p.proposal_id = $1 and o.order_id = $2`,
      [json.proposal, orderId],
    )
    expect(rows).toEqual([{ is_its: true }])
  })

  it('and is refused if the bank has reported it meanwhile, or if it is of another day or order', async () => {
    const { txn_id, amount } = await deposit()
    const slip = await bring()
    const { json } = await propose({ txn_id, amount, slip })
    await push(s, account, { id: txn_id, amount, text: 'no code' })
    expect((await approve(json.proposal)).json).toMatchObject({
      state: 'refused',
      problem: { code: 'changed_meanwhile' },
    })
    const wrong = [
      { txn_id, amount, slip, day: '2099-01-01' },
      { txn_id, amount, slip, day: '2026-02-30' },
      { txn_id, amount: '0', slip },
      { txn_id, amount, slip: 'f'.repeat(64) },
      { txn_id: 'agt_1', amount, slip },
      { txn_id, amount, slip, reference: 'ß'.repeat(40) },
    ]
    for (const fields of wrong) expect((await propose(fields)).status).toBe(422)
    // The bank's line was nobody's; the slip says whose it is, and nothing counts twice. What the bank says is shown.
    const again = (await propose({ txn_id, amount, slip })).json.proposal
    const { after } = (await two.get(`/approvals/${again}`)).json
    expect(after.bank_says).toEqual({ account_no: null, payer_text: 'no code' })
    expect((await record({ txn_id, amount, slip })).state).toBe('done')
    expect(await statusOf(txn_id)).toBe('PAID')
    expect(await ofAmount(amount)).toMatchObject([{ sources: ['hand', 'push'] }])
  })
})

it('on the command line it is proposed, and anybody who may decides in the console', async () => {
  const env: Env = {
    ...live,
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'warn',
  }
  const { txn_id, amount } = await deposit()
  const file = join(await tempFolder(), 'slip.png')
  await writeFile(file, picture())
  const args = ['movement', 'record', '--account', account.account.name, '--day', dayAt(new Date())]
  const told = [
    ...args,
    '--amount',
    amount,
    '--payer',
    'A B',
    '--order',
    txn_id,
    '--reason',
    reason,
  ]
  expect((await command([...told, '--slip', join(file, 'no')], env)).code).toBe(1)
  const proposed = await commandJson([...told, '--slip', file, '--json'], env)
  expect((await approve(proposed.proposal)).json).toMatchObject({ state: 'done' })
  expect(await statusOf(txn_id)).toBe('PAID')
  const used = await command([...told, '--slip', file], env)
  expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('was used')])
})

describe('what the bank says', () => {
  it('for another order of the same amount stays that order’s', async () => {
    const amount = '250.00'
    const make = async () => (await agent.deposit({ userId: 'u2', amount: 250 })).json
    const [mine, theirs] = [await make(), await make()]
    const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
      theirs.txn_id.split('-')[1],
    ])
    expect(rows).toHaveLength(1)
    await record({ txn_id: mine.txn_id, amount, slip: await bring() })
    const line = { amount, text: rows[0].code }
    await importFile(s, account, statementOf(dayAt(s.clock()), line), {
      via: 'folder',
      mode: 'live',
    })
    expect(await statusOf(mine.txn_id)).toBe('PAID')
    expect(await statusOf(theirs.txn_id)).toBe('PAID')
    expect(await ofAmount(amount)).toHaveLength(2)
  })

  it('of another payment of that day and amount is not about a slip that nobody knows more of', async () => {
    const make = async () => (await agent.deposit({ userId: 'u3', amount: 251 })).json.txn_id
    const [mine, theirs] = [await make(), await make()]
    const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
      theirs.split('-')[1],
    ])
    const amount = '251.00'
    expect((await record({ amount, slip: await bring() })).state).toBe('done')
    // Nobody else pays that amount: those of the other tests begin with 301.
    const [hand] = await ofAmount(amount)
    const paymentId = `${account.account.name}:${hand?.movementId}`
    await creditPayment(s.service.desk, paymentId, orderIn(mine), reason)
    await push(s, account, { id: 'theirs', amount, text: rows[0].code })
    await booked(s, account.account.name)
    // It may be the transfer of the slip, which somebody gave to the wrong order: it is in the books, and a person decides.
    expect([await statusOf(mine), await statusOf(theirs)]).toEqual(['PAID', 'WAITING'])
    const line = (await ofAmount(amount)).find(({ sources }) => sources.includes('push'))
    expect(line).toMatchObject({ paymentState: 'waiting', why: 'ambiguous' })
    expect(line?.detail).toContain(`That is ${theirs}.`)
    expect(line?.detail).toContain(`was credited to ${mine}`)
    const theirPayment = `${account.account.name}:${line?.movementId}`
    await creditPayment(s.service.desk, theirPayment, orderIn(theirs), reason)
    expect([await statusOf(mine), await statusOf(theirs)]).toEqual(['PAID', 'PAID'])
    // And a slip that comes later is not the one that was paid, unless something says so.
    const { status, json } = await propose({ amount, slip: await bring(), payer: { name: 'B' } })
    expect([status, json.detail]).toEqual([409, expect.stringContaining(theirs)])
    expect(await ofAmount(amount)).toHaveLength(2)
  })

  it('of a number is so, whatever amount, account or spelling a slip with that number has', async () => {
    const paid = await deposit()
    const other = await deposit()
    const code = `select code from expected_deposits where order_id = $1`
    const { rows } = await s.sql(code, [paid.txn_id.split('-')[1]])
    await push(s, account, { id: 'AB-9876-1', amount: paid.amount, text: rows[0].code })
    await booked(s, account.account.name)
    expect(await statusOf(paid.txn_id)).toBe('PAID')
    const reference = 'ab98761'
    const edited = await propose({ ...other, slip: await bring(), reference })
    expect([edited.status, edited.json.code]).toEqual([409, 'slip_used'])
    expect(edited.json.detail).toContain(paid.txn_id)
    const nobodys = await propose({ amount: '9.00', slip: await bring(), reference })
    expect([nobodys.status, nobodys.json.code]).toEqual([409, 'slip_used'])
    // The names of the ids are no numbers, and its own slip may be shown.
    const named = await propose({ ...other, slip: await bring(), reference: 'feedId' })
    expect([named.status, named.text]).toEqual([202, named.text])
    expect((await record({ ...paid, slip: await bring(), reference })).state).toBe('done')
    expect(await ofAmount(paid.amount)).toMatchObject([{ sources: ['hand', 'push'] }])
  })

  it('nothing of, is watched until somebody decides, however old it is', async () => {
    const day = dayAt(new Date(s.clock().getTime() - 10 * 86_400_000))
    await record({ amount: '77.00', slip: await bring(), day })
    const watched = (await redDays(s.backend.pool, s.clock())).map(({ subject }) => subject)
    expect(watched).toContain(`${account.account.name} ${day}`)
  })

  it('never, is a break from the third banking day on; taken back, it is no money', async () => {
    const before = account
    account = await makeAccount(s, { match: 'code', fileLimitMinor: 100_00n }, { mode: 'live' })
    await saveProviderState(s.backend.pool, before.account.name, 'off', s.clock())
    await routed(s, account.account.name)
    const { txn_id, amount } = await deposit()
    const slip = await bring()
    await record({ txn_id, amount, slip })
    const [movement] = await ofAmount(amount)
    const day = movement?.bookedOn ?? ''
    const ofDay = async () => (await daysOf(s, account)).filter((each) => each.startsWith(day))
    expect(await ofDay()).toEqual([`${day} amber`])
    // A file that one person brings proves nothing, although its own lines would be within the limit.
    const line = { amount, text: 'home-made' }
    const file = camt({ account: account.account, day, lines: [line], isIntraday: true })
    await importFile(s, account, file, { mode: 'live' })
    expect(await ofAmount(amount)).toMatchObject([{ sources: ['hand', 'intraday'] }])
    while (dayAt(s.clock()) <= weekdayAfter(day, 2)) s.clock.advance(86_400_000)
    one = await one.signInAgain()
    two = await two.signInAgain()
    expect(await ofDay()).toMatchObject([expect.stringContaining('red never_booked')])
    const id = movement?.movementId
    const explained = () =>
      one.post(`/bank-accounts/${account.account.name}/movements/${id}/explain`, {
        as: 'never_booked',
        reason,
        code: one.code(),
      })
    expect(await explained()).toMatchObject({ status: 409 })
    const back = await one.post(`/orders/${txn_id}/take-back`, {
      reason,
      evidence: reason,
      code: one.code(),
    })
    expect([back.status, back.text]).toEqual([202, back.text])
    expect((await approve(back.json.proposal)).json.state).toBe('done')
    expect(await statusOf(txn_id)).toBe('VOID')
    const proposed = await explained()
    expect([proposed.status, proposed.text]).toEqual([202, proposed.text])
    expect((await approve(proposed.json.proposal)).json.state).toBe('done')
    // What the file says is apart from it, and waits for a second person as before.
    expect(await ofDay()).toEqual([`${day} amber unconfirmed`])
    // The bank has it after all: that is money of its own.
    await importFile(s, account, statementOf(day, { amount, text: 'late' }), {
      via: 'folder',
      mode: 'live',
    })
    expect(await ofAmount(amount)).toMatchObject([
      { explainedBy: 'never_booked', sources: ['hand'] },
      { sources: ['intraday', 'statement'], paymentState: 'waiting' },
    ])
    const [, late] = await ofAmount(amount)
    await explainMovement(
      s.service.desk,
      account.account,
      late?.movementId ?? '',
      'correction',
      reason,
    )
  })
})

it('pictures that no payment uses are taken so often, and kept for a month', async () => {
  const third = await signIn(s, 'operator')
  const unused = await bring(picture(), third)
  const kept = async (at: Date) => {
    expect(await pruneSlips(s.backend.pool, at)).toBe('done')
    const { rows } = await s.sql('select sha256 from bank_slips')
    return rows.map(({ sha256 }) => sha256)
  }
  const afterDays = (days: number) => new Date(s.clock().getTime() + days * 86_400_000)
  expect(await kept(afterDays(29))).toContain(unused)
  const { rows: used } = await s.sql('select slip from hand_payments')
  expect((await kept(afterDays(31))).sort()).toEqual(used.map(({ slip }) => slip).sort())
  const content = picture().toString('base64')
  for (let nth = 1; nth < 60; nth++) await third.post('/slips', { content })
  const { status, json } = await third.post('/slips', { content })
  expect([status, json.code]).toEqual([429, 'rate_limited'])
})

/** The nth day after a day that is no weekend. */
function weekdayAfter(day: string, nth: number): string {
  let at = day
  for (let left = nth; left > 0; ) {
    at = new Date(Date.parse(at) + 86_400_000).toISOString().slice(0, 10)
    if (![0, 6].includes(new Date(at).getUTCDay())) left--
  }
  return at
}
