import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readWallet } from '../../src/ledger/read-wallet.ts'
import { newOrderId, txnId } from '../../src/lib/ids.ts'
import { eventText } from '../../src/payments/event-text.ts'
import { closeEvent, listOpenEvents } from '../../src/payments/open-events.ts'
import { providerRights } from '../../src/payments/provider-rights.ts'
import { handOver, submit } from '../../src/payouts/pay-out.ts'
import type { ProviderEvent } from '../../src/providers/provider.ts'
import {
  attemptsOf,
  eventId,
  FakeProvider,
  fundedAgent,
  orderOf,
  patient,
  paymentEvent,
  payoutEvent,
  statusOf,
  told,
} from '../support/fake-provider.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const bank = new FakeProvider('bank')
const rival = new FakeProvider('rival', { deposits: false, payouts: false })
const payer = new FakeProvider('payer', { deposits: false })
const thb = new FakeProvider('baht', { currencies: ['THB'] })
// They get no orders of their own.
for (const each of [payer, thb]) Object.assign(each, { isConfirmed: false })
const outside = { providers: [bank, rival, payer, thb], paysOut: false }

let s: TestService
/** Another process on the same database, by way of a wire that can be cut. */
let other: TestService
let proxy: TcpProxy

beforeAll(async () => {
  s = await startTestService({ outside })
  proxy = await TcpProxy.open(s.database.url)
  other = await startTestService({ beside: s, outside, env: { DATABASE_URL: proxy.url } })
})
afterEach(() => s.prove())
afterAll(async () => {
  await other.close()
  await proxy.close()
  await s.close()
})

const tell = (...events: ProviderEvent[]) => bank.tell(s.service.url, ...events)

async function deposit(terms = {}): Promise<{ agent: AgentClient; id: string }> {
  const agent = await s.agent(terms)
  return { agent, id: (await agent.deposit()).json.txn_id }
}

/** A withdrawal that is with the bank, under the reference that it knows. */
async function payout() {
  const agent = await fundedAgent(s)
  const id: string = (await agent.withdraw()).json.txn_id
  const order = await orderOf(s.service.desk, id)
  const attempt = await handOver(s.service.desk, order, bank)
  if (!attempt) throw new Error('it was not handed over')
  await submit(s.service.desk, attempt, order)
  return { agent, id, reference: attempt.reference }
}

/** The events of an id, each with its notice. */
async function recorded(id: string) {
  const { rows } = await s.sql(
    `select e.*, n.body from notice_events e left join notices n using (notice_id, received_at)
     where e.event_id = $1`,
    [id],
  )
  return rows
}

/** Records an event as a process does before it acts on it, or after. */
async function record(
  { agentId }: AgentClient,
  event: ProviderEvent,
  { result, detail }: { result: string | null; detail: string | null },
) {
  await s.sql(
    `insert into notice_events (agent_id, provider, event_id, received_at, order_id, event, result, detail, act_at)
     values ($1, 'bank', $2, $7, $3, $4, $5, $6, case when $5::text is null then $7::timestamptz + interval '30 s' end)`,
    [
      ...[agentId, event.id, event.reference.split('-')[1], eventText(event), result, detail],
      s.clock(),
    ],
  )
}

/** As a person does who has found out what an event is about. Returns what it reports, in words. */
async function closeOpen(eventId: string): Promise<string> {
  const [open] = await listOpenEvents(s.backend.pool, s.clock(), { eventId, limit: 1 })
  if (!open) throw new Error('it is not open')
  await closeEvent(s.backend.pool, open, 'The bank mixed it up.')
  expect(await recorded(eventId)).toMatchObject([
    { result: 'closed', detail: 'The bank mixed it up.', act_at: null },
  ])
  return open.words
}

/** As long as it takes until what was left over has been tried again. */
async function tryAgainUntil(done: () => Promise<boolean>) {
  await expect
    .poll(async () => {
      s.clock.advance(60_000)
      return done()
    }, patient)
    .toBe(true)
}

/**
 * As long as it takes until one event that was left over has been acted on. The time stands still meanwhile: going on, it
 * would have another process act on it too, and say first that nothing was left to do.
 */
async function tryOnceMore(id: string) {
  s.clock.advance(60_000)
  await expect.poll(() => isFinished(id), patient).toBe(true)
}

const isFinished = async (id: string) => (await recorded(id))[0]?.result !== null

const unmatched = async (reference: string) =>
  (await s.sql('select * from unmatched_payments where reference = $1', [reference])).rows

const takenBack = (paymentId: string, reference: string): ProviderEvent => ({
  id: eventId(),
  type: 'payment_taken_back',
  paymentId,
  reference,
})

