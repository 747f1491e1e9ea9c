import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findBankAccount } from '../../src/bank-accounts/bank-account.ts'
import { importBankFile } from '../../src/payments/import-bank-file.ts'
import { booked, camt, dayAt, push, routed } from '../support/bank-accounts.ts'
import { acceptInvitation, type OperatorClient, signIn } from '../support/operator.ts'
import { goToMorning } from '../support/payout-files.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Bank accounts in live, through the console's API: who may do what, and what takes two people. */

let s: TestService
let agent: AgentClient
let maker: OperatorClient
let other: OperatorClient
let operator: OperatorClient
let second: OperatorClient

beforeAll(async () => {
  s = await startTestService({
    env: { MODE: 'live', PUBLIC_URL: 'https://pay.example.com', METRICS_TOKEN: 'x'.repeat(32) },
    outside: { providers: [] },
  })
  // What follows happens on one day of the bank.
  goToMorning(s.clock)
  agent = await s.agent()
  maker = await signIn(s, 'admin')
  other = await signIn(s, 'admin')
  operator = await signIn(s, 'operator')
  second = await signIn(s, 'operator')
})
afterEach(() => s.prove())
afterAll(() => s.close())

const reason = 'as agreed in the morning'
const base64 = (bytes: Buffer) => bytes.toString('base64')

const terms = {
  bank: 'KBANK',
  account_no: '123-4-56789-0',
  account_name: 'Acme Co Ltd',
  city: null,
  address: null,
  qr_kind: 'promptpay-mobile',
  qr_value: '0801234567',
  day_limit: null,
  file_limit: '0',
  feed: 'signed',
  zone: 'Asia/Bangkok',
  csv_profile: null,
  encoding: null,
  own_accounts: [],
}

async function make(name: string, more: Record<string, unknown> = {}, as = maker) {
  const body = { name, currency: 'THB', ...terms, route: true, reason, ...more }
  return as.post('/bank-accounts', { ...body, code: as.code() })
}

async function confirm(name: string, as: OperatorClient, more: Record<string, unknown> = {}) {
  const { version } = (await maker.get(`/bank-accounts/${name}`)).json
  const body = { version, reason, ...more }
  return as.post(`/bank-accounts/${name}/confirm`, { ...body, code: as.code() })
}

const change = async (name: string, more: Record<string, unknown>, as = maker) => {
  const { version } = (await maker.get(`/bank-accounts/${name}`)).json
  const body = { ...terms, version, reason, ...more }
  return as.send('PATCH', `/bank-accounts/${name}`, { ...body, code: as.code() })
}

const stateOf = async (name: string) => (await maker.get(`/bank-accounts/${name}`)).json.state

