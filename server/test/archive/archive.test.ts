import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { archive } from '../../src/archive/archive.ts'
import { orderRecords } from '../../src/archive/order-records.ts'
import { proveArchive } from '../../src/archive/prove-archive.ts'
import { proveWithBooks } from '../../src/archive/prove-with-books.ts'
import { orderFrom } from '../../src/archive/read-records.ts'
import type { ArchiveOptions, Step } from '../../src/archive/what-to-archive.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { openPool, type Pool, serviceRole } from '../../src/db/pool.ts'
import { accountNames } from '../../src/ledger/accounts.ts'
import { readArchiveParts } from '../../src/ledger/archived.ts'
import { csvCells } from '../../src/lib/csv-records.ts'
import { releaseReserves } from '../../src/orders/release-reserves.ts'
import { returnPayment } from '../../src/payments/payments.ts'
import { proveHeads, readHeads } from '../../src/proof/heads.ts'
import { proveOrder } from '../../src/proof/prove-orders.ts'
import { verify } from '../../src/proof/verify.ts'
import { adjustWallet } from '../../src/teller/adjust-wallet.ts'
import { dayBefore, sweepPage } from '../../src/teller/sweep-fees.ts'
import { signIn } from '../support/operator.ts'
import { deliverCallbacks } from '../support/sender.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let service: TestService
let owner: Pool
let folder: string

beforeAll(async () => {
  // Without a worker: days go by in these tests, and it would move fees at some moment of its own.
  service = await startTestService({ env: { ROLE: 'api' } })
  owner = ownerPool()
  folder = await mkdtemp(join(tmpdir(), 'sluice-archive-'))
})
afterEach(() => service.prove())
afterAll(async () => {
  await owner.end()
  await service.close()
  await rm(folder, { recursive: true })
})

function ownerPool(): Pool {
  return openPool({
    url: service.database.ownerUrl,
    max: 2,
    name: 'archive test',
    as: 'owner',
    onError: () => {},
  })
}

const hour = 3_600_000

/** Archives what an agent has written up to now, in parts of six rows. */
async function archiveNow(agent: AgentClient, more: Partial<ArchiveOptions> = {}) {
  if (!more.before) service.clock.advance(hour)
  const done = await archive(owner, {
    before: service.clock(),
    folder,
    now: service.clock,
    appId: agent.appId,
    partRows: 6,
    ...more,
  })
  const [only] = done
  if (!only || done.length > 1) throw new Error('not one agent was archived')
  return only
}

/** What was to be told has been told. */
const deliver = (agent: AgentClient) => deliverCallbacks(service, agent)

interface Business {
  agent: AgentClient
  /** The requests of all orders that have ended, with their ids. */
  ended: { path: string; body: Record<string, unknown>; txnId: string }[]
}

/** Orders of every kind that have come to every end, and adjustments between them. */
async function business(rounds = 1): Promise<Business> {
  const agent = await service.agent({ depositFee: '1%', withdrawFee: '1' })
  await agent.fund(100_000)
  const ended: Business['ended'] = []
  const order = async (kind: 'deposit' | 'withdraw', ...outcomes: string[]) => {
    const body = agent.order({ amount: 100, extraParams: { note: 'a "quoted"\nline, and more' } })
    const path = `/payment/${kind}`
    const { json } = await agent.post(path, body)
    for (const outcome of outcomes) {
      expect(await agent.trigger(json.txn_id, outcome)).toMatchObject({ status: 200 })
    }
    ended.push({ path, body, txnId: json.txn_id })
  }
  for (let round = 0; round < rounds; round++) {
    await order('deposit', 'PAID')
    await order('deposit', 'EXPIRED')
    await order('deposit', 'PAID', 'VOID')
    await order('withdraw', 'PAID')
    await order('withdraw', 'PAID', 'REVERT')
    await order('withdraw', 'CANCEL')
    await adjust(agent, `round-${round}`)
  }
  await deliver(agent)
  await sweep()
  return { agent, ended }
}

