/** Made-up bank files for tests: small writers, independent of the readers. */

export const euro = { currency: 'EUR', decimalsOf: () => 2, zone: 'Europe/Berlin' }
export const baht = { currency: 'THB', decimalsOf: () => 2, zone: 'Asia/Bangkok' }
export const dong = { currency: 'VND', decimalsOf: () => 0, zone: 'Asia/Ho_Chi_Minh' }

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text)
}

export interface CamtPayment {
  endToEndId: string
  amount: string
  text: string
}

export interface CamtEntry {
  amount: string
  direction: 'CRDT' | 'DBIT'
  day: string
  servicerRef: string
  payments: CamtPayment[]
}

/** A camt.053 as a bank writes it: one statement with its balances. */
export function camt053(statement: {
  opening: string
  closing: string
  day: string
  entries: CamtEntry[]
}): string {
  const { opening, closing, day, entries } = statement
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">
<BkToCstmrStmt>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>${day}T20:00:00+01:00</CreDtTm></GrpHdr>
<Stmt>
<Id>ST-1</Id>
<ElctrncSeqNb>7</ElctrncSeqNb>
<Acct><Id><IBAN>XX12TEST0000000001</IBAN></Id><Ccy>EUR</Ccy></Acct>
${balance('OPBD', opening, day)}
${balance('CLBD', closing, day)}
${entries.map(camtEntry).join('\n')}
</Stmt>
</BkToCstmrStmt>
</Document>
`
}

function balance(type: string, amount: string, day: string): string {
  const direction = amount.startsWith('-') ? 'DBIT' : 'CRDT'
  return `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount.replace('-', '')}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`
}

function camtEntry(entry: CamtEntry): string {
  return `<Ntry>
<Amt Ccy="EUR">${entry.amount}</Amt><CdtDbtInd>${entry.direction}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>${entry.day}</Dt></BookgDt><AcctSvcrRef>${escaped(entry.servicerRef)}</AcctSvcrRef>
<NtryDtls>${entry.payments.map(camtPayment).join('')}</NtryDtls>
</Ntry>`
}

function camtPayment(payment: CamtPayment): string {
  return `<TxDtls><Refs><EndToEndId>${escaped(payment.endToEndId)}</EndToEndId></Refs><Amt Ccy="EUR">${payment.amount}</Amt><RmtInf><Ustrd>${escaped(payment.text)}</Ustrd></RmtInf></TxDtls>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** An MT940 in the German form, with numbered subfields of 27 characters. */
export function mt940(statement: {
  opening: string
  closing: string
  entries: { amount: string; mark: 'C' | 'D'; text: string }[]
}): string {
  const lines = statement.entries.flatMap(({ amount, mark, text }) => [
    `:61:2611021102${mark}${amount.replace('.', ',')}NTRFNONREF//B1`,
    ...wrapped(`:86:166?00GUTSCHRIFT${subfields(text)}?30TESTXX00?31XX34TEST0002?32ADA TESTER`),
  ])
  return [
    ':20:STARTUMS',
    ':25:10020030/1234567',
    ':28C:00012/001',
    `:60F:C261101EUR${statement.opening.replace('.', ',')}`,
    ...lines,
    `:62F:C261102EUR${statement.closing.replace('.', ',')}`,
    '-',
    '',
  ].join('\r\n')
}

function subfields(text: string): string {
  return Array.from(
    { length: Math.ceil(text.length / 27) },
    (_, index) => `?2${index}${text.slice(index * 27, index * 27 + 27)}`,
  ).join('')
}

function wrapped(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / 65) }, (_, index) =>
    text.slice(index * 65, index * 65 + 65),
  )
}
