import { idOf, textsOf } from './reading.ts'
import type { Counterparty } from './statement.ts'

/** What the field :86: says about an entry. */
export interface Details {
  texts: string[]
  counterparty: Counterparty
  endToEndId: string | null
  ownerRef: string | null
  isReturn: boolean
  returnReason: string | null
  /** The three digits at its start that German and Polish banks give the kind of booking. */
  bookingCode: string | null
}

const nothing: Details = {
  texts: [],
  counterparty: { accountNo: null, name: null, bank: null },
  endToEndId: null,
  ownerRef: null,
  isReturn: false,
  returnReason: null,
  bookingCode: null,
}

/** Reads :86: in its three dialects: numbered subfields, words between slashes, and free text. */
export function detailsOf(lines: string[]): Details {
  // Lines break anywhere, in the middle of a subfield's number too.
  const joined = lines.join('').trim()
  const [, bookingCode, mark] = /^(\d{3})([?~^>@|])\d\d/.exec(joined) ?? []
  if (bookingCode && mark) return numberedDetails(joined.slice(3), mark, bookingCode)
  if (slashMarks.test(joined)) return slashDetails(joined)
  return { ...nothing, texts: textsOf([lines.map((line) => line.trim()).join(' ')]) }
}

/** Booking codes of returned payments: direct debits and transfers that came back, on either side. */
const returnCodes = new Set(['108', '109', '159', '181', '184'])

function numberedDetails(text: string, mark: string, bookingCode: string): Details {
  const fields = numberedFields(text, mark)
  const purpose = joinedPurpose(fields, purposeFields)
  const words = plusWords(purpose)
  const name = joinedPurpose(fields, ['32', '33'])
  const reason = idOf(words.get('RTRN'))
  return {
    texts: textsOf([purpose, words.get('SVWZ'), words.get('EREF'), fields.get('00')]),
    counterparty: {
      accountNo: idOf(words.get('IBAN')) ?? idOf(fields.get('38')) ?? idOf(fields.get('31')),
      name: idOf(name),
      bank: idOf(words.get('BIC')) ?? idOf(fields.get('30')),
    },
    endToEndId: idOf(words.get('EREF')),
    ownerRef: idOf(words.get('KREF')),
    isReturn: returnCodes.has(bookingCode) || reason !== null,
    returnReason: reason,
    bookingCode,
  }
}

const purposeFields = ['20', '21', '22', '23', '24', '25', '26', '27', '28', '29'].concat([
  '60',
  '61',
  '62',
  '63',
  '64',
  '65',
])

function numberedFields(text: string, mark: string): Map<string, string> {
  const fields = new Map<string, string>()
  let last = ''
  for (const part of text.split(mark).slice(1)) {
    if (/^\d\d/.test(part)) {
      last = part.slice(0, 2)
      fields.set(last, (fields.get(last) ?? '') + part.slice(2))
    } else if (last !== '') fields.set(last, `${fields.get(last)}${mark}${part}`)
  }
  return fields
}

/** Subfields have 27 characters: a full one goes on in the next without a blank. */
function joinedPurpose(fields: Map<string, string>, names: string[]): string {
  let joined = ''
  let isFull = true
  for (const name of names) {
    const value = fields.get(name)
    if (value === undefined) continue
    joined += isFull ? value : ` ${value}`
    isFull = value.length >= 27
  }
  return joined.trim()
}

const plusMarks = /(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|RTRN|PURP)\+/g

/** The words of SEPA payments, for example `EREF+…SVWZ+…`. */
function plusWords(text: string): Map<string, string> {
  return between(text, [...text.matchAll(plusMarks)])
}

const slashWords =
  'EREF|KREF|PREF|REMI|CNTP|TRTP|IBAN|BIC|NAME|MARF|CSID|RTRN|ORDP|BENM|PURP|ULTD|ULTB|ULTC|ADDR|ISDT|TRCD|PMNT|ID|BUSP|CHGS|OCMT|EXCH'
const slashMarks = /\/(EREF|REMI|CNTP|TRTP|ORDP|BENM)\//
const slashWord = new RegExp(`/(${slashWords})(?=/)`, 'g')

function slashDetails(text: string): Details {
  const words = between(text, [...text.matchAll(slashWord)])
  const counterparty = words.get('CNTP')?.split('/') ?? []
  const value = (name: string) => idOf(words.get(name)?.replace(/^\/+|\/+$/g, ''))
  const reason = value('RTRN')
  return {
    texts: textsOf([remittance(value('REMI')), value('EREF'), value('PREF'), text]),
    counterparty: {
      accountNo: idOf(counterparty[1]) ?? value('IBAN'),
      bank: idOf(counterparty[2]) ?? value('BIC'),
      name: idOf(counterparty[3]) ?? value('NAME'),
    },
    endToEndId: value('EREF'),
    ownerRef: value('KREF') ?? value('PREF'),
    isReturn: reason !== null,
    returnReason: reason,
    bookingCode: null,
  }
}

/** `USTD//text`, `STRD/CUR/reference` or just the text. */
function remittance(text: string | null): string | null {
  return text?.replace(/^(USTD\/\/|STRD\/[A-Z]*\/)/, '') ?? null
}

/** The first value of each word: what stands between it and the next one. */
function between(text: string, marks: RegExpExecArray[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const [index, mark] of marks.entries()) {
    const name = mark[1] ?? ''
    const value = text.slice(mark.index + mark[0].length, marks[index + 1]?.index).trim()
    if (!values.has(name)) values.set(name, value)
  }
  return values
}

/** An :86: that an entry does not have. */
export const noDetails: Readonly<Details> = nothing
