import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import { addSecret, listUses, useVersion } from '../../src/connectors/connector-store.ts'
import {
  addDocument,
  planUse,
  trySamples,
  type UseAsked,
} from '../../src/connectors/manage-connectors.ts'
import { inTransaction } from '../../src/db/in-transaction.ts'
import { saveProviderState } from '../../src/routing/providers.ts'
import { neverIdle } from './receiver.ts'
import type { TestService } from './service.ts'

/** A request that reached the company. */
export interface Reached {
  method: string
  path: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests read requests of every shape
  json: any
}

/** A payment company with a book, spoken to over HTTP. */
export class Company {
  readonly reached: Reached[] = []
  /** What it says about a payout, by our reference. */
  readonly payouts = new Map<string, { state: string; paid: number }>()
  readonly payins = new Map<string, { state: string; ref: string; amount: unknown }>()
  /** Answers in the place of the usual; returns false to leave it to the usual. */
  onCall: (call: Reached, response: ServerResponse) => boolean | Promise<boolean> = () => false
  url = ''
  private readonly server = createServer(neverIdle, (request, response) => {
    void this.serve(request, response)
  })

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
    return this
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  /** The hand-overs of a payout that reached it. */
  submitted(reference: string): Reached[] {
    return this.reached.filter(({ method, json }) => method === 'POST' && json?.ref === reference)
  }

  asked(reference: string): Reached[] {
    return this.reached.filter(
      ({ method, path }) => method === 'GET' && path.endsWith(`/payouts/${reference}`),
    )
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url: path = '', headers } = request
    const call = { method, path, headers, json: text === '' ? undefined : JSON.parse(text) }
    this.reached.push(call)
    if (await this.onCall(call, response)) return
    const [status, said] = this.answer(call)
    if (!response.destroyed) say(response, status, JSON.stringify(said))
  }

  private answer({ method, path, json }: Reached): [number, object] {
    const name = path.split('/').at(-1) ?? ''
    if (method === 'POST' && path.endsWith('/payouts')) {
      const known = this.payouts.get(json.ref) ?? { state: 'SENT', paid: 0 }
      // It pays whatever it is sent, again and again.
      this.payouts.set(json.ref, { ...known, paid: known.paid + 1 })
      return [201, { id: `po_${json.ref}`, ref: json.ref, state: known.state }]
    }
    if (method === 'GET' && path.includes('/payouts/')) {
      const known = this.payouts.get(name)
      if (!known) return [404, { code: 'NO_SUCH_PAYOUT' }]
      const refusal = known.state === 'FAILED' && { code: 'CLOSED', message: 'account closed' }
      return [200, { ref: name, state: known.state, ...refusal }]
    }
    if (method === 'POST' && path.endsWith('/payins')) {
      const id = `pi_${this.payins.size + 1}`
      this.payins.set(id, { state: 'OPEN', ref: json.ref, amount: json.amount })
      return [201, { id, ref: json.ref, state: 'OPEN', url: `https://pay.example/${id}` }]
    }
    const payin = this.payins.get(name)
    if (method === 'GET' && payin) {
      return [200, { id: name, ...payin, currency: 'THB' }]
    }
    return [400, { code: 'NO_SUCH_CALL' }]
  }
}

export function say(response: ServerResponse, status: number, body: string): boolean {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body)
  return true
}

const payment = (ref: string) => ({
  type: 'payment',
  id: ['/id', '/state'],
  paymentId: ['/id'],
  reference: ref,
  amount: { at: '/amount', as: 'decimal' },
  currency: { at: '/currency' },
})

