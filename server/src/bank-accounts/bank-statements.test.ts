import { expect, test } from 'vitest'
import { emptyStatement } from '../statements/reading.ts'
import type { BankStatement, Day } from '../statements/statement.ts'
import { closesPeriod, daysOf } from './bank-statements.ts'

const balance = (type: string, day: Day) => ({
  ...{ amountMinor: 0n, currency: 'EUR', day, type, booked: true },
})

function days(fields: Partial<BankStatement>): [Day | null, Day | null] {
  const { from, to } = daysOf({ ...emptyStatement('statement', 'camt.053'), ...fields })
  return [from, to]
}

const [opening, closing] = [balance('OPBD', '2026-11-16'), balance('CLBD', '2026-11-17')]

test.each<[string, Partial<BankStatement>, [Day | null, Day | null]]>([
  ['its opening balance was the closing one of the day before', {}, ['2026-11-17', '2026-11-17']],
  [
    'it is the previous closing balance',
    { opening: balance('PRCD', '2026-11-16') },
    ['2026-11-17', '2026-11-17'],
  ],
  [
    'its opening balance is of the first day',
    { opening: balance('OPBD', '2026-11-17') },
    ['2026-11-17', '2026-11-17'],
  ],
  ['its period says so', { from: '2026-11-15', to: '2026-11-17' }, ['2026-11-15', '2026-11-17']],
  [
    'its period ends at midnight',
    { from: '2026-11-17', to: '2026-11-18' },
    ['2026-11-17', '2026-11-17'],
  ],
  [
    'its period is none of its balances’',
    { from: '2007-10-18', to: '2007-10-18' },
    ['2026-11-17', '2026-11-17'],
  ],
  ['there are no balances', { opening: null, closing: null }, [null, null]],
])('the days of a statement if %s', (_, fields, expected) => {
  expect(days({ opening, closing, ...fields })).toEqual(expected)
})

test('entries of the day of its opening balance say that it begins there', () => {
  const [entry] = [{ status: 'booked', bookedOn: '2026-11-16' }] as BankStatement['entries']
  expect(days({ opening, closing, entries: entry ? [entry] : [] })).toEqual([
    '2026-11-16',
    '2026-11-17',
  ])
})

test('a ledger balance of OFX is as of the moment of its export: the period says which days are told', () => {
  const ledger = balance('LDGR', '2026-11-18')
  const period = { from: '2026-11-01', to: '2026-11-17' }
  expect(days({ opening: null, closing: ledger, ...period })).toEqual([period.from, period.to])
})

test.each([
  ['2026-11-17', true],
  // It is older, and no entry is younger.
  ['2026-11-16', true],
  ['2026-11-15', false],
  ['2026-11-18', false],
])('a ledger balance of %s closes a period until 2026-11-17: %s', (day, does) => {
  const entries = [{ status: 'booked', bookedOn: '2026-11-16' }] as BankStatement['entries']
  const statement = {
    ...emptyStatement('statement', 'ofx'),
    closing: balance('LDGR', day),
    entries,
  }
  expect(closesPeriod(statement, '2026-11-17')).toBe(does)
})
