import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseTxnId } from '../../src/lib/ids.ts'
import type { Currency } from '../../src/lib/money.ts'
import { readTrialBalances, type TrialBalance } from '../../src/reports/trial-balance.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { eventId, FakeProvider, paymentEvent } from '../support/fake-provider.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { cleanUp, command, commandJson, type Ended, type Env } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** What all books come to, to the last unit, after everything that moves money between accounts. */

const bank = new FakeProvider('bank')

let s: TestService
let env: Env
let admin: OperatorClient
let shop: AgentClient
let gone: AgentClient

beforeAll(async () => {
  s = await startTestService({ realTime: true, outside: { providers: [bank], paysOut: false } })
  const key = Buffer.alloc(32, 7).toString('base64')
  env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: key,
    LOG_LEVEL: 'warn',
  }
  admin = await signIn(s, 'admin')
  shop = await s.agent({ name: 'Shop', depositFee: '2%' })
  gone = await s.agent({ name: 'Gone', depositFee: '0' })
})
afterEach(() => s.prove())
afterAll(async () => {
  await s.close()
  await cleanUp()
})

/** A moment after all that was written, and before all that will be. */
async function moment(): Promise<Date> {
  const at = new Date()
  while (Date.now() <= at.getTime()) await new Promise((resolve) => setImmediate(resolve))
  return at
}

async function read(asOf?: Date, currency: Currency = 'THB'): Promise<TrialBalance> {
  const [only] = await readTrialBalances(s.backend.pool, { asOf, currency })
  if (!only) throw new Error('no trial balance was read')
  return only
}

/** The lines that are not zero, without the books. */
async function linesOf(asOf?: Date): Promise<Record<string, unknown>> {
  const { books, currency, providers, ...lines } = await read(asOf)
  expect(currency).toBe('THB')
  const moved = Object.entries(lines).filter(([, value]) => value !== 0n)
  const there = providers.filter(({ clearing }) => clearing !== 0n)
  return {
    ...Object.fromEntries(moved),
    ...Object.fromEntries(there.map(({ provider, clearing }) => [`at ${provider}`, clearing])),
  }
}

/** A deposit of 100 that is with the bank, and a payment for it. */
async function payAtBank(agent: AgentClient, amountMinor: bigint) {
  const { json } = await agent.deposit({ amount: 100 })
  const event = paymentEvent(json.txn_id, new Date(), { amountMinor })
  await bank.tell(s.service.url, event)
  return { txnId: json.txn_id as string, event }
}

const json = (...args: string[]) => commandJson(['books', ...args], env)
const run = (...args: string[]): Promise<Ended> => command(['books', ...args], env)

/** What was read at each moment when it was the present. */
const seen: { at: Date; lines: Record<string, unknown> }[] = []
async function remember(): Promise<Record<string, unknown>> {
  const lines = await linesOf()
  seen.push({ at: await moment(), lines })
  return lines
}