const cost = (reference: string, more: Partial<ProviderEvent & { type: 'cost' }> = {}) =>
  ({
    id: eventId(),
    type: 'cost',
    reference,
    costId: `cost-${eventId()}`,
    amountMinor: 125n,
    currency: 'THB',
    ...more,
  }) as const
const walletOf = async ({ agentId }: AgentClient) =>
  (await readWallet(s.backend.pool, agentId)).balances

describe('the door', () => {
  const post = (path: string, body: string | Buffer, signature: string, headers = {}) =>
    fetch(`${s.service.url}/providers/${path}`, {
      method: 'POST',
      headers: { 'x-fake-signature': signature, ...headers },
      body: new Uint8Array(Buffer.from(body)),
    })
  const code = async (answer: Response) => [answer.status, JSON.parse(await answer.text()).code]

  it('is shut to who cannot sign, and to providers that are not there', async () => {
    const { id } = await deposit()
    const body = JSON.stringify([{ ...paymentEvent(id, null), amountMinor: '10000' }])
    const good = bank.sign(body)
    expect(await code(await post('bank/notices', body, 'no'))).toEqual([401, 'invalid_signature'])
    expect(await code(await post('bank/notices', `${body} `, good))).toEqual([
      401,
      'invalid_signature',
    ])
    // Another provider's signature is none.
    expect((await post('bank/notices', body, rival.sign(body))).status).toBe(401)
    expect(await code(await post('nobody/notices', body, good))).toEqual([404, 'not_found'])
    expect(await code(await post('__proto__/notices', body, good))).toEqual([404, 'not_found'])
    const { rows } = await s.sql('select from notice_events union all select from notices')
    expect(rows).toEqual([])
  })

  it('takes a body of any type, but not of any size', async () => {
    const large = ' '.repeat(65_537)
    const answer = await post('bank/notices', large, bank.sign(large))
    expect(await code(answer)).toEqual([413, 'body_too_large'])
    for (const type of ['text/xml', 'application/json', 'application/x-www-form-urlencoded']) {
      const { agent, id } = await deposit()
      const event = { ...paymentEvent(id, null), amountMinor: '10000' }
      const body = JSON.stringify([event]).padEnd(65_536)
      const taken = await post('bank/notices', body, bank.sign(body), { 'content-type': type })
      expect([taken.status, await statusOf(agent, id)]).toEqual([200, 'PAID'])
    }
  })

  it('says 503 while the database is away, and takes the notice when it is back', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    proxy.refuse(true)
    proxy.cutAll()
    const away = await bank.tell(other.service.url, event)
    proxy.refuse(false)
    expect([away.status, away.json.code]).toEqual([503, 'overloaded'])
    expect(await recorded(event.id)).toEqual([])
    expect((await bank.tell(other.service.url, event)).json.results).toEqual([
      { id: event.id, result: 'applied' },
    ])
    expect(await told(agent, id)).toEqual(['PAID'])
  })
})

