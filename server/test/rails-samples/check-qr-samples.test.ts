import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeEmv, writeFields } from '../../src/lib/qr/emv.ts'
import { checkQrSamples } from './check-qr-samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-qr-samples-'))
mkdirSync(join(folder, 'qr'))
afterAll(() => rmSync(folder, { recursive: true }))

const payTo = { '00': 'A000000677010111', '01': '0066891234567' }
const shop = {
  kind: 'shop',
  payload: writeEmv([
    ['00', '01'],
    ['01', '11'],
    ['29', writeFields(Object.entries(payTo))],
    ['53', '764'],
    ['58', 'TH'],
  ]),
  decoded: { '00': '01', '01': '11', '29': payTo, '53': '764', '58': 'TH' },
  build_from: { proxy: 'mobile', value: '0891234567' },
}
const bill = 'BCD\n002\n1\nSCT\n\nA Name\nDE75512108001245126199\nEUR1\n\nRF18539007547034'

function check(emv: object, epc: string) {
  const samples = { emv: [emv], epc: [{ payload: epc }], swiss: [], upi: [] }
  writeFileSync(join(folder, 'qr/examples.json'), JSON.stringify(samples))
  return checkQrSamples(folder)
}

test('samples that are read and built alike make no difference', () => {
  expect(check(shop, bill)).toEqual({ checked: 2, differences: [] })
})

test('each difference is named', () => {
  const { decoded } = shop
  const { differences } = check({ ...shop, decoded: { ...decoded, '58': 'VN' } }, bill)
  expect(differences).toEqual(['shop: field 58 is "TH", not "VN"'])
  const other = { ...shop, build_from: { proxy: 'mobile', value: '0891234568' } }
  expect(check(other, bill).differences).toEqual([
    expect.stringContaining('shop: built field 29 is 0016A000000677010111011300668'),
  ])
  expect(check({ ...shop, payload: `${shop.payload}0` }, bill).differences[0]).toContain('lengths')
  expect(check(shop, bill.replace('RF18', 'RF19')).differences[0]).toContain('is no reference')
})