describe('the trial balance', () => {
  it('is empty before anything has happened', async () => {
    expect(await remember()).toEqual({ faults: [] })
  })

  it('has a deposit as owed to the agent and earned, against what is at the provider', async () => {
    await payAtBank(shop, 100_00n)
    expect(await remember()).toEqual({
      faults: [],
      owedToAgents: 98_00n,
      fees: 2_00n,
      clearing: -100_00n,
      'at bank': -100_00n,
    })
  })

  it('has money that waits in suspense: the agent’s, or the house’s if it is nobody’s', async () => {
    await payAtBank(shop, 90_25n)
    await bank.tell(s.service.url, paymentEvent('garbled', new Date(), { amountMinor: 70_50n }))
    expect(await remember()).toEqual({
      faults: [],
      owedToAgents: 98_00n,
      suspenseOfAgents: 90_25n,
      suspenseOfHouse: 70_50n,
      fees: 2_00n,
      clearing: -260_75n,
      'at bank': -260_75n,
    })
  })

  it('has what an agent owes as receivable, beside what others are owed', async () => {
    const { txnId, event } = await payAtBank(gone, 100_00n)
    await gone.withdraw({ amount: 60 })
    await bank.tell(s.service.url, {
      id: eventId(),
      type: 'payment_taken_back',
      reference: txnId,
      paymentId: event.paymentId,
    })
    expect(await remember()).toEqual({
      faults: [],
      owedToAgents: 98_00n,
      receivable: -60_00n,
      held: 60_00n,
      suspenseOfAgents: 90_25n,
      suspenseOfHouse: 70_50n,
      fees: 2_00n,
      clearing: -260_75n,
      'at bank': -260_75n,
    })
  })

  it('has what a provider charges as a cost, and fees and costs in the house’s book after a sweep', async () => {
    const { txnId } = await payAtBank(shop, 100_00n)
    const named = parseTxnId(txnId)
    if (!named) throw new Error('no such order')
    const charge = { provider: 'bank', costId: 'c-1', amountMinor: 75n }
    await s.service.desk.teller.do({ type: 'charge_cost', at: new Date(), ...named, ...charge })
    const before = await remember()
    expect(before).toMatchObject({ fees: 4_00n, costs: -75n, clearing: -360_00n })

    const swept = await json('sweep')
    expect(swept.swept).toEqual([{ app_id: shop.appId, currency: 'THB', fees: 4, costs: -0.75 }])
    expect((await json('sweep')).swept).toEqual([])
    expect(await remember()).toEqual(before)
    const { books } = await read()
    const [house, own] = [null, shop.appId].map((id) => books.find(({ appId }) => appId === id))
    expect(house?.balances).toMatchObject({ fees: 4_00n, costs: -75n, transfers: -3_25n })
    expect(own?.balances).toMatchObject({ fees: 0n, costs: 0n, transfers: 3_25n })
  })

  it('has a write-off as a difference, against what is at that provider', async () => {
    const args = ['write-off', '10.5', '--currency', 'THB', '--provider', 'bank']
    const why = ['--reason', 'the statement says so', '--ref', 'w-1']
    expect(await json(...args, ...why)).toMatchObject({ changed: true, differences: -10.5 })
    const again = await run(...args, ...why)
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/nothing changed.\nClearing at bank is -349.5 THB/)
    // Another provider may use the same reference; a key of an earlier release counts, too.
    const elsewhere = ['--currency', 'THB', '--provider', 'sandbox']
    expect(await json('write-off', '2', ...elsewhere, ...why)).toMatchObject({ changed: true })
    await json('write-off', '-2', ...elsewhere, '--reason', 'and back', '--ref', 'w-2')
    await s.sql(
      `update journal set once_key = 'write-off:w-2' where once_key = 'write-off:sandbox:w-2'`,
    )
    await chainAnew(s.sql)
    const earlier = [...elsewhere, '--reason', 'and back', '--ref', 'w-2']
    expect(await json('write-off', '-2', ...earlier)).toMatchObject({ changed: false })
    await json('write-off', '-0.25', ...args.slice(2), '--reason', 'and back')
    expect(await remember()).toEqual({
      faults: [],
      owedToAgents: 196_00n,
      receivable: -60_00n,
      held: 60_00n,
      suspenseOfAgents: 90_25n,
      suspenseOfHouse: 70_50n,
      fees: 4_00n,
      costs: -75n,
      differences: -10_25n,
      clearing: -349_75n,
      'at bank': -349_75n,
    })
    const { json: audit } = await admin.get('/audit?action=write_off&limit=200')
    expect(audit.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
      Array(6).fill('done'),
    )
    expect(audit.data[0]).toMatchObject({ reason: 'and back', subject: { kind: 'books' } })
  })

  it('is at every earlier moment what it was then', async () => {
    expect(seen).toHaveLength(7)
    for (const { at, lines } of seen) expect(await linesOf(at)).toEqual(lines)
    // A later moment is the present.
    expect(await linesOf(new Date(Date.now() + 1e9))).toEqual(seen.at(-1)?.lines)
    expect(await linesOf(new Date('2020-01-01T00:00:00Z'))).toEqual({ faults: [] })
  })

  it('keeps currencies apart', async () => {
    const viet = await s.agent({ name: 'Viet', currency: 'VND', depositFee: '0' })
    const { json: order } = await viet.deposit({ amount: 50_000, bankCode: 'VCB' })
    const event = paymentEvent(order.txn_id, new Date(), { amountMinor: 50_000n, currency: 'VND' })
    await bank.tell(s.service.url, event)
    const dong = await read(undefined, 'VND')
    expect(dong).toMatchObject({ owedToAgents: 50_000n, clearing: -50_000n, total: 0n })
    expect(await linesOf()).toEqual(seen.at(-1)?.lines)
  })
})

