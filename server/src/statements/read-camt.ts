import {
  checkCurrency,
  emptyStatement,
  idOf,
  isOfAnother,
  isoDay,
  isoMoment,
  note,
  type Reading,
  readAmount,
  shown,
  textsOf,
} from './reading.ts'
import {
  type BankBalance,
  type BankEntry,
  BankFileFault,
  type BankIds,
  type BankStatement,
  type Counterparty,
  type Day,
  noIds,
} from './statement.ts'
import { elementAt, elementsAt, readXml, textAt, type XmlElement } from './xml-reader.ts'

/** The three messages: the element around everything, the element of one statement. */
const messages: Record<string, { format: string; statement: string } | undefined> = {
  BkToCstmrAcctRpt: { format: 'camt.052', statement: 'Rpt' },
  BkToCstmrStmt: { format: 'camt.053', statement: 'Stmt' },
  BkToCstmrDbtCdtNtfctn: { format: 'camt.054', statement: 'Ntfctn' },
}

/** A statement while it is read. */
interface Draft {
  statement: BankStatement
  /** Entries without a day of their own get the statement's, which may come after them. */
  undated: BankEntry[]
  entryNo: number
  line: number
}

/**
 * Reads camt.052, 053 and 054 of all versions. Elements are known by their local names, because banks use
 * other namespaces and other orders than the standard; nothing is validated beyond what is read.
 */
export async function readCamt(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  reading: Reading,
): Promise<BankStatement[]> {
  const statements: BankStatement[] = []
  let message: { format: string; statement: string } | undefined
  let root: string | undefined
  let page: BankStatement['page'] = null
  let draft: Draft | undefined
  let payments: XmlElement[] = []

  await readXml(chunks, encoding, {
    opens: (name, namespace, line) => {
      root ??= name
      if (draft) return true
      if (!message) {
        const known = messages[name]
        if (known) message = { ...known, format: formatOf(known.format, namespace) }
        return false
      }
      if (name !== message.statement) return name === 'GrpHdr'
      const kind = message.format.startsWith('camt.053') ? 'statement' : 'intraday'
      draft = { statement: emptyStatement(kind, message.format), undated: [], entryNo: 0, line }
      draft.statement.page = page
      return false
    },
    detached: 'TxDtls',
    takeDetached: (element) => {
      reading.countEntry(element.line)
      payments.push(element)
    },
    collected: (element) => {
      if (draft) takePart(draft, element, payments, reading)
      else if (element.name === 'GrpHdr') page = pageOf(elementAt(element, 'MsgPgntn'))
      payments = []
    },
    closes: (name) => {
      if (!draft || name !== message?.statement) return
      statements.push(finished(draft, reading))
      draft = undefined
    },
  })
  if (!message) {
    const what = `its first element is ${shown(root ?? '')}`
    throw new BankFileFault(1, `This XML is no bank statement (camt.052, 053 or 054): ${what}.`)
  }
  if (statements.length === 0) throw new BankFileFault(1, 'There is no statement in this file.')
  return statements
}

function formatOf(family: string, namespace: string): string {
  const [version] = /camt\.05[234]\.\d{3}\.\d{2}/.exec(namespace) ?? []
  return version?.startsWith(family) ? version : family
}

function takePart(draft: Draft, part: XmlElement, payments: XmlElement[], reading: Reading) {
  const { statement } = draft
  if (isOfAnother(statement, reading)) return
  switch (part.name) {
    case 'Id':
      statement.id = idOf(part.text)
      break
    case 'ElctrncSeqNb':
      statement.seq = idOf(part.text)
      break
    case 'LglSeqNb':
      statement.seq ??= idOf(part.text)
      break
    case 'StmtPgntn':
    case 'RptPgntn':
    case 'NtfctnPgntn':
      statement.page = pageOf(part)
      break
    case 'FrToDt':
      statement.from = isoDay(textAt(part, 'FrDtTm', 'FrDt'))
      statement.to = isoDay(textAt(part, 'ToDtTm', 'ToDt'))
      break
    case 'Acct':
      statement.accountNo = accountNoOf(part)
      if (isOfAnother(statement, reading)) break
      statement.currency = textAt(part, 'Ccy')
      if (statement.currency !== null) checkCurrency(statement.currency, part.line, reading)
      break
    case 'Bal':
      takeBalance(statement, part, reading)
      break
    case 'Ntry':
      takeEntry(draft, part, payments, reading)
      break
  }
}