describe('a notice', () => {
  it('is kept byte for byte, once for all events in it', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const events = [paymentEvent(one.id, s.clock()), paymentEvent(two.id, s.clock())]
    const { body } = await tell(...events)
    for (const [at, event] of events.entries()) {
      expect(await recorded(event.id)).toMatchObject([
        {
          body: Buffer.from(body),
          result: 'applied',
          agent_id: String([one, two][at]?.agent.agentId),
          received_at: s.clock(),
        },
      ])
    }
    const bodies = () => s.sql('select from notices where body = $1', [Buffer.from(body)])
    expect((await bodies()).rowCount).toBe(1)
    await tell(...events)
    expect((await bodies()).rowCount).toBe(1)
  })

  it('that comes twenty times at once through two processes acts once', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    const urls = [s.service.url, other.service.url]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => bank.tell(urls[n % 2] ?? '', event)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const results = answers.map(({ json }) => json.results[0].result)
    expect(results.filter((result) => result === 'applied')).toHaveLength(1)
    expect(results.filter((result) => result === 'unchanged')).toHaveLength(19)
    expect(await told(agent, id)).toEqual(['PAID'])
    expect(await recorded(event.id)).toHaveLength(1)
    // And the same payment under ids of other events, too.
    await Promise.all(urls.map((url) => bank.tell(url, { ...event, id: eventId() })))
    expect(await agent.balance()).toBe(100)
  })

  it('that was recorded by a process that died is acted on when it is repeated', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    await record(agent, event, { result: null, detail: null })
    expect((await tell(event)).json.results).toEqual([{ id: event.id, result: 'applied' }])
    expect(await told(agent, id)).toEqual(['PAID'])
    expect(await recorded(event.id)).toMatchObject([{ result: 'applied', act_at: null }])
  })

  it('whose commit was lost on the way is answered as it was decided', async () => {
    const { agent, id } = await deposit()
    const next: string = (await agent.deposit()).json.txn_id
    // A notice of one payment is committed with it, any other before its events are acted on.
    proxy.cutNextCommits(['after'])
    const answer = await bank.tell(other.service.url, paymentEvent(id, s.clock()))
    expect(answer.json.results).toMatchObject([{ result: 'applied' }])
    proxy.cutNextCommits(['after'])
    const nobody = paymentEvent('nobody', s.clock())
    const answers = await bank.tell(other.service.url, paymentEvent(next, s.clock()), nobody)
    expect(answers.json.results).toMatchObject([{ result: 'applied' }, { result: 'waiting' }])
    expect(await told(agent, id)).toEqual(['PAID'])
    expect(await told(agent, next)).toEqual(['PAID'])
  })

  it('of one payment is on disk with what it leads to, in one transaction', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    const written = async () =>
      (
        await s.sql(
          `select e.result, e.act_at, e.xmin::text = p.xmin::text and n.xmin::text = p.xmin::text as "isOne"
           from notice_events e join notices n using (notice_id, received_at)
             left join payments p on p.agent_id = e.agent_id and p.order_id = e.order_id
           where e.event_id = $1`,
          [event.id],
        )
      ).rows
    expect((await tell(event)).json.results).toMatchObject([{ result: 'applied' }])
    expect(await written()).toEqual([{ result: 'applied', act_at: null, isOne: true }])
    expect(await told(agent, id)).toEqual(['PAID'])
    // One that waits for a person, because its order is paid, as well.
    const second = paymentEvent(id, s.clock())
    expect((await tell(second)).json.results).toMatchObject([{ result: 'waiting' }])
    expect(await recorded(second.id)).toMatchObject([{ result: 'waiting', act_at: null }])
  })

  it('whose event came to something before credits nobody when it comes again', async () => {
    const { agent, id } = await deposit()
    const event = paymentEvent(id, s.clock())
    await record(agent, event, { result: 'refused', detail: 'It was not credited.' })
    expect((await tell(event)).json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await statusOf(agent, id)).toBe('WAITING')
    expect(await recorded(event.id)).toMatchObject([{ result: 'refused' }])
    // No proof would take that for right.
    await s.sql('delete from notice_events where event_id = $1', [event.id])
  })

  it('with the id of another event that says something else is not taken for it', async () => {
    const { agent, id } = await deposit()
    const ids: string[] = [id]
    for (let n = 0; n < 3; n++) ids.push((await agent.deposit()).json.txn_id)
    const [first, ...others] = ids.map((reference) =>
      paymentEvent(reference, s.clock(), { id: 'one for all' }),
    )
    if (!first) throw new Error('there is none')
    await tell(first)
    // In one notice, too, and with what is known already in it.
    const { json } = await tell(first, ...others)
    expect(json.results.map(({ result }: { result: string }) => result)).toEqual([
      'unchanged',
      ...Array(3).fill('applied'),
    ])
    expect(await Promise.all(ids.map((each) => statusOf(agent, each)))).toEqual(
      Array(4).fill('PAID'),
    )
    const { rows } = await s.sql(
      `select event_id, event, result from notice_events where event_id like 'one for all%'`,
    )
    expect(rows).toHaveLength(4)
    for (const { event, result } of rows) {
      expect([ids.includes(JSON.parse(event).reference), result]).toEqual([true, 'applied'])
    }
    // Said again, each is known.
    const again = await tell(first, ...others)
    expect(again.json.results).toMatchObject(Array(4).fill({ result: 'unchanged' }))
  })

  it('from before events were kept is said again until it could be acted on', async () => {
    const { agent, id } = await deposit()
    const payment = paymentEvent(id, s.clock())
    const back = takenBack(payment.paymentId, id)
    await s.sql(
      `insert into notice_events (agent_id, provider, event_id, received_at, body)
       values ($1, 'bank', $2, $3, 'as it came')`,
      [agent.agentId, back.id, s.clock()],
    )
    const early = await tell(back)
    expect([early.status, early.json.code]).toEqual([503, 'overloaded'])
    await tell(payment)
    expect((await tell(back)).json.results).toMatchObject([{ result: 'applied' }])
    expect(await told(agent, id)).toEqual(['PAID', 'VOID'])
  })
})

