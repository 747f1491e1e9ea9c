import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { BankMovement } from '../../src/bank-accounts/bank-movement.ts'
import {
  claimMovements,
  markBooked,
  writeDecisions,
} from '../../src/bank-accounts/movement-states.ts'
import { bookMovement, bookMovements } from '../../src/payments/book-movement.ts'
import { explainBatch, explainMovement } from '../../src/payments/explain-movement.ts'
import { importBankFile } from '../../src/payments/import-bank-file.ts'
import { creditPayment } from '../../src/payments/payments.ts'
import { takePush } from '../../src/payments/take-push.ts'
import { wholeDays } from '../../src/payout-files/after-restore.ts'
import { reconcileAccount } from '../../src/reconcile/reconcile-account.ts'
import { redDays } from '../../src/reconcile/red-days.ts'
import { signOffDay } from '../../src/reconcile/sign-off-day.ts'
import { BankFileFault } from '../../src/statements/statement.ts'
import {
  booked,
  camt,
  dayAt,
  daysOf,
  importFile,
  makeAccount,
  movementsOf,
  push,
  type StatementLine,
  type TestAccount,
} from '../support/bank-accounts.ts'
import { seeded } from '../support/load.ts'
import { usually } from '../support/long.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

/** Files overlap, repeat and come in any order, between pushes: every movement of the bank counts once. */

/** How many interleavings are tried. INTERLEAVING_SEED repeats a run, which prints its seed. */
const interleavings = Number(process.env.INTERLEAVINGS ?? usually(6, { long: 25 }))
const seed = Number(process.env.INTERLEAVING_SEED ?? Math.floor(Math.random() * 2 ** 31))

let s: TestService

beforeAll(async () => {
  s = await startTestService({ outside: { providers: [] } })
})
afterEach(() => s.prove())
afterAll(() => s.close())

const offAccount = () => makeAccount(s, { match: 'code' }, { isOff: true })

/** An account that gets every order from now on. */
async function onlyAccount(terms: Parameters<typeof makeAccount>[1]): Promise<TestAccount> {
  // An account without a row here is on.
  await s.sql(`insert into providers (name, state, updated_at)
    select name, 'off', now() from bank_accounts on conflict (name) do update set state = 'off'`)
  return makeAccount(s, terms)
}

const day = '2026-11-12'
const twoLines: StatementLine[] = [
  { amount: '100.00', text: 'first' },
  { amount: '250.00', text: 'second' },
]

async function rowsOf(table: string, account: TestAccount): Promise<number> {
  const { rows } = await s.sql(`select count(*)::int as count from ${table} where account = $1`, [
    account.account.name,
  ])
  return rows[0].count
}

