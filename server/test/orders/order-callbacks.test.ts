import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastCallback, queued, utc } from '../support/order-answers.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterAll(async () => {
  await s.prove()
  await s.close()
})

describe('callbacks', () => {
  const always = [
    'refId',
    'transactionId',
    'userId',
    'amount',
    'fee',
    'status',
    'extParams',
    'successAt',
    'wallet',
  ]

  test.each([
    ['deposit', ['PAID'], 1, 99],
    ['deposit', ['FAILED'], 0, 0],
    ['deposit', ['EXPIRED'], 0, 0],
    ['deposit', ['VOID'], 0, 0],
    ['deposit', ['PAID', 'VOID'], 0, 0],
    ['withdraw', ['PAID'], 2, 898],
    ['withdraw', ['FAILED'], 0, 1000],
    ['withdraw', ['CANCEL'], 0, 1000],
    ['withdraw', ['PAID', 'REVERT'], 0, 1000],
  ] as const)(
    'a %s that is %j tells exactly the fields of the contract',
    async (kind, steps, fee, balance) => {
      const agent = await s.agent({ depositFee: '1%', withdrawFee: '2' })
      if (kind === 'withdraw') {
        await s.sql(`update agents set deposit_fee = '0%' where agent_id = $1`, [agent.agentId])
        await agent.fund(1000)
      }
      const { txn_id, ref_id } = (await agent[kind]({ userId: 'u-9', ...queued })).json
      for (const step of steps) {
        s.clock.advance(1000)
        await agent.trigger(txn_id, step)
      }
      const { event, json } = await lastCallback(agent)
      expect(Object.keys(json)).toEqual(always)
      expect(json).toEqual({
        refId: ref_id,
        transactionId: txn_id,
        userId: 'u-9',
        amount: 100,
        fee,
        status: steps.at(-1),
        extParams: queued.extraParams,
        successAt: utc(s.clock()),
        wallet: { balance },
      })
      expect(Object.keys(event)).toEqual([
        'seq',
        'epoch',
        'txn_id',
        'ref_id',
        'kind',
        'status',
        'at',
        'delivery',
        'body',
      ])
      expect(event).toMatchObject({
        txn_id,
        ref_id,
        kind,
        status: steps.at(-1),
        at: json.successAt,
      })
      expect([
        'waiting',
        'sending',
        'delivered',
        'exhausted',
        'no_address',
        'superseded',
        'paused',
      ]).toContain(event.delivery)
    },
  )

  test('a returned payout whose fee is kept tells that fee', async () => {
    const agent = await s.agent({ withdrawFee: '2', revertFee: 'keep' })
    await agent.fund(1000)
    const { txn_id } = (await agent.withdraw(queued)).json
    await agent.trigger(txn_id, 'PAID')
    await agent.trigger(txn_id, 'REVERT')
    expect((await lastCallback(agent)).json).toMatchObject({ fee: 2, wallet: { balance: 998 } })
  })

  test('an account number is kept without what groups its digits', async () => {
    const agent = await s.agent()
    const { json } = await agent.deposit({ accountNo: ' 123-4 56789-0 ' })
    const { rows } = await s.sql('select account_no from orders where order_id = $1', [
      json.txn_id.split('-')[1],
    ])
    expect(rows).toEqual([{ account_no: '1234567890' }])
  })

  test('an order without extraParams has extParams {}', async () => {
    const agent = await s.agent()
    await agent.fund(100)
    expect((await lastCallback(agent)).text).toContain('"extParams":{},')
  })

  test.each([
    ['spacing', '{ "a" :\t1,\n  "b": [ ] }'],
    ['an empty object with spacing', '{ \r\n }'],
    ['the order of keys', '{"b":1,"a":2,"10":3,"9":4}'],
    ['escapes', '{"\\u0061":"\\u00e9\\/\\b\\"\\\\","e":"é/"}'],
    ['an emoji and its escape', '{"a":"😀","b":"\\ud83d\\ude00"}'],
    ['a NUL escape', '{"a":"\\u0000"}'],
    ['half an emoji by its escape', '{"a":"\\ud83d"}'],
    [
      'numbers beyond doubles',
      '{"a":12345678901234567890,"b":0.1000000000000000055511151231257827}',
    ],
    ['numbers spelled oddly', '{"a":1.0,"b":1E+2,"c":-0,"d":1e400}'],
    ['__proto__', '{"__proto__":{"x":1}}'],
    ['markup', '{"a":"</script><!-- & \'"}'],
    ['Thai', '{"ชื่อ":"สมชาย"}'],
    ['a dollar pattern', '{"a":"$& $1 $$"}'],
  ])('extParams is the very text that was sent: %s', async (_what, text) => {
    const agent = await s.agent()
    await agent.fund(500)
    for (const kind of ['deposit', 'withdraw'] as const) {
      const order = JSON.stringify(agent.order()).replace(/\}$/, () => `,"extraParams": ${text} }`)
      const created = await agent.send('POST', `/payment/${kind}`, order)
      expect(created.status).toBe(201)
      await agent.trigger(created.json.txn_id, 'FAILED')
      const { text: body } = await lastCallback(agent)
      expect(body).toContain(`,"extParams":${text},"successAt":`)
    }
  })

  test.each([
    ['1234567890', false],
    ['123-4-56789-0', false],
    ['9999999999', true],
    ['***456789*', false],
    // What a mask shows is no full number.
    ['***456780*', undefined],
    ['1234', true],
  ])(
    'the payer %s is told, and whether it is another one: %s',
    async (payerAccountNo, isAnother) => {
      const agent = await s.agent()
      const { txn_id } = (await agent.deposit({ accountNo: '1234567890' })).json
      await agent.trigger(txn_id, 'PAID', { payerAccountNo })
      const { json } = await lastCallback(agent)
      const flag = isAnother === undefined ? [] : ['flag_incorrect_payee']
      expect(Object.keys(json)).toEqual([...always, ...flag, 'payee'])
      expect(json.flag_incorrect_payee).toBe(isAnother)
      expect(json.payee).toEqual({
        account_no: payerAccountNo,
        account_name: null,
        bank_code: null,
      })
      expect(json.status).toBe('PAID')
    },
  )

  test('a later outcome leaves the earlier callback as it was', async () => {
    const agent = await s.agent()
    const { txn_id } = (await agent.deposit()).json
    await agent.trigger(txn_id, 'PAID')
    const first = await lastCallback(agent)
    s.clock.advance(60_000)
    await agent.fund(500)
    await agent.trigger(txn_id, 'VOID')
    const { data } = (await agent.get('/payment/events')).json
    expect(data[0]).toMatchObject({ seq: first.event.seq, body: first.text, status: 'PAID' })
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['PAID', 'PAID', 'VOID'])
  })
})

describe('the time zone', () => {
  test('TIME_ZONE is the zone of every time that leaves the service', async () => {
    const bangkok = await startTestService({ beside: s, env: { TIME_ZONE: 'Asia/Bangkok' } })
    try {
      const agent = await bangkok.agent({ expiresInS: 86_400 })
      const local = () => utc(new Date(s.clock().getTime() + 7 * 3_600_000))
      const createdAt = local()
      const created = await agent.deposit()
      s.clock.advance(3_600_000)
      const late = local()
      expect(created.json.created_at).toBe(createdAt)
      // By this very service: a notice of the bank may be taken by the other.
      const { json } = await agent.post(`/payment/orders/${created.json.txn_id}/cancel`)
      expect(json).toMatchObject({ created_at: createdAt, completed_at: late })
      const { event, json: body } = await lastCallback(agent)
      expect([event.at, body.successAt]).toEqual([late, late])
      expect((await agent.get('/payment/wallet/entries')).json.data[0].at).toBe(late)
    } finally {
      await bangkok.close()
    }
  })
})
