import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { nextCutoff } from '../../src/payout-files/banking-day.ts'
import { fileSummary } from '../../src/payout-files/file-view.ts'
import { readPayoutFiles } from '../../src/payout-files/payout-file.ts'
import { draftBeforeCutoffs, dueCutoff } from '../../src/payout-files/schedule-drafts.ts'
import { type OperatorClient, signIn } from '../support/operator.ts'
import { type PayingAccount, payingAccount, withdrawals } from '../support/payout-files.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
let account: PayingAccount

beforeAll(async () => {
  s = await startTestService()
  agent = await s.agent({ maxWithdraw: 1_000_000n, maxDeposit: 10_000_000n })
  await agent.fund(100_000)
  account = await payingAccount(s, {
    payoutCutoffs: '11:00,15:30',
    payoutDraftBefore: 20,
    payoutFileLimitMinor: 30_000n,
  })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const run = () =>
  draftBeforeCutoffs(s.service.desk, (error) => {
    throw error
  })

/** The account's files, the newest first; sessions end while the clock is moved. */
async function files() {
  const { pool } = s.backend
  const found = await readPayoutFiles(pool, { account: account.name, before: null, limit: 100 })
  return Promise.all(found.map((file) => fileSummary(pool, file, (minor) => Number(minor) / 100)))
}

/** Moves the clock to some minutes before the next cut-off. */
function untilBefore(minutes: number): void {
  const next = nextCutoff(account.account, s.clock())
  if (!next) throw new Error('no cut-off')
  s.clock.advance(next.getTime() - minutes * 60_000 - s.clock().getTime())
}

it('before each cut-off one draft is made, by whichever process, within the ceilings', async () => {
  untilBefore(0.5)
  s.clock.advance(120_000)
  untilBefore(21)
  await withdrawals(s, agent, account, 100, 200)
  await run()
  expect(await files()).toEqual([])
  untilBefore(19)
  await Promise.all([run(), run(), run(), run()])
  expect(await files()).toMatchObject([{ made_by: 'schedule', sum: 300 }])
  await withdrawals(s, agent, account, 150)
  await run()
  expect(await files()).toHaveLength(1)
  // For the next cut-off there is another one.
  untilBefore(0.1)
  s.clock.advance(120_000)
  await run()
  expect(await files()).toHaveLength(1)
  untilBefore(19)
  await run()
  expect(await files()).toMatchObject([{ sum: 150 }, { sum: 300 }])
})

it('while nothing waits there is no draft, and what comes before the cut-off has one', async () => {
  untilBefore(0.1)
  s.clock.advance(120_000)
  untilBefore(19)
  const before = (await files()).length
  await run()
  expect(await files()).toHaveLength(before)
  await withdrawals(s, agent, account, 120)
  await run()
  expect(await files()).toHaveLength(before + 1)
})

it('a draft that nobody signed in to make takes two people', async () => {
  const [operator, other] = [await signIn(s, 'operator'), await signIn(s, 'operator')]
  const approver = await signIn(s, 'admin')
  const [file] = await files()
  if (!file) throw new Error('no file')
  const approve = (by: OperatorClient) =>
    by.post(`/payout-files/${file.id}/approve`, { digest: file.digest, code: by.code() })
  expect((await approve(operator)).json.code).toBe('not_permitted')
  expect((await approve(approver)).json.state).toBe('approved')
  const reason = 'to bring it to the bank'
  const take = (by: OperatorClient) =>
    by.post(`/payout-files/${file.id}/export`, { reason, code: by.code() })
  expect((await take(approver)).json.code).toBe('same_person')
  // Who could sign in as the approver, or whom the approver could sign in as, is no second person.
  const tie = (one: OperatorClient, by: OperatorClient) =>
    s.sql(
      `insert into user_credentials (user_id, n, reset_by, made_at)
       select o.user_id, 7, b.user_id, now() from users o, users b where o.email = $1 and b.email = $2`,
      [one.email, by.email],
    )
  await tie(operator, approver)
  expect((await take(operator)).json.code).toBe('same_person')
  const third = await signIn(s, 'operator')
  expect((await take(third)).status).toBe(200)
  const sent = (by: OperatorClient) =>
    by.post(`/payout-files/${file.id}/sent`, { bank_reference: 'B-1', code: by.code() })
  expect((await sent(approver)).json.code).toBe('same_person')
  expect((await sent(operator)).json.code).toBe('same_person')
  expect((await sent(other)).json).toMatchObject({ state: 'sent' })
})

it.each([
  ['on a working day, in time', '2026-11-17T08:15:00Z', true],
  ['earlier than asked for', '2026-11-17T08:09:00Z', false],
  ['after the last cut-off', '2026-11-17T08:31:00Z', false],
  ['on a Saturday', '2026-11-21T08:15:00Z', false],
  ['on a holiday', '2026-11-18T08:15:00Z', false],
])('a draft is due %s', (_, now, isDue) => {
  const own = { ...account.account, payoutHolidays: '2026-11-18' }
  expect(dueCutoff(own, new Date(now)) !== null).toBe(isDue)
})

it('an account that is unconfirmed, or whose people make the drafts, has none made', () => {
  const now = new Date('2026-11-17T08:15:00Z')
  expect(dueCutoff({ ...account.account, confirmedAt: null }, now)).toBeNull()
  expect(dueCutoff({ ...account.account, payoutDraftBefore: null }, now)).toBeNull()
  expect(dueCutoff({ ...account.account, payout: 'none' }, now)).toBeNull()
})