describe('in any order', () => {
  it('a payment that is taken back before it is known is taken back when it comes', async () => {
    const { agent, id } = await deposit()
    const payment = paymentEvent(id, s.clock())
    const back = takenBack(payment.paymentId, id)
    expect((await tell(back)).json.results).toMatchObject([{ result: 'open' }])
    await tell(payment)
    // By itself, or when it is said again.
    expect((await tell(back)).json.results).toMatchObject([{ result: 'applied' }])
    expect((await tell({ ...back, id: eventId() })).json.results).toMatchObject([
      { result: 'unchanged' },
    ])
    await tell({ ...payment, id: eventId() })
    expect(await told(agent, id)).toEqual(['PAID', 'VOID'])
    expect(await agent.balance()).toBe(0)
  })

  it('one that was taken back is found by its own id, whatever reference comes with it', async () => {
    const { agent, id } = await deposit()
    const payment = paymentEvent(id, s.clock())
    await tell(payment)
    await tell(takenBack(payment.paymentId, 'something else'))
    expect(await told(agent, id)).toEqual(['PAID', 'VOID'])
  })

  const late: [ended: 'FAILED' | 'VOID' | 'EXPIRED', after: 'PAID' | 'EXPIRED' | 'VOID'][] = [
    ['FAILED', 'PAID'],
    ['VOID', 'PAID'],
    ['EXPIRED', 'PAID'],
    ['FAILED', 'VOID'],
    ['VOID', 'EXPIRED'],
  ]
  it.each(late)('a late %s does not overwrite %s', async (status, after) => {
    const { agent, id } = await deposit()
    if (after === 'PAID') await tell(paymentEvent(id, s.clock()))
    else await tell({ id: eventId(), type: 'deposit_ended', reference: id, status: after })
    const answer = await tell({ id: eventId(), type: 'deposit_ended', reference: id, status })
    expect(answer.json.results).toMatchObject([{ result: 'refused' }])
    expect(await told(agent, id)).toEqual([after])
  })

  it('nothing late overwrites what a payout came to', async () => {
    const words: ProviderEvent[] = []
    const { agent, id, reference } = await payout()
    await tell(payoutEvent(reference, { type: 'paid' }))
    for (const type of ['accepted', 'not_found', 'cancelled', 'paid'] as const) {
      words.push(payoutEvent(reference, { type }))
    }
    words.push(payoutEvent(reference, { type: 'unknown', reason: '?' }))
    const rejected = { type: 'rejected', mayTryAnother: true, reason: 'late' } as const
    words.push(payoutEvent(reference, rejected))
    for (const word of words) expect((await tell(word)).status).toBe(200)
    expect(await told(agent, id)).toEqual(['PAID'])
    expect(await attemptsOf(s, id)).toMatchObject([{ state: 'paid', ask_at: null }])
    await tell(payoutEvent(reference, { type: 'returned' }))
    for (const word of words) await tell({ ...word, id: eventId() })
    expect(await told(agent, id)).toEqual(['PAID', 'REVERT'])
  })

  it('a provider cannot end what is with another', async () => {
    const { agent, id } = await deposit()
    const ended = { id: eventId(), type: 'deposit_ended', reference: id, status: 'FAILED' } as const
    expect((await rival.tell(s.service.url, ended)).json.results).toMatchObject([
      { result: 'refused' },
    ])
    const { agent: owner, id: withdrawal, reference } = await payout()
    const elsewhere = payoutEvent(reference, { type: 'paid' })
    await rival.tell(s.service.url, elsewhere)
    expect([await statusOf(agent, id), await statusOf(owner, withdrawal)]).toEqual([
      'WAITING',
      'WAITING',
    ])
    await closeOpen(elsewhere.id)
  })
})

