import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { statusReport } from '../support/payment-files.ts'
import { checkPaymentFiles, checkStatusReports } from './check-payment-file-samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-payment-file-samples-'))
mkdirSync(join(folder, 'xsd'))
afterAll(() => rmSync(folder, { recursive: true }))

function checkReport(groupStatus: string) {
  const expected = {
    msgId: 'BANK-1',
    orgnlMsgId: 'SXFILE1',
    groupStatus,
    groupReasons: ['AC01'],
    payments: [],
  }
  const files = { 'a.xml': { statusReport: expected }, 'b.xml': {} }
  writeFileSync(join(folder, 'expected-xml.json'), JSON.stringify(files))
  const group = { status: 'RJCT', reasons: [{ code: 'AC01' }] }
  writeFileSync(join(folder, 'a.xml'), statusReport({ group }))
  return checkStatusReports(folder)
}

test('a status report that is read as expected makes no difference, any other is named', async () => {
  expect(await checkReport('RJCT')).toEqual({ checked: 1, differences: [] })
  const { differences } = await checkReport('ACTC')
  expect(differences).toEqual([expect.stringContaining('a.xml: is {"msgId":"BANK-1"')])
})

function schema(name: string) {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"
    targetNamespace="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
    <xs:element name="Document"><xs:complexType><xs:sequence>
      <xs:element name="${name}"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:schema>`
}

test('a payment file that its schema does not allow is named', () => {
  expect(checkPaymentFiles(folder)).toEqual({ checked: 0, differences: [] })
  const path = join(folder, 'xsd/pain.001.001.09.xsd')
  writeFileSync(path, schema('CstmrCdtTrfInitn'))
  const { checked, differences } = checkPaymentFiles(folder)
  expect(checked).toBeGreaterThan(20)
  expect(differences).toEqual([])
  writeFileSync(path, schema('Other'))
  expect(checkPaymentFiles(folder).differences).toHaveLength(checked)
})

test('payment files are valid by schemas of what they use of the standard', () => {
  // Those of the standard itself are not ours to give away: `npm run rails-samples` takes them from a folder.
  const { checked, differences } = checkPaymentFiles(join(import.meta.dirname, 'own'))
  expect(differences).toEqual([])
  expect(checked).toBeGreaterThan(40)
})
