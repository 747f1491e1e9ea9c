import { afterAll, beforeAll, expect, test } from 'vitest'
import { inParallel } from '../../src/lib/in-parallel.ts'
import { camt, dayAt, daysOf, importFile } from '../support/bank-accounts.ts'
import { usually } from '../support/long.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { payingAccount } from '../support/payout-files.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** How many withdrawals a day has. Ten thousand, for a longer look: PAYOUTS=10000 */
const total = Number(process.env.PAYOUTS ?? usually(60, { long: 200 }))

let s: TestService
let receiver: Receiver
let maker: OperatorClient
let checker: OperatorClient

beforeAll(async () => {
  s = await startTestService()
  receiver = await startReceiver()
  maker = await signIn(s, 'operator')
  checker = await signIn(s, 'admin')
})
afterAll(async () => {
  await s.prove()
  await s.close()
  await receiver.close()
})

test(
  'a day of withdrawals leaves by one file, and every agent is told of each payment once',
  async () => {
    const account = await payingAccount(s)
    const startedAt = performance.now()
    const seconds: string[] = []
    const lap = (what: string) =>
      seconds.push(`${what} ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
    const agents = await Promise.all(
      Array.from({ length: 4 }, () =>
        s.agent({
          withdrawCallbackUrl: receiver.url,
          maxWithdraw: 1_000_000n,
          maxDeposit: 1_000_000_000n,
        }),
      ),
    )
    for (const agent of agents) await agent.fund(1_000_000)
    const told = receiver.received.length
    await inParallel(
      32,
      Array.from({ length: total }, (_, n) => n),
      async (n) => {
        const answer = await agents[n % agents.length]?.withdraw({
          amount: 100 + (n % 50),
          bankCode: account.bank,
        })
        if (answer?.status !== 201) throw new Error(answer?.text)
      },
    )
    lap('created')
    const { json: drafted } = await maker.post('/payout-files', { account: account.name })
    expect(drafted.count).toBe(total)
    lap('drafted')
    const approved = await checker.post(`/payout-files/${drafted.id}/approve`, {
      digest: drafted.digest,
      code: checker.code(),
    })
    expect(approved.status, approved.text.slice(0, 500)).toBe(200)
    // So many take longer than an answer: what is left a worker does.
    const now = async () => (await maker.get(`/payout-files/${drafted.id}`)).json
    await expect
      .poll(async () => (await now()).state, { interval: 200, timeout: 60_000 + total * 50 })
      .toBe('approved')
    const file = await now()
    lap('approved and sealed')
    const { text } = await maker.post(`/payout-files/${file.id}/export`, {
      reason: 'for the bank',
      code: maker.code(),
    })
    expect(text).toContain(`<NbOfTxs>${total}</NbOfTxs>`)
    await checker.post(`/payout-files/${file.id}/sent`, {
      bank_reference: 'B-1',
      code: checker.code(),
    })
    const items: { code: string; amount: number }[] = file.items
    const lines = items.map(({ code, amount }) => ({
      amount: `-${amount.toFixed(2)}`,
      endToEndId: code,
    }))
    const sum = items.reduce((all, { amount }) => all + amount, 0)
    const day = dayAt(s.clock())
    await importFile(
      s,
      account,
      camt({ ...account, day, opening: sum.toFixed(2), closing: '0.00', lines }),
    )
    lap('debits booked')
    await expect
      .poll(async () => (await now()).state, { interval: 200, timeout: 60_000 + total * 50 })
      .toBe('closed')
    lap('closed')
    await receiver.until(told + total)
    lap('last callback')
    const statuses = receiver.received.slice(told).map(({ json }) => json.status)
    expect(statuses).toHaveLength(total)
    expect(new Set(statuses)).toEqual(new Set(['PAID']))
    expect(new Set(receiver.received.slice(told).map(({ json }) => json.transactionId)).size).toBe(
      total,
    )
    expect(await daysOf(s, account)).toEqual([`${day} green`])
    console.info(`${total} withdrawals: ${seconds.join(', ')}`)
  },
  600_000 + total * 150,
)
