import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentTerms } from '../../src/agents/save-agent.ts'
import { readWallet } from '../../src/ledger/read-wallet.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** How each story of the sandbox ends, seen from outside, in real time and all at once. */

let s: TestService
let receiver: Receiver

beforeAll(async () => {
  receiver = await startReceiver()
  s = await startTestService({ realTime: true, outside: { paysOut: true } })
})
afterAll(async () => {
  await s.prove()
  await s.close()
  await receiver.close()
})

interface Ending {
  /** What the agent is called back with, in order. */
  told: string[]
  /** Whole units that the story leaves in a wallet of 1,000 before it. */
  balance: number
  /** Why money waits for a decision. */
  waiting?: string[]
  terms?: Partial<AgentTerms>
  flagged?: boolean
  /** What the bank charges the house, which is nothing to the agent. */
  costMinor?: bigint
}

const deposits: [story: string, ending: Ending][] = [
  ['paid', { told: ['PAID'], balance: 1_098 }],
  ['failed', { told: ['FAILED'], balance: 1_000 }],
  ['void', { told: ['VOID'], balance: 1_000 }],
  ['taken-back', { told: ['PAID', 'VOID'], balance: 1_000 }],
  ['late', { told: ['EXPIRED'], balance: 1_000, waiting: ['late'], terms: { expiresInS: 1 } }],
  [
    'late',
    {
      told: ['EXPIRED', 'PAID'],
      balance: 1_098,
      terms: { expiresInS: 1, lateMoney: 'credit' },
    },
  ],
  [
    'underpaid',
    {
      told: ['EXPIRED'],
      balance: 1_000,
      waiting: ['wrong_amount'],
      terms: { expiresInS: 5 },
    },
  ],
  ['underpaid', { told: ['PAID'], balance: 1_049, terms: { lateMoney: 'credit' } }],
  ['overpaid', { told: ['PAID'], balance: 1_147, terms: { lateMoney: 'credit' } }],
  ['duplicate', { told: ['PAID'], balance: 1_098, waiting: ['duplicate'] }],
  ['wrong-payer', { told: ['PAID'], balance: 1_098, flagged: true }],
  ['charged', { told: ['PAID'], balance: 1_098, costMinor: 100n }],
]

const withdrawals: [story: string | undefined, ending: Ending][] = [
  [undefined, { told: ['PAID'], balance: 897 }],
  ['paid', { told: ['PAID'], balance: 897 }],
  ['failed', { told: ['FAILED'], balance: 1_000 }],
  ['revert', { told: ['PAID', 'REVERT'], balance: 1_000 }],
  ['revert', { told: ['PAID', 'REVERT'], balance: 997, terms: { revertFee: 'keep' } }],
  ['timeout-then-paid', { told: ['PAID'], balance: 897 }],
  ['timeout-then-failed', { told: ['FAILED'], balance: 1_000 }],
  ['duplicate-notice', { told: ['PAID'], balance: 897 }],
  ['charged', { told: ['PAID'], balance: 897, costMinor: 100n }],
]

describe.concurrent('a deposit of 100 with the story', () => {
  it.each(deposits)('%s ends as %o', (story, ending) => plays('deposit', story, ending))
})

describe.concurrent('a withdrawal of 100 with the story', () => {
  it.each(withdrawals)('%s ends as %o', (story, ending) => plays('withdraw', story, ending))

  it('slow waits with the bank, cannot be cancelled, and ends when it is told to', async () => {
    const agent = await funded({})
    const { txn_id } = (await agent.withdraw({ extraParams: { sandbox: 'slow' } })).json
    await until(async () => (await row(txn_id)).handed_over_at !== null)
    const refused = await agent.post(`/payment/orders/${txn_id}/cancel`)
    expect([refused.status, refused.json.code]).toEqual([409, 'order_not_cancellable'])
    expect((await agent.trigger(txn_id, 'FAILED')).json.status).toBe('FAILED')
    expect(await agent.balance()).toBe(1_000)
  })

  it('queued stays with the service, and can be cancelled or told an outcome', async () => {
    const agent = await funded({})
    const queued = { extraParams: { sandbox: 'queued' } }
    const dropped = (await agent.withdraw(queued)).json.txn_id
    const paid = (await agent.withdraw(queued)).json.txn_id
    // Long enough for it to have been looked at more than once.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect((await row(paid)).handed_over_at).toBeNull()
    expect((await agent.post(`/payment/orders/${dropped}/cancel`)).json.status).toBe('CANCEL')
    expect((await agent.trigger(paid, 'PAID')).json.status).toBe('PAID')
    expect(await agent.balance()).toBe(897)
  })
})