describe('a file', () => {
  it('imported ten times at once is imported once', async () => {
    const account = await offAccount()
    const bytes = camt({ account: account.account, day, lines: [...twoLines, ...twoLines] })
    const done = await Promise.all(Array.from({ length: 10 }, () => importFile(s, account, bytes)))
    expect(done.map(({ movements }) => movements).sort()).toEqual([...Array(9).fill(0), 4])
    expect(done.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1)
    expect(new Set(done.map(({ fileId }) => fileId)).size).toBe(1)
    for (const [table, rows] of [
      ['bank_files', 1],
      ['bank_statements', 1],
      ['bank_movements', 4],
      ['bank_reports', 4],
    ] as const) {
      expect([table, await rowsOf(table, account)]).toEqual([table, rows])
    }
  })

  it('ten files of one day at once, each in other words, and its pushes, are one set of movements', async () => {
    const account = await offAccount()
    const { account: of } = account
    const files = Array.from({ length: 8 }, (_, at) =>
      camt({ account: of, day, lines: twoLines.map((line) => ({ ...line, text: `day ${at}` })) }),
    )
    const booked_at = `${day}T03:00:00Z`
    const answers = await Promise.all([
      ...files.map((bytes) => importFile(s, account, bytes).then(() => 200)),
      ...twoLines.map(async ({ amount }) => (await push(s, account, { amount, booked_at })).status),
    ])
    expect(answers).toEqual(Array(10).fill(200))
    await booked(s, of.name)
    const amounts = (await movementsOf(s, account)).map(({ amountMinor }) => amountMinor)
    expect(amounts.toSorted()).toEqual([100_00n, 250_00n])
  })

  it('with the lines of another and more adds the more', async () => {
    const account = await offAccount()
    const { account: of } = account
    const before = twoLines.slice(0, 1)
    await importFile(s, account, camt({ account: of, day, lines: before }))
    const after = await importFile(
      s,
      account,
      camt({ account: of, day, lines: [...twoLines, ...before] }),
    )
    expect(after.movements).toBe(2)
    expect(await movementsOf(s, account)).toHaveLength(3)
  })

  it('of several statements tells equal lines apart over all of them', async () => {
    const account = await offAccount()
    const { account: of } = account
    const line = { amount: '100.00', text: 'rent' }
    await importFile(s, account, camt({ account: of, day, lines: [line] }))
    // The first statement repeats what is known; the second has the same amount in other words.
    const both = camt(
      { account: of, day, lines: [line] },
      { account: of, day, lines: [{ amount: '100.00', text: 'food' }] },
    )
    expect((await importFile(s, account, both)).movements).toBe(1)
    expect(await movementsOf(s, account)).toHaveLength(2)
  })

  it('has pending entries that are no money', async () => {
    const account = await offAccount()
    const lines = [{ amount: '100.00', status: 'PDNG' }, { amount: '7.00' }]
    const done = await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(done).toMatchObject({ entries: 2, pending: 1, movements: 1 })
  })

  it('says who brought it', async () => {
    const account = await offAccount()
    await importFile(s, account, camt({ account: account.account, day, lines: twoLines }))
    const [movement] = await movementsOf(s, account)
    expect(movement).toMatchObject({
      broughtBy: ['test@example.com'],
      sources: ['statement'],
      files: [{ name: 'statement.xml', via: 'command', broughtBy: 'test@example.com' }],
    })
  })

  it('is kept encrypted', async () => {
    const account = await offAccount()
    const lines = [{ amount: '1.00', text: 'VERYPRIVATE' }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    const { rows } = await s.sql('select bytes from bank_files where account = $1', [
      account.account.name,
    ])
    expect(rows[0].bytes.toString('latin1')).not.toContain('VERYPRIVATE')
  })
})

const longIds = `<Refs>${['MsgId', 'AcctSvcrRef', 'PmtInfId', 'InstrId', 'EndToEndId', 'TxId']
  .map((name) => `<${name}>${name.repeat(150)}</${name}>`)
  .join('')}</Refs>`

it('a payer’s number that is longer than any is cut, and the file is read', async () => {
  const account = await offAccount()
  const lines = [{ amount: '1.00', payerNo: '9'.repeat(70) }]
  const done = await importFile(s, account, camt({ account: account.account, day, lines }))
  expect(done.movements).toBe(1)
  expect((await movementsOf(s, account))[0]?.payerAccountNo).toBe('9'.repeat(64))
})

it.each([
  ['9912345', false],
  ['99-12345', true],
  ['0012345', true],
  ['DE9912345', true],
  ['12345', true],
])('a file of the account %s is one of 12345: %s', async (written, is) => {
  const account = await makeAccount(s, { match: 'code', accountNo: '12345' }, { isOff: true })
  const bytes = camt({ account: { ...account.account, accountNo: written }, day, lines: twoLines })
  const importing = importFile(s, account, bytes).then(
    () => true,
    (error) => !(error instanceof BankFileFault),
  )
  expect(await importing).toBe(is)
})

/** A message of MT940: a statement, or a page of one. Its lines are of its closing day. */
function mt940(
  { account }: TestAccount,
  message: {
    ref?: string
    number: string
    opening: [tag: '60F' | '60M', day: string, amount: string]
    closing: [tag: '62F' | '62M', day: string, amount: string]
    lines: string[]
  },
): Buffer {
  const short = (of: string) => of.slice(2).replaceAll('-', '')
  const balance = ([tag, of, amount]: readonly [string, string, string]) =>
    `:${tag}:C${short(of)}${account.currency}${amount}`
  const { ref = 'STARTUMS', number, opening, closing, lines } = message
  const written = lines.map((amount) => `:61:${short(closing[1])}C${amount}NTRFNONREF\n:86:x`)
  const head = [`:20:${ref}`, `:25:${account.accountNo}`, `:28C:${number}`, balance(opening)]
  return Buffer.from([...head, ...written, balance(closing), '-', ''].join('\n'))
}

describe('MT940', () => {
  const [monday, tuesday, wednesday, thursday] = [
    '2026-11-09',
    '2026-11-10',
    '2026-11-11',
    '2026-11-12',
  ] as const

  it('dates an opening balance with the day before: each day is green, and one that is missing a gap', async () => {
    const days = (account: TestAccount) => [
      mt940(account, {
        number: '1',
        opening: ['60F', monday, '10,00'],
        closing: ['62F', tuesday, '17,00'],
        lines: ['5,00', '2,00'],
      }),
      mt940(account, {
        number: '2',
        opening: ['60F', tuesday, '17,00'],
        closing: ['62F', wednesday, '20,00'],
        lines: ['3,00'],
      }),
      mt940(account, {
        number: '3',
        opening: ['60F', wednesday, '20,00'],
        closing: ['62F', thursday, '21,00'],
        lines: ['1,00'],
      }),
    ]
    const account = await offAccount()
    for (const bytes of days(account)) await importFile(s, account, bytes)
    const green = [tuesday, wednesday, thursday].map((each) => `${each} green`)
    expect(await daysOf(s, account)).toEqual(green)
    const other = await offAccount()
    const [first = Buffer.alloc(0), , third = Buffer.alloc(0)] = days(other)
    await importFile(s, other, first)
    await importFile(s, other, third)
    expect(await daysOf(s, other)).toEqual([`${tuesday} green`, `${thursday} red gap seq_gap`])
    // The whole week, as it is in another file.
    const week = mt940(other, {
      number: '2',
      opening: ['60F', tuesday, '17,00'],
      closing: ['62F', wednesday, '20,00'],
      lines: ['3,00'],
    })
    await importFile(s, other, week)
    expect(await daysOf(s, other)).toEqual(green)
  })

  it('in pages with a reference each, over midnight and in any order, is one statement', async () => {
    const pages = (account: TestAccount) => [
      mt940(account, {
        ref: 'REF1',
        number: '12/1',
        opening: ['60F', monday, '10,00'],
        closing: ['62M', tuesday, '15,00'],
        lines: ['5,00'],
      }),
      mt940(account, {
        ref: 'REF2',
        number: '12/2',
        opening: ['60M', tuesday, '15,00'],
        closing: ['62M', tuesday, '20,00'],
        lines: ['5,00'],
      }),
      mt940(account, {
        ref: 'REF3',
        number: '12/3',
        opening: ['60M', tuesday, '20,00'],
        closing: ['62F', wednesday, '23,00'],
        lines: ['3,00'],
      }),
    ]
    const whole = await offAccount()
    await importFile(s, whole, Buffer.concat(pages(whole)))
    const amounts = (await movementsOf(s, whole)).map(({ amountMinor }) => amountMinor)
    expect(amounts.toSorted()).toEqual([3_00n, 5_00n, 5_00n])
    expect(await daysOf(s, whole)).toEqual([`${tuesday} green`, `${wednesday} green`])
    const apart = await offAccount()
    // Equal amounts on different pages are different payments.
    const [first, second, third] = pages(apart).map((bytes, nth) =>
      Buffer.from(bytes.toString().replace(':86:x', `:86:page ${nth}`)),
    )
    for (const bytes of [third, first]) await importFile(s, apart, bytes ?? Buffer.alloc(0))
    expect(await daysOf(s, apart)).toEqual([`${tuesday} amber`, `${wednesday} amber`])
    await importFile(s, apart, second ?? Buffer.alloc(0))
    expect(await daysOf(s, apart)).toEqual([`${tuesday} green`, `${wednesday} green`])
  })
})

it('a file with the statements of several accounts is taken for each of them', async () => {
  const [one, two] = [await offAccount(), await offAccount()]
  const of = (account: TestAccount['account']) => ({ account, day, lines: twoLines })
  const another = { accountNo: '9999999999', currency: 'EUR' as const }
  const bytes = camt(
    { ...of(one.account), opening: '0.00', closing: '350.00' },
    { account: another, day, opening: '0.00', closing: '7.00', lines: [{ amount: '7.00' }] },
    { account: two.account, day, opening: '0.00', closing: '9.00', lines: [{ amount: '9.00' }] },
  )
  const done = await importFile(s, one, bytes)
  expect(done).toMatchObject({ statements: 1, movements: 2 })
  expect(done.notes.join()).toContain(
    `What is of the account ${two.account.accountNo} was left out`,
  )
  expect((await importFile(s, two, bytes)).movements).toBe(1)
  for (const account of [one, two]) expect(await daysOf(s, account)).toEqual([`${day} green`])
  await expect(importFile(s, await offAccount(), bytes)).rejects.toThrow('is of the account')
})

it('of several numbers in a file that end like the account’s, only its own is taken', async () => {
  const one = await offAccount()
  const { accountNo } = one.account
  const of = (written: string, amount: string) => ({
    ...{ account: { ...one.account, accountNo: written }, day },
    ...{ opening: '0.00', closing: amount, lines: [{ amount }] },
  })
  const [own, first, second] = [accountNo, `50010517/${accountNo}`, `37040044/${accountNo}`]
  await expect(importFile(s, one, camt(of(first, '7.00'), of(second, '9.00')))).rejects.toThrow(
    `${first} and ${second}`,
  )
  const done = await importFile(s, one, camt(of(own, '5.00'), of(second, '9.00')))
  expect(done).toMatchObject({ statements: 1, movements: 1 })
})

it('one line of the day before does not make a statement tell that whole day', async () => {
  const one = await offAccount()
  const [before, monday, tuesday] = ['2026-03-01', '2026-03-02', '2026-03-03']
  const of = { account: one.account, opening: '5.00', closing: '8.00' }
  await importFile(s, one, camt({ ...of, day: tuesday, lines: [{ amount: '3.00' }] }))
  // Its opening balance is dated with the day on which it closed.
  await s.sql('update bank_statements set from_day = $2 where account = $1', [
    ...[one.account.name, monday],
  ])
  const told = async () => (await wholeDays(s.backend.pool, one.account, monday))[0]?.fromDay
  expect(await told()).toBe(tuesday)
  await importFile(
    s,
    one,
    camt({ ...of, opening: '5.00', closing: '5.00', day: before, lines: [] }),
  )
  expect(await told()).toBe(monday)
})

describe('a file that is refused', () => {
  const whole = (account: TestAccount) =>
    camt({ account: account.account, day, lines: twoLines }).toString()

  it.each<[string, (account: TestAccount) => string | Buffer, RegExp]>([
    [
      'is too deep',
      (account) => whole(account).replace('<GrpHdr>', `<GrpHdr>${'<a>'.repeat(100_000)}`),
      /Line \d+.*64 deep/,
    ],
    [
      'is in a wrong encoding',
      (account) => Buffer.from(whole(account).replaceAll('first', 'café'), 'latin1'),
      /Line \d+.*utf-8/i,
    ],
    [
      'has a day that is none',
      (account) => whole(account).replaceAll(day, '2026-13-41'),
      /Line \d+/,
    ],
    ['is cut off', (account) => whole(account).slice(0, -200), /Line \d+/],
    [
      'has a DOCTYPE',
      (account) => whole(account).replace('<Document', '<!DOCTYPE a [<!ENTITY b "c">]><Document'),
      /Line \d+.*DOCTYPE/,
    ],
    ['is in another currency', (account) => whole(account).replaceAll('THB', 'EUR'), /EUR/],
    [
      'is of another account',
      (account) => whole(account).replace(account.account.accountNo, '9999999999'),
      /Line 2: .*9999999999/,
    ],
    [
      'has an amount that is none',
      (account) => whole(account).replaceAll('250.00', '25O.00'),
      /Line \d+.*25O/,
    ],
    [
      'has references that are too long',
      (account) => whole(account).replace('<TxDtls>', `<TxDtls>${longIds}`),
      /Line \d+: The references/,
    ],
    [
      'has more attributes than any bank writes',
      (account) =>
        whole(account).replace(
          '<GrpHdr>',
          `<GrpHdr ${Array.from({ length: 65 }, (_, at) => `a${at}="1"`).join(' ')}>`,
        ),
      /Line \d+.*64 attributes/,
    ],
    [
      'has a text that never ends',
      (account) => whole(account).replaceAll('first', 'x'.repeat(100_001)),
      /Line \d+.*100/,
    ],
    ['is a picture of a statement', () => '%PDF-1.7', /Line 1: This is a PDF/],
    ['is nothing that a bank writes', () => 'hello', /Line 1: /],
    ['is empty', () => '', /Line 1: /],
  ])('because it %s leaves nothing behind but itself', async (_why, written, says) => {
    const account = await offAccount()
    const bytes = Buffer.from(written(account))
    // The processor's time, which does not depend on what else the machine does.
    const before = process.cpuUsage()
    const importing = importFile(s, account, bytes)
    const alive = fetch(`${s.service.url}/healthz`)
    await expect(importing).rejects.toThrow(BankFileFault)
    await expect(importing).rejects.toThrow(says)
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000)
    expect((await alive).status).toBe(200)
    for (const table of ['bank_statements', 'bank_movements', 'bank_reports']) {
      expect([table, await rowsOf(table, account)]).toEqual([table, 0])
    }
    const { rows } = await s.sql('select fault from bank_files where account = $1', [
      account.account.name,
    ])
    expect(rows).toHaveLength(1)
    expect(rows[0].fault).toMatch(says)
    // The same bytes are refused again.
    await expect(importFile(s, account, bytes)).rejects.toThrow(says)
  })

  it('because it is too large is not even kept', async () => {
    const account = await offAccount()
    const importing = importFile(s, account, Buffer.alloc(64 * 2 ** 20 + 1, '<'))
    await expect(importing).rejects.toThrow('Line 1: The file is larger than 64 MiB')
    expect(await rowsOf('bank_files', account)).toBe(0)
  })

  it('while a large file is read, other requests are answered', async () => {
    const account = await offAccount()
    const lines = Array.from({ length: 20_000 }, (_, at) => ({ amount: '1.00', ref: `r${at}` }))
    const bytes = camt({ account: account.account, day, lines })
    let isOver = false
    const importing = importFile(s, account, bytes.subarray(0, -300)).catch((error) => {
      isOver = true
      return error
    })
    let answered = 0
    while (!isOver) {
      expect((await fetch(`${s.service.url}/healthz`)).status).toBe(200)
      if (!isOver) answered++
    }
    expect(await importing).toBeInstanceOf(BankFileFault)
    expect(answered).toBeGreaterThan(2)
    expect(await rowsOf('bank_movements', account)).toBe(0)
  })

  it('cut off anywhere stores nothing', async () => {
    const account = await offAccount()
    const bytes = camt({ account: account.account, day, lines: Array(40).fill(twoLines).flat() })
    for (let size = 1_000; size < bytes.length; size += 1_000) {
      await expect(importFile(s, account, bytes.subarray(0, size))).rejects.toThrow(BankFileFault)
    }
    expect(await rowsOf('bank_movements', account)).toBe(0)
    expect((await importFile(s, account, bytes)).movements).toBe(80)
  })
})

