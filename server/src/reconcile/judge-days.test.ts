import { describe, expect, test } from 'vitest'
import { judgeDays, type MovementFact, type StatementFact } from './judge-days.ts'

const monday = '2026-11-16'
const tuesday = '2026-11-17'

function statement(fields: Partial<StatementFact> = {}): StatementFact {
  const { from = monday, to = from } = fields
  const usual = { opening: 0n, closing: 100n, booked: 100n, entries: 1, seq: null, isTrusted: true }
  return { ...usual, ...fields, from, to }
}

function movement(fields: Partial<MovementFact> = {}): MovementFact {
  return {
    movementId: 'm',
    day: monday,
    amountMinor: 100n,
    isInStatement: true,
    isUnexplained: false,
    isSumTwice: false,
    waitsSince: null,
    isOpen: false,
    isUnconfirmed: false,
    ...fields,
  }
}

/** Each day as `2026-11-16 green`, with its breaks. */
function judged(statements: StatementFact[], movements: MovementFact[], today = tuesday): string[] {
  return judgeDays(statements, movements, today).map(({ day, state, breaks }) =>
    [day, state, ...breaks.map(({ name, amountMinor }) => `${name} ${amountMinor}`)].join(' '),
  )
}

describe('a day is', () => {
  test('green once its statement closes and everything on it is explained', () => {
    expect(judged([statement()], [movement()])).toEqual([`${monday} green`])
  })

  test('green without any movement, if its statement says so', () => {
    const empty = statement({ closing: 0n, booked: 0n, entries: 0 })
    expect(judged([empty], [])).toEqual([`${monday} green`])
  })

  test('amber before its statement, and while something is being booked or waits for the bank’s word', () => {
    expect(judged([], [movement({ isInStatement: false })])).toEqual([`${monday} amber`])
    expect(judged([statement()], [movement({ isOpen: true })])).toEqual([`${monday} amber`])
    const open = statement({ closing: null })
    expect(judged([open], [movement()])).toEqual([`${monday} amber`])
  })

  test('amber, and never green, by what only a person says, until a second person confirms it', () => {
    const brought = statement({ isTrusted: false })
    const pushed = movement({ isInStatement: false })
    expect(judged([brought], [pushed])).toEqual([`${monday} amber unconfirmed 0`])
    expect(judged([brought], [])).toEqual([`${monday} amber unconfirmed 0`])
    const told = movement({ isInStatement: false, isUnconfirmed: true })
    expect(judged([brought], [told])).toEqual([`${monday} amber unconfirmed 100`])
    expect(judged([statement({ closing: 0n, booked: 0n, entries: 0 })], [told])).toEqual([
      `${monday} amber unconfirmed 100`,
    ])
    // Not even the gap that it would leave is believed.
    const after = statement({ from: tuesday, opening: 7n, closing: 7n, booked: 0n, entries: 0 })
    expect(judged([brought, after], [pushed])[1]).toBe(`${tuesday} green`)
    expect(judged([brought, statement()], [movement()])).toEqual([`${monday} green`])
  })

  test('amber while a push of the day is not in its statement', () => {
    const pushed = movement({ movementId: 'p', amountMinor: 7n, isInStatement: false })
    expect(judged([statement()], [movement(), pushed])).toEqual([`${monday} amber`])
  })
})

describe('without an opening balance', () => {
  const wednesday = '2026-11-18'
  const plain = (fields: Partial<StatementFact>) => statement({ opening: null, ...fields })

  test('the first statement of an account sets it, and the closing balance of a day opens the next', () => {
    const next = plain({ from: tuesday, closing: 150n, booked: 50n })
    const moved = movement({ movementId: 'n', day: tuesday, amountMinor: 50n })
    expect(judged([plain({})], [movement()])).toEqual([`${monday} green`])
    expect(judged([plain({}), next], [movement(), moved], wednesday)).toEqual([
      `${monday} green`,
      `${tuesday} green`,
    ])
    // A line was lost.
    const lost = { ...next, booked: 0n, entries: 0 }
    expect(judged([plain({}), lost], [movement()], wednesday)).toEqual([
      `${monday} green`,
      `${tuesday} red does_not_close 50`,
    ])
  })

  test('a file that repeats the days of another and continues them is laid beside it', () => {
    const longer = plain({ to: tuesday, closing: 150n, booked: 150n, entries: 2 })
    const moved = movement({ movementId: 'n', day: tuesday, amountMinor: 50n })
    // The first was fetched at noon: what came later that day is in the second.
    const noon = plain({ closing: 100n })
    expect(judged([noon, longer], [movement(), moved], wednesday)).toEqual([
      `${monday} green`,
      `${tuesday} green`,
    ])
    const lost = { ...longer, booked: 100n, entries: 1 }
    expect(judged([noon, lost], [movement()], wednesday)).toEqual([
      `${monday} green`,
      `${tuesday} red does_not_close 50`,
    ])
  })
})

