import { describe, expect, it, test } from 'vitest'
import { seeded } from '../../test/support/load.ts'
import { sample } from '../../test/support/long.ts'
import { movementsAfter } from '../../test/support/paired-movements.ts'
import { paymentCode } from '../lib/payment-code.ts'
import { type BankIds, noIds } from '../statements/statement.ts'
import type { BankReport, ReportSource } from './bank-report.ts'
import {
  fullAccountNo,
  isWithinBankingDay,
  type KnownMovement,
  maskedPattern,
  pairReports,
} from './pair-reports.ts'

type Fields = Partial<Omit<BankReport, 'ids' | 'payer'>> & {
  ids?: Partial<BankIds>
  payerNo?: string
}

function report({ ids, payerNo, ...fields }: Fields = {}): BankReport {
  return {
    source: 'statement',
    key: 'k',
    line: 1,
    amountMinor: 100_07n,
    bookedOn: '2026-11-16',
    bookedAt: null,
    balanceAfterMinor: null,
    chargesMinor: 0n,
    ids: { ...noIds, ...ids },
    text: '',
    payer: { accountNo: payerNo ?? null, name: null, bank: null },
    isReturn: false,
    batchCount: null,
    ...fields,
  }
}

/** A movement as it is known from its reports. */
function movement(
  movementId: string,
  ...reports: (Fields & { fileId?: string | null; isTrusted?: boolean })[]
) {
  const [first] = reports
  const { amountMinor, bookedOn, bookedAt } = report(first)
  return {
    movementId,
    amountMinor,
    bookedOn,
    bookedAt,
    reports: reports.map(({ fileId = null, isTrusted = true, ...fields }) => {
      const each = report(fields)
      return { ...each, fileId, isTrusted, payerAccountNo: each.payer.accountNo }
    }),
  } satisfies KnownMovement
}

/** The movement of each report of a new file; `new` where it is of its own. */
function pair(
  reports: BankReport[],
  known: KnownMovement[],
  fileId: string | null = 'file',
  isTrusted = true,
): string[] {
  let made = 0
  const from = { fileId, isTrusted }
  const { movementIds, added } = pairReports(reports, known, from, () => `new-${++made}`)
  expect(added.size).toBe(made)
  return movementIds.map((id) => (added.has(id) ? 'new' : id))
}

const code = (seed: number) => paymentCode(String(seed))
const push = { source: 'push' as ReportSource, bookedAt: new Date('2026-11-16T03:01:00Z') }

describe('what only a person said', () => {
  const hearsay = { fileId: 'brought', isTrusted: false, ids: { accountServicerRef: 'made up' } }
  const own = report({ ids: { accountServicerRef: 'B-1' } })

  test('does not make the bank’s own line a second movement, whatever else they said of it', () => {
    expect(pair([own], [movement('a', hearsay)])).toEqual(['a'])
    expect(pair([own], [movement('a', { ...hearsay, bookedOn: '2026-11-13' })])).toEqual(['a'])
    expect(pair([own], [movement('a', { ...hearsay, amountMinor: 1n })])).toEqual(['new'])
    expect(pair([own], [movement('a', { ...hearsay, bookedOn: '2026-11-11' })])).toEqual(['new'])
  })

  test('about a movement of the bank does not keep its own next line away', () => {
    expect(pair([own], [movement('a', push, hearsay)])).toEqual(['a'])
  })

  test('is taken for the line that it fits, before one that it does not', () => {
    const said = report({ ids: { accountServicerRef: 'made up' } })
    expect(pair([own, said], [movement('a', hearsay)])).toEqual(['new', 'a'])
    expect(pair([own, own], [movement('a', hearsay)])).toEqual(['a', 'new'])
  })

  test('stays apart from what the bank says if it contradicts it', () => {
    const made = report({ ids: { accountServicerRef: 'made up' } })
    const known = movement('a', { ids: { accountServicerRef: 'B-1' } })
    expect(pair([made], [known], 'brought', false)).toEqual(['new'])
  })
})

