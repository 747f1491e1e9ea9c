import fc from 'fast-check'
import { parse as promptParse } from 'promptparse'
import { describe, expect, it, test } from 'vitest'
import { crc16, fieldOf, readEmv, readFields, writeEmv, writeFields } from './emv.ts'

test('the checksum is CRC-16/CCITT-FALSE over UTF-8 bytes', () => {
  expect(crc16('123456789')).toBe('29B1')
  expect(crc16('')).toBe('FFFF')
  expect(crc16('é')).toBe(crc16(Buffer.from([0xc3, 0xa9]).toString()))
  expect(crc16('é')).not.toBe(crc16('e'))
})

/** A code as a shop in Bangkok might have it, with the name in Thai as well. */
const shop = () =>
  writeEmv([
    ['00', '01'],
    ['01', '11'],
    [
      '29',
      writeFields([
        ['00', 'A000000677010111'],
        ['01', '0066891234567'],
      ]),
    ],
    ['53', '764'],
    ['58', 'TH'],
    ['59', 'NOODLES'],
    [
      '64',
      writeFields([
        ['00', 'TH'],
        ['01', 'ก๋วยเตี๋ยว'],
      ]),
    ],
  ])

describe('readEmv', () => {
  it('reads what was written, with lengths in characters', () => {
    const read = readEmv(shop())
    const fields = 'fields' in read ? read.fields : []
    expect(fields.map(([tag]) => tag)).toEqual(['00', '01', '29', '53', '58', '59', '64'])
    expect(fieldOf(fields, '29', '01')).toBe('0066891234567')
    expect(fieldOf(fields, '64', '01')).toBe('ก๋วยเตี๋ยว')
    expect(fieldOf(fields, '64', '09')).toBeUndefined()
  })

  it('takes fields in any order, and a checksum in small letters', () => {
    const text = writeEmv([
      ['00', '02'],
      ['58', 'MY'],
      ['53', '458'],
      ['26', writeFields([['00', 'A0000006150001']])],
    ])
    expect(readEmv(text)).toHaveProperty('fields')
    expect(readEmv(text.slice(0, -4) + text.slice(-4).toLowerCase())).toHaveProperty('fields')
  })

  it('refuses any one changed character', () => {
    const characters = [...shop()]
    characters.forEach((was, at) => {
      for (const other of '07AZ ก') {
        if (other.toUpperCase() === was.toUpperCase()) continue
        const changed = [...characters.slice(0, at), other, ...characters.slice(at + 1)].join('')
        expect(readEmv(changed), `${other} for ${was} at ${at}`).toHaveProperty('fault')
      }
    })
  })

  it('refuses a text that is cut off anywhere, or goes on', () => {
    const characters = [...shop()]
    for (let length = 0; length < characters.length; length++) {
      expect(readEmv(characters.slice(0, length).join(''))).toHaveProperty('fault')
    }
    expect(readEmv(`${shop()}0`)).toHaveProperty('fault')
  })

  const withFields = (...fields: [string, string][]) => readEmv(writeEmv([['00', '01'], ...fields]))

  it('refuses a wrong length within a field although the checksum is right', () => {
    expect(withFields(['26', '0016A00000067701011']).valueOf()).toEqual({
      fault: 'the lengths inside of field 26 do not fit its text',
    })
    expect(withFields(['62', 'rubbish'])).toHaveProperty('fault')
    // What is below 26 is a number of a card scheme, not a template.
    expect(withFields(['04', '5555123456789012'])).toHaveProperty('fields')
  })

  it('refuses a field that occurs twice, and another first or last field', () => {
    expect(withFields(['54', '1.00'], ['54', '9.00'])).toEqual({ fault: 'field 54 occurs twice' })
    expect(readEmv(writeEmv([['01', '11']]))).toEqual({ fault: 'it does not begin with field 00' })
    expect(readEmv('000201')).toEqual({ fault: 'it does not end with its checksum' })
  })
})

const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
const fieldList = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 25 }), value), { selector: ([tag]) => tag })
  .map((list) => list.map(([tag, text]) => [String(tag).padStart(2, '0'), text] as const))

test('whatever is written is read back', () => {
  fc.assert(
    fc.property(fieldList, (fields) => {
      const whole = [['00', '01'] as const, ...fields]
      expect(readEmv(writeEmv(whole))).toEqual({ fields: whole })
    }),
  )
})

test('an independent reader finds the same fields', () => {
  const text = writeEmv([
    ['00', '01'],
    ['53', '764'],
    ['58', 'TH'],
  ])
  const read = promptParse(text, true)
  expect(read?.getTagValue('53')).toBe('764')
  expect(read?.getTagValue('58')).toBe('TH')
})

test('a value that is too long for its length is a mistake of the caller', () => {
  expect(() => writeFields([['59', 'x'.repeat(100)]])).toThrow('field 59 has 100 characters')
  expect(readFields(writeFields([['59', 'x'.repeat(99)]]))).toEqual([['59', 'x'.repeat(99)]])
})