function pageOf(element: XmlElement | undefined): BankStatement['page'] {
  const number = Number(textAt(element, 'PgNb') ?? Number.NaN)
  if (!Number.isSafeInteger(number)) return null
  return { number, last: isTrue(textAt(element, 'LastPgInd')) }
}

function isTrue(text: string | null): boolean {
  return text === 'true' || text === '1'
}

function accountNoOf(account: XmlElement | undefined): string | null {
  return textAt(account, 'Id/IBAN', 'Id/Othr/Id', 'Id/PrtryAcct/Id', 'Id/BBAN')
}

const openings = ['OPBD', 'PRCD']

function takeBalance(statement: BankStatement, part: XmlElement, reading: Reading) {
  const type = textAt(part, 'Tp/CdOrPrtry/Cd', 'Tp/CdOrPrtry/Prtry', 'Tp/Cd') ?? ''
  const amount = elementAt(part, 'Amt')
  const currency = currencyOf(amount, statement, reading)
  const isBooked = [...openings, 'CLBD', 'ITBD'].includes(type)
  const counts = openings.includes(type) || type === 'CLBD'
  if (counts) checkCurrency(currency, part.line, reading)
  else if (reading.decimalsOf(currency) === undefined) return
  const absolute = readAmount(amount?.text.trim() ?? '', currency, part.line, reading)
  const direction = textAt(part, 'CdtDbtInd')
  if (direction === null) {
    note(statement, part.line, 'A balance does not say credit or debit; it is taken as credit.')
  }
  statement.balances.push({
    amountMinor: direction === 'DBIT' ? -absolute : absolute,
    currency,
    day: isoDay(textAt(part, 'Dt/Dt', 'Dt/DtTm')),
    type,
    booked: isBooked,
  })
}

function currencyOf(
  amount: XmlElement | undefined,
  statement: BankStatement,
  reading: Reading,
): string {
  const currency = amount?.attributes?.Ccy ?? statement.currency ?? reading.currency
  if (currency === null) {
    throw new BankFileFault(amount?.line ?? 1, 'An amount has no currency, nor has the account.')
  }
  return currency
}

function takeEntry(draft: Draft, part: XmlElement, payments: XmlElement[], reading: Reading) {
  const { statement } = draft
  draft.entryNo++
  reading.countEntry(part.line)
  const amount = elementAt(part, 'Amt')
  const currency = currencyOf(amount, statement, reading)
  checkCurrency(currency, part.line, reading)
  const absolute = readAmount(amount?.text.trim() ?? '', currency, part.line, reading)
  const amountMinor = signed(absolute, textAt(part, 'CdtDbtInd'))
  if (amountMinor === undefined) {
    throw new BankFileFault(part.line, 'An entry does not say whether it is a credit or a debit.')
  }
  const shares = payments.length > 1 ? sharesOf(payments, part, currency, reading) : undefined
  const doAddUp = shares?.reduce((sum, share) => sum + share, 0n) === amountMinor
  if (payments.length > 1 && !doAddUp) {
    const why = 'The payments of a batch do not add up to its amount; it is taken as one movement.'
    note(statement, part.line, why)
  }
  if (payments.length === 1) noteOtherAmount(statement, payments[0], absolute, currency, reading)

  const whole = { part, amountMinor, currency, draft, reading }
  const entries =
    shares && doAddUp
      ? payments.map((payment, index) =>
          entryOf({ ...whole, amountMinor: shares[index] ?? 0n, payments: [payment], index }),
        )
      : [entryOf({ ...whole, payments, index: null })]
  for (const entry of entries) statement.entries.push(entry)
}

function signed(absolute: bigint, direction: string | null): bigint | undefined {
  if (direction === 'CRDT') return absolute
  return direction === 'DBIT' ? -absolute : undefined
}