describe('an account', () => {
  let secret: string

  it('takes deposits once another person has confirmed it with a code, and not before', async () => {
    const made = await make('kbank')
    expect(made.status, made.text).toBe(201)
    secret = made.json.feed_secret
    expect(secret).toMatch(/^fs_[0-9a-f]{64}$/)
    expect(made.json.account).toMatchObject({ state: 'unconfirmed', match: 'amount', expected: 0 })
    expect((await maker.get('/bank-accounts/kbank')).text).not.toContain(secret)
    expect((await agent.deposit()).status).toBe(503)
    const own = await confirm('kbank', maker)
    expect([own.status, own.json.code]).toEqual([403, 'not_permitted'])
    const without = await other.post('/bank-accounts/kbank/confirm', { version: 1, reason })
    expect([without.status, without.json.code]).toEqual([403, 'code_required'])
    const done = await confirm('kbank', other)
    expect(done.json.account).toMatchObject({ state: 'on', confirmed_by: other.email })
    await routed(s, 'kbank')
    expect((await agent.deposit()).status).toBe(201)
  })

  it('cannot be confirmed by its maker in the database either', async () => {
    const itself = s.sql(`update bank_accounts set confirmed_by = created_by where name = 'kbank'`)
    await expect(itself).rejects.toMatchObject({ constraint: 'bank_accounts_two_people' })
  })

  it('whose number is changed waits again, is told to all, and its pushes are not believed', async () => {
    const { json } = await change('kbank', { account_no: '9998887776' }, other)
    expect(json.account).toMatchObject({ state: 'unconfirmed', changed: 'account_no' })
    expect(json.account.former_numbers).toEqual(['1234567890'])
    const notices = (await operator.get('/bank-account-changes')).json.data
    expect(notices).toMatchObject([{ name: 'kbank', changed: 'account_no', by: other.email }])
    const account = { name: 'kbank', currency: 'THB' } as never
    await push(s, { account, secret }, { id: 'p-1', amount: '77.01' })
    const listed = await operator.get('/bank-accounts/kbank/movements')
    expect(listed.json.data).toMatchObject([{ amount: 77.01, state: 'unconfirmed' }])
    expect((await confirm('kbank', other)).status).toBe(403)
    // Who made it may confirm what somebody else changed.
    expect((await confirm('kbank', maker)).json.account.state).toBe('on')
    await change('kbank', { account_no: '9998887776', day_limit: '50000' })
    expect(await stateOf('kbank')).toBe('on')
  })

  it('gets a new feed secret, shown once, and waits for the second person again', async () => {
    const { version } = (await maker.get('/bank-accounts/kbank')).json
    const body = { version, reason, code: maker.code() }
    const { json } = await maker.post('/bank-accounts/kbank/feed-secret', body)
    expect(json.feed_secret).toMatch(/^fs_/)
    expect(json.feed_secret).not.toBe(secret)
    expect(json.account).toMatchObject({ state: 'unconfirmed', changed: 'feed_secret' })
    const { rows } = await s.sql('select before, after from audit_log')
    expect(JSON.stringify(rows)).not.toContain(json.feed_secret)
    expect((await confirm('kbank', other)).status).toBe(200)
    secret = json.feed_secret
  })

  it('with the QR code of its bank takes deposits only after a real test payment', async () => {
    const template = '00020101021129370016A000000677010111011300668012345675802TH530376463046197'
    const qr = {
      qr_kind: 'template',
      qr_value: template,
      account_no: '5550001112',
      match: 'amount',
      route: false,
    }
    expect((await make('shop', qr)).status).toBe(201)
    const refused = await confirm('shop', other)
    expect([refused.status, refused.json.errors?.[0].field]).toEqual([422, 'test_payment'])
    const test_payment = {
      amount: '1.07',
      paid_at: new Date(s.clock().getTime() - 60_000).toISOString(),
      paid_by: 'Malee at the till',
    }
    const done = await confirm('shop', other, { test_payment })
    expect(done.json.account.test_payment).toMatchObject({
      amount: 1.07,
      paid_by: 'Malee at the till',
    })
  })

  it('is refused in words where something is wrong, and under a number or a name that is taken', async () => {
    const wrong = await make('wrong', { qr_value: '12', account_no: '1' })
    expect(wrong.status).toBe(422)
    expect(wrong.json.errors).toEqual([
      { field: 'account_no', message: 'must be 4 to 34 letters and digits' },
    ])
    const taken = await make('kbank', { account_no: '1110001112' })
    expect(taken.json.errors[0]).toMatchObject({ field: 'name' })
    const number = await make('twin', { account_no: '9998887776' })
    expect(number.json.errors[0]).toMatchObject({ field: 'account_no' })
  })

  it('is not changed by who read an older version', async () => {
    const body = { ...terms, version: 1, reason, code: maker.code() }
    const late = await maker.send('PATCH', '/bank-accounts/kbank', body)
    expect([late.status, late.json.code]).toEqual([409, 'changed_meanwhile'])
  })
})

