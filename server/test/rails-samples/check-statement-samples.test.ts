import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { mt940 } from '../support/bank-files.ts'
import { checkStatementSamples } from './check-statement-samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-statement-samples-'))
mkdirSync(join(folder, 'mt940'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = mt940({
  opening: '10.00',
  closing: '12.50',
  entries: [{ amount: '2.50', mark: 'C', text: 'x' }],
})
const expected = {
  ref: 'STARTUMS',
  account: '10020030/1234567',
  number: '00012/001',
  opening: ['10.00', '261101', 'EUR'],
  closing: ['12.50', '261102', 'EUR'],
  lines: 1,
  net: '2.50',
  closes: true,
}

function check(text: string, statement: object) {
  writeFileSync(join(folder, 'expected-xml.json'), '{}')
  const other = { 'mt940/a.sta': { statements: [statement] } }
  writeFileSync(join(folder, 'expected-mt940-ofx.json'), JSON.stringify(other))
  writeFileSync(join(folder, 'mt940/a.sta'), text)
  return checkStatementSamples(folder)
}

test('a file that is read as expected makes no difference', async () => {
  expect(await check(file, expected)).toEqual({ checked: 1, differences: [], refused: [] })
})

test('each difference is named', async () => {
  const { differences } = await check(file, { ...expected, net: '2.51', lines: 2 })
  expect(differences).toEqual([
    'mt940/a.sta: statement 1 entries is 1, not 2',
    'mt940/a.sta: statement 1 net is 250, not 251',
  ])
  expect((await check('rubbish', expected)).differences).toHaveLength(1)
})

test('a file that is cut off must be refused', async () => {
  const cutOff = { ...expected, closing: null, closes: null }
  const { refused, differences } = await check(file.slice(0, -40), cutOff)
  expect([refused.length, differences]).toEqual([1, []])
  expect((await check(file, cutOff)).differences).toEqual(['mt940/a.sta: should have been refused'])
})
