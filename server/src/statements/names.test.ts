import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareNames } from './names.ts'

test.each([
  ['Somchai Jaidee', 'SOMCHAI JAIDEE', 'same'],
  ['Jaidee Somchai', 'MR. SOMCHAI JAIDEE', 'same'],
  ['นายสมชาย ใจดี', 'สมชาย ใจดี', 'same'],
  ['น.ส.สมหญิง ใจดี', 'นางสาวสมหญิง ใจดี', 'same'],
  ['บริษัท ทดสอบ การค้า จำกัด', 'บจก. ทดสอบ การค้า', 'same'],
  ['สมชาย จ***', 'สมชาย ใจดี', 'unknown'],
  ['สมชาย ใ***', 'นาย สมชาย ใจดี', 'same'],
  ['SOMCHAI J', 'SOMCHAI JAIDEE', 'same'],
  ['SOMCHAI J***', 'SOMCHAI JAIDEE', 'same'],
  ['SOMCHAI K***', 'SOMCHAI JAIDEE', 'unknown'],
  ['NGUYỄN VĂN ĐỨC', 'Nguyen Van Duc', 'same'],
  ['CÔNG TY TNHH Thử Nghiệm Mới', 'CTY TNHH THU NGHIEM MOI', 'same'],
  ['Straße Müller', 'STRASSE MULLER', 'same'],
  ['SOMCHIA JAIDEE', 'SOMCHAI JAIDEE', 'same'],
  ['SOMCHAII JAIDEE', 'SOMCHAI JAIDEE', 'same'],
  ['สมชาย ใจดี', 'Somchai Jaidee', 'unknown'],
  ['Somchai', 'Somchai Jaidee', 'unknown'],
  ['Somchai', 'Somsak', 'unknown'],
  ['Somchai Jaidee Rakthai', 'Somchai Jaidee', 'unknown'],
  ['S J', 'A B', 'different'],
  ['S J', 'SO JA', 'unknown'],
  ['', 'Somchai Jaidee', 'unknown'],
  ['***', 'Somchai Jaidee', 'unknown'],
  ['Иван Петров', 'Ivan Petrov', 'unknown'],
  ['Somchai Jaidee', 'Somsak Jaidee', 'different'],
  ['Nguyen Van An', 'Nguyen Van Anh', 'same'],
  ['Test Trading Co., Ltd.', 'TEST TRADING', 'same'],
  ['Nguyen Van Cong', 'Nguyen Van', 'unknown'],
  ['Nguyen Van Cong', 'Nguyen Van Ty', 'different'],
  ['Dr. Ada Tester', 'Ada Tester', 'same'],
  ['Tran Van Ba', 'Tran Van Co', 'different'],
  ['สมชาย ใจดี', 'สมชาย ใจงาม', 'different'],
  ['สมชาย ใจดี', 'สมชาย ใจด', 'same'],
] as const)('%s and %s: %s', (one, other, comparison) => {
  expect(compareNames(one, other)).toBe(comparison)
  expect(compareNames(other, one)).toBe(comparison)
})

test('a name is the same as itself, or unknown, and the order of the two does not matter', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc
      .array(fc.constantFrom('SOMCHAI', 'JAIDEE', 'J', 'สมชาย', 'ใจดี', '***', 'MR'), {
        maxLength: 5,
      })
      .map((words) => words.join(' ')),
  )
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(compareNames(one, one)).not.toBe('different')
      expect(compareNames(one, other)).toBe(compareNames(other, one))
    }),
    { numRuns: 2_000 },
  )
})

test('long names take no longer', () => {
  const start = process.cpuUsage()
  compareNames('A B '.repeat(100_000), 'AB '.repeat(100_000))
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(500)
})