it('an unknown story, or one of the other kind, is refused by name and makes no order', async () => {
  const agent = await funded({})
  for (const [kind, sandbox] of [
    ['deposit', 'queued'],
    ['deposit', 'PAID'],
    ['withdraw', 'late'],
    ['withdraw', 7],
  ] as const) {
    const answer = await agent[kind]({ extraParams: { sandbox } })
    expect([answer.status, answer.json.code]).toEqual([422, 'invalid_request'])
    expect(answer.json.errors[0].field).toBe('extraParams.sandbox')
  }
})

it('the page of a deposit whose way to pay came from the bank shows it, whatever its method', async () => {
  const agent = await s.agent({ method: 'link' })
  const { link, txn_id } = (await agent.deposit({ extraParams: { sandbox: 'late' } })).json
  const page = await (await fetch(link)).text()
  expect(page).toContain(`TEST${txn_id.slice(-8).toUpperCase()}`)
})

it('every payment and payout in the book of the bank is accounted for', async () => {
  const { rows: lost } = await s.sql(
    `select p.reference from sandbox_bank.payments p
     where not exists (select 1 from payments where payment_id = 'sandbox:pay-' || p.payment_no)`,
  )
  expect(lost).toEqual([])
  const { rows: doubled } = await s.sql(
    `select order_id from payouts group by agent_id, order_id having count(*) > 1`,
  )
  expect(doubled).toEqual([])
})

async function plays(kind: 'deposit' | 'withdraw', story: string | undefined, ending: Ending) {
  const agent = await funded(ending.terms ?? {})
  const extraParams = story === undefined ? {} : { sandbox: story }
  const created = await agent[kind]({ extraParams })
  expect(created.status).toBe(201)
  const { txn_id } = created.json
  const callbacks = () => receiver.received.filter(({ json }) => json.transactionId === txn_id)
  await until(async () => {
    const { rows } = await s.sql(
      `select p.why from payments p where p.agent_id = $1 and p.state = 'waiting'`,
      [agent.agentId],
    )
    return callbacks().length >= ending.told.length && rows.length === (ending.waiting ?? []).length
  })
  expect(callbacks().map(({ json }) => json.status)).toEqual(ending.told)
  const { json: wallet } = await agent.get('/payment/wallet')
  expect(wallet).toMatchObject({ balance: ending.balance, held: 0 })
  expect(callbacks().at(-1)?.json.wallet.balance).toBe(ending.balance)
  const { rows } = await s.sql(
    `select why from payments where agent_id = $1 and state = 'waiting'`,
    [agent.agentId],
  )
  expect(rows.map(({ why }) => why)).toEqual(ending.waiting ?? [])
  const { costMinor = 0n } = ending
  await until(
    async () => (await readWallet(s.backend.pool, agent.agentId)).balances.costs === -costMinor,
  )
  if (ending.flagged !== undefined) {
    expect(callbacks()[0]?.json.flag_incorrect_payee).toBe(ending.flagged)
  }
}

async function funded(terms: Partial<AgentTerms>): Promise<AgentClient> {
  const agent = await s.agent({
    depositFee: '2%',
    withdrawFee: '3',
    depositCallbackUrl: receiver.url,
    withdrawCallbackUrl: receiver.url,
    ...terms,
  })
  await s.service.desk.teller.do({
    type: 'adjust',
    agentId: agent.agentId,
    at: s.clock(),
    amountMinor: 100_000n,
    reason: 'before the story',
    ref: 'start',
  })
  return agent
}

async function row(txnId: string): Promise<{ handed_over_at: Date | null }> {
  const [agentId, orderId] = txnId.split('-')
  const { rows } = await s.sql('select * from orders where agent_id = $1 and order_id = $2', [
    agentId,
    orderId,
  ])
  return rows[0]
}

/** Looks again and again; the test's own time limit ends it. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
}

it('CANCEL by a trigger ends a withdrawal at any stage before its end, while it is handed over too', async () => {
  const agent = await s.agent()
  await agent.fund(1_000)
  const stages = Array.from({ length: 48 }, (_, at) => (at % 6 === 0 ? 'queued' : 'slow'))
  const answers = await Promise.all(
    stages.map(async (sandbox) => {
      const { json } = await agent.withdraw({ amount: 1, extraParams: { sandbox } })
      return agent.trigger(json.txn_id, 'CANCEL')
    }),
  )
  expect(answers.map(({ status, json }) => [status, json.detail ?? json.status])).toEqual(
    stages.map(() => [200, 'CANCEL']),
  )
  expect((await agent.get('/payment/wallet')).json).toMatchObject({ balance: 1_000, held: 0 })

  const { json } = await agent.withdraw({ amount: 1, extraParams: { sandbox: 'slow' } })
  await agent.trigger(json.txn_id, 'PAID')
  const late = await agent.trigger(json.txn_id, 'CANCEL')
  expect([late.status, late.json.detail]).toEqual([409, expect.stringContaining('PAID')])
})