describe('files that overlap by a day', () => {
  // The first one was fetched at noon of the tenth, when only some of that day was there.
  const before = statement({ from: '2026-11-01', opening: 0n, closing: 100n })
  const days: [string, bigint][] = [
    ['2026-11-01', 100n],
    ['2026-11-05', 20n],
    ['2026-11-10', 3n],
    ['2026-11-10', 4n],
    ['2026-11-15', 5n],
  ]
  const moved = days.map(([day, amountMinor], nth) =>
    movement({ movementId: `${nth}`, day, amountMinor }),
  )
  const first = { from: '2026-11-02', to: '2026-11-10', closing: 123n, booked: 23n, entries: 2 }
  const second = { from: '2026-11-10', to: '2026-11-20', closing: 132n, booked: 12n, entries: 3 }

  test('are judged by what all of them say, where the bank says no opening balance', () => {
    const files = [first, second].map((each) => statement({ ...each, opening: null }))
    const states = judged([before, ...files], moved)
    expect(states.filter((each) => !each.endsWith(' green'))).toEqual([])
    const wrong = statement({ ...second, opening: null, closing: 133n })
    expect(judged([before, ...files.slice(0, 1), wrong], moved)).toContain(
      '2026-11-20 red does_not_close 1',
    )
  })

  test('leave no gap between them, and one that is missing does', () => {
    const told = statement({ ...second, opening: 120n })
    const open = statement({ ...first, opening: null })
    expect(judged([before, open, told], moved)).toContain('2026-11-20 green')
    expect(judged([before, told], moved)).toContain('2026-11-20 red gap 20')
  })
})

describe('pages of a statement', () => {
  const pageOf = (page: number, fields: Partial<StatementFact>) =>
    statement({ id: 'S1', page, opening: null, closing: null, ...fields })
  const first = pageOf(1, { opening: 0n, booked: 60n })
  const second = pageOf(2, { booked: 30n })
  const third = pageOf(3, { closing: 100n, booked: 10n })
  const moved = [60n, 30n, 10n].map((amountMinor, nth) =>
    movement({ movementId: `${nth}`, amountMinor }),
  )

  test('are one statement, in whatever order they come', () => {
    for (const pages of [
      [first, second, third],
      [third, first, second],
    ]) {
      expect(judged(pages, moved)).toEqual([`${monday} green`])
    }
    const lost = { ...second, booked: 20n }
    const known = moved.map((each) =>
      each.amountMinor === 30n ? { ...each, amountMinor: 20n } : each,
    )
    expect(judged([first, lost, third], known)).toEqual([`${monday} red does_not_close 10`])
  })

  test('close no day while one is missing', () => {
    expect(judged([first, third], [])).toEqual([`${monday} amber`])
    expect(judged([second, third], [])).toEqual([`${monday} amber`])
    expect(judged([third], [])).toEqual([`${monday} amber`])
  })

  test('with both balances are statements of their own, whatever number the bank gives them', () => {
    for (const page of [0, 2, 5]) {
      const alone = pageOf(page, { opening: 0n, closing: 100n })
      expect(judged([alone], [movement()])).toEqual([`${monday} green`])
    }
    // What was on a page between them would show.
    const next = pageOf(3, { from: tuesday, id: 'S3', opening: 70n, closing: 80n, booked: 10n })
    const known = [movement(), movement({ movementId: 'n', day: tuesday, amountMinor: 10n })]
    expect(judged([pageOf(1, { opening: 0n, closing: 100n }), next], known)).toEqual([
      `${monday} green`,
      `${tuesday} red gap -30`,
    ])
  })
})