describe('sluice books', () => {
  it('shows the lines, and each book if asked', async () => {
    const [plain, whole] = [await run('--currency', 'THB'), await run('--books')]
    expect(plain).toMatchObject({ code: 0, stderr: '' })
    expect(plain.stdout).toMatch(/^LINE +THB\nowed_to_agents +196\nreceivable +-60\n/)
    expect(plain.stdout).toMatch(/\nclearing +-349.75\n {2}bank +-349.75\n/)
    expect(plain.stdout).toMatch(/\ntotal +0\n\nThe books balance.\n$/)
    expect(plain.stdout).not.toContain('VND')
    expect(whole.stdout).toMatch(/\nHouse THB .* -10.25 +-3.25 +\d+\n/)
    expect(whole.stdout).toMatch(new RegExp(`\\n${shop.appId} +196 +0 +0 +90.25 +0 +-289.5 `))
  })

  it('is JSON with exact numbers, now or as of a time', async () => {
    const now = await json('--currency', 'THB')
    expect(now).toMatchObject({
      as_of: null,
      balanced: true,
      currencies: [{ currency: 'THB', fees: 4, clearing: -349.75, differences: -10.25, total: 0 }],
    })
    expect(now.currencies[0]).not.toHaveProperty('books')
    const first = seen[1]?.at.toISOString() ?? ''
    const then = await json('--as-of', first, '--currency', 'THB', '--books')
    expect(then).toMatchObject({
      as_of: first,
      currencies: [
        {
          owed_to_agents: 98,
          providers: [{ provider: 'bank', clearing: -100 }],
          books: [{ app_id: shop.appId, available: 98, fees: 2, clearing: -100 }],
        },
      ],
    })
  })

  it('is CSV whose amounts come to zero, by line or by book', async () => {
    for (const more of [[], ['--books']]) {
      const { stdout, code } = await run('--csv', '--currency', 'THB', ...more)
      expect(code).toBe(0)
      const [head, ...rows] = stdout.trimEnd().split('\r\n')
      expect(head).toBe('as_of,currency,app_id,name,line,provider,amount')
      const amounts = rows.map((row) => Math.round(Number(row.split(',').at(-1)) * 100))
      expect(amounts.reduce((sum, each) => sum + each)).toBe(0)
      expect(amounts.filter((each) => each !== 0).length).toBeGreaterThan(8)
    }
  })

  it('refuses what it cannot read', async () => {
    const needed = ['--currency', 'THB', '--provider', 'bank', '--reason', 'x']
    for (const [args, says] of [
      [['--as-of', 'yesterday'], 'must be an ISO 8601 time'],
      [['--currency', 'XXX'], 'must be one of THB, VND'],
      [['--json', '--csv'], 'either --json or --csv'],
      [['write-off', '0', ...needed], 'other than 0'],
      [['write-off', '1.005', ...needed], 'other than 0'],
      [['write-off', '1', ...needed, '--provider', 'banc'], 'there is no provider "banc"'],
      [['write-off', '1', ...needed, '--ref', 'w-1'], 'another amount'],
    ] as const) {
      const ended = await run(...args)
      expect(ended).toMatchObject({ code: 1, stdout: '' })
      expect(ended.stderr).toContain(says)
    }
  })
})

