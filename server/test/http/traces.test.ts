import { afterAll, expect, it, vi } from 'vitest'
import { FakeProvider, fundedAgent, paymentEvent } from '../support/fake-provider.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** An order's way can be followed, from its request to its callback; and nobody waits for whoever follows it. */

interface Told {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]
  links: { traceId: string; spanId: string }[]
}

const opened: { close(): Promise<unknown> }[] = []
afterAll(async () => {
  for (const each of opened.reverse()) await each.close()
})

async function open<T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> {
  const one = await opening
  opened.push(one)
  return one
}

const serviceWith = (env: Record<string, string>, bank: FakeProvider): Promise<TestService> =>
  startTestService({ env, outside: { providers: [bank], paysOut: true } })

const spansAt = (collector: Receiver): Told[] =>
  collector.received.flatMap(({ json }) =>
    json.resourceSpans.flatMap((each: { scopeSpans: { spans: Told[] }[] }) =>
      each.scopeSpans.flatMap(({ spans }) => spans),
    ),
  )

/** Waits for the spans of a trace, by their names. */
async function spansOf(collector: Receiver, traceId: string, names: string[]): Promise<Told[]> {
  const own = () => spansAt(collector).filter((span) => span.traceId === traceId)
  await expect.poll(() => own().map(({ name }) => name)).toEqual(expect.arrayContaining(names))
  return own()
}

const named = (spans: Told[], name: string): Told => {
  const found = spans.find((span) => span.name === name)
  if (!found) throw new Error(`there is no span ${name}`)
  return found
}
const said = (span: Told, key: string) =>
  span.attributes.find((each) => each.key === key)?.value.stringValue

const orderIdOf = (txnId: string) => txnId.split('-')[1] ?? ''