/** How the company is spoken to. `version` is part of every path, so that a call tells which document it is of. */
export function companyDocument({ url }: { url: string }, version = 1, change: object = {}) {
  return {
    format: 1,
    company: 'Imaginary Pay',
    base: `${url}/v${version}`,
    currencies: ['THB', 'VND'],
    secrets: { api: 'of calls', hook: 'of notices' },
    auth: { kind: 'bearer', token: { secret: 'api' } },
    expectDeposit: {
      request: {
        method: 'POST',
        path: '/payins',
        json: { ref: '{txnId}', amount: { $number: 'amount.decimal' }, currency: '{currency}' },
      },
      echo: { reference: '/ref' },
      theirId: '/id',
      answers: [
        { if: { status: [201], '/state': ['OPEN'] }, means: 'accepted' },
        { if: { status: [422], '/code': ['CLOSED'] }, means: 'rejected' },
      ],
      gives: { link: '/url' },
    },
    submitPayout: {
      request: {
        method: 'POST',
        path: '/payouts',
        json: {
          ref: '{reference}',
          amount: '{amount.fixed}',
          name: '{payee.accountName}',
          bank: '{payee.bank}',
        },
      },
      echo: { reference: '/ref' },
      theirId: '/id',
      answers: [
        { if: { status: [201], '/state': ['SENT'] }, means: 'accepted' },
        { if: { status: [200, 201], '/state': ['DONE'] }, means: 'paid' },
        {
          if: { status: [422], '/code': ['BANK_NOT_SERVED'] },
          means: 'rejected',
          mayTryAnother: true,
        },
      ],
    },
    banks: { SCB: '014', KBANK: '004' },
    askPayout: {
      request: { method: 'GET', path: '/payouts/{reference}' },
      echo: { reference: '/ref' },
      answers: [
        { if: { status: [200], '/state': ['SENT'] }, means: 'accepted' },
        { if: { status: [200], '/state': ['DONE'] }, means: 'paid' },
        { if: { status: [200], '/state': ['BACK'] }, means: 'returned' },
        {
          if: { status: [200], '/state': ['FAILED'], '/code': ['CLOSED'] },
          means: 'rejected',
          reason: '/message',
        },
        { if: { status: [404], '/code': ['NO_SUCH_PAYOUT'] }, means: 'not_found' },
      ],
    },
    notice: {
      verify: {
        kind: 'hmac',
        hash: 'sha256',
        key: { secret: 'hook' },
        over: ['timestamp', { text: '.' }, 'body'],
        encode: 'hex',
        signature: { header: 'x-sign', field: 'v1' },
        timestamp: { in: { header: 'x-sign', field: 't' }, as: 'unix' },
      },
      rules: [
        { if: { '/kind': ['PAYIN'], '/state': ['PAID'] }, events: [payment('/ref')] },
        {
          if: { '/kind': ['PAYIN'], '/state': ['FAILED'] },
          events: [
            { type: 'deposit_ended', id: ['/id', '/state'], reference: '/ref', status: 'FAILED' },
          ],
        },
        {
          if: { '/kind': ['PAYOUT'], '/state': ['DONE'] },
          events: [
            {
              type: 'payout',
              id: ['/id', '/state'],
              reference: '/ref',
              amount: { at: '/amount', as: 'decimal' },
              currency: { at: '/currency' },
              outcome: 'paid',
            },
          ],
        },
        { if: { '/kind': ['PING'] }, events: [] },
      ],
    },
    ...change,
  }
}

/** What a company without notices is asked about a deposit. */
export const askDeposit = {
  request: { method: 'GET', path: '/payins/{theirId}' },
  echo: { reference: '/ref' },
  everyS: 5,
  rules: [
    { if: { status: [200], '/state': ['OPEN'] }, events: [] },
    { if: { status: [200], '/state': ['PAID'] }, events: [payment('/ref')] },
  ],
}

const ref = 'SX0000000000A'