describe('a batch', () => {
  it('that the bank does not split is not money of anybody until a person says what it was', async () => {
    const account = await offAccount()
    const lines = [{ amount: '300.00', batchCount: 2, batchId: 'B1' }]
    await importFile(s, account, camt({ account: account.account, day, lines }))
    expect(await movementsOf(s, account)).toMatchObject([{ state: 'unexplained' }])
  })

  it('whose payments were notified before counts once, and repeated it still does', async () => {
    const account = await offAccount()
    const { account: of } = account
    const children = [
      { amount: '100.00', text: 'one' },
      { amount: '200.00', text: 'two' },
    ]
    const details = [{ amount: '300.00', children, batchCount: 2, batchId: 'B1', ref: 'E-1' }]
    await importFile(s, account, camt({ account: of, day, isIntraday: true, lines: details }))
    const lines = [{ amount: '300.00', batchCount: 2, batchId: 'B1' }, { amount: '5.00' }]
    const statement = camt({ account: of, day, opening: '0.00', closing: '305.00', lines })
    const first = await importFile(s, account, statement)
    expect(first.movements).toBe(1)
    expect(
      (await importFile(s, account, Buffer.concat([statement, Buffer.from('\n')]))).movements,
    ).toBe(0)
    const movements = await movementsOf(s, account)
    expect(movements.map(({ amountMinor }) => amountMinor).sort()).toEqual(
      [100_00n, 200_00n, 5_00n].sort(),
    )
    for (const { sources } of movements) expect(sources).toContain('statement')
    expect((await daysOf(s, account))[0]).not.toMatch(/red/)
  })

  it('that is booked after nine days on which the bank was closed is that of the payments before', async () => {
    const closed = Array.from({ length: 7 }, (_, nth) => `2026-11-${16 + nth}`)
    const payoutHolidays = closed.join(',')
    const account = await makeAccount(s, { match: 'code', payoutHolidays }, { isOff: true })
    const { account: of } = account
    const [friday, monday] = ['2026-11-13', '2026-11-23']
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const notified = camt({
      account: of,
      day: friday,
      isIntraday: true,
      lines: [{ ...sum, children }],
    })
    await importFile(s, account, notified)
    const statement = { account: of, day: monday, opening: '0.00', closing: '300.00', lines: [sum] }
    expect((await importFile(s, account, camt(statement))).movements).toBe(0)
    expect(await daysOf(s, account)).toEqual([`${monday} green`])
  })

  it('that comes before its payments is explained by them, and all of it repeated still counts once', async () => {
    const account = await offAccount()
    const { account: of } = account
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const statement = camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [sum] })
    await importFile(s, account, statement)
    expect(await daysOf(s, account)).toEqual([`${day} amber unexplained_credit`])
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const notified = camt({ account: of, day, isIntraday: true, lines: [{ ...sum, children }] })
    for (const bytes of [notified, statement, notified]) {
      await importFile(s, account, bytes)
      const movements = await movementsOf(s, account)
      expect(movements.map((each) => `${each.amountMinor} ${each.explainedBy}`).sort()).toEqual([
        '10000 payment',
        '20000 payment',
        '30000 batch',
      ])
      for (const { sources } of movements) expect(sources).toContain('statement')
      expect(await daysOf(s, account)).toEqual([`${day} green`])
    }
    // The bank writes the line in other words: it is the same batch.
    const reworded = statement.toString().replace('<NbOfTxs>', '<MsgId>M2</MsgId><NbOfTxs>')
    await importFile(s, account, Buffer.from(reworded))
    expect(await movementsOf(s, account)).toHaveLength(3)
    expect(await daysOf(s, account)).toEqual([`${day} green`])
  })

  it('whose sum a person explained before is named, and counts once when they say that it is a batch', async () => {
    const account = await offAccount()
    const { account: of } = account
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const statement = camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [sum] })
    await importFile(s, account, statement)
    const { desk } = s.service
    const id = (await movementsOf(s, account))[0]?.movementId ?? ''
    await expect(explainBatch(desk, of, id, 'why')).rejects.toThrow('no batch')
    await explainMovement(desk, of, id, 'correction', 'we think')
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    await importFile(
      s,
      account,
      camt({ account: of, day, isIntraday: true, lines: [{ ...sum, children }] }),
    )
    expect(await daysOf(s, account)).toEqual([`${day} red batch_twice`])
    await s.prove()
    expect(await explainBatch(desk, of, id, 'its payments came')).toEqual({ changed: true })
    expect(await explainBatch(desk, of, id, 'its payments came')).toEqual({ changed: false })
    expect(await daysOf(s, account)).toEqual([`${day} green`])
  })

  it('in a report, a notification and a statement counts once, in whatever order they come', async () => {
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const children = [
      { amount: '100.00', text: 'one' },
      { amount: '200.00', text: 'two' },
    ]
    const files = (of: TestAccount['account']): Record<string, Buffer> => ({
      '052': camt({ account: of, day, isReport: true, lines: [sum] }),
      '054': camt({ account: of, day, isIntraday: true, lines: [{ ...sum, children }] }),
      '053': camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [sum] }),
    })
    for (const order of [
      ['052', '053', '054'],
      ['052', '054', '053'],
      ['053', '052', '054'],
      ['053', '054', '052'],
      ['054', '052', '053'],
      ['054', '053', '052'],
    ]) {
      const account = await offAccount()
      for (const name of [...order, ...order]) {
        await importFile(s, account, files(account.account)[name] ?? Buffer.alloc(0))
      }
      const money = (await movementsOf(s, account)).filter(
        ({ explainedBy }) => explainedBy !== 'batch',
      )
      const amounts = money.map(({ amountMinor, state }) => `${amountMinor} ${state}`).sort()
      expect(amounts, `${order}`).toEqual(['10000 booked', '20000 booked'])
      expect(await daysOf(s, account), `${order}`).toEqual([`${day} green`])
    }
  })

  it('that was booked as one payment is taken out of the books again when a person says so', async () => {
    const account = await offAccount()
    const { account: of } = account
    // The bank does not say that this line is a sum.
    const line = { amount: '300.00', ref: 'E-9' }
    const statement = camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [line] })
    await importFile(s, account, statement)
    const id = (await movementsOf(s, account))[0]?.movementId ?? ''
    const { desk } = s.service
    await expect(explainBatch(desk, of, id, 'why')).rejects.toThrow('no batch')
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const notified = camt({ account: of, day, isIntraday: true, lines: [{ ...line, children }] })
    await importFile(s, account, notified)
    await s.prove()
    const done = await Promise.allSettled(
      Array.from({ length: 4 }, () => explainBatch(desk, of, id, 'its payments came')),
    )
    expect(done.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await daysOf(s, account)).toEqual([`${day} green`])
    await s.prove()
    for (const bytes of [statement, notified]) await importFile(s, account, bytes)
    expect(await movementsOf(s, account)).toHaveLength(3)
    expect(await daysOf(s, account)).toEqual([`${day} green`])
  })

  it('whose sum an agent was credited with is taken back there first', async () => {
    const agent = await s.agent()
    const account = await offAccount()
    const { account: of } = account
    const sum = { amount: '300.00', batchCount: 2, batchId: 'B1' }
    const { json } = await push(s, account, {
      id: 'sum',
      amount: '300.00',
      booked_at: `${day}T05:00:00Z`,
    })
    await booked(s, of.name)
    const paymentId = `${of.name}:${json.movement}`
    const { desk } = s.service
    const to = { agentId: agent.agentId, orderId: null }
    await creditPayment(desk, paymentId, to, 'theirs')
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const notified = camt({ account: of, day, isIntraday: true, lines: [{ ...sum, children }] })
    const statement = camt({ account: of, day, opening: '0.00', closing: '300.00', lines: [sum] })
    await importFile(s, account, statement)
    await importFile(s, account, notified)
    expect(await daysOf(s, account)).toEqual([`${day} red batch_twice`])
    const asBatch = () => explainBatch(desk, of, json.movement, 'its payments came')
    await expect(asBatch()).rejects.toThrow('take it back there first')
    const at = desk.now()
    await desk.teller.do({ type: 'take_back_payment', ...to, paymentId, at })
    expect(await asBatch()).toEqual({ changed: true })
    expect(await agent.balance()).toBe(0)
    expect(await daysOf(s, account)).toEqual([`${day} green`])
  })

  it('whose sum is another stays apart', async () => {
    const account = await offAccount()
    const { account: of } = account
    const children = [{ amount: '100.00' }, { amount: '200.00' }]
    const details = [{ amount: '300.00', children, batchCount: 2, batchId: 'B1' }]
    await importFile(s, account, camt({ account: of, day, isIntraday: true, lines: details }))
    const lines = [{ amount: '301.00', batchCount: 2, batchId: 'B1' }]
    await importFile(s, account, camt({ account: of, day, lines }))
    const states = (await movementsOf(s, account)).map(({ state }) => state).sort()
    expect(states).toEqual(['booked', 'booked', 'unexplained'])
  })
})

