import { chunksOf, type FileBytes, withoutMark } from '../statements/file-bytes.ts'
import { idOf, shown } from '../statements/reading.ts'
import { BankFileFault, maxEntries } from '../statements/statement.ts'
import {
  elementAt,
  elementsAt,
  readXml,
  textAt,
  type XmlElement,
} from '../statements/xml-reader.ts'

/** What a bank says of a payment file: of all of it, of its batches, and of single payments. */
export interface StatusReport {
  /** For example `pain.002.001.10`. */
  format: string
  /** The bank's id of this report. */
  messageId: string | null
  /** The file that it is about. */
  originalMessageId: string | null
  group: StatusLevel
  payments: PaymentStatus[]
}

export interface StatusLevel {
  /** An ISO 20022 code such as ACSP or RJCT, null if this level says nothing. */
  status: string | null
  reasons: StatusReason[]
  /** How many payments the bank counted, and their sum, as it wrote them. */
  count: string | null
  sum: string | null
}

export interface StatusReason {
  /** A code such as AC01, or the bank's own. */
  code: string | null
  text: string | null
}

export interface PaymentStatus extends StatusLevel {
  /** The batch: the file's `PmtInfId`. */
  batchReference: string | null
  transactions: TransactionStatus[]
}

export interface TransactionStatus {
  /** The line of the report where it starts. */
  line: number
  instructionId: string | null
  endToEndId: string | null
  status: string | null
  reasons: StatusReason[]
  /** What the bank calls the payment. */
  bankReference: string | null
  /** The original amount, as the bank wrote it. */
  amount: { text: string; currency: string | null } | null
}

/** How many elements an envelope may have before the report begins. */
const longestEnvelope = 100

function isReportName(name: string): boolean {
  return name === 'CstmrPmtStsRpt' || /^pain\.002\.\d{3}\.\d{2}$/.test(name)
}

/** Whether a file is a pain.002, in whatever encoding, by its elements. What is broken may be none. */
export async function isStatusReport(bytes: FileBytes): Promise<boolean> {
  let isFound = false
  let seen = 0
  const opens = (name: string): boolean => {
    isFound = isReportName(name)
    if (isFound || ++seen === longestEnvelope) throw new Error('enough is known')
    return false
  }
  try {
    const { encoding, chunks } = await withoutMark(chunksOf(bytes))
    const nothing = () => {}
    const handler = {
      opens,
      collected: nothing,
      detached: '',
      takeDetached: nothing,
      closes: nothing,
    }
    await readXml(chunks, encoding, handler)
  } catch {
    // Whoever reads all of it says what is wrong with it.
  }
  return isFound
}

const silent: StatusLevel = { status: null, reasons: [], count: null, sum: null }

/**
 * Reads a pain.002 of any version. Like statements, reports are read by the local names of elements and not
 * validated beyond what is read. It returns all of the report or throws a `BankFileFault`, never a part.
 */
export async function readStatusReport(bytes: FileBytes): Promise<StatusReport> {
  const { encoding, chunks } = await withoutMark(chunksOf(bytes))
  const report: StatusReport = {
    format: '',
    messageId: null,
    originalMessageId: null,
    group: silent,
    payments: [],
  }
  let root: string | undefined
  let transactions: TransactionStatus[] = []
  let count = 0
  const read = (element: XmlElement) => {
    if (++count > maxEntries) {
      throw new BankFileFault(element.line, `The report has more than ${maxEntries} payments.`)
    }
    return transactionOf(element)
  }

  await readXml(chunks, encoding, {
    opens: (name, namespace) => {
      root ??= name
      if (report.format !== '') return true
      if (isReportName(name)) {
        report.format = formatOf(name, namespace)
      }
      return false
    },
    detached: 'TxInfAndSts',
    takeDetached: (element) => {
      transactions.push(read(element))
    },
    collected: (element) => {
      if (transactions.length > 0 && element.name !== 'OrgnlPmtInfAndSts') {
        throw new BankFileFault(element.line, 'The report has payments that are in no batch.')
      }
      switch (element.name) {
        case 'GrpHdr':
          report.messageId = idOf(textAt(element, 'MsgId'))
          break
        case 'OrgnlGrpInfAndSts':
          if (report.originalMessageId !== null) {
            throw new BankFileFault(element.line, 'The report is about more than one file.')
          }
          report.originalMessageId = idOf(textAt(element, 'OrgnlMsgId'))
          report.group = levelOf(element, 'GrpSts')
          break
        case 'OrgnlPmtInfAndSts':
          report.payments.push({
            ...levelOf(element, 'PmtInfSts'),
            batchReference: idOf(textAt(element, 'OrgnlPmtInfId')),
            transactions,
          })
          transactions = []
          break
        // Version 2 has no batches: each payment names its own.
        case 'TxInfAndSts':
          report.payments.push({
            ...silent,
            batchReference: idOf(textAt(element, 'OrgnlPmtInfId')),
            transactions: [read(element)],
          })
          break
      }
    },
    closes: () => undefined,
  })
  if (report.format === '') {
    const what = `its first element is ${shown(root ?? '')}`
    throw new BankFileFault(1, `This XML is no status report (pain.002): ${what}.`)
  }
  return report
}

function formatOf(name: string, namespace: string): string {
  return /pain\.002\.\d{3}\.\d{2}/.exec(`${namespace} ${name}`)?.[0] ?? 'pain.002'
}

function levelOf(element: XmlElement, status: string): StatusLevel {
  return {
    status: codeAt(element, status),
    reasons: reasonsOf(element),
    count: textAt(element, 'OrgnlNbOfTxs'),
    sum: textAt(element, 'OrgnlCtrlSum'),
  }
}

function transactionOf(element: XmlElement): TransactionStatus {
  const amount = elementAt(element, 'OrgnlTxRef', 'Amt', 'InstdAmt')
  return {
    line: element.line,
    instructionId: idOf(textAt(element, 'OrgnlInstrId')),
    endToEndId: idOf(textAt(element, 'OrgnlEndToEndId')),
    status: codeAt(element, 'TxSts'),
    reasons: reasonsOf(element),
    bankReference: idOf(textAt(element, 'AcctSvcrRef', 'ClrSysRef', 'StsId')),
    amount:
      (amount && { text: amount.text.trim(), currency: amount.attributes?.Ccy ?? null }) || null,
  }
}

function codeAt(element: XmlElement, path: string): string | null {
  return textAt(element, path)?.toUpperCase() ?? null
}

/** Version 2 has other names for a reason and its words. */
function reasonsOf(element: XmlElement): StatusReason[] {
  return elementsAt(element, 'StsRsnInf').map((reason) => ({
    code: textAt(reason, 'Rsn/Cd', 'Rsn/Prtry', 'StsRsn/Cd', 'StsRsn/Prtry'),
    text:
      [...elementsAt(reason, 'AddtlInf'), ...elementsAt(reason, 'AddtlStsRsnInf')]
        .map((each) => each.text.trim())
        .filter((text) => text !== '')
        .join(' ') || null,
  }))
}