/** As a worker does after each day. */
async function sweep() {
  const { desk } = service.service
  const { day } = dayBefore(service.clock(), 'UTC')
  await sweepPage(desk, { day, after: 0n, limit: 1_000 })
}

function adjust({ agentId }: AgentClient, ref: string) {
  return adjustWallet(service.service.desk, agentId, { amountMinor: 500n, reason: 'test', ref })
}

/** Fails unless files and books prove as one chain. Returns what the files hold. */
async function proveAll(agent: AgentClient) {
  await service.prove()
  const [proof] = await proveWithBooks(service.backend.pool, folder, { appId: agent.appId })
  expect(proof).toMatchObject({ finding: null })
  const [live] = await verify(service.backend.pool, { appId: agent.appId })
  expect(live).toMatchObject({ finding: null })
  const parts = (await readArchiveParts(owner, agent.agentId)).length
  expect(await proveArchive(folder, agent.appId, parts)).toEqual(proof)
  return proof
}

async function countOf(table: string, { agentId }: AgentClient): Promise<number> {
  const { rows } = await service.sql(`select count(*)::int from ${table} where agent_id = $1`, [
    agentId,
  ])
  return rows[0].count
}

it.each(['return', 'keep'] as const)(
  'an order archived before orders had terms is read and proved; the fee was to %s',
  async (revertFee) => {
    const agent = await service.agent({ withdrawFee: '1', revertFee })
    await agent.fund(1_000)
    const { json } = await agent.withdraw({ extraParams: { sandbox: 'queued' } })
    for (const outcome of ['PAID', 'REVERT']) await agent.trigger(json.txn_id, outcome)
    const orderId = json.txn_id.split('-')[1]
    const header = await inTransaction(owner, async (tx) => {
      const records = await orderRecords(tx)
      const [record = ''] = (await records.of(tx, agent.agentId, [orderId])).values()
      return { names: csvCells(records.header), values: csvCells(record) }
    })
    const isOlder = (_: unknown, at: number) =>
      !['late_money', 'revert_fee'].includes(header.names[at] ?? '')
    const quoted = (cell: string | null) => (cell === null ? '' : `"${cell.replaceAll('"', '""')}"`)
    const older = {
      names: header.names.filter(isOlder),
      record: header.values.filter(isOlder).map(quoted).join(','),
    }
    expect(older.names).toHaveLength(header.names.length - 2)
    const told = { agentId: agent.agentId, currency: 'THB' } as const
    const { order, facts } = orderFrom(told, older.names, older.record)
    expect(order).toMatchObject({ status: 'REVERT', revertFee, lateMoney: null })
    proveOrder(told, order, facts)
    // What the file itself contradicts is found as ever.
    const other = revertFee === 'keep' ? 'return' : 'keep'
    expect(() => proveOrder(told, { ...order, revertFee: other }, facts)).toThrow('moves')
  },
)

it('a deposit stays while a refund of it waits, and a refund as long as its deposit', async () => {
  const agent = await service.agent()
  await agent.fund(5_000)
  const { txn_id } = (await agent.deposit({ amount: 1_000 })).json
  await agent.trigger(txn_id, 'PAID')
  const refund = (amount: number) =>
    agent.post(`/payment/orders/${txn_id}/refund`, {
      refId: `refund-${amount}`,
      amount,
      timestamp: service.clock().toISOString(),
    })
  const first = (await refund(300)).json.txn_id
  await agent.trigger(first, 'PAID')
  const second = (await refund(200)).json.txn_id
  const rest = async () => {
    await adjust(agent, `end-${randomUUID()}`)
    await deliver(agent)
    await archiveNow(agent)
    await proveAll(agent)
    const left = []
    for (const id of [txn_id, first, second]) {
      left.push((await agent.get(`/payment/orders/${id}`)).json.status)
    }
    return left
  }
  expect(await rest()).toEqual(['PAID', 'PAID', 'WAITING'])
  expect((await refund(501)).json.code).toBe('refund_exceeds_payment')
  await agent.trigger(second, 'FAILED')
  expect(await rest()).toEqual([404, 'PAID', 'FAILED'])
  expect((await refund(100)).json.code).toBe('order_not_found')
  expect(await rest()).toEqual([404, 404, 404])
})

