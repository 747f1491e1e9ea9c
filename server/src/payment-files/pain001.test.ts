import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import {
  bahtFile,
  bahtItem,
  euroFile,
  euroItem,
  germanIban,
  xmlTree,
} from '../../test/support/payment-files.ts'
import { banksOf } from '../lib/banks.ts'
import { type Currency, parseDecimal } from '../lib/money.ts'
import { paymentCode } from '../lib/payment-code.ts'
import { elementAt, elementsAt, textAt, type XmlElement } from '../statements/xml-reader.ts'
import { cut, latinText, tidy } from './characters.ts'
import type { PaymentFile, PaymentItem } from './payment-file.ts'
import { payeeProblem, renderPaymentFile } from './render-payment-file.ts'

const versions = ['pain.001.001.03', 'pain.001.001.09'] as const

/** What of the standard our files use, as schemas: what these let pass is valid by the standard's own. */
const schemas = Object.fromEntries(
  versions.map((version) => {
    const path = join(import.meta.dirname, '../../test/rails-samples/own/xsd', `${version}.xsd`)
    return [version, XsdValidator.fromDoc(XmlDocument.fromBuffer(readFileSync(path)))]
  }),
)

async function checked(version: (typeof versions)[number], file: PaymentFile): Promise<XmlElement> {
  const { bytes } = renderPaymentFile(version, file)
  const document = XmlDocument.fromBuffer(bytes)
  schemas[version]?.validate(document)
  document.dispose()
  return xmlTree(bytes)
}

const withPayee = (item: PaymentItem, payee: Partial<PaymentItem['payee']>): PaymentItem => ({
  ...item,
  payee: { ...item.payee, ...payee },
})

