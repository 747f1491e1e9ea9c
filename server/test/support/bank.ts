import { createHmac } from 'node:crypto'
import pg from 'pg'
import { openPool, type Pool } from '../../src/db/pool.ts'
import { SandboxBank as BankClient } from '../../src/providers/sandbox/bank-client.ts'
import { makeSandboxProvider } from '../../src/providers/sandbox/sandbox.ts'
import { type SandboxBank, startSandboxBank } from '../../src/sandbox-bank/start-sandbox-bank.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { type Receiver, startReceiver } from './receiver.ts'

export const bankKey = Buffer.alloc(32, 3)
export const bankPass = createHmac('sha256', bankKey)
  .update('requests to the sandbox bank')
  .digest('hex')

// biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
export type Told = any

export interface TestBank {
  database: TestDatabase
  pool: Pool
  /** Takes the notices, says `applied` to each event. */
  receiver: Receiver
  clock: { now: () => Date; advance: (ms: number) => void }
  /** What the bank could not do. */
  errors: unknown[]
  /** Another counter over the same book. */
  open(options?: { tellStories?: boolean; noticeUrl?: () => string | undefined }): Promise<Counter>
  /** Every event that was told, repeats included, in the order of arrival. */
  told(): Told[]
  /** Closes every counter and empties the book. */
  startAfresh(): Promise<void>
  close(): Promise<void>
}

export interface Counter extends SandboxBank {
  /** As the service speaks to it. */
  provider: ReturnType<typeof makeSandboxProvider>
  client: BankClient
  /** Past the client: any method, path, body and headers. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; json: Told }>
}

/** A book of its own, a clock that stands still, and somebody to take the notices. */
export async function makeTestBank(): Promise<TestBank> {
  const database = await testDatabase()
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  const pool = openPool({ url: database.url, max: 8, name: 'bank test', onError: () => {} })
  const receiver = await startReceiver()
  const accept: Receiver['answer'] = ({ json }, response) => {
    response.end(JSON.stringify(applied(json)))
  }
  receiver.answer = accept
  const owner = new pg.Client(database.ownerUrl)
  await owner.connect()
  let at = Date.now()
  const now = () => new Date(at)
  const counters: SandboxBank[] = []
  const closeCounters = () => Promise.all(counters.splice(0).map((bank) => bank.close()))
  return {
    database,
    pool,
    receiver,
    errors,
    clock: {
      now,
      advance(ms) {
        at += ms
      },
    },
    async open({ tellStories = false, noticeUrl = () => `${receiver.url}/bank` } = {}) {
      const bank = await startSandboxBank({
        pool,
        key: bankKey,
        now,
        noticeUrl,
        tellStories,
        onError,
      })
      counters.push(bank)
      const options = { bankUrl: () => bank.url, key: bankKey }
      return {
        ...bank,
        provider: makeSandboxProvider(options),
        client: new BankClient(options),
        async send(method, path, body, headers = { authorization: `Bearer ${bankPass}` }) {
          const response = await fetch(bank.url + path, {
            method,
            headers: {
              ...headers,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(body === undefined
              ? {}
              : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
          })
          return { status: response.status, json: await response.json() }
        },
      }
    },
    told: () => receiver.received.flatMap(({ json }) => json.events),
    async startAfresh() {
      await closeCounters()
      await owner.query(`truncate sandbox_bank.deposits, sandbox_bank.payouts, sandbox_bank.payments,
        sandbox_bank.acts, sandbox_bank.notices restart identity`)
      receiver.received.length = 0
      receiver.answer = accept
    },
    async close() {
      await closeCounters()
      await receiver.close()
      await owner.end()
      await pool.end()
      await database.close()
    },
  }
}

export function applied({ events }: { events: { id: string }[] }, result = 'applied') {
  return { results: events.map(({ id }) => ({ id, result })) }
}

let references = 0

/** A deposit as the service would announce it. */
export function aDeposit(now: Date, story: string | null, more: { accountNo?: string } = {}) {
  return {
    txnId: `7-${String(++references).padStart(32, '0')}`,
    amountMinor: 10_050n,
    currency: 'THB' as const,
    expiresAt: new Date(now.getTime() + 900_000),
    payer: { accountNo: '1234567890', accountName: 'Somchai Jaidee', bankCode: 'SCB', ...more },
    extraParams: story === null ? null : JSON.stringify({ sandbox: story }),
  }
}

export function aPayout(story: string | null) {
  return {
    reference: `7-${String(++references).padStart(32, '0')}`,
    amountMinor: 250_000n,
    currency: 'THB' as const,
    payee: { accountNo: '9876543210', accountName: 'Somsri Deejai', bankCode: 'KBANK' },
    extraParams: story === null ? null : JSON.stringify({ sandbox: story }),
  }
}