it('a deposit whose reserve was released goes with the row that released it, and proves', async () => {
  const agent = await service.agent({ reserve: '10%/1' })
  const { txn_id } = (await agent.deposit({ amount: 1_000 })).json
  await agent.trigger(txn_id, 'PAID')
  service.clock.advance(25 * hour)
  await releaseReserves(service.service.desk)
  await adjust(agent, 'after')
  await deliver(agent)
  await archiveNow(agent)
  expect((await agent.get(`/payment/orders/${txn_id}`)).status).toBe(404)
  await proveAll(agent)
})

it('a deposit that is refunded after it was written to a file stays in the books', async () => {
  const agent = await service.agent()
  await agent.fund(5_000)
  const { txn_id } = (await agent.deposit({ amount: 1_000 })).json
  await agent.trigger(txn_id, 'PAID')
  await adjust(agent, 'end')
  await deliver(agent)
  const interrupted = archiveNow(agent, {
    partRows: 100,
    onStep: (step) => {
      if (step === 'recorded') throw new Error('interrupted')
    },
  })
  await expect(interrupted).rejects.toThrow('interrupted')
  const refund = { refId: 'between', amount: 100, timestamp: service.clock().toISOString() }
  const made = await agent.post(`/payment/orders/${txn_id}/refund`, refund)
  expect(made.status).toBe(201)
  await archiveNow(agent)
  expect((await agent.get(`/payment/orders/${txn_id}`)).json.status).toBe('PAID')
  await proveAll(agent)
})