/** The signed amounts of a batch's payments; undefined unless each has one in the entry's currency. */
function sharesOf(
  payments: XmlElement[],
  entry: XmlElement,
  currency: string,
  reading: Reading,
): bigint[] | undefined {
  const direction = textAt(entry, 'CdtDbtInd')
  const shares = payments.map((payment) => {
    const absolute = paymentAmount(payment, currency, reading)
    return absolute === undefined
      ? undefined
      : signed(absolute, textAt(payment, 'CdtDbtInd') ?? direction)
  })
  return shares.every((share) => share !== undefined) ? shares : undefined
}

/** Newer versions have the payment's amount itself, older ones only its details. */
function paymentAmount(
  payment: XmlElement,
  currency: string,
  reading: Reading,
): bigint | undefined {
  const amount = [['Amt'], ['AmtDtls', 'TxAmt', 'Amt'], ['AmtDtls', 'InstdAmt', 'Amt']]
    .map((path) => elementAt(payment, ...path))
    .find((found) => found?.text.trim())
  return amountIn(amount, currency, reading)
}

function noteOtherAmount(
  statement: BankStatement,
  payment: XmlElement | undefined,
  absolute: bigint,
  currency: string,
  reading: Reading,
) {
  const own = payment && paymentAmount(payment, currency, reading)
  if (payment && own !== undefined && own !== absolute) {
    note(statement, payment.line, 'A payment has another amount than its entry, which counts.')
  }
}

interface EntryParts {
  part: XmlElement
  amountMinor: bigint
  currency: string
  /** One: its details are the entry's. Several: a batch that does not add up. */
  payments: XmlElement[]
  /** The payment's place in a batch that adds up. */
  index: number | null
  draft: Draft
  reading: Reading
}

function entryOf(parts: EntryParts): BankEntry {
  const { part, amountMinor, currency, payments, index, draft, reading } = parts
  const { statement } = draft
  const payment = payments.length === 1 ? payments[0] : undefined
  const reason = textAt(payment, 'RtrInf/Rsn/Cd', 'RtrInf/Rsn/Prtry')
  const bookedOn = isoDay(textAt(part, 'BookgDt/Dt', 'BookgDt/DtTm', 'ValDt/Dt', 'ValDt/DtTm'))
  const isOfBatch = index !== null
  const entry: BankEntry = {
    line: isOfBatch ? (payment?.line ?? part.line) : part.line,
    entryNo: draft.entryNo,
    childNo: isOfBatch ? index + 1 : null,
    batchCount: isOfBatch ? null : batchCountOf(part, payments.length),
    bookedOn: bookedOn ?? '',
    bookedAt:
      isoMoment(textAt(payment, 'RltdDts/AccptncDtTm', 'RltdDts/TxDtTm'), reading) ??
      isoMoment(textAt(part, 'BookgDt/DtTm', 'BookgDt/Dt'), reading),
    amountMinor,
    currency,
    status: statusOf(part, statement),
    ids: idsOf(part, payment),
    texts: isOfBatch
      ? textsOfPayments(payments)
      : textsOf([...textsOfPayments(payments), textAt(part, 'AddtlNtryInf')]),
    counterparty: counterpartyOf(payment, amountMinor > 0n, statement.accountNo),
    balanceAfterMinor: null,
    chargesMinor: chargesOf(part, payments, amountMinor, currency, isOfBatch, reading),
    isReturn: isReturn(part, payment),
    returnReason: reason,
    typeCode: typeCodeOf(payment) ?? typeCodeOf(part),
  }
  if (bookedOn === null) draft.undated.push(entry)
  return entry
}

/**
 * What the bank kept of a credit, or debited together with a payment. It counts only if the bank also says that it is in
 * the amount: by the mark on the charge, or by what was sent. Charges that the bank debits by themselves are entries of
 * their own.
 */