describe('what was recorded by hand', () => {
  const hand = { source: 'hand' as ReportSource, fileId: null, ids: { feedId: 'SLIP-7' } }

  test('is about the one movement that the bank reports, before and after', () => {
    expect(pair([report()], [movement('a', hand)])).toEqual(['a'])
    expect(pair([report({ ...push, ids: { feedId: '9' } })], [movement('a', hand)], null)).toEqual([
      'a',
    ])
    expect(pair([report(hand)], [movement('a', push)], null)).toEqual(['a'])
    expect(pair([report(hand)], [movement('a', { fileId: 'statement' })], null)).toEqual(['a'])
    expect(pair([report()], [movement('a', { ...hand, bookedOn: '2026-11-12' })])).toEqual(['new'])
  })

  test('is not about what an unconfirmed file says of another order or another payer', () => {
    const unconfirmed = { fileId: 'brought', isTrusted: false }
    const ofOrder = movement('a', { ...unconfirmed, text: code(1) })
    const ofPayer = movement('b', { ...unconfirmed, payerNo: '111-222' })
    expect(pair([report({ ...hand, text: code(2) })], [ofOrder], null)).toEqual(['new'])
    expect(pair([report({ ...hand, payerNo: '333-444' })], [ofPayer], null)).toEqual(['new'])
    expect(pair([report({ ...hand, text: code(1) })], [ofOrder], null)).toEqual(['a'])
  })

  test('never joins what was recorded by hand before', () => {
    expect(pair([report(hand)], [movement('a', hand)], null)).toEqual(['new'])
    expect(pair([report(hand)], [movement('a', hand, push)], null)).toEqual(['new'])
  })

  test('is another payment than one that names another order or another account of the payer', () => {
    const known = movement('a', { ...hand, text: code(1) })
    expect(pair([report({ text: code(2) })], [known])).toEqual(['new'])
    expect(pair([report({ text: `trf ${code(1)}` })], [known])).toEqual(['a'])
    expect(pair([report({ text: 'no code' })], [known])).toEqual(['a'])
    const paidBy = (payerNo: string) => ({ payerNo })
    const ofOne = movement('a', { ...hand, ...paidBy('111-222') })
    expect(pair([report(paidBy('333444'))], [ofOne])).toEqual(['new'])
    expect(pair([report(paidBy('111222'))], [ofOne])).toEqual(['a'])
  })

  test('is another payment than one whose masked account cannot be the payer’s', () => {
    const slip = report({ ...hand, payerNo: '999-9-91234-9' })
    const from = (payerNo: string) => pair([slip], [movement('a', { ...push, payerNo })], null)
    expect(from('xxx-x-x5678-x')).toEqual(['new'])
    expect(from('xxx-x-x1234-x')).toEqual(['a'])
    expect(from('***12349')).toEqual(['a'])
    expect(from('xxx')).toEqual(['a'])
    const known = movement('a', { ...hand, payerNo: '9999912349' })
    expect(pair([report({ payerNo: '••5678' })], [known])).toEqual(['new'])
  })

  test('is what the bank books with the code of its order some days later', () => {
    const known = movement('a', { ...hand, text: code(1), bookedOn: '2026-11-13' })
    const line = { text: `trf ${code(1)}`, bookedOn: '2026-11-17' }
    expect(pair([report(line)], [known])).toEqual(['a'])
    expect(pair([report({ ...line, bookedOn: '2026-11-19' })], [known])).toEqual(['new'])
    // Who pays twice with one code has paid twice.
    const both = movement('a', { ...hand, text: code(1) }, { text: code(1), fileId: 'other' })
    expect(pair([report({ text: code(1), bookedOn: '2026-11-18' })], [both])).toEqual(['new'])
  })

  test('is found by the number on its slip, wherever the bank has that', () => {
    const twins = [movement('a', { ...hand, ids: { feedId: 'OTHER' } }), movement('b', hand)]
    const line = report({ ids: { accountServicerRef: 'SLIP-7' } })
    expect(pair([line], twins)).toEqual(['b'])
    expect(pair([report({ ids: { accountServicerRef: 'B-1' } })], [movement('a', hand)])).toEqual([
      'a',
    ])
    const late = report({ ids: { accountServicerRef: 'SLIP-7' }, bookedOn: '2026-11-19' })
    expect(pair([late], twins)).toEqual(['b'])
  })
})