describe('what the provider charges', () => {
  it('for a deposit or a payout is booked once, at the provider, and is nothing to the agent', async () => {
    const { agent, id } = await deposit()
    await tell(paymentEvent(id, s.clock()))
    const paid = await walletOf(agent)
    const charged = cost(id)
    const repeated = { ...charged, id: eventId() }
    const { json } = await tell(charged, repeated)
    expect(json.results).toMatchObject([{ result: 'applied' }, { result: 'unchanged' }])
    expect(await walletOf(agent)).toEqual({
      ...paid,
      costs: -125n,
      clearing: paid.clearing + 125n,
    })
    // What it gives back of it is the same row the other way round, once.
    const rebate = cost(id, { amountMinor: -25n })
    const given = await tell(rebate, { ...rebate, id: eventId() })
    expect(given.json.results).toMatchObject([{ result: 'applied' }, { result: 'unchanged' }])
    expect((await walletOf(agent)).costs).toBe(-100n)
    expect(await told(agent, id)).toEqual(['PAID'])
    const out = await payout()
    await tell(payoutEvent(out.reference, { type: 'paid' }), cost(out.reference))
    expect((await walletOf(out.agent)).costs).toBe(-125n)
    const { rows } = await s.sql(
      `select clearing_at, clearing_change::int from journal where agent_id = $1 and event = 'cost_charged'`,
      [out.agent.agentId],
    )
    expect(rows).toEqual([{ clearing_at: 'bank', clearing_change: 125 }])
  })

  it('is refused if it is no amount, or for an order that is not its own', async () => {
    const { agent, id } = await deposit()
    const before = await walletOf(agent)
    const refused = { result: 'refused' }
    const { json } = await tell(
      cost(id, { amountMinor: 0n }),
      cost(id, { amountMinor: -(2n ** 53n) }),
    )
    expect(json.results).toMatchObject([refused, refused])
    const { json: elsewhere } = await rival.tell(s.service.url, cost(id))
    expect(elsewhere.results).toMatchObject([refused])
    expect(await walletOf(agent)).toEqual(before)
  })

  it('waits for a person if it is for no order here, in another currency, or booked otherwise', async () => {
    const { agent, id } = await deposit()
    const charged = cost(id)
    expect((await tell(charged)).json.results).toMatchObject([{ result: 'applied' }])
    const before = await walletOf(agent)
    const { json: second } = await agent.deposit()
    const doubtful = [
      cost('nobody'),
      cost(id, { currency: 'VND' }),
      cost(id, { costId: charged.costId, amountMinor: charged.amountMinor + 1n }),
      cost(second.txn_id, { costId: charged.costId }),
    ]
    const { json } = await tell(...doubtful)
    const look = { result: 'open', detail: expect.stringContaining('has to look into it') }
    expect(json.results).toMatchObject(doubtful.map(() => look))
    expect(await walletOf(agent)).toEqual(before)
    for (const { id: eventId } of doubtful) await closeOpen(eventId)
  })
})

describe('a provider’s rights', () => {
  const tellers = [bank, rival, thb, payer]
  const kinds = Object.keys(providerRights) as ProviderEvent['type'][]
  const pairs = kinds.flatMap((type) =>
    tellers.flatMap((teller) =>
      tellers.filter((owner) => owner !== teller).map((owner) => ({ type, teller, owner })),
    ),
  )

  const businesses = new Map<FakeProvider, ReturnType<typeof makeBusiness>>()

  /** A deposit that waits, one that is paid, and a payout, all of one provider: nothing that others say changes them. */
  async function makeBusiness(owner: FakeProvider) {
    const [waiting, paid] = [await deposit(), await deposit()]
    const out = await payout()
    const ids = [waiting.id, paid.id, out.id].map((id) => id.split('-')[1])
    await belongTo(owner, ids)
    const payment = paymentEvent(paid.id, s.clock())
    await owner.tell(s.service.url, payment)
    return { waiting, paid, out, payment, ids }
  }

  async function belongTo({ name }: FakeProvider, ids: (string | undefined)[]) {
    await s.sql('update orders set provider = $2 where order_id = any($1::uuid[])', [ids, name])
    await s.sql('update payouts set provider = $2 where order_id = any($1::uuid[])', [ids, name])
  }

  async function businessOf(owner: FakeProvider) {
    const made = businesses.get(owner) ?? makeBusiness(owner)
    businesses.set(owner, made)
    const business = await made
    await belongTo(owner, business.ids)
    return business
  }

  it.each(pairs)(
    '$type by $teller.name about what is $owner.name’s has no effect',
    async (pair) => {
      const { type, teller, owner } = pair
      const { waiting, paid, out, payment, ids } = await businessOf(owner)
      const events: Record<ProviderEvent['type'], ProviderEvent[]> = {
        payment: [paymentEvent(waiting.id, s.clock())],
        payment_taken_back: [
          {
            id: eventId(),
            type,
            paymentId: payment.paymentId,
            reference: paid.id,
          } as ProviderEvent,
        ],
        deposit_ended: ['FAILED', 'VOID', 'EXPIRED'].map(
          (status) => ({ id: eventId(), type, reference: waiting.id, status }) as ProviderEvent,
        ),
        payout: [
          payoutEvent(out.reference, { type: 'paid' }),
          payoutEvent(out.reference, { type: 'rejected', mayTryAnother: false, reason: 'no' }),
          payoutEvent(out.reference, { type: 'returned' }),
        ],
        cost: [cost(paid.id), cost(out.reference), cost(waiting.id)],
        unread: [{ id: eventId(), type: 'unread', reference: paid.id, fault: 'x', text: '{}' }],
      }
      const orders =
        'select status, version from orders where order_id = any($1::uuid[]) order by order_id'
      const state = async () => [
        await walletOf(waiting.agent),
        await walletOf(paid.agent),
        await walletOf(out.agent),
        (await s.sql(orders, [ids])).rows,
        (await s.sql('select state from payouts where order_id = $1', [ids[2]])).rows,
      ]
      const before = await state()
      const { otherwise } = providerRights[type]
      const told = events[type]
      // Taking back what it never reported is about a payment of its own that is not known.
      const { json } = await teller.tell(s.service.url, ...told)
      expect(json.results.map(({ result }: { result: string }) => result)).toEqual(
        told.map(() => otherwise),
      )
      expect(await state()).toEqual(before)
      if (otherwise === 'open') for (const { id } of told) await closeOpen(id)
      await belongTo(bank, ids)
    },
  )

  it('end with its abilities: money in a currency that it has no account in waits, and costs are refused', async () => {
    const { agent, id } = await deposit()
    await s.sql(`update orders set provider = 'baht' where order_id = $1`, [id.split('-')[1]])
    const dong = { currency: 'VND' as const }
    const { json } = await thb.tell(
      s.service.url,
      { ...paymentEvent(id, s.clock()), ...dong } as ProviderEvent,
      cost(id, dong),
    )
    expect(json.results).toMatchObject([
      { result: 'waiting' },
      { result: 'refused', detail: 'The provider has no account in VND.' },
    ])
    expect(await statusOf(agent, id)).toBe('WAITING')
  })
})