describe('a preview', () => {
  const draft = (more: Record<string, unknown> = {}) =>
    maker.post('/bank-accounts/preview', {
      name: 'trial',
      currency: 'THB',
      ...terms,
      sample: null,
      ...more,
    })

  it('shows the QR code, and ten lines of a file, before anything is saved', async () => {
    const account = { accountNo: '1234567890', currency: 'THB' } as const
    const lines = Array.from({ length: 12 }, (_, at) => ({
      amount: `${at + 1}.00`,
      text: `L${at}`,
    }))
    const sample = { content: base64(camt({ account, day: '2026-11-16', lines })) }
    const { json } = await draft({ sample })
    expect(json.errors).toEqual([])
    expect(json.payer_sees).toMatchObject({ amount: 100, payable: 100.07, code: null })
    expect(json.payer_sees.qr.text).toContain('5406100.07')
    expect(json.payer_sees.qr.picture).toMatch(/^data:image\/png;base64,/)
    expect(json.sample).toMatchObject({ refused: null, format: 'camt.053.001.04', entries: 12 })
    expect(json.sample.first).toHaveLength(10)
    expect(json.sample.first[1]).toMatchObject({ day: '2026-11-16', amount: 2, text: 'L1' })
    expect((await maker.get('/bank-accounts/trial')).status).toBe(404)
  })

  it('says what is wrong with the account and with the file', async () => {
    const { json } = await draft({
      qr_value: 'nobody',
      sample: { content: base64(Buffer.from('<?xml version="1.0"?><!DOCTYPE a><a/>')) },
    })
    expect(json.payer_sees).toBeNull()
    expect(json.errors).toMatchObject([{ field: 'qr_value' }])
    expect(json.sample.refused.message).toContain('DOCTYPE')
    const csv = await draft({ sample: { content: base64(Buffer.from('a,b\n1,2\n')) } })
    expect(csv.json.sample.refused).toMatchObject({ line: 1 })
  })
})

