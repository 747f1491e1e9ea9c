import { expect, test } from 'vitest'
import { fitsMaskedAccountNo, isFullAccountNo, isMaskedAccountNo } from './masked-account-no.ts'

test.each([
  ['XXX-X-XX123-4', '555-5-55123-4', true],
  ['XXX-X-XX123-4', '5555551234', true],
  ['xxx-x-x1234-x', '5555512345', true],
  ['****1234', '000055551234', true],
  ['####1234', '000055551234', true],
  ['SCB x1234', '5555551234', true],
  ['SCB x1234', '5555551235', false],
  ['XXX-X-XX123-4', '5555551235', false],
  ['XXX-X-XX123-4', '1234', false],
  ['XXXXXXX123', '5555555123', false],
  ['XXXXXXXXXX', '5555551234', false],
  ['5555551234', '5555551234', false],
  ['DE02120300000000202051', 'DE02120300000000202051', false],
])('%s of %s: %s', (masked, accountNo, fits) => {
  expect(fitsMaskedAccountNo(masked, accountNo)).toBe(fits)
})

test('an IBAN with an X in it is not masked', () => {
  expect(isMaskedAccountNo('MT84MALT011000012345MTLCAST001S')).toBe(false)
  expect(isMaskedAccountNo('XX12TEST')).toBe(false)
  expect(isMaskedAccountNo('XXX-X-XX123-4')).toBe(true)
})

test.each([
  ['1234567890', true],
  ['MT40 MALT 0110 0001 2345 XXLC AST0 01S', true],
  ['MT41 MALT 0110 0001 2345 XXLC AST0 01S', false],
  ['XXX-X-XX123-4', false],
  ['DE71 XXXX XXXX 4567 89', false],
  ['****1234', false],
  ['SCB x1234', false],
  ['KBANK X-1234', false],
  ['#1234', false],
])('%s is all of a number: %s', (written, is) => {
  expect(isFullAccountNo(written)).toBe(is)
})
