import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { XmlDocument, XsdValidator } from 'libxml2-wasm'
import { paymentCode } from '../../src/lib/payment-code.ts'
import { type PaymentStatus, readStatusReport } from '../../src/payment-files/pain002.ts'
import type { PaymentFile } from '../../src/payment-files/payment-file.ts'
import { renderPaymentFile } from '../../src/payment-files/render-payment-file.ts'
import { bahtFile, bahtItem, euroFile, euroItem, germanIban } from '../support/payment-files.ts'

interface Checked {
  checked: number
  differences: string[]
}

/** What another reader makes of the status reports, in `expected-xml.json`. */
interface ExpectedReport {
  msgId: string | null
  orgnlMsgId: string | null
  groupStatus: string | null
  groupReasons: string[]
  payments: {
    orgnlPmtInfId: string | null
    status: string | null
    reasons: string[]
    transactions: {
      endToEndId: string | null
      instrId: string | null
      status: string | null
      reasons: string[]
      amount: string | null
    }[]
  }[]
}

/** Reads the status reports of a folder, and compares them with what another reader made of them. */
export async function checkStatusReports(folder: string): Promise<Checked> {
  const files: Record<string, { statusReport?: ExpectedReport }> = JSON.parse(
    readFileSync(join(folder, 'expected-xml.json'), 'utf8'),
  )
  const result: Checked = { checked: 0, differences: [] }
  for (const [path, { statusReport: expected }] of Object.entries(files)) {
    if (!expected) continue
    result.checked++
    const report = await readStatusReport(readFileSync(join(folder, path)))
    const got: ExpectedReport = {
      msgId: report.messageId,
      orgnlMsgId: report.originalMessageId,
      groupStatus: report.group.status,
      groupReasons: codesOf(report.group),
      payments: report.payments.map((payment) => ({
        orgnlPmtInfId: payment.batchReference,
        status: payment.status,
        reasons: codesOf(payment),
        transactions: payment.transactions.map((one) => ({
          endToEndId: one.endToEndId,
          instrId: one.instructionId,
          status: one.status,
          reasons: codesOf(one),
          amount: one.amount?.text ?? null,
        })),
      })),
    }
    const [ours, theirs] = [got, expected].map((each) => JSON.stringify(each))
    if (ours !== theirs) result.differences.push(`${path}: is ${ours}, not ${theirs}`)
  }
  return result
}

function codesOf({ reasons }: Pick<PaymentStatus, 'reasons'>): string[] {
  return reasons.map(({ code }) => code ?? '')
}

/** Validates payment files of ours by the schemas in `xsd` of a folder. */
export function checkPaymentFiles(folder: string): Checked {
  const result: Checked = { checked: 0, differences: [] }
  for (const version of ['pain.001.001.03', 'pain.001.001.09']) {
    const path = join(folder, 'xsd', `${version}.xsd`)
    if (!existsSync(path)) continue
    const schema = XmlDocument.fromBuffer(readFileSync(path))
    const validator = XsdValidator.fromDoc(schema)
    for (const [what, file] of Object.entries(samples())) {
      result.checked++
      const document = XmlDocument.fromBuffer(renderPaymentFile(version, file).bytes)
      try {
        validator.validate(document)
      } catch (error) {
        result.differences.push(
          `${version}, ${what}: ${error instanceof Error ? error.message : error}`,
        )
      }
      document.dispose()
    }
    validator.dispose()
    schema.dispose()
  }
  return result
}

function samples(): Record<string, PaymentFile> {
  const euro = euroItem().payee
  const baht = bahtItem().payee
  const many = Array.from({ length: 500 }, (_, index) =>
    euroItem({
      code: paymentCode(`many ${index}`),
      amountMinor: BigInt(index) ** 5n + 1n,
      payee: { ...euro, accountNo: germanIban(index) },
    }),
  )
  const inEuros = (changes: Parameters<typeof euroItem>[0]) =>
    euroFile({ items: [euroItem(changes)] })
  const inBaht = (changes: Parameters<typeof bahtItem>[0]) =>
    bahtFile({ items: [bahtItem(changes)] })
  return {
    'one payment': euroFile(),
    'instant payments': euroFile({ instant: true }),
    'no service level': euroFile({ serviceLevel: null }),
    'instant without a service level': euroFile({ serviceLevel: null, instant: true }),
    'urgent payments': bahtFile({ serviceLevel: 'URGP' }),
    'ordinary payments': bahtFile({ serviceLevel: 'NURG' }),
    'five hundred payments': euroFile({ items: many }),
    'signs of XML in a name': inEuros({ payee: { ...euro, name: `A & B <x> "y" 'z' ]]>` } }),
    'the same, kept': inBaht({ payee: { ...baht, name: `A & B <x> "y" 'z' ]]>` } }),
    'a Thai name': inBaht({}),
    'a name of 200 characters': inBaht({ payee: { ...baht, name: 'ก'.repeat(200) } }),
    'a name of 200 emoji': inBaht({ payee: { ...baht, name: '😀'.repeat(200) } }),
    'marks in a name': inEuros({ payee: { ...euro, name: 'Müller-Đặng & Åström' } }),
    'a long text': inEuros({ text: `words, ${'ü'.repeat(300)}` }),
    'a text with line breaks': inBaht({ text: 'a\r\nb\u0000c' }),
    'the largest amount': inEuros({ amountMinor: 10n ** 18n - 1n }),
    'the smallest amount': inEuros({ amountMinor: 1n }),
    'whole units': bahtFile({
      debtor: { ...bahtFile().debtor, currency: 'VND', bankCode: 'ACB' },
      items: [bahtItem({ payee: { ...baht, bankCode: 'CAKE' } })],
    }),
    'a bank without a BIC': inBaht({ payee: { ...baht, bankCode: 'EXIM' } }),
    'an IFSC': bahtFile({
      debtor: { ...bahtFile().debtor, currency: 'INR', bankCode: null },
      items: [bahtItem({ payee: { ...baht, bankCode: 'TEST0000001' } })],
    }),
    'an IBAN alone': inEuros({ payee: { ...euro, bankCode: '' } }),
    'our bank unknown': euroFile({ debtor: { ...euroFile().debtor, bankCode: null } }),
    'our name of 100 characters': euroFile({
      debtor: { ...euroFile().debtor, name: 'Ab'.repeat(50) },
    }),
  }
}
