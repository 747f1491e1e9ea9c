import { createHmac } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallbackPoster } from '../../src/callbacks/post-callback.ts'
import { readConfig } from '../../src/config.ts'
import { writeAudit } from '../../src/operators/audit.ts'
import { readHeads } from '../../src/proof/heads.ts'
import { AuditProof } from '../../src/proof/prove-audit.ts'
import { proveOnward, verify } from '../../src/proof/verify.ts'
import type { Ground } from '../../src/service/ground.ts'
import { makeHeadsPublisher } from '../../src/service/publish-heads.ts'
import { chainAnew } from '../support/chain-anew.ts'
import { cleanUp, command, commandJson, type Env, tempFolder } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let env: Env
let agent: AgentClient
let receiver: Receiver
let folder: string
const secret = 'kept-where-the-database-cannot-reach'

beforeAll(async () => {
  receiver = await startReceiver()
  folder = await tempFolder()
  s = await startTestService({
    env: {
      HEADS_FILE: join(folder, 'heads'),
      HEADS_WEBHOOK: `${receiver.url}/heads`,
      HEADS_WEBHOOK_SECRET: secret,
    },
  })
  env = {
    DATABASE_URL: s.database.url,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'silent',
  }
  agent = await s.agent()
  await agent.fund(100)
  for (const ref of ['a', 'b', 'c']) {
    await s.service.desk.teller.do({
      type: 'adjust',
      agentId: agent.agentId,
      at: s.clock(),
      amountMinor: 100n,
      reason: `For ${ref}`,
      ref,
    })
  }
  for (let at = 0; at < 20; at++) await audit(at)
})
afterAll(async () => {
  await s.close()
  await receiver.close()
  await cleanUp()
})

const audit = (at: number) =>
  writeAudit(s.backend.pool, {
    at: new Date(s.clock().getTime() + at),
    operator: { userId: null, email: 'command line', ip: null },
    action: 'try_out',
    subject: { kind: 'thing', id: String(at) },
    agentId: at % 2 === 0 ? agent.agentId : null,
    before: { text: 'ü "quoted"\n', at },
    reason: at % 3 === 0 ? 'A reason' : null,
  })

const findings = async () =>
  (await verify(s.backend.pool, {})).flatMap(({ finding }) => finding ?? [])

const tables = ['journal', 'wallets', 'callbacks', 'callback_bodies', 'audit_log', 'audit_lanes']

/** Does something to the rows as only the owner could, past all keys, and puts everything back after a look. */
async function whileSpoilt(sql: string | (() => Promise<void>), look: () => Promise<void>) {
  const asOwner = (text: string) =>
    s.sql(`begin; set local session_replication_role = replica; ${text}; commit`)
  await asOwner(tables.map((name) => `create table kept_${name} as table ${name}`).join('; '))
  try {
    if (typeof sql === 'string') await asOwner(sql)
    else await sql()
    await look()
  } finally {
    await asOwner(
      tables
        .map(
          (name) => `delete from ${name}; insert into ${name} select * from kept_${name};
            drop table kept_${name}`,
        )
        .join('; '),
    )
  }
  expect(await findings()).toEqual([])
}

const book = () => `agent_id = ${agent.agentId}`

describe('a book', () => {
  it.each([
    [
      'a row that is changed',
      () => `update journal set reason = 'x' where ${book()} and seq = 3`,
      3,
    ],
    [
      'a changed time',
      () => `update journal set at = at + interval '1 ms' where ${book()} and seq = 2`,
      2,
    ],
    [
      'a row that is removed, with the others moved up',
      () => `delete from journal where ${book()} and seq = 2;
        update journal set seq = seq - 1 where ${book()} and seq > 2;
        update wallets set seq = seq - 1 where ${book()}`,
      2,
    ],
    [
      'a row that is put in, with the others moved down',
      () => `update journal set seq = seq + 10 where ${book()} and seq >= 3;
        insert into journal select (jsonb_populate_record(j, '{"seq": 3, "once_key": "adjustment:z"}')).*
          from journal j where ${book()} and seq = 13;
        update journal set seq = seq - 9 where ${book()} and seq > 10`,
      4,
    ],
    [
      'another hash',
      () => `update journal set hash = repeat('a', 64) where ${book()} and seq = 1`,
      1,
    ],
  ])('%s is found', async (_, sql, seq) => {
    await whileSpoilt(sql(), async () => {
      const found = (await findings()).join()
      expect(found).toMatch(/journal row|the wallet/)
      if (!found.includes('the wallet')) expect(found).toContain(`journal row ${seq}`)
    })
  })

  it('the background proof finds it too', async () => {
    await whileSpoilt(`update journal set reason = 'x' where ${book()} and seq = 3`, async () => {
      const found = (await proveOnward(s.backend.pool, s.clock())).findings.join()
      expect(found).toContain('journal row 3 is not as it was written')
    })
    await proveOnward(s.backend.pool, s.clock())
  })

  it('whose wallet forgets where the chain ends is found', async () => {
    await whileSpoilt(`update wallets set hash = repeat('0', 64) where ${book()}`, async () => {
      expect((await findings()).join()).toContain('the wallet says hash')
    })
  })
})