describe('what is archived', () => {
  it('leaves the books for files, and both prove as one chain', async () => {
    const { agent, ended } = await business()
    const wallet = (await agent.get('/payment/wallet')).json
    const done = await archiveNow(agent)
    // The row that ends the archive stays, with its order where it has one.
    expect(done).toMatchObject({ toSeq: BigInt(wallet.seq), journalRows: wallet.seq })
    expect(done.removedOrders).toBe(done.orders)
    expect(await countOf('orders', agent)).toBe(ended.length + 1 - done.orders)
    expect(await countOf('journal', agent)).toBeLessThanOrEqual(3)
    expect((await agent.get('/payment/wallet')).json).toEqual(wallet)
    const proof = await proveAll(agent)
    expect(proof).toMatchObject({ journalRows: wallet.seq, orders: done.orders })
  })

  it('goes on from part to part, and the last order of one goes with the next', async () => {
    const { agent } = await business()
    await archiveNow(agent)
    await agent.fund(50)
    await deliver(agent)
    const again = await archiveNow(agent)
    expect(again).toMatchObject({ journalRows: 1 })
    await agent.fund(50)
    await deliver(agent)
    await archiveNow(agent)
    expect(await countOf('orders', agent)).toBe(1)
    expect(await countOf('journal', agent)).toBe(1)
    await proveAll(agent)
  })

  it('is nothing that is open, and nothing of which something came later', async () => {
    const { agent } = await business()
    const open = (await agent.withdraw()).json.txn_id
    const untold = (await agent.deposit()).json.txn_id
    await agent.trigger(untold, 'PAID')
    const odd = (await agent.deposit()).json.txn_id
    await agent.trigger(odd, 'PAID', { paidAmount: 7 })
    await agent.trigger(odd, 'EXPIRED')
    const later = (await agent.withdraw()).json.txn_id
    await agent.trigger(later, 'PAID')
    await deliver(agent)
    await service.sql(
      `update callbacks set state = 'waiting' where agent_id = $1 and order_id = $2`,
      [agent.agentId, untold.split('-')[1]],
    )
    service.clock.advance(hour)
    const before = service.clock()
    service.clock.advance(hour)
    await agent.trigger(later, 'REVERT')
    await deliver(agent)
    await service.sql(
      `update callbacks set state = 'waiting' where agent_id = $1 and order_id = $2`,
      [agent.agentId, untold.split('-')[1]],
    )
    await archiveNow(agent, { before })
    await proveAll(agent)
    for (const txnId of [open, untold, odd, later]) {
      expect(await agent.get(`/payment/orders/${txnId}`)).toMatchObject({ status: 200 })
    }
    // Each ends its own way, and then goes.
    expect(await agent.trigger(open, 'PAID')).toMatchObject({ status: 200 })
    const { rows } = await service.sql(
      `select payment_id from payments where agent_id = $1 and state = 'waiting'`,
      [agent.agentId],
    )
    expect(rows).toHaveLength(1)
    const { desk } = service.service
    await returnPayment(desk, rows[0].payment_id, 'test', agent.agentId)
    await agent.fund(10)
    await deliver(agent)
    await archiveNow(agent)
    for (const txnId of [open, untold, odd, later]) {
      expect(await agent.get(`/payment/orders/${txnId}`)).toMatchObject({ status: 404 })
    }
    await proveAll(agent)
  })

  it('is what a head was kept of: the files prove it, though the row is still in the books', async () => {
    const { agent } = await business()
    await agent.withdraw()
    const { pool } = service.backend
    const heads = await readHeads(pool, service.clock())
    const { seq = 0, hash = '' } = heads.books.find(({ book }) => book === agent.appId) ?? {}
    await agent.fund(10)
    await deliver(agent)
    await archiveNow(agent)
    const proved = async (kept: string) => {
      const books = [{ book: agent.appId, seq, hash: kept }]
      const { archived, findings } = await proveHeads(pool, [{ ...heads, books, audit: [] }])
      expect(findings).toEqual([])
      const options = { appId: agent.appId, hashes: archived }
      return (await proveWithBooks(pool, folder, options))[0]?.finding
    }
    expect(await proved(hash)).toBeNull()
    const says = (change: string) =>
      service.sql(`update journal set ${change} where agent_id = $1 and seq = $2`, [
        agent.agentId,
        seq,
      ])
    const rewritten = 'f'.repeat(64)
    await says(`hash = '${rewritten}'`)
    expect(await proved(rewritten)).toContain('another hash than the one that was kept')
    await says(`hash = '${hash}'`)
    for (const [lie, undo] of [
      [`reason = 'another'`, 'reason = null'],
      [`at = at + interval '1 hour'`, `at = at - interval '1 hour'`],
    ] as const) {
      await says(lie)
      expect(await proved(hash), lie).toBe(`journal row ${seq} is not what was archived`)
      await says(undo)
    }
    expect(await proved(hash)).toBeNull()
  })

  it('stays in the books where it changed after it was written down', async () => {
    const { agent } = await business()
    const { json } = await agent.withdraw()
    await agent.trigger(json.txn_id, 'PAID')
    await agent.fund(10)
    await deliver(agent)
    const stop = new Error('stop')
    const stopped = archiveNow(agent, {
      partRows: 100,
      onStep: (step) => {
        if (step === 'recorded') throw stop
      },
    })
    await expect(stopped).rejects.toBe(stop)
    expect(await agent.trigger(json.txn_id, 'REVERT')).toMatchObject({ status: 200 })
    await deliver(agent)
    await archiveNow(agent)
    await proveAll(agent)
    expect(await agent.get(`/payment/orders/${json.txn_id}`)).toMatchObject({
      status: 200,
      json: { status: 'REVERT' },
    })
    await agent.fund(10)
    await deliver(agent)
    await archiveNow(agent)
    expect(await agent.get(`/payment/orders/${json.txn_id}`)).toMatchObject({ status: 404 })
    await proveAll(agent)
  })

  it('is told by --dry-run, which changes nothing', async () => {
    const { agent } = await business()
    const before = [await countOf('journal', agent), await countOf('orders', agent)]
    const told = await archiveNow(agent, { dryRun: true })
    expect(await readArchiveParts(owner, agent.agentId)).toEqual([])
    expect([await countOf('journal', agent), await countOf('orders', agent)]).toEqual(before)
    const done = await archiveNow(agent)
    expect(told).toEqual({ ...done, removedOrders: 0 })
  })
})