describe('a report joins', () => {
  test('the push of the same amount on the same day', () => {
    expect(pair([report()], [movement('a', push)])).toEqual(['a'])
  })

  test('the push of the banking day before or after, over a weekend too', () => {
    const friday = movement('a', { ...push, bookedOn: '2026-11-13' })
    expect(pair([report({ bookedOn: '2026-11-16' })], [friday])).toEqual(['a'])
    expect(pair([report({ bookedOn: '2026-11-17' })], [friday])).toEqual(['new'])
    const monday = movement('b', push)
    expect(pair([report({ bookedOn: '2026-11-17' })], [monday])).toEqual(['b'])
    expect(pair([report({ bookedOn: '2026-11-18' })], [monday])).toEqual(['new'])
  })

  test('a movement of its own kind on the same day only: other wording adds nothing, tomorrow is another', () => {
    const known = movement('a', { text: 'TRF 1', fileId: 'other' })
    expect(pair([report({ text: 'Transfer no. 1' })], [known])).toEqual(['a'])
    expect(pair([report({ bookedOn: '2026-11-17' })], [known])).toEqual(['new'])
  })

  test('what has the same id of the bank, five days apart and no more', () => {
    const ids = { accountServicerRef: 'R1' }
    const known = movement('a', { ...push, bookedOn: '2026-11-11', ids })
    expect(pair([report({ ids })], [known])).toEqual(['a'])
    const old = movement('a', { ...push, bookedOn: '2026-11-10', ids })
    expect(pair([report({ ids })], [old])).toEqual(['new'])
  })

  test('what has the same id of the payer, unless its kind has reported it already', () => {
    const ids = { endToEndId: 'E1' }
    const pushed = movement('a', { ...push, bookedOn: '2026-11-12', ids })
    expect(pair([report({ ids })], [pushed])).toEqual(['a'])
    const stated = movement('a', { bookedOn: '2026-11-12', ids, fileId: 'other' })
    expect(pair([report({ ids })], [stated])).toEqual(['new'])
  })

  test('the best of several: by id, by balance, by text, by time, and then the oldest', () => {
    const plain = movement('plain', push)
    const named = movement('named', { ...push, ids: { uetr: 'U' } })
    const balanced = movement('balanced', { ...push, balanceAfterMinor: 5n })
    const texted = movement('texted', { ...push, text: 'Rent, May' })
    const later = movement('later', { ...push, bookedAt: new Date('2026-11-16T09:00:00Z') })
    const known = [plain, named, balanced, texted, later]
    expect(pair([report({ ids: { uetr: 'U' } })], known)).toEqual(['named'])
    expect(pair([report({ balanceAfterMinor: 5n })], known)).toEqual(['balanced'])
    expect(pair([report({ text: 'RENT MAY' })], known)).toEqual(['texted'])
    const bookedAt = new Date('2026-11-16T08:58:00Z')
    expect(pair([report({ bookedAt, text: 'x' })], known)).toEqual(['later'])
    expect(pair([report({ text: 'x' })], [plain, movement('second', push)])).toEqual(['plain'])
  })
})

describe('a report is of its own', () => {
  test.each<[string, Fields, Fields]>([
    ['amount', { amountMinor: 1n }, {}],
    ['direction', { amountMinor: -100_07n }, {}],
    ['id of the bank', { ids: { accountServicerRef: 'A' } }, { ids: { accountServicerRef: 'B' } }],
    ['id of the payer', { ids: { endToEndId: 'A' } }, { ids: { endToEndId: 'B' } }],
    ['payer', { payerNo: '123-4-56789-0' }, { payerNo: '1234567891' }],
    ['balance', { balanceAfterMinor: 1n }, { balanceAfterMinor: 2n }],
    ['payment code', { text: `sms ${code(1)}` }, { text: `TRF ${code(2)}` }],
  ])('if its %s contradicts', (_what, known, own) => {
    expect(pair([report(own)], [movement('a', { ...push, ...known })])).toEqual(['new'])
  })

  test('but the bank’s id in a feed differs from that of its statement, and masked payers contradict nobody', () => {
    const known = movement('a', { ...push, ids: { feedId: 'f1' }, payerNo: 'xxx-x-x6789-x' })
    const own = report({ ids: { feedId: 'FITID' }, payerNo: '1234500000' })
    expect(pair([own], [known])).toEqual(['a'])
  })

  test('but what the bank gives one number is one, whichever order a push was taken to name', () => {
    const ids = { accountServicerRef: 'R1' }
    const notified = { source: 'intraday' as ReportSource, fileId: 'noon', ids }
    const known = movement('a', { ...push, text: code(1) }, notified)
    expect(pair([report({ ids, text: code(2) })], [known])).toEqual(['a'])
    expect(pair([report({ text: code(2) })], [known])).toEqual(['new'])
  })

  test('but a bank, a branch, zeros or an IBAN before the payer’s number are the same number', () => {
    const known = movement('a', { ...push, payerNo: '123-4-56789-0' })
    const from = (payerNo: string) => pair([report({ payerNo })], [known])[0]
    expect(['0001234567890', '004-1234567890', 'TH12 0040 1234567890'].map(from)).toEqual([
      'a',
      'a',
      'a',
    ])
    expect(['7890', '2234567890', 'DE71110220330123456789'].map(from)).toEqual([
      'new',
      'new',
      'new',
    ])
  })

  test('if the movement has a report of the same file: children of a batch that share an id stay apart', () => {
    const ids = { accountServicerRef: 'BATCH' }
    expect(pair([report({ ids }), report({ ids })], [])).toEqual(['new', 'new'])
    expect(pair([report({ ids })], [movement('a', { ids, fileId: 'file' })])).toEqual(['new'])
  })

  test('a push never joins another push', () => {
    expect(pair([report(push)], [movement('a', push)], null)).toEqual(['new'])
    expect(pair([report(push)], [movement('a', { fileId: 'other' })], null)).toEqual(['a'])
  })
})