describe('the audit log', () => {
  const lane = '(select lane from audit_lanes where seq > 1 order by lane limit 1)'
  const own = `lane = ${lane} and lane_seq`

  it.each([
    ['a row that is changed', `update audit_log set email = 'x' where ${own} = 1`, 'row 1 of lane'],
    ['changed contents', `update audit_log set before = '{}' where ${own} = 1`, 'row 1 of lane'],
    [
      'a reason that is added',
      `update audit_log set reason = 'x' where ${own} = 2`,
      'row 2 of lane',
    ],
    ['a row that is removed', `delete from audit_log where ${own} = 1`, 'row 1 of lane'],
    [
      'a tail that is cut off',
      `delete from audit_log a using audit_lanes l where a.lane = ${lane} and l.lane = a.lane and lane_seq = l.seq`,
      'ends with row',
    ],
    ['a lane that is removed', `delete from audit_lanes where lane = 16`, 'lane 16'],
  ])('%s is found', async (_, sql, says) => {
    await whileSpoilt(sql, async () => {
      expect((await findings()).join()).toContain(says)
      const proof = new AuditProof()
      const round = async () => {
        for (let step = 0; step < 20; step++) await proof.step(s.backend.pool, 500)
      }
      await expect(round()).rejects.toThrow(says)
    })
  })

  it('many write at once, each in a lane that is free', async () => {
    await Promise.all(Array.from({ length: 60 }, (_, at) => audit(at)))
    expect(await findings()).toEqual([])
    const { rows } = await s.sql('select count(*)::int as used from audit_lanes where seq > 0')
    expect(rows[0].used).toBeGreaterThan(4)
  })

  it('a writer does not wait for one that does not end, and goes on where all lanes are held', async () => {
    const held = await Promise.all(
      Array.from({ length: 2 }, async () => {
        const client = await s.backend.pool.connect()
        await client.query('begin')
        await client.query(
          'select from audit_lanes where lane > 0 order by lane limit 8 offset 0 for update skip locked',
        )
        return client
      }),
    )
    const late = audit(1_000)
    for (const client of held) {
      await client.query('rollback')
      client.release()
    }
    await late
    expect(await findings()).toEqual([])
  })
})

describe('heads', () => {
  const file = () => join(folder, 'kept.json')
  const proved = () => command(['verify', '--json', '--heads', file()], env)

  it('are contained in the chains for as long as nobody rewrites them', async () => {
    const heads = await commandJson(['heads'], env)
    expect(heads.books).toContainEqual({
      ...{ book: agent.appId, seq: 4, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    await writeFile(file(), `${JSON.stringify(heads)}\n${JSON.stringify(heads)}\n`)
    await agent.fund(5)
    await audit(2_000)
    const { code, stdout } = await proved()
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, checked: { heads: expect.any(Number) } })
    expect(code).toBe(0)
  })

  it('are not proved of one agent alone, which would say more than was looked at', async () => {
    const alone = await command(['verify', '--heads', file(), '--agent', agent.appId], env)
    expect(alone.code).toBe(1)
    expect(alone.stderr).toContain('leave --agent out')
  })

  it('tell when a history was rewritten whole, though every hash is right', async () => {
    const rewrite = async () => {
      await s.sql(`update journal set reason = 'Another' where ${book()} and seq = 3`)
      await chainAnew(s.sql)
    }
    await whileSpoilt(rewrite, async () => {
      expect(await findings()).toEqual([])
      const { code, stdout } = await proved()
      expect(JSON.parse(stdout).findings).toEqual([
        {
          app_id: agent.appId,
          finding: 'journal row 4 has another hash than the one that was kept',
        },
      ])
      expect(code).toBe(1)
    })
  })

  it('tell when an end was cut off, though everything before it is right', async () => {
    const cut = `delete from callbacks where ${book()} and seq >= 4;
      delete from callback_bodies where ${book()} and seq >= 4;
      delete from journal where ${book()} and seq >= 4;
      update wallets w set seq = 3, hash = j.hash from journal j
        where w.${book()} and j.agent_id = w.agent_id and j.seq = 3;
      delete from audit_log; update audit_lanes set seq = 0, hash = repeat('0', 64)`
    await whileSpoilt(cut, async () => {
      const { stdout } = await proved()
      const found: string[] = JSON.parse(stdout).findings.map(
        (each: { finding: string }) => each.finding,
      )
      expect(found).toContain('journal row 4, whose hash was kept, is missing')
      expect(found.filter((each) => /^row \d+ of lane \d+ is missing$/.test(each))).not.toEqual([])
    })
  })

  it('that are no heads are refused', async () => {
    await writeFile(file(), '{"format":"another"}')
    const { code, stderr } = await proved()
    expect(stderr).toContain('it is not what "sluice heads" writes')
    expect(code).toBe(1)
  })

  it('are written to the log by a service that is told to', async () => {
    const read = readConfig({ ...env, HEADS_LOG: 'on' })
    if ('faults' in read) throw new Error(read.faults.join())
    const lines: unknown[] = []
    const log = { info: (...line: unknown[]) => lines.push(line) } as unknown as Ground['log']
    const poster = undefined as unknown as CallbackPoster
    const ground = { config: read.config, log, clock: s.clock }
    await makeHeadsPublisher(ground, s.backend.pool, poster)?.()
    const heads = await readHeads(s.backend.pool, s.clock())
    const said = { heads: { ...heads, at: expect.any(String) } }
    expect(lines).toEqual([[said, 'the ends of the chains']])
  })

  it('are written to a file and sent, signed, by a service that is told to', async () => {
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0)
    const [first] = receiver.received
    const { path, body: text, headers } = first ?? { path: '', body: '', headers: {} as never }
    expect(path).toBe('/heads')
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-signature'])) ?? []
    expect(v1).toBe(createHmac('sha256', secret).update(`${t}.${text}`).digest('hex'))
    expect(JSON.parse(text)).toMatchObject({ format: 'sluice-heads-1', books: [], audit: [] })
    await expect
      .poll(() => readFile(join(folder, 'heads'), 'utf8').catch(() => ''))
      .toBe(`${text}\n`)
  })
})
