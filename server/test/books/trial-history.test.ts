import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { archive } from '../../src/archive/archive.ts'
import { openPool } from '../../src/db/pool.ts'
import { startOfDay } from '../../src/lib/local-time.ts'
import { readTrialBalances } from '../../src/reports/trial-balance.ts'
import { FeeSweeper, sweepPage } from '../../src/teller/sweep-fees.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Books over several days: what they came to at the end of each, and what is moved to the house. */

const dayMs = 86_400_000
const hourMs = 3_600_000
const zone = 'Asia/Bangkok'

let s: TestService
let admin: OperatorClient
let shop: AgentClient

beforeAll(async () => {
  s = await startTestService({ env: { TIME_ZONE: zone } })
  // Noon, so that hours can pass within the day.
  const noon = startOfDay(new Date(s.clock().getTime() + dayMs), zone).getTime() + 12 * hourMs
  s.clock.advance(noon - s.clock().getTime())
  admin = await signIn(s, 'admin')
  shop = await s.agent({ name: 'Shop', depositFee: '2%' })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const bookOf = async ({ appId }: { appId: string | null }) => {
  const [thb] = await readTrialBalances(s.backend.pool, { currency: 'THB' })
  return thb?.books.find((book) => book.appId === appId)?.balances
}
const house = { appId: null }

describe('the history', () => {
  it('is the trial balance at the end of each day, newest first', async () => {
    await shop.fund(100)
    s.clock.advance(dayMs)
    await shop.fund(50)
    s.clock.advance(dayMs)
    admin = await admin.signInAgain()
    const { json } = await admin.get('/books/history?currency=THB&days=3')
    expect(json.data).toMatchObject([
      { owed_to_agents: 147, fees: 3, clearing: -150, total: 0, balanced: true },
      { owed_to_agents: 98, fees: 2, clearing: -100, total: 0, balanced: true },
      { owed_to_agents: 0, fees: 0, clearing: 0, total: 0, balanced: true },
    ])
    const today = startOfDay(s.clock(), zone)
    expect(json.data[0].at).toBe(new Date(today.getTime() - 1).toISOString())
    expect(json.data[0].day).toBe(
      new Date(today.getTime() - 1 + 7 * hourMs).toISOString().slice(0, 10),
    )
    expect((await admin.get('/books/history?currency=VND')).json.data).toHaveLength(30)
  })

  it.each(['', '?currency=THB&days=91', '?currency=THB&days=0', '?currency=XXX'])(
    'refuses %s',
    async (query) => {
      expect((await admin.get(`/books/history${query}`)).status).toBe(422)
    },
  )
})

describe('sweeping', () => {
  it('a worker moves fees of books that are older than today, once a day', async () => {
    const young = await s.agent({ name: 'Young', depositFee: '1%' })
    await young.fund(100)
    const beside = await startTestService({ beside: s, env: { TIME_ZONE: zone } })
    try {
      await expect.poll(async () => (await bookOf(shop))?.fees).toBe(0n)
    } finally {
      await beside.close()
    }
    expect(await bookOf(house)).toMatchObject({ fees: 3_00n, transfers: -3_00n })
    expect(await bookOf(young)).toMatchObject({ fees: 1_00n, transfers: 0n })

    await shop.fund(100)
    expect(await new FeeSweeper(s.service.desk, zone).poll()).toBe('done')
    expect(await bookOf(shop)).toMatchObject({ fees: 2_00n, transfers: 3_00n })
  })

  it('waits until every clock has reached the new day', async () => {
    const sweeper = new FeeSweeper(s.service.desk, zone)
    const midnight = startOfDay(new Date(s.clock().getTime() + dayMs), zone).getTime()
    s.clock.advance(midnight + 5 * 60_000 - s.clock().getTime())
    await sweeper.poll()
    expect(await bookOf(shop)).toMatchObject({ fees: 2_00n })
    s.clock.advance(5 * 60_000)
    await sweeper.poll()
    expect(await bookOf(shop)).toMatchObject({ fees: 0n, transfers: 5_00n })
    expect(await bookOf(house)).toMatchObject({ fees: 6_00n, transfers: -6_00n })
  })

  it('goes page by page, and leaves out who has nothing', async () => {
    const agents = [1, 2, 3].map(() => s.agent({ depositFee: '1%' }))
    const [a, b, c] = await Promise.all(agents)
    if (!a || !b || !c) throw new Error('no agents')
    for (const agent of [a, c]) await agent.fund(100)
    const ids = [a, b, c].map(({ agentId }) => agentId).sort((x, y) => Number(x - y))
    const page = { day: '2026-01-01', after: (ids[0] ?? 0n) - 1n, limit: 1 }
    const first = await sweepPage(s.service.desk, page)
    const second = await sweepPage(s.service.desk, { ...page, after: first.next ?? 0n })
    expect(
      [first.swept, second.swept].map((swept) => swept.map(({ feesMinor }) => feesMinor)),
    ).toEqual([[1_00n], [1_00n]])
    const last = await sweepPage(s.service.desk, { ...page, after: second.next ?? 0n })
    expect(last).toEqual({ swept: [], next: null, heldUp: [] })
  })
})

describe('after archiving', () => {
  it('goes on from what the archive ends with, and refuses what is before', async () => {
    await deliverCallbacks(s)
    const before = s.clock()
    s.clock.advance(hourMs)
    const read = async (asOf?: Date) =>
      (await readTrialBalances(s.backend.pool, { asOf, currency: 'THB' }))[0]
    const now = await read()
    const folder = await mkdtemp(join(tmpdir(), 'sluice-books-'))
    const owner = openPool({
      url: s.database.ownerUrl,
      max: 2,
      name: 'books test',
      as: 'owner',
      onError: () => {},
    })
    try {
      const options = { before: s.clock(), folder, now: s.clock, appId: shop.appId, partRows: 4 }
      const [done] = await archive(owner, options)
      expect(done).toMatchObject({ appId: shop.appId })
    } finally {
      await owner.end()
      await rm(folder, { recursive: true })
    }
    const { rows } = await s.sql('select 1 from archive_parts where agent_id = $1', [shop.agentId])
    expect(rows.length).toBeGreaterThan(0)
    expect(await read()).toEqual(now)
    expect(await read(s.clock())).toEqual(now)
    await expect(read(new Date(before.getTime() - 2 * dayMs))).rejects.toThrow('was archived')

    s.clock.advance(hourMs)
    await shop.fund(10)
    expect(await read(s.clock())).toEqual(await read())
    expect(await read(new Date(s.clock().getTime() - 1))).toEqual(now)
    admin = await admin.signInAgain()
    const { json } = await admin.get('/books/history?currency=THB&days=90')
    expect(json.data.length).toBeLessThan(5)
  })
})
