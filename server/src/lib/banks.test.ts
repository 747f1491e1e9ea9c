import { expect, test } from 'vitest'
import { bankAppLink, banksOf, findBank } from './banks.ts'

const CURRENCIES = ['THB', 'VND'] as const

const PUBLISHED_NUMERIC_CODES = {
  THB: `002 004 005 006 008 010 011 014 017 018 020 022 024 025 026 027 028 030 031 032 033 034
    035 039 045 052 065 066 067 069 070 071 073 076 098`,
  VND: `970425 970416 970405 970409 970438 970454 970418 546034 970444 422589 970446 796500 970406
    970431 970408 970437 970442 458761 970456 970455 970434 668888 970452 970463 970462 970449
    963369 970422 970414 970426 970428 970419 801011 970448 970430 970439 970412 970403 970400
    970429 970440 970443 970424 970410 970407 963388 970423 546035 970458 970441 970427 970433
    970436 970415 970432 970421 970457 971025`,
}

const PUBLISHED_SHORT_CODES = {
  THB: `bbl kbank rbs ktb jpm mufg tmb ttb scb citi smbc sc scbt cimb cimbt uob uobt bay mega boa
    cacib gsb hsbc db ghb baac exim mb mhcb bnp bnpp boc tbank ibank isbt tisco kk kkp icbc icbct
    tcrb tcd lhb lh lhfg sme`,
  VND: `ABB ACB AGRIBANK BAB BAOVIETBANK BIDC BID CAKE VNCB CIMB COOPBANK DBS DONGABANK EIB GPBANK
    HDB HLB HSBC IBKHCM IBKHN IVB KBANK KLB KBHCM KBHN LPB LIOBANK MBB MBV MSB NAB NVB NONGHYUP OCB
    OCEANBANK PGB PBVN PVCOMBANK STB SGB SCB SSB SHB SVB SC TCB TIMO TPB UBANK UOB VIB VAB VBB VCB
    CTG VIKKI VPB VRB WRB MOMO`,
}

const words = (text: string) => text.split(/\s+/)

test.each(CURRENCIES)('%s: no code or alias stands for two banks', (currency) => {
  const keys = banksOf(currency).flatMap((bank) => [bank.code, ...bank.aliases])
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([])
})

test.each(CURRENCIES)('%s: every code is short upper case, every alias upper case', (currency) => {
  for (const bank of banksOf(currency)) {
    expect(bank.code).toMatch(/^[A-Z0-9]{2,16}$/)
    for (const alias of bank.aliases) expect(alias).toMatch(/^[A-Z0-9]+$/)
  }
})

test.each(CURRENCIES)('%s: banks come sorted by code', (currency) => {
  const codes = banksOf(currency).map((bank) => bank.code)
  expect(codes).toEqual(codes.toSorted())
})

test.each(CURRENCIES)('%s: every published numeric code finds a bank', (currency) => {
  const published = words(PUBLISHED_NUMERIC_CODES[currency])
  expect(published.filter((code) => !findBank(currency, code))).toEqual([])
})

test.each(CURRENCIES)('%s: a bank is routed by its own published code', (currency) => {
  const published = words(PUBLISHED_NUMERIC_CODES[currency])
  for (const bank of banksOf(currency)) {
    if (bank.numericCode === null) continue
    expect(published).toContain(bank.numericCode)
    expect(findBank(currency, bank.numericCode)).toBe(bank)
  }
})

test.each(CURRENCIES)('%s: every published short code finds a bank, in any case', (currency) => {
  for (const code of words(PUBLISHED_SHORT_CODES[currency])) {
    const bank = findBank(currency, code.toUpperCase())
    expect(bank, code).toBeDefined()
    expect(findBank(currency, code.toLowerCase())).toBe(bank)
  }
})

test.each([
  ['THB', /^[A-Z]{4}TH[A-Z0-9]{2}$/],
  ['VND', /^[A-Z]{4}VN[A-Z0-9]{2}$/],
] as const)('%s: a SWIFT code names an institution of that country', (currency, shape) => {
  for (const { swift } of banksOf(currency)) if (swift !== null) expect(swift).toMatch(shape)
})

test.each([
  ['THB', '076', 'TTB'],
  ['THB', 'tmb', 'TTB'],
  ['THB', '065', 'TBANK'],
  ['THB', 'uob', 'UOBT'],
  ['THB', 'tcrb', 'TCD'],
  ['THB', 'LHFG', 'LHB'],
  ['THB', 'MB', 'MHCB'],
  ['VND', 'MB', 'MB'],
  ['VND', 'ctg', 'ICB'],
  ['VND', 'bid', 'BIDV'],
  ['VND', 'OceanBank', 'MBV'],
  ['VND', 'DongABank', 'VIKKI'],
  ['VND', 'LienVietPostBank', 'LPB'],
] as const)('%s: %s means %s', (currency, sent, code) => {
  expect(findBank(currency, sent)?.code).toBe(code)
})

test('ttb is routed by 011, never by 076', () => {
  expect(findBank('THB', '076')?.numericCode).toBe('011')
})

test('the same code in the other currency is another bank', () => {
  expect(findBank('THB', 'SCB')?.numericCode).toBe('014')
  expect(findBank('VND', 'SCB')?.numericCode).toBe('970429')
})

test('BVB, which published tables give to two banks, finds neither', () => {
  expect(findBank('VND', 'BVB')).toBeUndefined()
  expect(findBank('VND', '970438')?.code).toBe('BAOVIETBANK')
  expect(findBank('VND', '970454')?.code).toBe('VCCB')
})

test('an unknown code finds no bank', () => {
  for (const code of ['', 'NOPE', '999', 'constructor']) {
    expect(findBank('THB', code)).toBeUndefined()
  }
})

test('exactly the banks that stopped trading are closed', () => {
  const closed = (currency: 'THB' | 'VND') => banksOf(currency).filter((bank) => bank.closed)
  expect(closed('THB').map((bank) => bank.code)).toEqual(['RBS', 'TBANK'])
  expect(closed('VND')).toEqual([])
})

test('a link opens the app of a bank that is in the table, and says nothing of the payment', () => {
  const linked = banksOf('VND').filter(({ code }) => bankAppLink('VND', code) !== undefined)
  expect(linked.map(({ code }) => code)).toEqual(['ACB', 'BIDV', 'ICB', 'MB', 'OCB', 'VCB'])
  for (const { code, closed } of linked) {
    expect(closed, code).toBe(false)
    expect(bankAppLink('VND', code)).toMatch(/^https:\/\/dl\.vietqr\.io\/pay\?app=[a-z]+$/)
  }
})

test('no link is guessed: neither for other banks, nor for a bank of another country with the same code', () => {
  expect(bankAppLink('VND', 'SCB')).toBeUndefined()
  expect(bankAppLink('THB', 'SCB')).toBeUndefined()
  expect(bankAppLink('THB', 'MB')).toBeUndefined()
  expect(bankAppLink('VND', 'constructor')).toBeUndefined()
})
