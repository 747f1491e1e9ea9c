import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileSmsPattern, type SmsValues } from './sms-pattern.ts'

function read(pattern: string, message: string): SmsValues | undefined {
  return compileSmsPattern(pattern).read(message)
}

const thai = '{time} บช {account} รับโอนจาก {name} จำนวน {amount} บาท คงเหลือ {balance} บาท'

test('values between literals', () => {
  expect(
    read(
      thai,
      '02/11/69 10:01 บช X-1234 รับโอนจาก X-5678 TESTER จำนวน  100.07 บาท คงเหลือ 1,500.00 บาท',
    ),
  ).toEqual({
    time: '02/11/69 10:01',
    account: 'X-1234',
    name: 'X-5678 TESTER',
    amount: '100.07',
    balance: '1,500.00',
  })
})

test('line breaks, doubled blanks and wide digits do not matter', () => {
  expect(read('In {amount} THB', ' In\n１００.07   THB ')).toEqual({ amount: '100.07' })
})

test.each([
  ['another literal', 'In {amount} THB', 'Out 100 THB'],
  ['something before', 'In {amount} THB', 'x In 100 THB'],
  ['something behind', 'In {amount} THB', 'In 100 THB and more'],
  ['no amount', 'In {amount} THB', 'In  THB'],
  ['a word for an amount', 'In {amount} THB', 'In many THB'],
  ['an empty name', 'From {name}, {amount}', 'From , 100'],
  ['a long message', 'In {amount} {any}', `In 1 ${'x'.repeat(600)}`],
])('a message with %s does not fit', (_, pattern, message) => {
  expect(read(pattern, message)).toBeUndefined()
})

test.each([
  ['no amount', 'In {name}', 'no {amount}'],
  ['an unknown field', '{amount} {secret}', 'no field {secret}'],
  ['a field twice', '{amount} {amount}', 'twice'],
  ['two fields side by side', '{name}{amount}', 'side by side'],
  ['a brace without its partner', '{amount} {', 'brace'],
  ['too many characters', `{amount}${'x'.repeat(600)}`, 'longer than 500'],
  ['too many fields', `{amount}${' {any}'.repeat(20)}`, 'more than 12 fields'],
])('a pattern with %s is refused in words', (_, pattern, words) => {
  expect(() => compileSmsPattern(pattern)).toThrow(words)
})

test('characters that mean something in regular expressions mean themselves', () => {
  expect(read('(.*) {amount} $^[a-z]+', '(.*) 5 $^[a-z]+')).toEqual({ amount: '5' })
  expect(read('(.*) {amount}', 'anything 5')).toBeUndefined()
})

test('what was written by a pattern is read by it', () => {
  const word = fc.stringMatching(/^[A-Z]{3,10}$/)
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 12n), word, word, word, (minor, name, before, between) => {
      const amount = `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`
      const message = `${before}: ${name} <${between}> ${amount}`
      expect(read(`${before}: {name} <${between}> {amount}`, message)).toEqual({ name, amount })
    }),
  )
})

test('no pattern is slow', () => {
  const pattern = compileSmsPattern(`{any} a{amount}${' {any} a'.repeat(10)}`)
  const start = process.cpuUsage()
  for (let round = 0; round < 1_000; round++) pattern.read(' a'.repeat(250))
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(2_000)
})