describe('an archive that is interrupted', () => {
  const steps: Step[] = ['journal', 'orders', 'manifest', 'recorded', 'some removed', 'removed']
  it.each(steps)('after the step "%s" goes on where it was', async (at) => {
    const { agent, ended } = await business()
    const wallet = (await agent.get('/payment/wallet')).json
    const stop = new Error('stop')
    // At the first time, and then later and later, until it comes through.
    for (let times = 1; ; times *= 2) {
      let seen = 0
      const onStep = (step: Step) => {
        if (step === at && ++seen === times) throw stop
      }
      const outcome = await archiveNow(agent, { onStep }).catch((error) => error)
      await proveAll(agent).catch((error) => {
        // Nothing is archived yet.
        if (times > 1 || !['journal', 'orders', 'manifest'].includes(at)) throw error
      })
      if (outcome !== stop) break
    }
    expect((await agent.get('/payment/wallet')).json).toEqual(wallet)
    const proof = await proveAll(agent)
    expect(proof).toMatchObject({ journalRows: wallet.seq })
    const left = await countOf('orders', agent)
    expect(left).toBeLessThanOrEqual(1)
    expect(await countOf('archived_refs', agent)).toBe(ended.length + 1 - left)
  })

  it('is not joined by a second one', async () => {
    const { agent } = await business()
    const second = ownerPool()
    const refused: unknown[] = []
    await archiveNow(agent, {
      onStep: (step) => {
        if (step !== 'journal' || refused.length > 0) return
        const other = archive(second, {
          before: service.clock(),
          folder,
          now: service.clock,
          appId: agent.appId,
        }).catch((error) => error)
        refused.push(other)
      },
    })
    expect(await refused[0]).toMatchObject({ message: expect.stringContaining('another process') })
    await second.end()
    await proveAll(agent)
  })
})

describe('keys hold for ever', () => {
  it('the refId of an archived order makes no second one, of either kind', async () => {
    const { agent, ended } = await business()
    await archiveNow(agent)
    await agent.fund(1_000)
    const gone = ended.slice(0, -1)
    for (const { path, body } of gone) {
      const again = { ...body, timestamp: service.clock().toISOString() }
      for (const at of [path, '/payment/deposit', '/payment/withdraw']) {
        const answer = await agent.post(at, again)
        expect(answer).toMatchObject({ status: 409, json: { code: 'ref_id_conflict' } })
        expect(answer.json.detail).toContain('archived')
      }
      const byRef = await agent.get(`/payment/orders?refId=${body.refId}`)
      expect(byRef).toMatchObject({ status: 404, json: { code: 'order_not_found' } })
      expect(byRef.json.detail).toContain('archived')
    }
    // Beside others in one batch, only the one is refused.
    const mixed = await Promise.all([
      ...Array.from({ length: 10 }, () => agent.deposit()),
      agent.deposit({ refId: gone[0]?.body.refId }),
    ])
    expect(mixed.map(({ status }) => status)).toEqual([...Array(10).fill(201), 409])
  })

  it('orders asked for again while they are being archived are never made twice', async () => {
    const { agent, ended } = await business()
    service.clock.advance(hour)
    let running = true
    const statuses = new Set<number>()
    const repeat = async () => {
      while (running) {
        const asked = ended.map(({ path, body }) =>
          agent.post(path, { ...body, timestamp: service.clock().toISOString() }),
        )
        for (const { status } of await Promise.all(asked)) statuses.add(status)
      }
    }
    const repeating = repeat()
    await archiveNow(agent, { before: service.clock() })
    running = false
    await repeating
    expect([...statuses].sort()).toEqual([200, 409])
    const { rows } = await service.sql(
      `select count(*)::int from archived_refs r join orders o using (agent_id, ref_id)
       where agent_id = $1`,
      [agent.agentId],
    )
    expect(rows[0].count).toBe(0)
    await proveAll(agent)
  })

  it("an adjustment's reference that was archived changes nothing, and is said to be", async () => {
    const { agent } = await business()
    await agent.fund(10)
    await deliver(agent)
    await archiveNow(agent)
    const balance = await agent.balance()
    await expect(adjust(agent, 'round-0')).rejects.toThrow('an adjustment that was archived')
    expect(await agent.balance()).toBe(balance)
  })

  it('only the owner removes anything of the books or of the keys', async () => {
    const tables = ['orders', 'journal', 'callbacks', 'payments', 'payouts', 'wallets']
    const kept = ['archive_parts', 'archived_refs', 'archived_keys']
    for (const table of [...tables, ...kept]) {
      const refused = service.backend.pool.query(`delete from ${table}`)
      await expect(refused, table).rejects.toMatchObject({ code: '42501' })
    }
    const { rows } = await service.sql(
      `select table_name, privilege_type from information_schema.role_table_grants
       where grantee = $1 and table_name = any($2) and privilege_type <> 'SELECT'`,
      [serviceRole, kept],
    )
    expect(rows).toEqual([])
  })
})

