import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { openPool } from '../../src/db/pool.ts'
import { camt, dayAt } from '../support/bank-accounts.ts'
import { testDatabase } from '../support/database.ts'
import { sample } from '../support/long.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { pain002 } from '../support/payout-files.ts'
import {
  cleanUp,
  commandJson,
  freePort,
  kill,
  type Serving,
  serve,
  tempFolder,
  verifyClean,
} from '../support/process.ts'
import { AgentClient, type Answer, type TestService } from '../support/service.ts'
import { startSftpServer } from '../support/sftp-server.ts'

/** How many files are killed at every step of their lives. */
const rounds = Number(process.env.CRASH_ROUNDS ?? 1)
const perFile = 6

afterEach(cleanUp)

test(
  'killed between any two steps of a payout file’s life, it goes on, and pays each withdrawal once',
  async () => {
    const database = await testDatabase()
    const bank = await startSftpServer()
    const folder = await tempFolder()
    const port = await freePort()
    const env = {
      DATABASE_URL: database.url,
      DATABASE_OWNER_URL: database.ownerUrl,
      DATA_DIR: folder,
      SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'fatal',
      PORT: String(port),
    }
    const keyFile = join(folder, 'key')
    await writeFile(keyFile, bank.privateKey)
    await commandJson(
      [
        ...['bank-account', 'create', 'scb', '--currency', 'THB', '--bank', 'SCB'],
        ...['--account-no', '9876543210', '--account-name', 'Acme', '--zone', 'Asia/Bangkok'],
        ...['--payout', 'file', '--payout-format', 'pain.001.001.09'],
        ...['--payout-trusts-paid', 'yes'],
        ...['--sftp-host', '127.0.0.1', '--sftp-port', String(bank.port), '--sftp-user', 'us'],
        ...['--sftp-host-key', bank.hostKey, '--sftp-key-file', keyFile],
        ...['--sftp-put-folder', '/in'],
      ],
      env,
    )
    await commandJson(['provider', 'set', 'sandbox', 'off'], env)
    const shop = await commandJson(
      ['agent', 'create', '--name', 'Crash', '--rate-limit', '0', '--withdraw-fee', '1'],
      env,
    )
    await commandJson(['wallet', 'adjust', shop.app_id, '100000', '--reason', 'test'], env)

    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 3 })
    const rows = async (sql: string) => (await owner.query(sql)).rows
    const url = `http://127.0.0.1:${port}`
    const clock = Object.assign(() => new Date(), { advance() {} })
    const agent = new AgentClient(url, shop.app_id, shop.secret, 0n, clock)
    let service: Serving = await serve(env)
    const pool = openPool({ url: database.url, max: 2, name: 'people', onError: () => {} })
    const people = { backend: { pool }, clock, service: { url } } as unknown as TestService
    /** A person for each step: a code works once, and what was killed may have used it. */
    const person = (role: 'admin' | 'operator') => signIn(people, role)

    /** Kills the service when it is about to write to a table, and starts it again. */
    const killedAt = async (
      table: string,
      begin?: () => Promise<unknown>,
      verifies = true,
    ): Promise<void> => {
      const lock = await owner.connect()
      await lock.query('begin')
      await lock.query(`lock table sluice.${table} in share mode`)
      // What it does by itself it begins anew.
      if (!begin) {
        kill(service.pid)
        await service.ended
        service = await serve(env)
      }
      const asked = begin?.().catch(() => undefined)
      await expect
        .poll(
          () =>
            rows(`select 1 from pg_locks where not granted
              and relation = 'sluice.${table}'::regclass
              and database = (select oid from pg_database where datname = current_database())`),
          { interval: 20 },
        )
        .not.toEqual([])
      kill(service.pid)
      await service.ended
      await lock.query('rollback')
      lock.release()
      await asked
      if (verifies) await verifyClean(env)
      service = await serve(env)
    }
    const stateOf = async (id: string) =>
      (await rows(`select state from sluice.payout_files where file_id = '${id}'`))[0]?.state
    const becomes = (id: string, state: string) =>
      expect.poll(() => stateOf(id), { interval: 50 }).toBe(state)
    const answered = async (answer: Promise<Answer>): Promise<Answer> => {
      const { status, text } = await answer
      if (status >= 300) throw new Error(text)
      return answer
    }

    for (let round = 0; round < rounds; round++) {
      for (let n = 0; n < perFile; n++) {
        const { status, text } = await agent.withdraw({ amount: 10 + n, bankCode: 'KBANK' })
        if (status !== 201) throw new Error(text)
      }
      const maker = await person('operator')
      const draft = () => maker.post('/payout-files', { account: 'scb' })
      await killedAt('payout_files', draft)
      const { json: file } = await answered(draft())
      const id: string = file.id

      const approve = async (by: Promise<OperatorClient>) => {
        const one = await by
        return one.post(`/payout-files/${id}/approve`, { digest: file.digest, code: one.code() })
      }
      const [first, second] = [person('admin'), person('admin')]
      await Promise.all([first, second])
      await killedAt('payout_file_approvals', () => approve(first))
      expect(await stateOf(id)).toBe('draft')
      await killedAt('payouts', () => approve(second))
      expect(await stateOf(id)).not.toBe('draft')
      if ((await stateOf(id)) === 'approving') await killedAt('payout_items')
      if ((await stateOf(id)) === 'approving') await killedAt('payout_file_seals')
      await becomes(id, 'approved')

      const send = async (by: OperatorClient) =>
        by.post(`/payout-files/${id}/send`, { reason: 'for the bank', code: by.code() })
      const senders = [await person('operator'), await person('operator'), await person('operator')]
      const [one, two, three] = senders
      if (!one || !two || !three) throw new Error('no senders')
      await killedAt('payout_file_downloads', () => send(one))
      expect(await stateOf(id)).toBe('approved')
      await killedAt('payout_file_puts', () => send(two))
      expect(await stateOf(id)).toBe('approved')
      const due = () =>
        rows('update sluice.payout_file_puts set act_at = now() where act_at is not null')
      // The upload is there, under another name.
      await killedAt('payout_file_put_steps', () => answered(send(three)))
      const name = (
        await rows(`select name from sluice.payout_file_seals where file_id = '${id}'`)
      )[0]
      const path = `/in/${name.name}`
      expect(bank.files.has(path)).toBe(false)
      expect(bank.files.has(`${path}.tmp`)).toBe(true)
      // It has just got its name.
      const renamed = new Promise<void>((resolve) => {
        bank.onRenamed = () => {
          kill(service.pid)
          resolve()
        }
      })
      await due()
      await renamed
      await service.ended
      await verifyClean(env)
      expect(await stateOf(id)).toBe('exported')
      bank.onRenamed = () => {}
      await due()
      service = await serve(env)
      await due()
      await killedAt('payout_file_sendings', due)
      await due()
      await becomes(id, 'sent')
      expect(bank.log.filter((each) => each === `write ${path}.tmp`).length).toBeLessThan(4)
      expect(
        bank.log.filter((each) => each.startsWith('rename') && each.includes(path)),
      ).toHaveLength(1)

      const reader = await person('operator')
      const { json: sent } = await answered(reader.get(`/payout-files/${id}`))
      const bring = (said: Parameters<typeof pain002>[1]) => {
        const content = Buffer.from(pain002(sent.sealed.message_id, said)).toString('base64')
        return reader.post(`/payout-files/${id}/status`, { content })
      }
      await killedAt('payout_file_reports', () => bring({ group: 'ACCP' }))
      await answered(bring({ group: 'ACCP' }))
      expect(await stateOf(id)).toBe('acknowledged')
      const items = sent.items.map(({ code }: { code: string }) => ({ code, status: 'ACSC' }))
      await killedAt('callbacks', () => bring({ items }))
      await killedAt('payout_files', () => bring({ items }))
      await answered(bring({ items }))
      await becomes(id, 'closed')
    }
    const orders = await rows(
      `select o.status, count(p.reference)::int as payouts, count(i.reference)::int as items
       from sluice.orders o left join sluice.payouts p using (agent_id, order_id)
       left join sluice.payout_items i using (agent_id, order_id) group by o.order_id, o.status`,
    )
    expect(orders).toHaveLength(rounds * perFile)
    expect(new Set(orders.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ status: 'PAID', payouts: 1, items: 1 })]),
    )
    expect([...bank.files.keys()]).toHaveLength(rounds)

    // One that is brought by hand, and of which nothing ends as it should.
    const steps = ['taken out', 'sent', 'refused', 'returned', 'abandoned'] as const
    const killedIn = sample(steps, 2)
    /** Kills the service in this step, or lets it pass. */
    const inStep = async (
      step: (typeof steps)[number],
      ...[table, begin, verifies]: [string, () => Promise<Answer>, boolean?]
    ) => {
      if (killedIn.includes(step)) await killedAt(table, begin, verifies)
      else await answered(begin())
    }
    const amounts = [41, 42, 43, 44]
    for (const amount of amounts) await agent.withdraw({ amount, bankCode: 'KBANK' })
    const hand = await person('operator')
    const { json: drafted } = await answered(hand.post('/payout-files', { account: 'scb' }))
    const id: string = drafted.id
    const approved = async () => {
      const admin = await person('admin')
      const { digest } = (await admin.get(`/payout-files/${id}`)).json
      await answered(admin.post(`/payout-files/${id}/approve`, { digest, code: admin.code() }))
      await becomes(id, 'approved')
    }
    await approved()
    const [out, refused, returned, dropped] = (
      await answered(hand.get(`/payout-files/${id}`))
    ).json.items.map(({ code }: { code: string }) => code)

    /** Two people decide, and the service is killed when it is about to do what they decided. */
    const decided = async (
      step: (typeof steps)[number],
      table: string,
      proposal: string,
      verifies = true,
    ): Promise<void> => {
      const decide = async (admin: OperatorClient) => {
        const { digest } = (await admin.get(`/approvals/${proposal}`)).json
        return admin.post(`/approvals/${proposal}/approve`, { digest, code: admin.code() })
      }
      const [one, two] = [await person('admin'), await person('admin')]
      await inStep(step, table, () => decide(one), verifies)
      const state = async () => (await two.get(`/approvals/${proposal}`)).json.state
      if ((await state()) === 'open') await answered(decide(two))
      await expect.poll(state, { interval: 100 }).toBe('done')
    }
    const of = `/payout-files/${id}`
    const reason = 'somebody changed their mind'
    const takeOut = { codes: [out], may_try_another: false, reason }
    const asked = await answered(hand.post(`${of}/take-out`, { ...takeOut, code: hand.code() }))
    await decided('taken out', 'payout_item_ends', asked.json.proposal)
    await approved()
    const carrier = await person('operator')
    const { text: bytes } = await answered(
      carrier.post(`${of}/export`, { reason: 'for the bank', code: carrier.code() }),
    )
    expect([out, refused, returned, dropped].map((code) => bytes.includes(code))).toEqual([
      ...[false, true, true, true],
    ])
    const sent = async () => {
      const teller = await person('operator')
      return teller.post(`${of}/sent`, { bank_reference: 'B-1', code: teller.code() })
    }
    await inStep('sent', 'payout_file_sendings', sent)
    if (killedIn.includes('sent')) {
      expect(await stateOf(id)).toBe('exported')
      await answered(sent())
    }

    const { json: brought } = await answered(carrier.get(of))
    const says = (items: { code: string; status: string; reason?: string }[]) => {
      const content = Buffer.from(pain002(brought.sealed.message_id, { items })).toString('base64')
      return answered(carrier.post(`${of}/status`, { content }))
    }
    const rejected = await says([{ code: refused, status: 'RJCT', reason: 'AC04' }])
    await decided('refused', 'callbacks', rejected.json.proposal)
    await says([{ code: returned, status: 'ACSC' }])

    // The bank books one out and in again, and of the other its statements never tell.
    const account = { accountNo: '9876543210', currency: 'THB' } as const
    const day = (ago: number) => dayAt(new Date(Date.now() - ago * 86_400_000))
    const quiet = { account, opening: '0.00', closing: '0.00' }
    const lines = [
      { amount: '-43.00', endToEndId: returned },
      { amount: '43.00', endToEndId: returned, isReturn: true },
    ]
    const statements = Array.from({ length: 30 }, (_, ago) => 30 - ago).map((ago) => ({
      ...{ ...quiet, day: day(ago), lines: ago === 1 ? lines : [] },
    }))
    const content = camt(...statements).toString('base64')
    const imports = () => carrier.post('/bank-accounts/scb/files', { name: 'a.xml', content })
    await inStep('returned', 'callbacks', imports)
    await answered(imports())
    const endOf = (amount: number) =>
      rows(`select o.status, i.state from sluice.orders o join sluice.payout_items i
        using (agent_id, order_id) where o.amount = ${amount * 100}`)
    await expect
      .poll(() => endOf(43), { interval: 50 })
      .toEqual([{ status: 'REVERT', state: 'returned' }])

    // Weeks later. What the bytes say of their time is not what the rows say then.
    const later = async (days: number) => {
      for (const [table, ...columns] of [
        ['payout_file_seals', 'sealed_at', 'execution_date'],
        ...['downloads', 'sendings', 'reports'].map((each) => [`payout_file_${each}`, 'at']),
      ]) {
        const moved = columns.map((each) =>
          each === 'execution_date'
            ? `${each} = ${each} - ${days}`
            : `${each} = ${each} - interval '${days} days'`,
        )
        await rows(`update sluice.${table} set ${moved} where file_id = '${id}'`)
      }
    }
    await later(25)
    const abandon = { codes: [dropped], evidence: 'the bank wrote so', reason }
    const left = await answered(carrier.post(`${of}/abandon`, { ...abandon, code: carrier.code() }))
    await decided('abandoned', 'payout_item_ends', left.json.proposal, false)
    await later(-25)
    await becomes(id, 'closed')
    const ends = await Promise.all(amounts.map(endOf))
    expect(ends.map(([row]) => `${row.status} ${row.state}`)).toEqual([
      ...['FAILED rejected', 'FAILED rejected', 'REVERT returned', 'FAILED rejected'],
    ])
    await verifyClean(env)
    await owner.end()
    await pool.end()
    expect(await service.stop()).toMatchObject({ code: 0 })
    await bank.close()
    await database.close()
  },
  600_000 + rounds * 120_000,
)