describe('breaks:', () => {
  test('what contradicts the payouts of files has its name, and a person ends it', () => {
    const debit = movement({ amountMinor: -100n, isUnexplained: true, fault: 'paid_twice' })
    const closing = { closing: -100n, booked: -100n }
    expect(judged([statement(closing)], [debit])).toEqual([`${monday} red paid_twice -100`])
    const back = movement({ waitsSince: monday, fault: 'return_unknown' })
    expect(judged([statement()], [back])).toEqual([`${monday} red return_unknown 100`])
    expect(judged([statement()], [{ ...back, waitsSince: null }])).toEqual([`${monday} green`])
  })

  test('does_not_close: opening and entries are not the closing balance', () => {
    expect(judged([statement({ closing: 101n })], [movement()])).toEqual([
      `${monday} red does_not_close 1`,
    ])
  })

  test('does_not_close: fewer movements are known than the statement has', () => {
    expect(judged([statement()], [movement({ amountMinor: 40n })])).toEqual([
      `${monday} red does_not_close -60`,
    ])
  })

  test('vanished: an earlier statement of the day had more', () => {
    const more = movement({ movementId: 'n', amountMinor: 5n })
    expect(judged([statement()], [movement(), more])).toEqual([`${monday} red vanished 5`])
  })

  test('changed: an earlier statement of the day had as many lines, but another amount', () => {
    const [before, now] = [statement({ closing: 90n, booked: 90n }), statement()]
    const was = movement({ movementId: 'n', amountMinor: 90n })
    expect(judged([before, now], [was, movement()])).toEqual([`${monday} red changed 90`])
  })

  test('gap: a statement opens with another balance than the one before closed with', () => {
    const next = statement({ from: tuesday, opening: 130n, closing: 130n, booked: 0n, entries: 0 })
    expect(judged([statement(), next], [movement()])).toEqual([
      `${monday} green`,
      `${tuesday} red gap 30`,
    ])
  })

  test('seq_gap: a number is missing', () => {
    const next = { from: tuesday, opening: 100n, closing: 100n, booked: 0n, entries: 0 }
    const days = (seq: bigint) =>
      judged([statement({ seq: 4n }), statement({ ...next, seq })], [movement()])
    expect(days(5n)).toEqual([`${monday} green`, `${tuesday} green`])
    expect(days(6n)).toEqual([`${monday} green`, `${tuesday} red seq_gap null`])
    // Banks begin again every year.
    expect(days(1n)).toEqual([`${monday} green`, `${tuesday} green`])
  })

  test('unexplained_debit is red; unexplained_credit waits for a person', () => {
    const debit = movement({ amountMinor: -10n, isUnexplained: true })
    const debited = statement({ opening: 10n, closing: 0n, booked: -10n })
    expect(judged([debited], [debit])).toEqual([`${monday} red unexplained_debit -10`])
    expect(judged([statement()], [movement({ isUnexplained: true })])).toEqual([
      `${monday} amber unexplained_credit 100`,
    ])
  })

  test('batch_twice: a person explained the sum, which is not counted beside its payments', () => {
    const sum = movement({ movementId: 's', isSumTwice: true })
    expect(judged([statement()], [movement(), sum])).toEqual([`${monday} red batch_twice 100`])
  })

  test('unexplained_credit: money waits for a decision longer than two days', () => {
    const waits = [movement({ waitsSince: monday })]
    expect(judged([statement()], waits, '2026-11-18')).toEqual([`${monday} green`])
    expect(judged([statement()], waits, '2026-11-19')).toEqual([
      `${monday} amber unexplained_credit 100`,
    ])
  })

  test('never_booked: statements past the next banking day do not have what was pushed', () => {
    const pushed = movement({ isInStatement: false })
    const empty = (day: string) =>
      statement({ from: day, opening: 0n, closing: 0n, booked: 0n, entries: 0 })
    expect(judged([empty(tuesday)], [pushed])).toEqual([`${monday} amber`, `${tuesday} green`])
    expect(judged([empty('2026-11-18')], [pushed])[0]).toBe(`${monday} red never_booked 100`)
    const friday = movement({ day: '2026-11-13', isInStatement: false })
    expect(judged([empty(monday)], [friday])[0]).toBe('2026-11-13 amber')
  })

  test('never_booked: a payment recorded by hand is overdue after two banking days, even if no statement comes', () => {
    const hand = movement({ isInStatement: false, isByHand: true })
    expect(judged([], [hand], '2026-11-18')).toEqual([`${monday} amber`])
    expect(judged([], [hand], '2026-11-19')).toEqual([`${monday} red never_booked 100`])
    const friday = movement({ ...hand, day: '2026-11-13' })
    expect(judged([], [friday], tuesday)).toEqual(['2026-11-13 amber'])
    expect(judged([], [friday], '2026-11-18')).toEqual(['2026-11-13 red never_booked 100'])
    const holidays = new Set([monday])
    expect(judgeDays([], [friday], '2026-11-18', holidays)[0]?.state).toBe('amber')
  })
})

describe('several statements', () => {
  test('of the same day: the one that came last counts, if it has a balance', () => {
    const first = statement({ closing: 40n, booked: 40n })
    expect(judged([first, statement()], [movement()])).toEqual([`${monday} green`])
    expect(judged([statement(), statement({ closing: null, booked: 0n })], [movement()])).toEqual([
      `${monday} green`,
    ])
  })

  test('of one day that continue each other are one', () => {
    const morning = statement({ closing: 40n, booked: 40n })
    const evening = statement({ opening: 40n, closing: 100n, booked: 60n })
    const movements = [
      movement({ amountMinor: 40n }),
      movement({ movementId: 'n', amountMinor: 60n }),
    ]
    expect(judged([morning, evening], movements)).toEqual([`${monday} green`])
    expect(judged([evening, morning], movements)).toEqual([`${monday} green`])
    // A day without change begins where it ends.
    const still = statement({ opening: 5n, closing: 5n, booked: 0n, entries: 0 })
    expect(judged([still], [])).toEqual([`${monday} green`])
  })

  test('of overlapping days agree with each other', () => {
    const next = statement({ from: tuesday, opening: 100n, closing: 150n, booked: 50n })
    const both = statement({
      from: monday,
      to: tuesday,
      opening: 0n,
      closing: 150n,
      booked: 150n,
      entries: 2,
    })
    const movements = [movement(), movement({ movementId: 'n', day: tuesday, amountMinor: 50n })]
    for (const order of [
      [statement(), next, both],
      [both, statement(), next],
      [next, both, statement()],
    ]) {
      expect(judged(order, movements)).toEqual([`${monday} green`, `${tuesday} green`])
    }
  })
})