describe('twins', () => {
  const twins = (count: number) =>
    Array.from({ length: count }, (_, at) => movement(`m${at}`, { ...push, text: 'same' }))

  test.each([
    [3, 3, 3],
    [2, 5, 5],
    [5, 2, 5],
    [0, 2, 2],
  ])('%i pushed and %i in the statement are %i', (pushed, stated, all) => {
    const ids = pair(
      Array.from({ length: stated }, () => report({ text: 'same' })),
      twins(pushed),
    )
    expect(new Set(ids.filter((id) => id !== 'new')).size).toBe(Math.min(pushed, stated))
    expect(pushed + ids.filter((id) => id === 'new').length).toBe(all)
  })

  it.each<[string, (at: number) => Fields, (at: number) => Fields]>([
    ['equal lines', () => push, () => ({})],
    ['other words', () => ({ ...push, text: 'sms' }), () => ({ text: 'TRF' })],
    [
      'other times and words, the newest first',
      (at) => ({ ...push, bookedAt: new Date(1e12 + at), text: `sms ${at}` }),
      (at) => ({ bookedAt: new Date(1e12 + 3_000 - at), text: `TRF ${at}` }),
    ],
    [
      'codes, the newest first',
      (at) => ({ ...push, text: code(at) }),
      (at) => ({ text: `TRF ${code(2_999 - at)}` }),
    ],
    [
      'balances, the newest first',
      (at) => ({ ...push, balanceAfterMinor: BigInt(at) }),
      (at) => ({ balanceAfterMinor: BigInt(2_999 - at) }),
    ],
  ])('thousands of a day pair, each once: %s', (_what, known, own) => {
    const count = 3_000
    const before = Array.from({ length: count }, (_, at) => movement(`m${at}`, known(at)))
    const reports = Array.from({ length: count }, (_, at) => report(own(at)))
    const ids = pair(reports, before)
    expect(new Set(ids).size).toBe(count)
    expect(ids).not.toContain('new')
  })

  it('of three days that were paired across them, what is reported first of the first day takes the place that is left', () => {
    const on = (day: number): Fields => ({ bookedOn: `2026-11-${day}`, bookedAt: null })
    const stated = (day: number) => ({ ...on(day), ids: { accountServicerRef: `R${day}` } })
    const pushed = (day: number) => ({ ...on(day), source: 'push' as ReportSource })
    const known = [
      { ...movement('a', pushed(16), stated(17)), bookedOn: '2026-11-17' },
      movement('b', stated(18), pushed(17)),
      movement('c', pushed(18)),
    ]
    const notified = report({ ...stated(16), source: 'intraday' })
    expect(pair([notified], known)).toEqual(['c'])
  })

  it('the one whose push was lost is of its own, whatever the order of the lines', () => {
    const known = [2, 3].map((at) => movement(`m${at}`, { ...push, text: code(at) }))
    const lines = [1, 2, 3].map((at) => report({ text: `TRF ${code(at)}` }))
    expect(pair(lines, known)).toEqual(['new', 'm2', 'm3'])
  })

  it('without codes, each is of the order whose payer paid it, or that was open when it was paid', () => {
    const at = (time: string) => new Date(`2026-11-16T${time}:00Z`)
    const order = (payerAccountNo: string, from: string, until: string) => ({
      payerAccountNo,
      createdAt: at(from),
      expiresAt: at(until),
    })
    const orders = new Map([
      [code(1), order('1111111111', '03:00', '03:15')],
      [code(2), order('2222222222', '03:30', '03:45')],
    ])
    // The bank lists the newest first.
    const lines = [report({ text: code(2) }), report({ text: code(1) })]
    const from = { fileId: 'file', isTrusted: true, orders }
    const paired = (...known: KnownMovement[]) =>
      pairReports(lines, known, from, () => 'new').movementIds
    const paid = (time: string, payerNo?: string) =>
      movement(time, { ...push, bookedAt: at(time), ...(payerNo !== undefined && { payerNo }) })
    expect(paired(paid('03:01'), paid('03:40'))).toEqual(['03:40', '03:01'])
    // The payer's number says more than the time, and what one line takes leaves the other one its own.
    expect(paired(paid('03:02', '222-2-22222-2'), paid('03:01'))).toEqual(['03:02', '03:01'])
    expect(paired(paid('05:00'), paid('03:31'))).toEqual(['03:31', '05:00'])
    // Where nothing tells them apart, the oldest is first.
    expect(paired(paid('05:00'), paid('05:01'))).toEqual(['05:00', '05:01'])
  })

  it('thousands that all contradict are all new', () => {
    const line = (at: number, letter: string) => ({ ids: { accountServicerRef: letter + at } })
    const known = Array.from({ length: 3_000 }, (_, at) =>
      movement(`m${at}`, { ...line(at, 'A'), fileId: 'other' }),
    )
    const reports = Array.from({ length: 3_000 }, (_, at) => report(line(at, 'B')))
    expect(new Set(pair(reports, known))).toEqual(new Set(['new']))
  })
})

