import { accountNoFault, type Bank, bankCodeMeaning, findBank } from '../lib/banks.ts'
import { currencyRow } from '../lib/currencies.ts'
import { ibanFault, looksLikeIban } from '../lib/iban.ts'
import { type Currency, currencies } from '../lib/money.ts'
import { amountText } from '../lib/qr/amount-text.ts'
import { cut, hasControl, latinText, tidy } from './characters.ts'
import {
  type Characters,
  type Payee,
  type PaymentFile,
  PaymentFileFault,
  type PaymentFormat,
  type PaymentItem,
} from './payment-file.ts'

type Version = 'pain.001.001.03' | 'pain.001.001.09'

/** Credit transfers in XML by ISO 20022. */
export const pain001Formats: PaymentFormat[] = [
  pain001Format('pain.001.001.09', 'ISO 20022 credit transfer, version 9'),
  pain001Format(
    'pain.001.001.03',
    'ISO 20022 credit transfer, version 3, for banks that ask for it',
  ),
]

function pain001Format(name: Version, title: string): PaymentFormat {
  return {
    name,
    title,
    checked: true,
    hasMessageId: true,
    currencies,
    // XML has a way to write every character that can be printed.
    breakOut: (payee) => (hasControl(payee) ? 'The name has line breaks or the like.' : null),
    payeeProblem: (payee, currency, characters) =>
      nameProblem(payee.name, currency, characters) ??
      accountProblem(payee.accountNo, currency) ??
      bankProblem(name, payee, currency),
    render: (file) => {
      const problem = debtorProblem(name, file)
      if (problem !== null) throw new PaymentFileFault(`The paying account: ${problem}`)
      return {
        name: `${file.messageId.replace(/[^A-Za-z0-9-]/g, '-')}.xml`,
        bytes: Buffer.from(documentOf(name, file)),
        contentType: 'application/xml',
      }
    },
  }
}

function debtorProblem(version: Version, { debtor, characters }: PaymentFile): string | null {
  const { name, accountNo, bankCode, currency } = debtor
  return (
    nameProblem(name, currency, characters) ??
    accountProblem(accountNo, currency) ??
    (bankCode === null ? null : bankProblem(version, { accountNo, bankCode }, currency))
  )
}

/** By the rules of SEPA only Latin letters are sure to arrive. */
function isSepa(currency: Currency): boolean {
  return currencyRow(currency).isSepa === true
}

function isLatin(characters: Characters, currency: Currency): boolean {
  return characters === 'latin' || (characters === 'format' && isSepa(currency))
}

function nameProblem(name: string, currency: Currency, characters: Characters): string | null {
  if (hasControl(name))
    return 'The name has line breaks or other characters that cannot be printed.'
  const inLatin = isLatin(characters, currency)
  const lost = inLatin ? latinText(name).lost : null
  if (lost !== null) {
    const who = characters === 'latin' ? 'this account’s bank takes' : `banks take in ${currency}`
    return `The name has “${lost}”, which has no form in the Latin letters that ${who}.`
  }
  return written(name, inLatin, maxName) === '' ? 'The name has no letters.' : null
}

function accountProblem(accountNo: string, currency: Currency): string | null {
  if (!/^[A-Za-z0-9]{1,34}$/.test(accountNo)) {
    return 'The account number is not 1 to 34 letters and digits.'
  }
  const fault = isSepa(currency) ? ibanFault(accountNo) : accountNoFault(currency, accountNo)
  return fault === undefined ? null : `The account number ${fault}.`
}

function bankProblem(
  version: Version,
  { accountNo, bankCode }: Pick<Payee, 'accountNo' | 'bankCode'>,
  currency: Currency,
): string | null {
  // An IBAN names the bank too.
  if (bankCode === '' && isIban(accountNo, currency)) return null
  const bank = findBank(currency, bankCode)
  if (!bank) return `The bank code is not ${bankCodeMeaning(currency)}.`
  if (bank.swift !== null && !bicPatterns[version].test(bank.swift)) {
    return `The bank code is no BIC in the form that ${version} asks for.`
  }
  const isKnown = bank.swift !== null || memberIdOf(bank, currency) !== null
  return isKnown
    ? null
    : `${bank.name} has neither a BIC nor a number that a file could name it by.`
}

const bicPatterns = {
  'pain.001.001.03': /^[A-Z]{6}[A-Z2-9][A-NP-Z0-9]([A-Z0-9]{3})?$/,
  'pain.001.001.09': /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/,
}

const maxName = 70
const maxText = 140

function written(text: string, inLatin: boolean, length: number): string {
  return cut(inLatin ? latinText(text).text : tidy(text), length)
}