/** What really happened at the bank. */
interface Truth {
  day: string
  at: Date
  amountMinor: bigint
  ref: string
  isPushed: boolean
  /** The payment code of the order that it pays, if it pays one. */
  code: string | null
}

/** The days of an interleaving: each one at an account is two weeks before the last. */
function daysOfRound(round: number): string[] {
  return ['2026-11-11', '2026-11-12', '2026-11-13', '2026-11-16'].map((each) =>
    dayAt(new Date(Date.parse(`${each}T05:00:00Z`) - round * 14 * 86_400_000)),
  )
}

const hasTwins = process.env.INTERLEAVINGS !== undefined

/** How many of them one account has: to make accounts takes longer than all the rest. */
const roundsOfAccount = 20

function truth(random: () => number, days: readonly string[]): Truth[] {
  const amounts = [100_00n, 250_00n, 31_00n]
  return Array.from({ length: 4 + Math.floor(random() * 8) }, (_, nth) => {
    const of = days[Math.floor(random() * days.length)] ?? day
    const minutes = 60 * 9 + Math.floor(random() * 500)
    return {
      day: of,
      at: new Date(Date.parse(`${of}T00:00:00+07:00`) + minutes * 60_000),
      amountMinor: amounts[Math.floor(random() * amounts.length)] ?? 1n,
      ref: `R${days[0]}-${nth}`,
      isPushed: random() < 0.7,
      code: null,
    }
  }).sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Makes an order at the only account, and returns its payment code. */
async function orderOf(agent: AgentClient, amount: number): Promise<string> {
  const { json } = await agent.deposit({ amount, userId: `user-${Math.random()}` })
  const { rows } = await s.sql('select code from expected_deposits where order_id = $1', [
    json.txn_id.split('-')[1],
  ])
  return rows[0].code
}

const decimal = (minor: bigint) => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`

function shuffled<T>(values: T[], random: () => number): T[] {
  return values
    .map((value) => [random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value)
}

/** An account with what happened there, in each of its interleavings. */
interface Lane {
  account: TestAccount
  agent: AgentClient
  /** Repeats it alone. */
  laneSeed: number
  random: () => number
  rounds: Truth[][]
}

/** Makes an account, and the orders that are paid there. */
async function makeLane(laneSeed: number, rounds: number): Promise<Lane> {
  const random = seeded(laneSeed)
  const account = await onlyAccount({ match: 'code' })
  const agent = await s.agent()
  const made: Truth[][] = []
  for (let round = 0; round < rounds; round++) {
    const moved = truth(random, daysOfRound(round))
    for (const [nth, each] of moved.entries()) {
      if (random() < 0.5) continue
      // In a run of many, several orders have the same amount: only their codes tell them apart.
      const isTwin = hasTwins && random() < 0.6
      const amount = isTwin ? 500 + Math.floor(random() * 2) : 510 + nth
      each.amountMinor = BigInt(amount) * 100n
      each.code = await orderOf(agent, amount)
    }
    made.push(moved)
  }
  return { account, agent, laneSeed, random, rounds: made }
}

/** Brings all reports of an account in any order, and returns where that ends otherwise than at the bank. */
async function interleave({ account, agent, random, rounds, laneSeed }: Lane): Promise<object[]> {
  const { account: of } = account
  const wrong: object[] = []
  let [balance, due] = [1_000_000_00n, 0]
  for (const [round, moved] of rounds.entries()) {
    const days = daysOfRound(round)
    const hasRefs = random() < 0.5
    const hasTexts = random() < 0.5
    const [isCodePushed, isCodeNotified] = [random() < 0.5, random() < 0.5]
    const line = ({ amountMinor, ref, code }: Truth): StatementLine => ({
      amount: decimal(amountMinor),
      ...(hasTexts && { text: 'TRANSFER' }),
      ...(code !== null && { text: `TRF ${code}` }),
      ...(hasRefs && { ref }),
    })
    // It ends where the interleaving of two weeks later begins.
    balance -= moved.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
    let after = balance
    const statements = days.map((each) => {
      const own = moved.filter((movement) => movement.day === each)
      const opening = after
      for (const { amountMinor } of own) after += amountMinor
      return {
        account: of,
        day: each,
        opening: decimal(opening),
        closing: decimal(after),
        lines: own.map(line),
      }
    })
    const files = [
      ...statements.map((statement) => camt(statement)),
      // Overlapping days in one file, and a day as it was in the afternoon.
      camt(...statements.slice(0, 2)),
      camt(...statements.slice(1, 4)),
      ...statements.map(({ lines, ...rest }) =>
        camt({
          account: of,
          day: rest.day,
          isIntraday: true,
          lines: lines
            .slice(0, 2)
            .map(({ text = '', ...told }) => ({ ...told, ...(isCodeNotified && { text }) })),
        }),
      ),
    ]
    const took: string[] = []
    const noted = (name: string, step: () => Promise<unknown>) => async () => {
      took.push(`${name} begins`)
      await step()
      took.push(`${name} ends`)
    }
    const brings = files.map((bytes, nth) =>
      noted(`file ${nth}`, () =>
        importBankFile(
          s.service.desk,
          of,
          { name: `${nth}`, bytes, via: 'folder', by: 'test' },
          'sandbox',
        ),
      ),
    )
    const pushes = moved
      .filter(({ isPushed }) => isPushed)
      .map(({ amountMinor, at, ref, code }) =>
        noted(`push ${ref}`, () =>
          takePush(
            s.service.desk,
            of,
            {
              id: `push-${ref}`,
              amountMinor,
              bookedAt: at,
              text: `You got money ${(isCodePushed && code) || ''}`,
              payer: { accountNo: null, name: null, bank: null },
              balanceAfterMinor: null,
            },
            true,
          ),
        ),
      )
    const steps = shuffled<() => Promise<unknown>>(
      [...brings, ...brings.slice(0, 3), ...pushes, ...pushes.slice(0, 2)],
      random,
    )
    // Some of them at the same time.
    while (steps.length > 0) {
      const together = random() < 0.3 ? 1 + Math.floor(random() * 3) : 1
      await Promise.all(steps.splice(0, together).map((step) => step()))
      if (random() < 0.2) await noted('booked', () => booked(s, of.name))()
    }
    await booked(s, of.name)
    // Whatever order it came in, each order is paid once, with its money.
    const ordered = moved.filter(({ code }) => code !== null)
    due += ordered.reduce((sum, each) => sum + Number(each.amountMinor) / 100, 0)
    const { rows: unpaid } = await s.sql(
      `select o.status from orders o
       join expected_deposits e on e.agent_id = o.agent_id and e.order_id = o.order_id
       where e.account = $1 and e.code = any($2::text[]) and o.status <> 'PAID'`,
      [of.name, ordered.map(({ code }) => code)],
    )
    const found = (await movementsOf(s, account))
      .filter(({ bookedOn }) => bookedOn <= (days.at(-1) ?? ''))
      .map(({ bookedOn, amountMinor }) => `${bookedOn} ${decimal(amountMinor)}`)
    const real = moved.map((each) => `${each.day} ${decimal(each.amountMinor)}`)
    const red = (await daysOf(s, account)).filter((each) => each.includes('red'))
    const ended = { unpaid, balance: await agent.balance(), moved: found.sort(), red }
    const expected = { unpaid: [], balance: due, moved: real.sort(), red: [] }
    if (isDeepStrictEqual(ended, expected)) continue
    const { rows: told } = await s.sql(
      `select m.*, json_agg(array[r.source, r.booked_on::text, r.text, r.ids]) as reports
       from bank_movements m join bank_reports r using (account, movement_id)
       where m.account = $1 and m.booked_on between $2 and $3 group by m.account, m.movement_id`,
      [of.name, days[0], days.at(-1)],
    )
    // Alone it is INTERLEAVING_SEED=seed INTERLEAVINGS=20, as far as what is done at once falls the same way.
    const failure = { seed: laneSeed, round, took, ended, expected, moved, told }
    console.info(
      JSON.stringify(failure, (_, each) => (typeof each === 'bigint' ? `${each}` : each)),
    )
    wrong.push({ seed: laneSeed, round, ended, expected })
    // What is wrong now is not wrong again in the next one.
    due = ended.balance
  }
  return wrong
}

it('whatever order reports come in, the movements are the bank’s, and the books agree with them', async () => {
  console.info(`INTERLEAVING_SEED=${seed} INTERLEAVINGS=${interleavings}`)
  const wrong: object[] = []
  for (let done = 0; done < interleavings; ) {
    const lanes: Lane[] = []
    for (; lanes.length < 4 && done < interleavings; done += roundsOfAccount) {
      const rounds = Math.min(roundsOfAccount, interleavings - done)
      lanes.push(await makeLane(seed + done, rounds))
    }
    wrong.push(...(await Promise.all(lanes.map(interleave))).flat())
    if (done < interleavings) console.info(`${done} are done, ${wrong.length} of them wrong`)
  }
  expect(wrong).toEqual([])
})

it('a day that was signed off alarms again if a later statement changes it', async () => {
  const account = await offAccount()
  const { account: of } = account
  const { pool } = s.backend
  const today = dayAt(s.clock())
  const first = [{ amount: '-10.00', text: 'who knows' }]
  const statement = { account: of, day: today, opening: '100.00' }
  await importFile(s, account, camt({ ...statement, closing: '90.00', lines: first }))
  const alarms = async () =>
    (await redDays(pool, s.clock())).filter(({ topic }) => topic === of.name).length
  expect(await alarms()).toBe(1)
  const signOff = async () => {
    const { days } = await reconcileAccount(pool, of, s.clock())
    const shown = days.at(-1)?.digests.shown ?? ''
    const asked = { by: 'a@example.com', at: s.clock(), shown, reason: 'we asked the bank' }
    await signOffDay(pool, of, today, asked, async () => {})
  }
  await signOff()
  expect(await alarms()).toBe(0)
  const more = [...first, { amount: '5.00', text: 'late' }]
  await importFile(s, account, camt({ ...statement, closing: '95.00', lines: more }))
  expect((await daysOf(s, account))[0]).toContain('signed_day_changed')
  expect(await alarms()).toBe(1)
  await signOff()
  expect(await alarms()).toBe(0)
})

it('a bank that tells no opening balance is held to the closing balance before', async () => {
  const account = await offAccount()
  const ofx = (of: string, balance: string, ...amounts: string[]) => {
    const compact = of.replaceAll('-', '')
    const lines = amounts.map(
      (amount, nth) =>
        `<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>${compact}<TRNAMT>${amount}<FITID>${of}-${nth}<NAME>A</STMTTRN>\n`,
    )
    return Buffer.from(`OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nCHARSET:1252\n
<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS><CURDEF>THB
<BANKACCTFROM><BANKID>X<ACCTID>${account.account.accountNo}<ACCTTYPE>CHECKING</BANKACCTFROM>
<BANKTRANLIST><DTSTART>${compact}<DTEND>${compact}
${lines.join('')}</BANKTRANLIST><LEDGERBAL><BALAMT>${balance}<DTASOF>${compact}</LEDGERBAL>
</STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n`)
  }
  await importFile(s, account, ofx('2026-11-10', '150.00', '100.00'))
  await importFile(s, account, ofx('2026-11-11', '190.00', '30.00', '10.00'))
  expect(await daysOf(s, account)).toEqual(['2026-11-10 green', '2026-11-11 green'])
  // Its line of 7.00 was lost.
  await importFile(s, account, ofx('2026-11-12', '217.00', '20.00'))
  expect((await daysOf(s, account)).at(-1)).toBe('2026-11-12 red does_not_close')
})

it('a line that names an order is that order’s, whoever else has paid as much', async () => {
  const account = await onlyAccount({ match: 'code' })
  const { account: of } = account
  const agent = await s.agent()
  const [first, second] = [await orderOf(agent, 500), await orderOf(agent, 500)]
  const today = dayAt(s.clock())
  await push(s, account, { id: 'p', amount: '500.00', text: `sms ${first}` })
  // The push of the second is lost, and the bank books the first a day later.
  const lines = [{ amount: '500.00', text: `TRF ${second}` }]
  const statement = { account: of, day: today, opening: '0.00', closing: '500.00', lines }
  await importFile(s, account, camt(statement))
  expect(await agent.balance()).toBe(1_000)
  const moved = await movementsOf(s, account)
  expect(moved.map(({ text, why }) => `${text} ${why}`).sort()).toEqual([
    `TRF ${second} null`,
    `sms ${first} null`,
  ])
  expect(await daysOf(s, account)).toEqual([`${today} amber`])
})

it('a push that was taken for another order’s line leaves that order the other payment', async () => {
  const account = await onlyAccount({ match: 'code' })
  const { account: of } = account
  const agent = await s.agent()
  const [first, second] = [await orderOf(agent, 500), await orderOf(agent, 500)]
  const today = dayAt(s.clock())
  await push(s, account, { id: 'p', amount: '500.00', text: `sms ${first}` })
  await booked(s, of.name)
  const line = (ref: string, text?: string) => ({ amount: '500.00', ref, ...(text && { text }) })
  // Nobody can know that this is the second one's.
  const noon = camt({ account: of, day: today, isIntraday: true, lines: [line('R2')] })
  await importFile(s, account, noon)
  const lines = [line('R1', first), line('R2', second)]
  const statement = { account: of, day: today, opening: '0.00', closing: '1000.00', lines }
  await importFile(s, account, camt(statement))
  expect(await agent.balance()).toBe(1_000)
  expect(await daysOf(s, account)).toEqual([`${today} green`])
})

it('a payment that was taken for a second one of its order pays the order that the bank names later', async () => {
  const account = await onlyAccount({ match: 'code' })
  const { account: of } = account
  const [first, second] = [await s.agent(), await s.agent()]
  const codes = [await orderOf(first, 500), await orderOf(second, 500)]
  const [monday, tuesday] = ['2026-11-09', '2026-11-10']
  const line = (ref: string, text?: string) => ({ amount: '500.00', ref, ...(text && { text }) })
  await push(s, account, {
    id: 'p',
    amount: '500.00',
    text: `sms ${codes[0]}`,
    booked_at: `${monday}T05:00:00Z`,
  })
  await booked(s, of.name)
  // Nobody can know that this is the second order's payment, and not the one that was pushed.
  const noon = camt({ account: of, day: tuesday, isIntraday: true, lines: [line('R2')] })
  await importFile(s, account, noon)
  const statement = (on: string, opening: number, ref: string, text?: string) =>
    camt({
      account: of,
      day: on,
      opening: `${opening}.00`,
      closing: `${opening + 500}.00`,
      lines: [line(ref, text)],
    })
  await importFile(s, account, statement(monday, 0, 'R1', codes[0]))
  await importFile(s, account, statement(tuesday, 500, 'R2', codes[1]))
  expect([await first.balance(), await second.balance()]).toEqual([500, 500])
  expect(await daysOf(s, account)).toEqual([`${monday} green`, `${tuesday} green`])
})

it('who decides without having heard the bank’s last word decides nothing, also at the very same time', async () => {
  const account = await onlyAccount({ match: 'code' })
  const { account: of } = account
  const agent = await s.agent()
  const code = await orderOf(agent, 500)
  // The service's own worker does not act yet.
  const soon = new Date(s.clock().getTime() + 60_000)
  const desk = { ...s.service.desk, now: () => soon }
  const pushed = {
    ...{ id: 'p', amountMinor: 500_00n, bookedAt: s.clock(), text: '', balanceAfterMinor: null },
    payer: { accountNo: null, name: null, bank: null },
  }
  const id = await takePush(desk, of, pushed, true)
  const { pool } = s.backend
  const claim = async () => (await claimMovements(pool, soon, of.name, id, 1))[0]
  const first = await claim()
  const lines = [{ amount: '500.00', text: code }]
  const bytes = camt({ account: of, day: dayAt(s.clock()), lines })
  await importBankFile(desk, of, { name: 'a', bytes, via: 'folder', by: 'test' }, 'sandbox')
  const second = await claim()
  if (!first || !second) throw new Error('it was not claimed')
  expect(second.actAt).toEqual(first.actAt)
  const nobodys = { state: 'matched', explainedBy: 'payment', why: 'unmatched' } as const
  expect(await writeDecisions(pool, [{ ...first, ...nobodys }])).toEqual([])
  const later = new Date(soon.getTime() + 60_000)
  const errors: unknown[] = []
  await bookMovements({ ...desk, now: () => later }, (error) => errors.push(error), of.name)
  expect(errors).toEqual([])
  expect(await agent.balance()).toBe(500)
})

it('who finds its order paid, and has not heard the bank’s last word, takes the payment from nobody who has', async () => {
  const account = await onlyAccount({ match: 'code', expectedDeductionMinor: 300n })
  const { account: of } = account
  const code = await orderOf(await s.agent(), 500)
  await push(s, account, { id: 'p', amount: '500.00', text: code })
  await booked(s, of.name)
  // The service's own worker does not act on the second payment yet.
  const soon = new Date(s.clock().getTime() + 60_000)
  const desk = { ...s.service.desk, now: () => soon }
  const hear = (lines: StatementLine[], isIntraday: boolean) => {
    const bytes = camt({ account: of, day: dayAt(s.clock()), lines, isIntraday })
    return importBankFile(desk, of, { name: 'f', bytes, via: 'folder', by: 'test' }, 'sandbox')
  }
  const id = await takePush(
    desk,
    of,
    {
      ...{ id: 'q', amountMinor: 497_00n, bookedAt: s.clock(), text: code },
      ...{ balanceAfterMinor: null, payer: { accountNo: null, name: null, bank: null } },
    },
    true,
  )
  // Taken for the same payment by its amount and day alone: whose it is, the statement will say.
  await hear([{ amount: '497.00', ref: 'R' }], true)
  const { pool } = s.backend
  // Before this process writes down that the payment is nobody's, the statement comes, and another one claims and books it.
  const others: BankMovement[] = []
  const meanwhile = [
    async () => {
      await hear([{ amount: '497.00', ref: 'R', text: code }], false)
      others.push(...(await claimMovements(pool, soon, of.name, id, 1)))
      for (const claimed of others) expect(await bookMovement(desk, of, claimed)).toBe(true)
    },
  ]
  const overtaken = new Proxy(pool, {
    get: (target, key) => {
      const value = Reflect.get(target, key)
      if (key !== 'query') return typeof value === 'function' ? value.bind(target) : value
      return async (...given: unknown[]) => {
        const isWithdrawal = String(given[0]).startsWith(
          'update bank_movements set agent_id = null',
        )
        if (isWithdrawal) for (const work of meanwhile.splice(0)) await work()
        return Reflect.apply(value, target, given)
      }
    },
  })
  const errors: unknown[] = []
  const onError = (error: unknown) => errors.push(error)
  expect(await bookMovements({ ...desk, pool: overtaken }, onError, of.name, id)).toBe(1)
  expect([errors, others.length]).toEqual([[], 1])
  await markBooked(pool, others)
  const { rows: unmatched } = await s.sql(
    'select 1 from unmatched_payments where payment_id = $1',
    [`${of.name}:${id}`],
  )
  expect(unmatched).toEqual([])
  const second = (await movementsOf(s, account)).find(({ movementId }) => movementId === id)
  expect(second).toMatchObject({
    ...{ state: 'booked', paymentState: 'waiting', why: null, deductedMinor: 300n },
    orderId: expect.any(String),
  })
})

it('a push between two imports of a day is credited once', async () => {
  const account = await onlyAccount({ match: 'amount', surplusSteps: 9 })
  const agent = await s.agent()
  const { json } = await agent.deposit()
  const amount = json.transfer.amount.toFixed(2)
  const today = dayAt(s.clock())
  const { account: of } = account
  await push(s, account, { id: 'p', amount })
  await importFile(s, account, camt({ account: of, day: today, lines: [{ amount, text: 'a' }] }))
  await push(s, account, { id: 'p', amount })
  await importFile(s, account, camt({ account: of, day: today, lines: [{ amount, text: 'b' }] }))
  expect(await agent.balance()).toBe(json.transfer.amount)
  expect(await movementsOf(s, account)).toHaveLength(1)
})