function chargesOf(
  part: XmlElement,
  payments: readonly XmlElement[],
  amountMinor: bigint,
  currency: string,
  isOfBatch: boolean,
  reading: Reading,
): bigint {
  const [payment] = payments
  if (payments.length > 1) return 0n
  const own = elementAt(payment, 'Chrgs')
  const charges = own ? payment : isOfBatch ? undefined : part
  // To version 03 each charge is an element of its own; later they are records of one.
  const records = [...elementsAt(charges, 'Chrgs', 'Rcrd'), ...elementsAt(charges, 'Chrgs')].filter(
    (record) => elementAt(record, 'Amt') !== undefined,
  )
  let total = 0n
  for (const record of records) {
    const amount = amountIn(elementAt(record, 'Amt'), currency, reading)
    if (amount === undefined) return 0n
    total += textAt(record, 'CdtDbtInd') === 'CRDT' ? -amount : amount
  }
  const sum = elementAt(charges, 'Chrgs', 'TtlChrgsAndTaxAmt')
  if (records.length === 0) total = amountIn(sum, currency, reading) ?? 0n
  if (total <= 0n) return 0n
  const areIncluded =
    records.length > 0 && records.every((record) => isTrue(textAt(record, 'ChrgInclInd')))
  const sent = ['InstdAmt', 'TxAmt'].map((name) =>
    amountIn(elementAt(payment, 'AmtDtls', name, 'Amt'), currency, reading),
  )
  const isOnly = amountMinor < 0n && total >= -amountMinor
  const isSent = sent.includes(amountMinor > 0n ? amountMinor + total : -amountMinor - total)
  return (areIncluded || isSent) && !isOnly ? total : 0n
}

/** An amount in the entry's own currency. */
function amountIn(
  amount: XmlElement | undefined,
  currency: string,
  reading: Reading,
): bigint | undefined {
  if (!amount?.text.trim() || (amount.attributes?.Ccy ?? currency) !== currency) return undefined
  return readAmount(amount.text.trim(), currency, amount.line, reading)
}

function batchCountOf(part: XmlElement, payments: number): number | null {
  const counts = elementsAt(part, 'NtryDtls', 'Btch', 'NbOfTxs').map((one) => Number(one.text))
  const sum = counts.reduce((total, count) => total + count, 0)
  if (counts.length > 0 && Number.isSafeInteger(sum)) return sum
  return payments > 1 ? payments : null
}

/** Only BOOK is money. To version 06 the status is a text, then a code. */
function statusOf(part: XmlElement, statement: BankStatement): BankEntry['status'] {
  const status = textAt(part, 'Sts/Cd', 'Sts/Prtry', 'Sts')
  if (status !== null) return status === 'BOOK' ? 'booked' : 'pending'
  const assumed = statement.kind === 'statement' ? 'booked' : 'pending'
  note(statement, part.line, `An entry has no status; it is taken as ${assumed}.`)
  return assumed
}

function idsOf(part: XmlElement, payment: XmlElement | undefined): BankIds {
  const ref = (name: string) => idOf(textAt(payment, `Refs/${name}`))
  const batch = (name: string) => idOf(textAt(part, `NtryDtls/Btch/${name}`))
  return {
    ...noIds,
    accountServicerRef: ref('AcctSvcrRef') ?? idOf(textAt(part, 'AcctSvcrRef')),
    endToEndId: ref('EndToEndId'),
    instructionId: ref('InstrId'),
    transactionId: ref('TxId'),
    uetr: ref('UETR'),
    messageId: ref('MsgId') ?? batch('MsgId'),
    paymentInformationId: ref('PmtInfId') ?? batch('PmtInfId'),
    entryRef: idOf(textAt(part, 'NtryRef')),
  }
}

function textsOfPayments(payments: XmlElement[]): string[] {
  return textsOf(
    payments.flatMap((payment) => [
      ...texts(payment, 'RmtInf', 'Strd', 'CdtrRefInf', 'Ref'),
      texts(payment, 'RmtInf', 'Ustrd').join(' '),
      ...texts(payment, 'RmtInf', 'Strd', 'AddtlRmtInf'),
      ...texts(payment, 'RmtInf', 'Strd', 'RfrdDocInf', 'Nb'),
      textAt(payment, 'AddtlTxInf'),
      idOf(textAt(payment, 'Refs/EndToEndId')),
      idOf(textAt(payment, 'Refs/InstrId')),
      ...texts(payment, 'Refs', 'Prtry', 'Ref'),
      ...texts(payment, 'RtrInf', 'AddtlInf'),
    ]),
  )
}

function texts(element: XmlElement, ...path: string[]): string[] {
  return elementsAt(element, ...path).map((found) => found.text.trim())
}