function documentOf(version: Version, file: PaymentFile): string {
  const { debtor, items } = file
  const totals = [
    text('NbOfTxs', String(items.length)),
    text('CtrlSum', sumText(items, debtor.currency)),
  ]
  const inLatin = isLatin(file.characters, debtor.currency)
  const name = nameOf(debtor.name, inLatin)
  const header = element(
    'GrpHdr',
    text('MsgId', file.messageId),
    text('CreDtTm', `${file.createdAt.toISOString().slice(0, 19)}Z`),
    ...totals,
    element('InitgPty', name),
  )
  const payment = element(
    'PmtInf',
    text('PmtInfId', file.batchReference),
    text('PmtMtd', 'TRF'),
    // Each payment is booked by itself where the bank can, so that the statement names it by its code.
    text('BtchBookg', 'false'),
    ...totals,
    paymentType(file),
    version === 'pain.001.001.03'
      ? text('ReqdExctnDt', file.executionDate)
      : element('ReqdExctnDt', text('Dt', file.executionDate)),
    element('Dbtr', name),
    element('DbtrAcct', accountId(debtor.accountNo, debtor.currency), text('Ccy', debtor.currency)),
    element('DbtrAgt', bankId(version, debtor.bankCode, debtor.currency)),
    // Only a service level says how charges are shared by it.
    file.serviceLevel === null ? '' : text('ChrgBr', 'SLEV'),
    ...items.map((item) => `\n${transactionOf(version, item, debtor.currency, inLatin)}`),
    '\n',
  )
  const namespace = `urn:iso:std:iso:20022:tech:xsd:${version}`
  const message = element('CstmrCdtTrfInitn', '\n', header, '\n', payment, '\n')
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="${namespace}">${message}</Document>\n`
}

/** The schemas have room for 18 digits. */
function sumText(items: PaymentItem[], currency: Currency): string {
  const sum = items.reduce((total, item) => total + item.amountMinor, 0n)
  if (sum.toString().length > 18) {
    throw new PaymentFileFault('The sum of the file has more than 18 digits.')
  }
  return amountText(sum, currency)
}

function nameOf(name: string, inLatin: boolean): string {
  return text('Nm', written(name, inLatin, maxName))
}

function paymentType({ serviceLevel, instant }: PaymentFile): string {
  if (serviceLevel === null && !instant) return ''
  return element(
    'PmtTpInf',
    serviceLevel === null ? '' : element('SvcLvl', text('Cd', serviceLevel)),
    instant ? element('LclInstrm', text('Cd', 'INST')) : '',
  )
}

function transactionOf(
  version: Version,
  item: PaymentItem,
  currency: Currency,
  inLatin: boolean,
): string {
  const { payee } = item
  const words = [item.code, item.text ?? ''].join(' ').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
  return element(
    'CdtTrfTxInf',
    element('PmtId', text('InstrId', item.code), text('EndToEndId', item.code)),
    element(
      'Amt',
      `<InstdAmt Ccy="${currency}">${amountText(item.amountMinor, currency)}</InstdAmt>`,
    ),
    payee.bankCode === '' ? '' : element('CdtrAgt', bankId(version, payee.bankCode, currency)),
    element('Cdtr', nameOf(payee.name, inLatin)),
    element('CdtrAcct', accountId(payee.accountNo, currency)),
    element('RmtInf', text('Ustrd', written(words, inLatin, maxText))),
  )
}

function accountId(accountNo: string, currency: Currency): string {
  return element(
    'Id',
    isIban(accountNo, currency)
      ? text('IBAN', accountNo.toUpperCase())
      : element('Othr', text('Id', accountNo)),
  )
}

function isIban(accountNo: string, currency: Currency): boolean {
  return currencyRow(currency).bankCode === 'bic' && looksLikeIban(accountNo)
}

/** The bank that a code names. The agent of the debtor must be there, even if nobody knows its code. */
function bankId(version: Version, bankCode: string | null, currency: Currency): string {
  const bank = bankCode === null ? undefined : findBank(currency, bankCode)
  if (!bank) return element('FinInstnId', element('Othr', text('Id', 'NOTPROVIDED')))
  if (bank.swift !== null) {
    const name = version === 'pain.001.001.03' ? 'BIC' : 'BICFI'
    return element('FinInstnId', text(name, bank.swift))
  }
  const [clearing, memberId] = memberIdOf(bank, currency) ?? [null, bank.code]
  return element(
    'FinInstnId',
    element(
      'ClrSysMmbId',
      clearing === null ? '' : element('ClrSysId', text('Cd', clearing)),
      text('MmbId', memberId),
    ),
  )
}

/** A bank without a BIC by its number: ISO's code of the clearing system, where there is one, and the number. */
function memberIdOf(bank: Bank, currency: Currency): [string | null, string] | null {
  const { bankCode, clearing = null } = currencyRow(currency)
  const number = bankCode === 'ifsc' ? bank.code : bank.numericCode
  return number === null ? null : [clearing, number]
}

function element(name: string, ...content: string[]): string {
  return `<${name}>${content.join('')}</${name}>`
}

function text(name: string, value: string): string {
  return element(
    name,
    value.replace(/[&<>]/g, (sign) => escapes[sign] ?? ''),
  )
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
