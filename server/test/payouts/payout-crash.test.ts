import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { seeded } from '../support/load.ts'
import { cleanUp, commandJson, kill, serve, tempFolder, verifyClean } from '../support/process.ts'

/** How often it is killed. CRASH_SEED repeats the random choices of a run, which prints its seed. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 2)
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31))

const perRound = 24
const stories = [
  undefined,
  'paid',
  'failed',
  'revert',
  'timeout-then-paid',
  'timeout-then-failed',
  'duplicate-notice',
]
/** What the order is when the bank's book says this. */
const statusOf: Record<string, string> = { paid: 'PAID', rejected: 'FAILED', returned: 'REVERT' }

afterEach(cleanUp)

test(
  'however often it is killed while it pays out, every withdrawal is one payout and ends as the bank says',
  async () => {
    console.info(`CRASH_SEED=${seed} CRASH_ROUNDS=${rounds}`)
    const random = seeded(seed)
    const database = await testDatabase()
    const env = {
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      DATA_DIR: await tempFolder(),
      LOG_LEVEL: 'warn',
    }
    const { app_id, secret } = await commandJson(
      ['agent', 'create', '--name', 'Crash', '--rate-limit', '0', '--withdraw-fee', '1'],
      env,
    )
    await commandJson(['wallet', 'adjust', app_id, '100000', '--reason', 'test'], env)
    let service = await serve(env)
    const unanswered = new Map<string, object>()
    /** Sends everything that has no answer yet; what gets none now is repeated later. */
    const place = () => {
      const agent = service.agent({ appId: app_id, secret })
      return Promise.allSettled(
        [...unanswered].map(async ([refId, more]) => {
          const answer = await agent.withdraw({ refId, amount: 10, ...more })
          if (answer.status === 201 || answer.status === 200) unanswered.delete(refId)
        }),
      )
    }
    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < perRound; n++) {
        const sandbox = stories[n % stories.length]
        unanswered.set(`r${round}-${n}`, sandbox ? { extraParams: { sandbox } } : {})
      }
      const placing = place()
      // Now among the creations, now among the calls and the notices.
      await pause(random() * ([60, 400, 2_500][round % 3] ?? 60))
      kill(service.pid)
      await Promise.all([placing, service.ended])
      service = await serve(env)
    }
    for (let tries = 0; unanswered.size > 0 && tries < 10; tries++) await place()
    expect([...unanswered]).toEqual([])

    const db = new pg.Pool({ connectionString: database.ownerUrl, max: 1 })
    const read = async (sql: string) => (await db.query(sql)).rows
    await expect
      .poll(() => read(`select ref_id from sluice.orders where status = 'WAITING'`), {
        interval: 200,
      })
      .toEqual([])
    // A story's second act may follow its first.
    await expect
      .poll(() => read('select reference from sandbox_bank.acts where played_at is null'), {
        interval: 100,
      })
      .toEqual([])
    const differing = async () => {
      const payouts = await read(
        `select o.ref_id, o.status, count(p.reference)::int as payouts,
           string_agg(p.state, ',') as state
         from sluice.orders o
         left join sluice.payout_references r using (agent_id, order_id)
         left join sandbox_bank.payouts p on p.reference = r.reference
         group by o.ref_id, o.status`,
      )
      expect(payouts).toHaveLength(rounds * perRound)
      return payouts.filter((row) => row.payouts !== 1 || statusOf[row.state] !== row.status)
    }
    await expect.poll(differing, { interval: 100 }).toEqual([])
    const unknown = `select reference from sandbox_bank.payouts
      where reference not in (select reference from sluice.payout_references)`
    expect(await read(unknown)).toEqual([])
    expect(await read('select reference from sluice.payouts where ask_at is not null')).toEqual([])
    await db.end()
    await verifyClean(env)
    expect(await service.stop()).toMatchObject({ code: 0 })
    await database.close()
  },
  600_000 + rounds * 20_000,
)