/**
 * The debtor of a credit, the creditor of a debit. Where a payment is returned the parties stay those of the
 * original payment: then it is the one that is not the account itself.
 */
function counterpartyOf(
  payment: XmlElement | undefined,
  isCredit: boolean,
  ownAccountNo: string | null,
): Counterparty {
  const debtor = partyOf(payment, 'Dbtr')
  const creditor = partyOf(payment, 'Cdtr')
  const [usual, other] = isCredit ? [debtor, creditor] : [creditor, debtor]
  const isOwn = (accountNo: string | null) =>
    accountNo !== null && compact(accountNo) === compact(ownAccountNo ?? '')
  const isOther = isOwn(usual.accountNo) && other.accountNo !== null && !isOwn(other.accountNo)
  return isOther ? other : usual
}

function compact(accountNo: string): string {
  return accountNo.replace(/\s/g, '').toUpperCase()
}

function partyOf(payment: XmlElement | undefined, side: 'Dbtr' | 'Cdtr'): Counterparty {
  const parties = elementAt(payment, 'RltdPties')
  const agent = elementAt(payment, 'RltdAgts', `${side}Agt`, 'FinInstnId')
  return {
    accountNo: accountNoOf(elementAt(parties, `${side}Acct`)),
    name: textAt(
      parties,
      `${side}/Nm`,
      `${side}/Pty/Nm`,
      `${side}/Agt/FinInstnId/Nm`,
      `Ultmt${side}/Nm`,
      `Ultmt${side}/Pty/Nm`,
    ),
    bank: textAt(agent, 'BICFI', 'BIC', 'ClrSysMmbId/MmbId', 'Nm'),
  }
}

/** Banks mark returned payments in three ways, each alone. None of them changes the sign. */
function isReturn(part: XmlElement, payment: XmlElement | undefined): boolean {
  const family = 'BkTxCd/Domn/Fmly/SubFmlyCd'
  const subFamilies = [textAt(payment, family), textAt(part, family)]
  return (
    elementAt(payment, 'RtrInf') !== undefined ||
    isTrue(textAt(part, 'RvslInd')) ||
    subFamilies.some((code) => code === 'RRTN' || code === 'RPCR')
  )
}

function typeCodeOf(element: XmlElement | undefined): string | null {
  const domain = elementAt(element, 'BkTxCd', 'Domn')
  const codes = [
    textAt(domain, 'Cd'),
    textAt(domain, 'Fmly/Cd'),
    textAt(domain, 'Fmly/SubFmlyCd'),
  ].filter((code) => code !== null)
  return codes.length > 0 ? codes.join('/') : textAt(element, 'BkTxCd/Prtry/Cd')
}

function finished(draft: Draft, reading: Reading): BankStatement {
  const { statement } = draft
  statement.opening = firstOf(statement.balances, 'OPBD') ?? firstOf(statement.balances, 'PRCD')
  statement.closing = lastOf(statement.balances, 'CLBD')
  statement.currency ??=
    (statement.opening ?? statement.closing)?.currency ??
    statement.entries[0]?.currency ??
    reading.currency
  const day = statement.closing?.day ?? statement.to ?? statement.opening?.day ?? null
  for (const entry of draft.undated) {
    if (day === null) {
      throw new BankFileFault(entry.line, 'An entry has no day, nor has its statement.')
    }
    note(
      statement,
      entry.line,
      'An entry has no day; it is taken as booked on the day of the balance.',
    )
    entry.bookedOn = day
  }
  return statement
}

/** A statement of several days may have the balances of each. */
function firstOf(balances: BankBalance[], type: string): BankBalance | null {
  return ofType(balances, type).reduce<BankBalance | null>(
    (first, one) => (first === null || dayBefore(one.day, first.day) ? one : first),
    null,
  )
}

function lastOf(balances: BankBalance[], type: string): BankBalance | null {
  return ofType(balances, type).reduce<BankBalance | null>(
    (last, one) => (last === null || !dayBefore(one.day, last.day) ? one : last),
    null,
  )
}

function ofType(balances: BankBalance[], type: string): BankBalance[] {
  return balances.filter((balance) => balance.type === type)
}

function dayBefore(day: Day | null, other: Day | null): boolean {
  return day !== null && other !== null && day < other
}