describe.each(versions)('%s', (version) => {
  test('a file says what was asked for', async () => {
    const items = [
      euroItem({ text: 'Payout 7' }),
      euroItem({ code: paymentCode('b'), amountMinor: 99n }),
    ]
    const tree = await checked(version, euroFile({ items, instant: true }))
    const payment = elementAt(tree, 'CstmrCdtTrfInitn', 'PmtInf')
    const at = (path: string) => textAt(payment, path)
    expect(textAt(tree, 'CstmrCdtTrfInitn/GrpHdr/MsgId')).toBe('SX20261117-1')
    expect(textAt(tree, 'CstmrCdtTrfInitn/GrpHdr/CtrlSum')).toBe('101.09')
    expect([at('PmtInfId'), at('NbOfTxs'), at('CtrlSum')]).toEqual(['B20261117-1', '2', '101.09'])
    expect([at('PmtTpInf/SvcLvl/Cd'), at('PmtTpInf/LclInstrm/Cd')]).toEqual(['SEPA', 'INST'])
    expect(textAt(payment, 'ReqdExctnDt/Dt', 'ReqdExctnDt')).toBe('2026-11-18')
    expect(at('DbtrAcct/Id/IBAN')).toBe(germanIban(42))
    expect(textAt(payment, 'DbtrAgt/FinInstnId/BIC', 'DbtrAgt/FinInstnId/BICFI')).toBe('COBADEFF')
    const [first, second] = elementsAt(payment, 'CdtTrfTxInf')
    expect(textAt(first, 'PmtId/EndToEndId')).toBe(items[0]?.code)
    expect(textAt(first, 'PmtId/InstrId')).toBe(items[0]?.code)
    expect(elementAt(first, 'Amt', 'InstdAmt')).toMatchObject({
      text: '100.10',
      attributes: { Ccy: 'EUR' },
    })
    expect(textAt(second, 'Amt/InstdAmt')).toBe('0.99')
    expect(textAt(first, 'CdtrAcct/Id/IBAN')).toBe(germanIban(7))
    expect(textAt(first, 'RmtInf/Ustrd')).toBe(`${items[0]?.code} Payout 7`)
  })

  test('the same values make the same bytes', () => {
    const [one, other] = [euroFile(), euroFile()].map((file) => renderPaymentFile(version, file))
    expect(one).toEqual(other)
    expect(one).toMatchObject({ name: 'SX20261117-1.xml', contentType: 'application/xml' })
  })

  test('accounts without an IBAN and banks without a BIC are named by their numbers', async () => {
    const items = [withPayee(bahtItem(), { bankCode: 'EXIM' })]
    const file = bahtFile({ items, debtor: { ...bahtFile().debtor, bankCode: null } })
    const payment = elementAt(await checked(version, file), 'CstmrCdtTrfInitn', 'PmtInf')
    expect(textAt(payment, 'DbtrAgt/FinInstnId/Othr/Id')).toBe('NOTPROVIDED')
    const member = elementAt(payment, 'CdtTrfTxInf', 'CdtrAgt', 'FinInstnId', 'ClrSysMmbId')
    expect([textAt(member, 'ClrSysId/Cd'), textAt(member, 'MmbId')]).toEqual(['THCBC', '035'])
    expect(textAt(payment, 'CdtTrfTxInf/CdtrAcct/Id/Othr/Id')).toBe('0123456789')
    expect(elementAt(payment, 'PmtTpInf')).toBeUndefined()
  })

  test('every bank of our tables can be named, unless it has neither BIC nor number', () => {
    for (const currency of ['THB', 'VND'] as Currency[]) {
      for (const bank of banksOf(currency)) {
        const payee = { name: 'A', accountNo: '0123456789', bankCode: bank.code }
        const isNamed = bank.swift !== null || bank.numericCode !== null
        expect([bank.code, payeeProblem(version, payee, currency) === null]).toEqual([
          bank.code,
          isNamed,
        ])
      }
    }
  })

  test('names and texts are cut to their room, and the largest sums are exact', async () => {
    const items = [
      bahtItem({ amountMinor: 2n ** 53n + 1n, text: 'ข'.repeat(300) }),
      bahtItem({ code: paymentCode('b'), amountMinor: 2n ** 53n + 1n }),
    ].map((item) => withPayee(item, { name: '😀'.repeat(200) }))
    const payment = elementAt(
      await checked(version, bahtFile({ items })),
      'CstmrCdtTrfInitn',
      'PmtInf',
    )
    expect(textAt(payment, 'CtrlSum')).toBe('180143985094819.86')
    expect(textAt(payment, 'CdtTrfTxInf/Cdtr/Nm')).toBe('😀'.repeat(70))
    expect(textAt(payment, 'CdtTrfTxInf/RmtInf/Ustrd')).toBe(`${items[0]?.code} ${'ข'.repeat(126)}`)
  })

  test('amounts, sums and names come back exactly, whatever they are', async () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 14n })
    const names = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.string({ maxLength: 200 }),
    )
    const payees = fc.tuple(names, amounts)
    const currency = fc.constantFrom<Currency>('EUR', 'THB', 'VND')
    await fc.assert(
      fc.asyncProperty(
        currency,
        fc.array(payees, { minLength: 1, maxLength: 5 }),
        async (...given) => {
          const [currency, list] = given
          const sample = currency === 'EUR' ? euroItem() : bahtItem()
          const items = list
            .map(([name, amountMinor], index) => ({
              ...withPayee(sample, {
                name: `A${name}`,
                ...(currency === 'VND' && { bankCode: 'ACB' }),
              }),
              code: paymentCode(String(index)),
              amountMinor,
              text: name,
            }))
            .filter(({ payee }) => payeeProblem(version, payee, currency) === null)
          fc.pre(items.length > 0)
          const file = currency === 'EUR' ? euroFile() : bahtFile()
          const debtor = { ...file.debtor, currency, bankCode: null }
          const tree = await checked(version, { ...file, debtor, items })
          const payment = elementAt(tree, 'CstmrCdtTrfInitn', 'PmtInf')
          const read = elementsAt(payment, 'CdtTrfTxInf').map((each) => ({
            code: textAt(each, 'PmtId/EndToEndId'),
            amountMinor: parseDecimal(textAt(each, 'Amt/InstdAmt') ?? '', currency),
            name: elementAt(each, 'Cdtr', 'Nm')?.text,
          }))
          const writtenName = (name: string) =>
            cut(currency === 'EUR' ? latinText(name).text : tidy(name), 70)
          expect(read).toEqual(
            items.map(({ code, amountMinor, payee }) => ({
              code,
              amountMinor,
              name: writtenName(payee.name),
            })),
          )
          const sum = items.reduce((total, item) => total + item.amountMinor, 0n)
          expect(parseDecimal(textAt(payment, 'CtrlSum') ?? '', currency)).toBe(sum)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a payee that cannot be written is refused in words', () => {
    const problem = (payee: Partial<PaymentItem['payee']>, currency: Currency = 'EUR') => {
      const { payee: sound } = currency === 'EUR' ? euroItem() : bahtItem()
      return payeeProblem(version, { ...sound, ...payee }, currency)
    }
    expect(problem({})).toBeNull()
    expect(problem({}, 'THB')).toBeNull()
    expect(problem({ name: 'A & B <Söhne> "x" \'y\'' })).toBeNull()
    expect(problem({ name: 'x'.repeat(200) })).toBeNull()
    expect(problem({ name: 'สมชาย' })).toContain('“ส”, which has no form in the Latin letters')
    expect(problem({ name: 'Ada\nExample' })).toContain('line breaks')
    expect(problem({ name: 'Ada\u0000' }, 'THB')).toContain('cannot be printed')
    expect(problem({ name: '***' })).toBe('The name has no letters.')
    expect(problem({ accountNo: '0123456789' })).toContain('is not an IBAN')
    expect(problem({ accountNo: '012-345' }, 'THB')).toContain('letters and digits')
    expect(problem({ accountNo: '1'.repeat(35) }, 'THB')).toContain('1 to 34')
    expect(problem({ bankCode: '' })).toBeNull()
    expect(problem({ bankCode: 'SCB' })).toContain('is not a BIC')
    expect(problem({ bankCode: 'NOBANK' }, 'THB')).toContain('codes that GET /payment/banks lists')
  })

  test('names are written as the account says', async () => {
    const nameIn = async (file: PaymentFile) => {
      const { bytes } = renderPaymentFile(version, file)
      return /<Cdtr>\s*<Nm>(.*?)<\/Nm>/.exec(bytes.toString())?.[1]
    }
    const named = (name: string) => [{ ...euroItem(), payee: { ...euroItem().payee, name } }]
    const baht = (name: string) => [bahtItem({ payee: { ...bahtItem().payee, name } })]
    expect(await nameIn(euroFile({ items: named('Zoë Müller') }))).toBe('Zoe Mueller')
    const kept = euroFile({ items: named('Zoë Müller'), characters: 'kept' })
    expect(await nameIn(kept)).toBe('Zoë Müller')
    const debtor = { ...bahtFile().debtor, name: 'Sluice' }
    const latin = bahtFile({ debtor, items: baht('Zoë'), characters: 'latin' })
    expect(await nameIn(latin)).toBe('Zoe')
    expect(await nameIn(bahtFile({ items: baht('Zoë') }))).toBe('Zoë')
    const problem = payeeProblem(version, bahtItem().payee, 'THB', 'latin')
    expect(problem).toContain('has no form in the Latin letters that this account’s bank takes')
  })

  test('what no bank could read is not written', () => {
    const [item] = euroFile().items
    const refused: [Partial<PaymentFile>, string][] = [
      [{ messageId: 'a_b' }, 'message id'],
      [{ messageId: '' }, 'message id'],
      [{ messageId: '/a' }, 'message id'],
      [{ batchReference: 'a//b' }, 'batch reference'],
      [{ batchReference: 'x'.repeat(36) }, 'batch reference'],
      [{ executionDate: '2026-02-30' }, 'no day'],
      [{ items: [] }, 'no payments'],
      [{ items: [euroItem(), euroItem()] }, 'twice'],
      [{ items: [euroItem({ amountMinor: 0n })] }, 'above zero'],
      [{ items: [euroItem({ code: 'a<b' })] }, 'no payment code'],
      [{ items: [withPayee(item ?? euroItem(), { name: '\n' })] }, 'line breaks'],
      [{ items: [euroItem({ amountMinor: 10n ** 18n })] }, '18 digits'],
      [{ debtor: { ...euroFile().debtor, accountNo: '1234' } }, 'The paying account'],
      [{ debtor: { ...euroFile().debtor, bankCode: 'x' } }, 'The paying account'],
      [{ ...bahtFile(), serviceLevel: 'SEPA' }, 'does not pay in THB'],
    ]
    for (const [changes, words] of refused) {
      expect(() => renderPaymentFile(version, euroFile(changes))).toThrow(words)
    }
  })
})

test('version 3 refuses a BIC that only version 9 knows', () => {
  const payee = { ...euroItem().payee, bankCode: 'MARKDE0F' }
  expect(payeeProblem('pain.001.001.09', payee, 'EUR')).toBeNull()
  expect(payeeProblem('pain.001.001.03', payee, 'EUR')).toContain('no BIC in the form')
})

test('a format that does not exist writes nothing', () => {
  expect(payeeProblem('pain.001', euroItem().payee, 'EUR')).toContain('no payment format')
  expect(() => renderPaymentFile('pain.001', euroFile())).toThrow('no payment format')
})