describe('whoever asks for what is archived', () => {
  it('is told so, and never a wrong number', async () => {
    const early = service.clock().toISOString()
    service.clock.advance(hour)
    const { agent, ended } = await business()
    const done = await archiveNow(agent)
    const seq = Number(done.toSeq)
    const [gone] = ended
    const told = async (path: string, method = 'GET') => {
      const { status, json } = await agent.send(method, path)
      return [status, json.code, /archived/.test(json.detail)]
    }
    expect(await told(`/payment/orders/${gone?.txnId}`)).toEqual([404, 'order_not_found', true])
    expect(await told(`/payment/orders/${gone?.txnId}/cancel`, 'POST')).toEqual([
      404,
      'order_not_found',
      true,
    ])
    expect(await told('/payment/wallet/entries')).toEqual([404, 'not_found', true])
    expect(await told(`/payment/wallet/entries?after=${seq - 1}`)).toEqual([404, 'not_found', true])
    expect(await told(`/payment/events?after=${seq - 1}`)).toEqual([404, 'not_found', true])
    expect(await told('/payment/events/2/resend', 'POST')).toEqual([404, 'not_found', true])
    expect(await agent.get(`/payment/orders/${agent.agentId}-${'0'.repeat(32)}`)).toMatchObject({
      status: 404,
      json: { detail: 'The agent has no such order.' },
    })

    await agent.fund(10)
    const entries = (await agent.get(`/payment/wallet/entries?after=${seq}`)).json.data
    expect(entries.map((entry: { seq: number }) => entry.seq)).toEqual([seq + 1])
    expect((await agent.get(`/payment/events?after=${seq}`)).json.data).toHaveLength(1)

    const operator = await signIn(service, 'admin')
    const wallet = (query: string) => operator.get(`/wallets/${agent.appId}${query}`)
    expect(await wallet(`?as_of=${early}`)).toMatchObject({ status: 404 })
    expect((await wallet(`?as_of=${early}`)).json.detail).toContain('was archived')
    expect(await wallet('')).toMatchObject({ status: 200, json: { seq: seq + 1 } })
    const later = service.clock().toISOString()
    expect(await wallet(`?as_of=${later}`)).toMatchObject({ status: 200, json: { seq: seq + 1 } })
    const journal = (await wallet('/journal')).json
    expect(journal.data.map((row: { seq: number }) => row.seq)).toEqual([seq + 1])
    const statement = await wallet(`/statement.csv?from=${early}&to=${later}`)
    expect(statement).toMatchObject({ status: 404 })
    const page = await operator.get(`/orders/${gone?.txnId}`)
    expect([page.status, /archived/.test(page.json.detail)]).toEqual([404, true])
  })
})