describe('a file that a person brings', () => {
  let day: string
  const account = { accountNo: '9998887776', currency: 'THB' } as const

  const upload = (file: Buffer, as = operator, path = '') =>
    as.post(`/bank-accounts/kbank/files${path}`, {
      name: 'day.xml',
      content: base64(file),
      ...(path === '' && { code: as.code() }),
    })

  it('is looked at first: what is new, what would be matched, and what is refused with its line', async () => {
    day = dayAt(s.clock())
    const { json: order } = await agent.deposit()
    const amount = order.transfer.amount.toFixed(2)
    const lines = [{ amount }, { amount: '-5.00', text: 'FEE' }]
    const file = camt({ account, day, lines })
    const looked = await upload(file, operator, '/preview')
    expect(looked.json).toMatchObject({
      refused: null,
      entries: 2,
      added: 2,
      known: 0,
      waits: true,
    })
    expect(looked.json.movements.map((each: { would: string }) => each.would)).toEqual([
      'order',
      'unexplained',
    ])
    expect(looked.json.movements[0].txn_id).toBe(order.txn_id)
    expect((await operator.get('/bank-accounts/kbank/files')).json.data).toEqual([])

    const broken = await upload(
      Buffer.from(String(file).replace('-5.00', 'x').replace('>5.00', '>5.0x')),
      operator,
      '/preview',
    )
    expect(broken.json.refused).toMatchObject({ line: expect.any(Number) })
    expect(broken.json.refused.message).toContain('5.0x')
    const codeless = await operator.post('/bank-accounts/kbank/files', {
      name: 'day.xml',
      content: base64(file),
    })
    expect([codeless.status, codeless.json.code]).toEqual([403, 'code_required'])
    const imported = await upload(file)
    expect(imported.json).toMatchObject({ repeated: false, movements: 2, unconfirmed: 2 })
    const told = await s.sql(`select roles, words from alerts where kind = 'approval_waiting'
      and subject like 'bank file kbank by %'`)
    expect(told.rows).toMatchObject([{ roles: ['admin', 'operator'] }])
    const again = await upload(file, operator, '/preview')
    expect(again.json).toMatchObject({ added: 0, known: 2 })
    expect(again.json.brought_before.by).toBe(operator.email)
    expect((await agent.get(`/payment/orders/${order.txn_id}`)).json.status).toBe('WAITING')

    // Whoever brought it confirms nothing; another person does, and then it is matched once.
    const { file_id } = imported.json
    const confirmFile = (as: OperatorClient) =>
      as.post(`/bank-accounts/kbank/files/${file_id}/confirm`, { reason, code: as.code() })
    const own = await confirmFile(operator)
    expect([own.status, own.json.code]).toEqual([403, 'not_permitted'])
    const both = await Promise.all([confirmFile(maker), confirmFile(second)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    await booked(s, 'kbank')
    expect((await agent.get(`/payment/orders/${order.txn_id}`)).json.status).toBe('PAID')
    const [row] = (await operator.get('/bank-accounts/kbank/files')).json.data
    expect(row).toMatchObject({ brought_by: operator.email, unconfirmed: 0, entries: 2 })
    expect([second.email, maker.email]).toContain(row.confirmed_by)
  })

  it('is confirmed by nobody who could have brought it: by a reset, or by the command line', async () => {
    const line = (text: string) => camt({ account, day, lines: [{ amount: '33.00', text }] })
    const kbank = await findBankAccount(s.backend.pool, 'kbank')
    if (!kbank) throw new Error('there is no account')
    const { fileId } = await importBankFile(
      s.service.desk,
      kbank,
      {
        name: 'day.xml',
        bytes: line('from a shell'),
        via: 'command',
        by: 'command line, somebody',
      },
      'live',
    )
    const confirmFile = (as: OperatorClient, id: string) =>
      as.post(`/bank-accounts/kbank/files/${id}/confirm`, { reason, code: as.code() })
    expect((await confirmFile(operator, fileId)).json.code).toBe('not_permitted')
    expect((await confirmFile(maker, fileId)).status).toBe(200)
    // Who resets a colleague holds the link, and could be them.
    const lost = await signIn(s, 'operator')
    const { data } = (await maker.get('/users')).json
    const { id } = data.find(({ email }: { email: string }) => email === lost.email)
    const asked = await maker.post(`/users/${id}/reset`, { reason, code: maker.code() })
    const { digest } = (await other.get(`/approvals/${asked.json.proposal}`)).json
    await other.post(`/approvals/${asked.json.proposal}/approve`, { digest, code: other.code() })
    const { json } = await maker.post(`/approvals/${asked.json.proposal}/answer`, {
      code: maker.code(),
    })
    const again = await acceptInvitation(s, json.answer.link.split('#').at(-1), lost.email)
    const asThem = (await upload(line('as them'), again)).json.file_id
    expect((await confirmFile(maker, asThem)).json.code).toBe('same_person')
    const asMaker = (await upload(line('as maker'), maker)).json.file_id
    expect((await confirmFile(again, asMaker)).json.code).toBe('same_person')
    const byService = s.sql(
      `insert into bank_file_confirmations (account, file_id, brought_by, bringer_user_id, bringer_reset_by,
         confirmed_by, confirmer_user_id, confirmer_credential, confirmer_reset_by, confirmed_at, movements, amount)
       select f.account, f.file_id, f.brought_by, f.bringer_user_id, f.bringer_reset_by, 'somebody', c.user_id, c.n,
         c.reset_by, f.received_at, 1, 1
       from bank_files f, user_credentials c where f.file_id = $1 and c.user_id = $2 order by n desc limit 1`,
      [asMaker, id],
    )
    await expect(byService).rejects.toMatchObject({
      constraint: 'bank_file_confirmations_independent',
    })
    expect((await confirmFile(second, asThem)).status).toBe(200)
    // Neither do they confirm what the other has made of an account.
    await s.sql(`update users set role = 'admin' where user_id = $1`, [id])
    await change('kbank', { account_no: '9998887771' }, again)
    expect((await confirm('kbank', maker)).json.code).toBe('same_person')
    expect((await confirm('kbank', other)).json.account.state).toBe('on')
    await change('kbank', { account_no: '9998887776' }, maker)
    expect((await confirm('kbank', again)).json.code).toBe('same_person')
    expect((await confirm('kbank', other)).json.account.state).toBe('on')
  })

  it('is confirmed by nobody who brought it, in the database either', async () => {
    const itself = s.sql(
      `insert into bank_file_confirmations
       select account, file_id, brought_by, brought_by, received_at, 1, 1 from bank_files limit 1`,
    )
    await expect(itself).rejects.toMatchObject({ constraint: 'bank_file_confirmations_two_people' })
  })

  it('is believed within the limit of the account, per day', async () => {
    await change('kbank', { account_no: '9998887776', file_limit: '150' })
    expect(await stateOf('kbank')).toBe('unconfirmed')
    await confirm('kbank', other)
    const of = (amount: string) => upload(camt({ account, day, lines: [{ amount, text: amount }] }))
    expect((await of('100.00')).json).toMatchObject({ movements: 1, unconfirmed: 0 })
    expect((await of('60.00')).json).toMatchObject({ movements: 1, unconfirmed: 1 })
    expect((await of('50.00')).json).toMatchObject({ movements: 1, unconfirmed: 0 })
    // A limit that one person has set counts for nothing until another confirms it.
    await change('kbank', { account_no: '9998887776', file_limit: '5000' })
    expect((await of('70.00')).json).toMatchObject({ movements: 1, unconfirmed: 1 })
    await confirm('kbank', other)
  })

  it('counts with what the rail deducts, which takes two people to say', async () => {
    const kept = { account_no: '9998887776', file_limit: '400', expected_deduction: '100' }
    await change('kbank', kept)
    const { json } = await maker.get('/bank-accounts/kbank')
    expect(json).toMatchObject({
      state: 'unconfirmed',
      changed: 'file_limit,expected_deduction',
      expected_deduction: '100',
    })
    await confirm('kbank', other)
    const of = (amount: string) => upload(camt({ account, day, lines: [{ amount, text: amount }] }))
    expect((await of('71.00')).json).toMatchObject({ movements: 1, unconfirmed: 1 })
    await change('kbank', { ...kept, expected_deduction: '0' })
    await confirm('kbank', other)
    // What a file says that the bank kept counts as well.
    const lines = [{ amount: '0.10', text: 'kept', charges: '400' }]
    const much = await upload(camt({ account, day, lines }))
    expect(much.json).toMatchObject({ movements: 1, unconfirmed: 1 })
    expect((await of('72.00')).json).toMatchObject({ movements: 1, unconfirmed: 0 })
  })
})

describe('a movement', () => {
  it('that nobody can explain is listed, and explained once, with a code', async () => {
    const { data } = (await operator.get('/unexplained-movements')).json
    const [debit] = data.filter((each: { amount: number }) => each.amount === -5)
    expect(debit).toMatchObject({ account: 'kbank', state: 'unexplained', may_explain: true })
    const path = `/bank-accounts/kbank/movements/${debit.id}/explain`
    const viewer = await signIn(s, 'viewer')
    const asked = { as: 'bank_fee', reason, code: operator.code() }
    expect((await viewer.post(path, asked)).status).toBe(403)
    // It changes the books, so in live a second person decides.
    const proposed = await operator.post(path, asked)
    expect(proposed.status, proposed.text).toBe(202)
    const decision = `/approvals/${proposed.json.proposal}/approve`
    const shown = (await second.get(`/approvals/${proposed.json.proposal}`)).json
    expect(shown).toMatchObject({ action: 'explain_movement', amount: -5 })
    const verdict = { digest: shown.digest }
    const own = await operator.post(decision, { ...verdict, code: operator.code() })
    expect(own.status).toBe(403)
    const done = await second.post(decision, { ...verdict, code: second.code() })
    expect(done.status, done.text).toBe(200)
    const [explained] = (await operator.get('/bank-accounts/kbank/movements?amount=5')).json.data
    expect(explained).toMatchObject({
      state: 'booked',
      explained_by: 'bank_fee',
      may_explain: false,
    })
    const again = await operator.post(path, { as: 'correction', reason, code: operator.code() })
    expect(again.status).toBe(409)
    const hidden = await viewer.get('/bank-accounts/kbank/movements?explained_by=bank_fee')
    expect(hidden.json.data[0].text).toBe('(not shown)')
    // Searching would tell it.
    const searched = await viewer.get('/bank-accounts/kbank/movements?text=fee')
    expect([searched.status, searched.json.code]).toEqual([403, 'not_permitted'])
  })

  it('is found by state, day, amount, text and page', async () => {
    const found = async (query: string) =>
      (await operator.get(`/bank-accounts/kbank/movements?${query}`)).json.data.map(
        ({ amount }: { amount: number }) => amount,
      )
    expect((await found('state=unconfirmed')).toSorted((a: number, b: number) => a - b)).toEqual([
      0.1, 60, 70, 71, 77.01,
    ])
    expect(await found('amount=5&explained_by=bank_fee')).toEqual([-5])
    expect(await found('text=60.00')).toEqual([60])
    expect(await found('to=2020-01-01')).toEqual([])
    const page = (await operator.get('/bank-accounts/kbank/movements?limit=2')).json
    const rest = await found(`cursor=${encodeURIComponent(page.next)}`)
    expect(page.data.length + rest.length).toBe(11)
    expect((await operator.get('/bank-accounts/kbank/movements?from=2026-02-30')).status).toBe(422)
  })
})

describe('a day', () => {
  const days = async () => (await operator.get('/bank-accounts/kbank/days')).json.data
  const sign = (day: { day: string; digest: string }, more = {}, as = operator) =>
    as.post(`/bank-accounts/kbank/days/${day.day}/sign-off`, {
      digest: day.digest,
      ...more,
      code: as.code(),
    })

  it('is signed off as it was seen, with a reason if it is not green, and red if it changes later', async () => {
    const [day] = await days()
    expect(day.state).not.toBe('green')
    expect((await sign(day)).json.code).toBe('reason_required')
    const old = await sign({ ...day, digest: 'a'.repeat(64) }, { reason })
    expect([old.status, old.json.code]).toEqual([409, 'changed_meanwhile'])
    const done = await sign(day, { reason })
    expect(done.json.data[0].signed_off).toMatchObject({ by: operator.email, current: true })
    expect((await sign(done.json.data[0], { reason })).status).toBe(409)

    const { rows } = await s.sql(`select feed_secret from bank_accounts where name = 'kbank'`)
    expect(rows).toHaveLength(1)
    await operator.post('/bank-accounts/kbank/files', {
      name: 'more.xml',
      content: base64(
        camt({
          account: { accountNo: '9998887776', currency: 'THB' },
          day: day.day,
          lines: [{ amount: '3.00', text: 'late line' }],
        }),
      ),
      code: operator.code(),
    })
    const [after] = await days()
    expect(after.state).toBe('red')
    expect(after.breaks.map(({ name }: { name: string }) => name)).toContain('signed_day_changed')
    expect(after.signed_off.current).toBe(false)
    const again = await sign(after, { reason }, second)
    expect(again.status).toBe(200)
    const names = again.json.data[0].breaks.map(({ name }: { name: string }) => name)
    expect(names).not.toContain('signed_day_changed')
    const { rows: kept } = await s.sql(
      'select signed_by from bank_day_signoffs order by signoff_no',
    )
    expect(kept.map(({ signed_by }) => signed_by)).toEqual([operator.email, second.email])
  })
})
