import { expect, test } from 'vitest'
import { parseSettleTo } from './settle-to.ts'

test('an account is a bank, a number and a name, which may contain colons', () => {
  expect(parseSettleTo('scb:1234567890:Shop: Ltd.', 'THB')).toEqual({
    bankCode: 'SCB',
    accountNo: '1234567890',
    accountName: 'Shop: Ltd.',
  })
})

test.each([
  'SCB:1234567890',
  'SCB:123:Shop',
  'SCB:1234-5678:Shop',
  'NOBANK:1234567890:Shop',
  'SCB:1234567890:',
  `SCB:1234567890:${'x'.repeat(129)}`,
  '',
])('"%s" is no account', (text) => {
  expect(parseSettleTo(text, 'THB')).toEqual(expect.any(String))
})