describe('a lie is found', () => {
  const part = (agent: AgentClient, number: number, what: string) =>
    join(folder, agent.appId, `part-00000${number}.${what}`)
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

  async function archived() {
    const { agent } = await business()
    await archiveNow(agent)
    return agent
  }
  const findings = async (agent: AgentClient) => {
    const [proof] = await proveWithBooks(service.backend.pool, folder, { appId: agent.appId })
    const parts = (await readArchiveParts(owner, agent.agentId)).length
    const alone = await proveArchive(folder, agent.appId, parts)
    return { withBooks: proof?.finding ?? '', alone: alone.finding ?? '' }
  }

  it('in a file, in its manifest, in both, and in a part that is gone', async () => {
    const agent = await archived()
    const files = (await readdir(join(folder, agent.appId))).sort()
    const kept = new Map<string, Buffer>()
    for (const name of files) kept.set(name, await readFile(join(folder, agent.appId, name)))
    const restore = async () => {
      for (const [name, bytes] of kept) await writeFile(join(folder, agent.appId, name), bytes)
    }
    const rewrite = async (path: string, change: (text: string) => string) => {
      const bytes = await readFile(path)
      const text = path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString()
      const changed = Buffer.from(change(text))
      expect(changed.toString()).not.toBe(text)
      await writeFile(path, path.endsWith('.gz') ? gzipSync(changed) : changed)
    }

    // A byte of a file.
    await rewrite(part(agent, 1, 'journal.csv.gz'), (text) =>
      text.replace(',1000,', ',1001,').replace('deposit_paid', 'deposit_void'),
    )
    expect((await findings(agent)).alone).not.toBe('')
    await restore()

    // The order's amount, with a digest that fits again.
    await rewrite(part(agent, 1, 'orders.csv.gz'), (text) => text.replace(',10000,', ',10001,'))
    const lied = sha256(await readFile(part(agent, 1, 'orders.csv.gz')))
    await rewrite(part(agent, 1, 'json'), (text) => {
      const manifest = JSON.parse(text)
      manifest.orders.sha256 = lied
      return JSON.stringify(manifest)
    })
    const both = await findings(agent)
    expect(both.alone).not.toBe('')
    expect(both.withBooks).toContain('is not the one that was archived')
    await restore()

    // A manifest that names other balances.
    await rewrite(part(agent, 2, 'json'), (text) =>
      text.replace(/"available": "(\d)/, '"available": "9$1'),
    )
    expect((await findings(agent)).alone).not.toBe('')
    await restore()

    // Two parts in each other's place, and one that is gone.
    await writeFile(part(agent, 1, 'json'), kept.get('part-000002.json') ?? '')
    expect((await findings(agent)).alone).toContain('is another part')
    await restore()
    await rm(part(agent, 1, 'orders.csv.gz'))
    expect((await findings(agent)).alone).toContain('cannot be read')
    await restore()
    expect(await findings(agent)).toEqual({ withBooks: '', alone: '' })
  })

  it('in what the database says of the archive', async () => {
    const agent = await archived()
    const last = (await readArchiveParts(owner, agent.agentId)).length
    // Each as it is told, and as it is taken back.
    const lies = (['+', '-'] as const).map((by) => [
      `update archive_parts set available = available ${by} 1, clearing = clearing - (0 ${by} 1)
       where agent_id = $1 and part = $2`,
      `update archive_parts set to_seq = to_seq - (0 ${by} 1) where agent_id = $1 and part = $2 - 1`,
      `update archive_parts set part = part ${by} 100
       where agent_id = $1 and part in ($2 - 1, $2 + 99)`,
      `update archived_refs set agent_id = agent_id ${by} 1000000
       where agent_id in ($1::bigint, $1::bigint + 1000000) and part <= $2`,
      `update journal set available = available ${by} 1, clearing = clearing - (0 ${by} 1)
       where agent_id = $1 and $2 > 0`,
    ])
    for (const [at, lie] of (lies[0] ?? []).entries()) {
      await service.sql(lie, [agent.agentId, last])
      const [proof] = await verify(service.backend.pool, { appId: agent.appId })
      expect(proof?.finding, lie).not.toBe(null)
      await service.sql(lies[1]?.[at] ?? '', [agent.agentId, last])
    }
  })

  it('in any balance, key or number that the database keeps of the archive', async () => {
    const agent = await archived()
    const lies = [
      ...accountNames
        .filter((account) => account !== 'clearing')
        .map((account) => [
          'archive_parts',
          `${account} = ${account} + 1, clearing = clearing - 1`,
        ]),
      ['archive_parts', `clearings = replace(clearings, '-', '-1')`],
      ['archive_parts', `hash = '${'a'.repeat(64)}'`],
      ['archive_parts', `sha256 = '${'a'.repeat(64)}'`],
      ['archive_parts', 'from_seq = from_seq + 1'],
      ['archive_parts', 'to_seq = to_seq - 1'],
      ['archive_parts', 'orders = orders + 1'],
      ['archive_parts', 'removed_orders = removed_orders + 1'],
      ['archive_parts', `ended_at = ended_at + interval '1 day'`],
      ['archived_refs', `ref_id = ref_id || 'x'`],
      ['archived_refs', 'order_id = gen_random_uuid()'],
      ['archived_refs', 'part = part + 1'],
      ['archived_keys', `once_key = once_key || 'x'`],
    ] as const
    const { rows: checks } = await service.sql(
      `select conname from pg_constraint where contype = 'c' and conrelid = 'archive_parts'::regclass`,
    )
    for (const { conname } of checks) {
      await service.sql(`alter table archive_parts drop constraint ${conname}`)
    }
    const notFound: string[] = []
    for (const [table, set] of lies) {
      await service.sql(`create table kept as select * from ${table}`)
      await service.sql(`update ${table} set ${set} where agent_id = $1`, [agent.agentId])
      const [proof] = await verify(service.backend.pool, { appId: agent.appId })
      const found = proof?.finding ?? (await findings(agent)).withBooks
      if (found === '') notFound.push(`${table}: ${set}`)
      await service.sql(`delete from ${table}`)
      await service.sql(`insert into ${table} select * from kept`)
      await service.sql('drop table kept')
    }
    expect(notFound).toEqual([])
  })

  it('in the references of payouts that were archived', async () => {
    const agent = await archived()
    expect((await findings(agent)).withBooks).toBe('')
    const { rows } = await service.sql(
      'select * from payout_references where agent_id = $1 order by reference',
      [agent.agentId],
    )
    const [{ reference }] = rows
    await service.sql('update payout_references set attempt = 7 where reference = $1', [reference])
    expect((await findings(agent)).withBooks).toMatch(/says attempt 7, but it is 1/)
    await service.sql('delete from payout_references where reference = $1', [reference])
    expect((await findings(agent)).withBooks).toMatch(/of a payout is not recorded/)
    await service.sql(
      'insert into payout_references values ($1, $2, $3, $4)',
      Object.values(rows[0]),
    )
    await proveAll(agent)
  })

  it('is refused before it is archived', async () => {
    const { agent } = await business()
    const lie = (sign: string) =>
      service.sql(
        `update journal set available = available ${sign} 1, fees = fees - (0 ${sign} 1)
         where agent_id = $1 and seq = 3`,
        [agent.agentId],
      )
    await lie('+')
    await expect(archiveNow(agent)).rejects.toThrow('does not prove, so it is not archived')
    expect(await readArchiveParts(owner, agent.agentId)).toEqual([])
    await lie('-')
  })

  it('is not made by naming another folder', async () => {
    const agent = await archived()
    await agent.fund(10)
    await deliver(agent)
    const other = await mkdtemp(join(tmpdir(), 'sluice-archive-'))
    await expect(archiveNow(agent, { folder: other })).rejects.toThrow('cannot be read')
    await rm(other, { recursive: true })
    // The lock is that of the session that was refused, until the server has seen it go.
    await expect.poll(() => archiveNow(agent).then(() => 'done', String)).toBe('done')
    await proveAll(agent)
  })
})