/** Pushes, notifications and statements of some days on which equal amounts were paid, in any order. */
function reportsInAnyOrder(random: () => number, hasCodes: boolean) {
  const days = ['2026-11-11', '2026-11-12', '2026-11-13', '2026-11-16']
  const hasRefs = random() < 0.5
  let nth = 0
  const truth = days.flatMap((bookedOn) =>
    Array.from({ length: Math.floor(random() * 4) }, () => ({
      bookedOn,
      ref: `R${++nth}`,
      code: hasCodes && random() < 0.5 ? code(nth) : null,
    })),
  )
  const isCoded = { statement: true, intraday: random() < 0.5, push: random() < 0.5, hand: false }
  const textOf = (source: ReportSource, named: string | null) =>
    isCoded[source] && named !== null ? `${source} ${named}` : ''
  const file = (source: ReportSource, most: number, ...of: string[]) => ({
    fileId: `${source} ${of} ${most}`,
    reports: of.flatMap((day) =>
      truth
        .filter(({ bookedOn }) => bookedOn === day)
        .slice(0, most)
        .map(({ bookedOn, ref, code: named }) =>
          report({
            source,
            text: textOf(source, named),
            bookedOn,
            key: `${source} ${ref}`,
            ids: { accountServicerRef: hasRefs ? ref : null },
          }),
        ),
    ),
  })
  const pushes = truth
    .filter(() => random() < 0.7)
    .map(({ bookedOn, ref, code: named }) => ({
      fileId: null,
      reports: [report({ ...push, bookedOn, key: `push ${ref}`, text: textOf('push', named) })],
    }))
  const files = [
    ...pushes,
    ...days.map((day) => file('statement', 99, day)),
    file('statement', 99, ...days.slice(0, 2)),
    file('statement', 99, ...days.slice(1)),
    ...days.map((day) => file('intraday', 2, day)),
  ]
  const order = files
    .map((each) => [random(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each)
  return { truth: truth.map(({ bookedOn }) => bookedOn), order }
}

test('reports of neighbouring days end as the statements say, in whatever order they come', () => {
  const seeds = Array.from({ length: 2_000 }, (_, at) => at + 1)
  for (const seed of sample(seeds, 200)) {
    const { truth, order } = reportsInAnyOrder(seeded(seed), seed % 2 === 0)
    const found = movementsAfter(order).map(({ bookedOn }) => bookedOn)
    expect([seed, ...found.sort()]).toEqual([seed, ...truth])
  }
})

test.each([
  ['2026-11-16', '2026-11-16', true],
  ['2026-11-16', '2026-11-17', true],
  ['2026-11-13', '2026-11-14', true],
  ['2026-11-13', '2026-11-16', true],
  ['2026-11-14', '2026-11-16', true],
  ['2026-11-13', '2026-11-17', false],
  ['2026-11-16', '2026-11-18', false],
])('%s and %s are a banking day apart at most: %j', (a, b, is) => {
  expect([isWithinBankingDay(a, b), isWithinBankingDay(b, a)]).toEqual([is, is])
})

test('what is booked after the bank’s holidays is within a banking day of what was pushed before', () => {
  const holidays = new Set(['2026-11-16', '2026-11-17'])
  expect(isWithinBankingDay('2026-11-13', '2026-11-18', holidays)).toBe(true)
  expect(isWithinBankingDay('2026-11-16', '2026-11-18', holidays)).toBe(true)
  expect(isWithinBankingDay('2026-11-13', '2026-11-19', holidays)).toBe(false)
  const friday = movement('a', { ...push, bookedOn: '2026-11-13' })
  const from = { fileId: 'f', isTrusted: true }
  const line = [report({ bookedOn: '2026-11-18' })]
  const pairedIn = (each: ReadonlySet<string>) =>
    pairReports(line, [friday], { ...from, holidays: each }, () => 'new').movementIds
  expect([pairedIn(holidays), pairedIn(new Set())]).toEqual([['a'], ['new']])
})

test.each(['SCB x6789', 'x6789', 'XXX6789', '***6789', '####6789'])(
  'a payer who is shown as %s is not another one',
  (payerNo) => {
    const line = report({ payerNo: '1112226789' })
    expect(pair([line], [movement('a', { ...push, payerNo })])).toEqual(['a'])
    expect(pair([line], [movement('a', { ...push, source: 'hand', payerNo })])).toEqual(['a'])
    const another = report({ payerNo: '1112226780' })
    const slip = movement('a', { ...push, source: 'hand', payerNo })
    expect(pair([{ ...another, source: 'hand' }], [slip], null)).toEqual(['new'])
  },
)

test('a line in the words of a payment is about that, although another line’s order was open then', () => {
  const known = movement('a', { ...push, text: 'CASH IN 77' })
  const open = { createdAt: new Date('2026-11-16T03:00:00Z'), payerAccountNo: '1' }
  const orders = new Map([[code(1), { ...open, expiresAt: new Date('2026-11-16T04:00:00Z') }]])
  const from = { fileId: 'f', isTrusted: true, orders }
  const lines = [report({ text: `TRF ${code(1)}` }), report({ text: 'Cash in 77', line: 2 })]
  const paired = (each: BankReport[]) => pairReports(each, [known], from, () => 'new').movementIds
  expect(paired(lines)).toEqual(['new', 'a'])
  expect(paired(lines.slice(0, 1))).toEqual(['a'])
})

test('only pages of one statement keep lines apart, and never those with one number of the bank’s', () => {
  const on = (page: number) => ({ page: { seq: '45', page } })
  const known = (source: ReportSource, ids: Partial<BankIds> = {}) => {
    const [first, ...rest] = movement('a', { source, fileId: 'before', ids }).reports
    return { ...movement('a'), reports: first ? [{ ...first, ...on(2) }, ...rest] : [] }
  }
  const line = (ids: Partial<BankIds> = {}) => ({ ...report({ ids }), ...on(1) })
  const ref = { accountServicerRef: 'B-1' }
  expect(pair([line()], [known('statement')])).toEqual(['new'])
  expect(pair([line()], [known('intraday')])).toEqual(['a'])
  expect(pair([line(ref)], [known('statement', ref)])).toEqual(['a'])
})

test.each([
  ['123-4-56789-0', '1234567890'],
  ['de71 1102 2033 0123 4567 89', 'DE71110220330123456789'],
  ['xxx-x-x6789-x', null],
  ['XXXXXX6789', null],
  ['******6789', null],
  ['••6789', null],
  ['x6789', null],
  ['SCB x6789', null],
  ['KBANK X-6789', null],
  ['####6789', null],
  ['', null],
  ['--', null],
  [null, null],
])('%j is in full %j', (accountNo, full) => {
  expect(fullAccountNo(accountNo)).toBe(full)
})

test.each([
  ['xxx-x-x6789-x', '_____6789_'],
  ['***1234', '___1234'],
  ['xxx-x-xx789-x', null],
  ['xx%6789', '__6789'],
  ['####6789', '____6789'],
  ['SCB x6789', '_6789'],
  [null, null],
])('%j is the pattern %j', (accountNo, pattern) => {
  expect(maskedPattern(accountNo)).toBe(pattern)
})