describe('money for nobody', () => {
  it('is kept with its reference, and found by what it is not', async () => {
    const { agent, id } = await deposit()
    const rich = await fundedAgent(s)
    const withdrawal = (await rich.withdraw()).json.txn_id
    const nobody = txnId(agent.agentId + 1_000n, id.split('-')[1] ?? '')
    const noOrder = txnId(agent.agentId, newOrderId(s.clock()))
    for (const reference of ['thanks', nobody, noOrder, withdrawal]) {
      const event = paymentEvent(reference, s.clock())
      const answer = await tell(event)
      expect(answer.json.results).toEqual([
        { id: event.id, result: 'waiting', detail: 'unmatched' },
      ])
      expect(await unmatched(reference)).toMatchObject([
        { payment_id: `bank:${event.paymentId}`, amount: '10000', state: 'waiting' },
      ])
    }
    const foreign = paymentEvent(id, s.clock(), { currency: 'VND' })
    expect((await tell(foreign)).json.results[0].detail).toBe('wrong_currency')
    expect([await statusOf(agent, id), await rich.balance()]).toEqual(['WAITING', 99_900])
  })

  it('is one payment, whatever reference it is reported with afterwards', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const lost = paymentEvent('a typo', s.clock())
    await tell(lost)
    const corrected = await tell({ ...lost, id: eventId(), reference: one.id })
    expect(corrected.json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await statusOf(one.agent, one.id)).toBe('WAITING')

    const known = paymentEvent(two.id, s.clock())
    await tell(known)
    const garbled = await tell({ ...known, id: eventId(), reference: 'garbled' })
    expect(garbled.json.results).toMatchObject([{ result: 'unchanged' }])
    expect(await unmatched('garbled')).toEqual([])
  })

  const hostile: [name: string, reference: string][] = [
    ['empty', ''],
    ['very long', 'x'.repeat(10_000)],
    ['longer than an order’s', `1-${'a'.repeat(320)}`],
    ['with a NUL', 'a\0b'],
    ['of agent 0', `0-${'0'.repeat(32)}`],
    ['of an agent beyond numbers', `999999999999999999-${'0'.repeat(32)}`],
    ['of an agent far beyond numbers', `${'9'.repeat(30)}-${'0'.repeat(32)}`],
    ['that would like to be SQL', `'; drop table orders; --`],
    ['with half a character', '\ud800'],
    ['like a payout’s', `1-${'0'.repeat(32)}-1`],
  ]
  it.each(hostile)('with a reference that is %s is kept all the same', async (_name, reference) => {
    const event = paymentEvent(reference, s.clock())
    expect((await tell(event)).json.results).toMatchObject([{ detail: 'unmatched' }])
    const { rows } = await s.sql('select * from unmatched_payments where payment_id = $1', [
      `bank:${event.paymentId}`,
    ])
    expect(rows).toHaveLength(1)
    const paid = payoutEvent(reference, { type: 'paid' })
    expect((await tell(paid)).json.results).toMatchObject([{ result: 'open' }])
    expect(await closeOpen(paid.id)).toMatch(/^Payout .* is paid\.$/s)
    const end = { id: eventId(), type: 'deposit_ended', reference, status: 'FAILED' } as const
    expect((await tell(end)).json.results).toMatchObject([{ result: 'refused' }])
  })

  it('ids that no column holds are kept by their digest, answered as they were sent, and count once', async () => {
    for (const id of ['', 'e'.repeat(10_000), `e\0${eventId()}`]) {
      const { agent, id: reference } = await deposit()
      const event = paymentEvent(reference, s.clock(), { id, paymentId: `p${id}` })
      expect((await tell(event)).json.results).toMatchObject([{ id, result: 'applied' }])
      expect((await tell(event)).json.results).toMatchObject([{ id, result: 'unchanged' }])
      expect((await tell({ ...event, id: eventId() })).json.results).toMatchObject([
        { result: 'unchanged' },
      ])
      expect(await told(agent, reference)).toEqual(['PAID'])
    }
  })

  it('ids with different halves of characters are different ids', async () => {
    const { agent, id: first } = await deposit()
    const second: string = (await agent.deposit()).json.txn_id
    const events = [first, second].map((reference, at) => {
      const half = ['\ud800', '\udfff'][at]
      const payer = { accountNo: `1${half}`, accountName: `A${half}`, bankCode: null }
      return paymentEvent(reference, s.clock(), { id: `e${half}`, paymentId: `p${half}`, payer })
    })
    expect((await tell(...events)).json.results).toMatchObject(
      events.map(({ id }) => ({ id, result: 'applied' })),
    )
    for (const event of events) {
      const repeated = await tell(event, { ...event, id: eventId() })
      expect(repeated.json.results).toMatchObject(Array(2).fill({ result: 'unchanged' }))
    }
    expect(await agent.balance()).toBe(200)
  })

  it('what is not an amount is recorded and refused', async () => {
    const { agent, id } = await deposit()
    for (const amountMinor of [0n, -100_00n, 2n ** 63n]) {
      const event = paymentEvent(id, s.clock(), { amountMinor })
      expect((await tell(event)).json.results).toMatchObject([{ result: 'refused' }])
      expect(await recorded(event.id)).toMatchObject([{ result: 'refused' }])
    }
    expect(await statusOf(agent, id)).toBe('WAITING')
  })
})

