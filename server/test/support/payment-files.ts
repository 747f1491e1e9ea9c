import { mod97 } from '../../src/lib/iban.ts'
import { paymentCode } from '../../src/lib/payment-code.ts'
import type { PaymentFile, PaymentItem } from '../../src/payment-files/payment-file.ts'
import { readXml, type XmlElement } from '../../src/statements/xml-reader.ts'

/** A German IBAN with the right check digits. */
export function germanIban(account: number | bigint): string {
  const number = String(account).padStart(18, '0')
  return `DE${String(98 - mod97(`${number}DE00`)).padStart(2, '0')}${number}`
}

/** A payment in euros to a made-up person. */
export function euroItem(changes: Partial<PaymentItem> = {}): PaymentItem {
  return {
    code: paymentCode('a'),
    amountMinor: 10_010n,
    payee: { name: 'Ada Example', accountNo: germanIban(7), bankCode: 'MARKDEFF' },
    text: null,
    ...changes,
  }
}

/** A payment in baht to a made-up person at Kasikornbank. */
export function bahtItem(changes: Partial<PaymentItem> = {}): PaymentItem {
  const payee = { name: 'สมชาย ใจดี', accountNo: '0123456789', bankCode: 'KBANK' }
  return euroItem({ payee, ...changes })
}

/** A file of payments in euros. */
export function euroFile(changes: Partial<PaymentFile> = {}): PaymentFile {
  return {
    messageId: 'SX20261117-1',
    createdAt: new Date('2026-11-17T08:09:10.111Z'),
    executionDate: '2026-11-18',
    debtor: {
      name: 'Sluice Trading GmbH',
      accountNo: germanIban(42),
      bankCode: 'COBADEFF',
      currency: 'EUR',
    },
    characters: 'format',
    zone: null,
    serviceLevel: 'SEPA',
    instant: false,
    batchReference: 'B20261117-1',
    items: [euroItem()],
    ...changes,
  }
}

/** A file of payments in baht. */
export function bahtFile(changes: Partial<PaymentFile> = {}): PaymentFile {
  return euroFile({
    debtor: {
      name: 'บริษัท ตัวอย่าง จำกัด',
      accountNo: '9876543210',
      bankCode: 'KTB',
      currency: 'THB',
    },
    characters: 'format',
    zone: 'Asia/Bangkok',
    serviceLevel: null,
    items: [bahtItem()],
    ...changes,
  })
}

/** An XML document as a tree. */
export async function xmlTree(bytes: Uint8Array): Promise<XmlElement> {
  let root: XmlElement | undefined
  async function* chunks() {
    yield bytes
  }
  await readXml(chunks(), null, {
    opens: () => true,
    collected: (element) => {
      root = element
    },
    detached: '',
    takeDetached: () => undefined,
    closes: () => undefined,
  })
  if (!root) throw new Error('There is no element in this document.')
  return root
}

interface ReportLevel {
  status?: string | null
  reasons?: { code: string; text?: string }[]
  count?: string
  sum?: string
}

/** A pain.002 as a bank might write it. */
export function statusReport(parts: {
  prolog?: string
  version?: string
  originalMessageId?: string
  group?: ReportLevel
  batch?: ReportLevel & { id?: string }
  transactions?: (ReportLevel & {
    endToEndId: string
    instructionId?: string
    amount?: string
    currency?: string
  })[]
}): string {
  const { version = '03', group = {}, batch, transactions = [] } = parts
  const optional = (name: string, text: string | null | undefined) =>
    text == null ? '' : `<${name}>${text}</${name}>`
  const reasonsOf = ({ reasons = [] }: ReportLevel) =>
    reasons
      .map(({ code, text }) => `<Rsn><Cd>${code}</Cd></Rsn>${optional('AddtlInf', text)}`)
      .map((reason) => `<StsRsnInf>${reason}</StsRsnInf>`)
      .join('')
  const totals = ({ count, sum }: ReportLevel) =>
    optional('OrgnlNbOfTxs', count) + optional('OrgnlCtrlSum', sum)
  const payments = transactions.map(
    (one) => `
      <TxInfAndSts>
        ${optional('OrgnlInstrId', one.instructionId)}
        <OrgnlEndToEndId>${one.endToEndId}</OrgnlEndToEndId>
        ${optional('TxSts', one.status)}${reasonsOf(one)}
        ${
          one.amount === undefined
            ? ''
            : `<OrgnlTxRef><Amt><InstdAmt Ccy="${one.currency ?? 'EUR'}">${one.amount}</InstdAmt></Amt></OrgnlTxRef>`
        }
      </TxInfAndSts>`,
  )
  const payment = `
    <OrgnlPmtInfAndSts>
      <OrgnlPmtInfId>${batch?.id ?? 'BATCH1'}</OrgnlPmtInfId>
      ${totals(batch ?? {})}${optional('PmtInfSts', batch?.status)}${reasonsOf(batch ?? {})}${payments.join('')}
    </OrgnlPmtInfAndSts>`
  return `${parts.prolog ?? '<?xml version="1.0" encoding="UTF-8"?>'}
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}">
  <CstmrPmtStsRpt>
    <GrpHdr><MsgId>BANK-1</MsgId><CreDtTm>2026-11-17T10:00:00Z</CreDtTm></GrpHdr>
    <OrgnlGrpInfAndSts>
      <OrgnlMsgId>${parts.originalMessageId ?? 'SXFILE1'}</OrgnlMsgId>
      <OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>
      ${totals(group)}${optional('GrpSts', group.status)}${reasonsOf(group)}
    </OrgnlGrpInfAndSts>${batch || transactions.length > 0 ? payment : ''}
  </CstmrPmtStsRpt>
</Document>
`
}
