import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  codeOfSwissReference,
  creditorReference,
  isCreditorReference,
  isSwissReference,
  swissReference,
} from './creditor-reference.ts'

const code = fc.string({
  unit: fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
  minLength: 13,
  maxLength: 13,
})

describe('ISO 11649', () => {
  it('puts two check digits before the code', () => {
    expect(creditorReference('539007547034')).toBe('RF18539007547034')
  })

  it('finds any one digit or letter that became another', () => {
    fc.assert(
      fc.property(code, fc.nat({ max: 16 }), fc.nat(), (text, at, pick) => {
        const reference = creditorReference(text)
        const others = /\d/.test(reference[at] ?? '') ? '0123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
        const other = others[pick % others.length] ?? ''
        expect(isCreditorReference(reference)).toBe(true)
        const changed = reference.slice(0, at) + other + reference.slice(at + 1)
        expect(isCreditorReference(changed)).toBe(changed === reference)
      }),
    )
  })
})

describe('the Swiss reference', () => {
  it('has 27 digits with the check digit of the Swiss standard', () => {
    expect(isSwissReference('210000000003139471430009017')).toBe(true)
    expect(isSwissReference('210000000003139471430009016')).toBe(false)
    expect(isSwissReference('21000000000313947143000901')).toBe(false)
  })

  it('gives the code back, and finds any one changed digit', () => {
    fc.assert(
      fc.property(code, fc.nat({ max: 26 }), fc.nat({ max: 9 }), (text, at, other) => {
        const reference = swissReference(text)
        expect(reference).toMatch(/^\d{27}$/)
        expect(codeOfSwissReference(reference)).toBe(text)
        const changed = reference.slice(0, at) + String(other) + reference.slice(at + 1)
        if (changed !== reference) expect(codeOfSwissReference(changed)).toBeUndefined()
      }),
    )
  })

  test('a reference of somebody else holds no code', () => {
    expect(codeOfSwissReference('999999999999999999999999990')).toBeUndefined()
  })
})