export const companySamples = {
  order: { reference: ref, amount: '100.00', currency: 'THB' },
  samples: [
    {
      name: 'deposit',
      call: 'expectDeposit',
      status: 201,
      body: { id: 'pi_1', ref, state: 'OPEN', url: 'https://pay.example/1' },
      expect: ['accepted with link'],
    },
    {
      name: 'deposit paid',
      call: 'notice',
      body: { kind: 'PAYIN', id: 'pi_1', state: 'PAID', ref, amount: 100, currency: 'THB' },
      expect: [`payment 100 THB for ${ref} as pi_1`],
    },
    {
      name: 'deposit failed',
      call: 'notice',
      body: { kind: 'PAYIN', id: 'pi_1', state: 'FAILED', ref },
      expect: [`deposit_ended FAILED for ${ref}`],
    },
    {
      name: 'taken',
      call: 'submitPayout',
      status: 201,
      body: { id: 'po_1', ref, state: 'SENT' },
      expect: ['accepted'],
    },
    {
      name: 'deposit refused',
      call: 'expectDeposit',
      status: 422,
      body: { code: 'CLOSED' },
      expect: ['rejected'],
    },
    {
      name: 'paid at once',
      call: 'submitPayout',
      body: { id: 'po_1', ref, state: 'DONE' },
      expect: ['paid'],
    },
    {
      name: 'refused at once',
      call: 'submitPayout',
      status: 422,
      body: { code: 'BANK_NOT_SERVED' },
      expect: ['rejected, another may try'],
    },
    { name: 'paid', call: 'askPayout', body: { ref, state: 'DONE' }, expect: ['paid'] },
    { name: 'came back', call: 'askPayout', body: { ref, state: 'BACK' }, expect: ['returned'] },
    {
      name: 'not there',
      call: 'askPayout',
      status: 404,
      body: { code: 'NO_SUCH_PAYOUT' },
      expect: ['not_found'],
    },
    {
      name: 'payout paid',
      call: 'notice',
      body: { kind: 'PAYOUT', id: 'po_1', state: 'DONE', ref, amount: 100, currency: 'THB' },
      expect: [`payout paid 100 THB for ${ref}`],
    },
    {
      name: 'refused',
      call: 'askPayout',
      body: { ref, state: 'FAILED', code: 'CLOSED', message: 'account closed' },
      expect: ['rejected'],
    },
  ],
}

const by = (s: TestService) => ({ name: 'a test', at: s.clock() })

/** Connects a company: its document, its secrets, its samples, and its use. */
export async function connect(
  s: TestService,
  name: string,
  document: object,
  more: Parameters<typeof prepare>[3] = {},
): Promise<number> {
  const version = await prepare(s, name, document, more)
  const isFirst = (await listUses(s.backend.pool, name)).length === 0
  if (isFirst) await saveProviderState(s.backend.pool, name, 'on', s.clock())
  await use(s, name, version)
  return version
}

/** A version that could be used. */
export async function prepare(
  s: TestService,
  name: string,
  document: object,
  { secrets = { api: 'api-1', hook: 'hook-1' }, samples = companySamples as object } = {},
): Promise<number> {
  const { pool, secretKeys } = s.backend
  const { version } = await addDocument(pool, name, JSON.stringify(document), by(s), {
    targets: 'near',
    isMadeInCode: () => false,
    switchOff: (tx, each) => saveProviderState(tx, each, 'off', s.clock()),
  })
  for (const [secret, text] of Object.entries(secrets)) {
    await addSecret(pool, secretKeys, { connector: name, secret, text }, by(s))
  }
  const ran = await trySamples(pool, name, version.version, JSON.stringify(samples), by(s))
  if (!ran.passed) throw new Error(JSON.stringify(ran))
  return version.version
}

/** Uses a version with the newest secrets, and waits until the service does. */
export async function use(
  s: TestService,
  name: string,
  version?: number,
  more: Omit<UseAsked, 'version'> = {},
): Promise<void> {
  const { pool } = s.backend
  const planned = await planUse(pool, name, { version, sameAccount: false, ...more })
  await inTransaction(pool, (tx) => useVersion(tx, planned.use, planned.after, by(s)))
  const { providers } = s.service.desk
  await vi.waitFor(
    async () => {
      await providers.freshen()
      if (providers.find(name)?.use !== planned.after + 1) throw new Error('not yet')
    },
    { interval: 50, timeout: 300_000 },
  )
}

/** A notice of the company, as it signs it. */
export async function tell(
  s: TestService,
  name: string,
  body: object | string,
  { key = 'hook-1', at = s.clock() }: { key?: string; at?: Date } = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const t = Math.floor(at.getTime() / 1000)
  const v1 = createHmac('sha256', key).update(`${t}.${text}`).digest('hex')
  const answer = await fetch(`${s.service.url}/providers/${name}/notices`, {
    method: 'POST',
    headers: { 'x-sign': `t=${t},v1=${v1}` },
    body: text,
  })
  const said = await answer.text()
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  return { status: answer.status, json: JSON.parse(said) as any }
}