describe('books that do not balance', () => {
  const sums = `available + held + reserve + suspense + clearing + fees + costs + adjustments + differences
    + transfers`

  it.each([
    {
      what: 'transfers that do not cancel out',
      lie: 'update wallets set transfers = transfers + 1, adjustments = adjustments - 1',
      truth: 'update wallets set transfers = transfers - 1, adjustments = adjustments + 1',
      says: 'Transfers between all books come to 0.01 THB',
    },
    {
      what: 'clearing that is at no provider',
      lie: 'update clearings set balance = balance + 1',
      truth: 'update clearings set balance = balance - 1',
      says: 'clearing is -289.5 THB, but at providers it is -289.49 THB',
    },
    {
      what: 'accounts that do not add up',
      lie: 'update wallets set fees = fees + 1',
      truth: 'update wallets set fees = fees - 1',
      says: 'the accounts come to 0.01 THB',
    },
  ])('are told by $what, and the command fails', async ({ lie, truth, says }) => {
    const inShop = (statement: string) => s.sql(`${statement} where agent_id = $1`, [shop.agentId])
    await s.sql('alter table wallets drop constraint wallets_balance')
    await inShop(lie)
    try {
      const [text, asJson] = [await run(), await run('--json')]
      expect(text.code).toBe(1)
      expect(text.stderr).toContain(says)
      expect(text.stdout).toContain('The books do NOT balance.')
      expect(asJson.code).toBe(1)
      expect(JSON.parse(asJson.stdout)).toMatchObject({
        balanced: false,
        currencies: [
          { currency: 'THB', balanced: false, faults: [expect.stringContaining(says)] },
          { currency: 'VND', balanced: true, faults: [] },
        ],
      })
      expect((await admin.get('/books')).json).toMatchObject({ balanced: false })
    } finally {
      await inShop(truth)
      await s.sql(`alter table wallets add constraint wallets_balance check (${sums} = 0)`)
    }
    expect((await admin.get('/books')).json).toMatchObject({ balanced: true })
  })
})

describe('the console’s API', () => {
  it('answers the same, with every book that is not empty', async () => {
    const { status, json: all } = await admin.get('/books?currency=THB')
    expect(status).toBe(200)
    expect(all.currencies).toHaveLength(1)
    const [{ books, ...lines }] = all.currencies
    expect(lines).toEqual((await json('--currency', 'THB')).currencies[0])
    expect(books.map((book: { app_id: string | null }) => book.app_id)).toEqual([
      null,
      shop.appId,
      gone.appId,
    ])
    const at = encodeURIComponent(seen[2]?.at.toISOString() ?? '')
    const { json: then } = await admin.get(`/books?as_of=${at}&currency=THB`)
    expect(then.currencies).toMatchObject([{ suspense_of_agents: 90.25, suspense_of_house: 70.5 }])
    expect((await admin.get('/books?as_of=yesterday')).status).toBe(422)
  })

  it('gives the table as a file, and the log says who took it', async () => {
    const viewer = await signIn(s, 'viewer')
    const { text, headers } = await viewer.get('/books.csv?currency=VND')
    expect(headers.get('content-disposition')).toContain('books.csv')
    expect(text).toMatch(/,VND,\w+,Viet,clearing,bank,-50000\r\n/)
    const { json: log } = await admin.get(`/audit?action=export_books&actor=${viewer.email}`)
    expect(log.data).toMatchObject([{ outcome: 'done', before: { currency: 'VND' } }])
  })

  it('is not for agents’ users', async () => {
    const owner = await signIn(s, 'agent', shop)
    for (const path of ['/books', '/books.csv', '/books/history?currency=THB']) {
      expect((await owner.get(path)).status).toBe(404)
    }
  })
})