/** They move the clock, and with it what others do by themselves: so they come last. */
describe('what could not be acted on at once', () => {
  it('without a time in it is judged by when it came, however late it is acted on', async () => {
    const { agent, id } = await deposit({ expiresInS: 60 })
    const event = paymentEvent(id, null)
    // As by a process that died after it had put the notice on disk.
    await record(agent, event, { result: null, detail: null })
    await tryOnceMore(event.id)
    expect((await told(agent, id)).at(-1)).toBe('PAID')
    expect(await recorded(event.id)).toMatchObject([{ result: 'applied' }])
  })

  it('is answered 200 once it is on disk: an event that fails keeps no other from being acted on', async () => {
    const [one, two] = [await deposit(), await deposit()]
    const back = takenBack('not-yet', one.id)
    const poison = paymentEvent(one.id, s.clock(), { currency: 'XXX' as 'THB' })
    const payment = paymentEvent(two.id, s.clock())
    const answer = await tell(back, poison, payment)
    expect([answer.status, answer.json.results]).toEqual([
      200,
      [
        { id: back.id, result: 'open', detail: 'Payment not-yet is not known yet.' },
        { id: poison.id, result: 'open', detail: 'It could not be acted on yet.' },
        { id: payment.id, result: 'applied' },
      ],
    ])
    expect(await told(two.agent, two.id)).toEqual(['PAID'])
    const metrics = await (await fetch(`${s.service.url}/metrics`)).text()
    expect(metrics).toMatch(/^sluice_notice_events_open 2$/m)
    expect(metrics).toMatch(/^sluice_notice_events_oldest_seconds 0$/m)
    // The news of the payment comes; the poisoned event, which stays, is in nobody's way.
    await tell(paymentEvent(one.id, s.clock(), { paymentId: 'not-yet' }))
    await tryOnceMore(back.id)
    expect(await told(one.agent, one.id)).toEqual(['PAID', 'VOID'])
    expect(await recorded(back.id)).toMatchObject([{ result: 'applied', act_at: null }])
    expect(await recorded(poison.id)).toMatchObject([{ result: null }])
    // It reports money, which nobody can close.
    await expect(closeOpen(poison.id)).rejects.toThrow('This event reports money')
    await s.sql('delete from notice_events where event_id = $1', [poison.id])
  })

  it('is answered in time, however many of its events wait for one wallet', async () => {
    const [held, free] = [await deposit(), await deposit()]
    const orders: string[] = [held.id]
    for (let n = 0; n < 4; n++) orders.push((await held.agent.deposit()).json.txn_id)
    const events = [...orders, free.id].map((id) => paymentEvent(id, s.clock()))
    const owner = new pg.Client(s.database.ownerUrl)
    await owner.connect()
    await owner.query('begin')
    await owner.query('select from sluice.wallets where agent_id = $1 for update', [
      held.agent.agentId,
    ])
    const { status, json } = await tell(...events)
    // The first were waited for; the rest is on disk and was left, somebody else's too.
    expect(status).toBe(200)
    expect(json.results).toMatchObject(Array(6).fill({ result: 'open' }))
    await tryAgainUntil(() => isFinished(events.at(-1)?.id ?? ''))
    expect(await statusOf(free.agent, free.id)).toBe('PAID')
    await owner.query('rollback')
    await owner.end()
    await tryAgainUntil(async () => {
      const results = await Promise.all(events.map(({ id }) => isFinished(id)))
      return results.every((done) => done)
    })
    expect(await held.agent.balance()).toBe(500)
  })

  it('of one agent, however many, holds up no other agent’s', async () => {
    const [held, free] = [await deposit(), await deposit()]
    const owner = new pg.Client(s.database.ownerUrl)
    await owner.connect()
    await owner.query('begin')
    await owner.query('select from sluice.wallets where agent_id = $1 for update', [
      held.agent.agentId,
    ])
    // As a process left them that died after it had put them on disk; the other agent's came last.
    const left = (id: string, agentId: bigint, count: number, second: number) => {
      const { id: eventId, ...event } = paymentEvent(id, null)
      const text = JSON.stringify({ ...event, id: eventId, amountMinor: '10000' })
      return s.sql(
        `insert into notice_events (agent_id, provider, event_id, received_at, event, act_at)
         select $1::bigint, 'bank', 'left-' || $1::bigint || '-' || n, $2::timestamptz,
           replace($3::text, '"pay-', '"' || n || '-pay-'), $2::timestamptz + $5 * interval '1 second'
         from generate_series(1, $4) n`,
        [agentId, s.clock(), text, count, second],
      )
    }
    await left(held.id, held.agent.agentId, 400, 0)
    await left(free.id, free.agent.agentId, 1, 1)
    const isPaid = () => isFinished(`left-${free.agent.agentId}-1`)
    await expect
      .poll(
        async () => {
          s.clock.advance(2_000)
          return isPaid()
        },
        // Far sooner than all of the other agent's have been waited for in vain.
        { ...patient, timeout: 90_000 },
      )
      .toBe(true)
    expect(await statusOf(free.agent, free.id)).toBe('PAID')
    await owner.query('rollback')
    await owner.end()
    await s.sql('delete from notice_events where agent_id = $1 and result is null', [
      held.agent.agentId,
    ])
  })

  it('whose events were left over is acted on once, by however many processes', async () => {
    const orders = await Promise.all(Array.from({ length: 10 }, () => deposit()))
    const events = orders.map(({ id }) => takenBack(`later-${id}`, id))
    await tell(...events)
    for (const { id } of orders) {
      await tell(paymentEvent(id, s.clock(), { paymentId: `later-${id}` }))
    }
    await tryAgainUntil(async () => {
      const results = await Promise.all(events.map(({ id }) => isFinished(id)))
      return results.every((done) => done)
    })
    for (const { agent, id } of orders) {
      expect([await told(agent, id), await agent.balance()]).toEqual([['PAID', 'VOID'], 0])
    }
  })

  it('with an event that cannot be read back from disk has the others acted on', async () => {
    const [broken, whole] = await Promise.all([deposit(), deposit()])
    const events = [broken, whole].map(({ id }) => takenBack(`unread-${id}`, id))
    await tell(...events)
    const [first, second] = events.map(({ id }) => id)
    await s.sql(`update notice_events set event = '{' where event_id = $1`, [first])
    await tell(paymentEvent(whole.id, s.clock(), { paymentId: `unread-${whole.id}` }))
    await tryAgainUntil(() => isFinished(second ?? ''))
    expect(await recorded(first ?? '')).toMatchObject([
      { result: null, detail: 'It could not be acted on yet.' },
    ])
    await s.sql(`delete from notice_events where event_id = $1`, [first])
  })
})