it('a deposit and a withdrawal are one story each, from the request to the callback', async () => {
  const collector = await open(startReceiver())
  const receiver = await open(startReceiver())
  const bank = new FakeProvider('bank')
  bank.onSubmit = async () => ({ type: 'paid' })
  const s = await open(
    serviceWith(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=of%20the%20house',
        OTEL_SERVICE_NAME: 'tills',
        // The collector is this process, which may be slow.
        OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      },
      bank,
    ),
  )
  const urls = { depositCallbackUrl: receiver.url, withdrawCallbackUrl: receiver.url }
  const agent = await fundedAgent(s, urls)

  // A request without a trace begins the order's, whose id is the order's.
  const made = await agent.deposit({ refId: 'in-1' })
  const deposit = orderIdOf(made.json.txn_id)
  const told = await bank.tell(s.service.url, paymentEvent(made.json.txn_id, s.clock()))
  expect(told.status).toBe(200)
  await receiver.until(1)
  expect(receiver.received[0]?.headers.traceparent).toMatch(
    new RegExp(`^00-${deposit}-[0-9a-f]{16}-01$`),
  )
  const ofDeposit = await spansOf(collector, deposit, [
    ...['POST /payment/deposit', 'teller create', 'teller receive_payment', 'callback'],
  ])
  const request = named(ofDeposit, 'POST /payment/deposit')
  expect(request.parentSpanId).toBeUndefined()
  for (const name of ['teller create', 'teller receive_payment', 'callback']) {
    expect(named(ofDeposit, name).parentSpanId, name).toBe(request.spanId)
  }
  const callback = named(ofDeposit, 'callback')
  expect(receiver.received[0]?.headers.traceparent).toContain(callback.spanId)
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of ofDeposit) {
    expect(BigInt(from) <= BigInt(to)).toBe(true)
  }
  // What the notice led to names the notice, and the other way round; so do batches and their commands.
  const received = named(ofDeposit, 'teller receive_payment')
  expect(said(received, 'sluice.cause')).toBe('POST /providers/:name/notices')
  const linked = (from: Told, name: string) =>
    spansAt(collector).find(
      (span) =>
        span.name === name &&
        from.links.some(
          ({ traceId, spanId }) => traceId === span.traceId && spanId === span.spanId,
        ),
    )
  for (const name of ['teller batch', 'POST /providers/:name/notices']) {
    await expect.poll(() => linked(received, name), { message: name }).toBeDefined()
  }
  const notice = linked(received, 'POST /providers/:name/notices')
  expect(notice?.links).toContainEqual({ traceId: deposit, spanId: request.spanId })
  expect(linked(received, 'teller batch')?.links).toContainEqual({
    ...{ traceId: received.traceId, spanId: received.spanId },
  })

  // One with a trace stays in it; it and the order's are linked.
  const [theirs, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const body = JSON.stringify(agent.order({ refId: 'out-1' }))
  const traceparent = `00-${theirs}-${span}-01`
  const out = await agent.send('POST', '/payment/withdraw', body, { traceparent })
  const withdrawal = orderIdOf(out.json.txn_id)
  await receiver.until(2)
  const ofTheirs = await spansOf(collector, theirs, ['POST /payment/withdraw'])
  const asked = named(ofTheirs, 'POST /payment/withdraw')
  expect(asked).toMatchObject({ parentSpanId: span, kind: 2 })
  const ofWithdrawal = await spansOf(collector, withdrawal, [
    ...['teller create', 'teller hand_over', 'provider pay', 'teller outcome', 'callback'],
  ])
  const first = named(ofWithdrawal, 'teller create')
  expect(first.parentSpanId).toBeUndefined()
  expect(first.links).toContainEqual({ traceId: theirs, spanId: asked.spanId })
  expect(asked.links).toContainEqual({ traceId: withdrawal, spanId: first.spanId })
  expect(said(named(ofWithdrawal, 'provider pay'), 'sluice.outcome')).toBe('paid')
  for (const name of ['teller hand_over', 'provider pay', 'teller outcome', 'callback']) {
    expect(named(ofWithdrawal, name).parentSpanId, name).toBe(first.spanId)
  }
  // A repeat leads to the order that was created first; a trace that is not kept is not told.
  await agent.send('POST', '/payment/withdraw', body, { traceparent: '00-zz-not-a-trace-01' })
  const repeated = () =>
    spansAt(collector).filter(({ name, links }) => {
      return name === 'teller create' && links.some(({ traceId }) => traceId === withdrawal)
    })
  await expect.poll(() => repeated().length).toBe(1)
  const unkept = 'a'.repeat(32)
  await agent.send('GET', '/payment/wallet', undefined, { traceparent: `00-${unkept}-${span}-00` })
  const kept = 'b'.repeat(32)
  await agent.send('GET', '/payment/wallet', undefined, { traceparent: `00-${kept}-${span}-01` })
  await spansOf(collector, kept, ['GET /payment/wallet'])
  expect(spansAt(collector).filter(({ traceId }) => traceId === unkept)).toEqual([])

  // Where to, and without anything personal or secret.
  const [post] = collector.received
  expect(post?.path).toBe('/otlp/v1/traces')
  expect(post?.headers['x-api-key']).toBe('of the house')
  expect(post?.json.resourceSpans[0].resource.attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'tills' } },
  ])
  const all = collector.received.map((each) => each.body).join('\n')
  for (const text of ['1234567890', 'Somchai', 'user-1', 'in-1', 'out-1', agent.secret]) {
    expect(all, text).not.toContain(text)
  }

  // A histogram shows the trace of one that it counted, in the format that has room for it.
  const metrics = async (accept: string) => {
    const answer = await fetch(`${s.service.url}/metrics`, { headers: { accept } })
    return { type: answer.headers.get('content-type'), text: await answer.text() }
  }
  const series = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('sluice_') && !line.startsWith('sluice_http'))
      .map((line) => line.replace(/[} ].*/, ''))
  const both = async () => ({
    plain: await metrics('text/plain'),
    examples: await metrics('application/openmetrics-text;version=1.0.0,text/plain;q=0.5'),
  })
  // Both have the same series; something may be counted for the first time between the two.
  let { plain, examples } = await both()
  await vi.waitFor(
    async () => {
      ;({ plain, examples } = await both())
      expect(series(examples.text)).toEqual(series(plain.text))
    },
    { timeout: 120_000 },
  )
  expect(examples.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(examples.text).toMatch(/\n# EOF\n$/)
  expect(examples.text).toMatch(
    new RegExp(
      `sluice_http_request_seconds_bucket\\{.*route="/payment/deposit".*\\} \\d+ # \\{trace_id="${deposit}",span_id="${request.spanId}"\\}`,
    ),
  )
  expect(examples.text).toMatch(/sluice_callback_seconds_bucket\{.*\} \d+ # \{trace_id="/)
  expect(examples.text).toContain('# TYPE sluice_orders counter')
  expect(examples.text).toContain('sluice_orders_total{')
  expect(plain.text).not.toContain('trace_id')
  expect(plain.text).toMatch(/sluice_spans_total\{result="sent"\} \d+/)
  await s.prove()
})

it('a collector that is down or hangs costs nothing, and without one nothing is told', async () => {
  const hung = await open(startReceiver())
  hung.answer = () => {}
  const bank = new FakeProvider('bank')
  // Without a sender: the other service has one.
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: hung.url, OTEL_TRACES_SAMPLER_ARG: '1', ROLE: 'api' }
  const s = await open(serviceWith(env, bank))
  const agent = await s.agent()
  expect((await agent.deposit()).status).toBe(201)
  await hung.until(1)
  // It has not answered yet, and nobody waits for it: neither orders nor the end.
  expect((await agent.deposit()).status).toBe(201)
  await hung.close()
  const dropped = async () =>
    Number(
      /sluice_spans_total\{result="dropped"\} (\d+)/.exec(
        await (await fetch(`${s.service.url}/metrics`)).text(),
      )?.[1] ?? 0,
    )
  await expect.poll(dropped).toBeGreaterThan(0)
  expect((await agent.deposit()).status).toBe(201)
  await s.prove()

  const receiver = await open(startReceiver())
  const off = await open(startTestService({ beside: s, outside: { providers: [bank] } }))
  expect(off.service.desk.tracer).toBeUndefined()
  const untold = await off.agent({ depositCallbackUrl: receiver.url })
  const { json } = await untold.deposit()
  await bank.tell(off.service.url, paymentEvent(json.txn_id, off.clock()))
  await receiver.until(1)
  expect(receiver.received[0]?.json.transactionId).toBe(json.txn_id)
  expect(receiver.received[0]?.headers.traceparent).toBeUndefined()
})
