import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import jsQR from 'jsqr'
import { anyId, billPayment } from 'promptparse/generate'
import { QRPay } from 'vietnam-qr-pay'
import { describe, expect, it, test } from 'vitest'
import { paymentCode } from '../payment-code.ts'
import { qrCode } from '../qr-code.ts'
import { qrPng } from '../qr-png.ts'
import { isCreditorReference, isSwissReference } from './creditor-reference.ts'
import { fieldOf, readEmv, writeEmv, writeFields } from './emv.ts'
import { parseQrSetting, type QrKind, qrKinds, qrSettingText } from './qr-kinds.ts'
import type { QrAccount } from './qr-scheme.ts'
import {
  carriesCode,
  qrFault,
  qrKindsOf,
  qrText,
  qrWarning,
  referenceComesBack,
} from './qr-text.ts'
import { readQr } from './read-qr.ts'

const code = paymentCode('an order')

const owner = { accountName: 'Bäckerei Müller', city: null, address: null, bankCode: '' }
const thai: QrAccount = { ...owner, currency: 'THB', bankCode: 'KBANK', accountNo: '0123456789' }
const vietnamese: QrAccount = {
  ...owner,
  currency: 'VND',
  bankCode: 'VCB',
  accountNo: '0071001234567',
}
const brazilian: QrAccount = {
  ...owner,
  currency: 'BRL',
  accountNo: '000123',
  accountName: 'Padaria São João do Rio de Janeiro',
  city: 'São Paulo',
}
const singaporean: QrAccount = { ...owner, currency: 'SGD', accountNo: '0012345678' }
const german: QrAccount = {
  ...owner,
  currency: 'EUR',
  bankCode: 'MARKDEFFXXX',
  accountNo: 'DE75512108001245126199',
}
const swissBank: QrAccount = {
  ...owner,
  currency: 'CHF',
  accountNo: 'CH5604835012345678009',
  address: 'Rue du Marché;12;1204;Genève;CH',
}
const qrIban = { ...swissBank, accountNo: 'CH4431999123000889012' }
const indian: QrAccount = {
  ...owner,
  currency: 'INR',
  accountNo: '50100012345678',
  accountName: 'Asha & Sons',
}

/** A static code as an Indonesian bank hands it out: its fields are not in the order of their tags. */
const issued = writeEmv([
  ['00', '01'],
  ['01', '11'],
  [
    '26',
    writeFields([
      ['00', 'ID.CO.EXAMPLE.WWW'],
      ['01', '936000140102115303'],
      ['02', '010211530303'],
    ]),
  ],
  [
    '51',
    writeFields([
      ['00', 'ID.CO.QRIS.WWW'],
      ['02', 'ID1020301021154'],
      ['03', 'UMI'],
    ]),
  ],
  ['52', '5812'],
  ['58', 'ID'],
  ['59', 'WARUNG IBU'],
  ['60', 'BANDUNG'],
  ['61', '40111'],
  ['53', '360'],
  ['62', writeFields([['07', 'A01']])],
])
const indonesian: QrAccount = { ...owner, currency: 'IDR', accountNo: '1234567890' }

/** What a scanner reads in a PNG of one bit per pixel. */
function scanned(png: Buffer): string | undefined {
  const side = png.readUInt32BE(16)
  const lines = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))
  const lineBytes = 1 + Math.ceil(side / 8)
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255)
  for (let at = 0; at < side * side; at++) {
    const [x, y] = [at % side, Math.floor(at / side)]
    const isWhite = ((lines[y * lineBytes + 1 + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1
    if (!isWhite) pixels.fill(0, at * 4, at * 4 + 3)
  }
  return jsQR.default(pixels, side, side)?.data
}

/** An account and a value for every kind. */
const samples: Record<Exclude<QrKind, 'none'>, { account: QrAccount; value: string | null }> = {
  'promptpay-mobile': { account: thai, value: '081-234-5678' },
  'promptpay-id': { account: thai, value: '1-1017-00230-70-8' },
  'promptpay-bill': { account: thai, value: '010555609180401' },
  vietqr: { account: vietnamese, value: null },
  pix: { account: brazilian, value: 'loja@padaria.example' },
  paynow: { account: singaporean, value: '201912345K001' },
  epc: { account: german, value: null },
  swiss: { account: swissBank, value: null },
  upi: { account: indian, value: 'asha.sons@examplebank' },
  template: { account: indonesian, value: issued },
}

const text = (setting: string, account: QrAccount, amountMinor = 10_007n) =>
  qrText(parsed(setting), account, { amountMinor, code }) ?? ''

function parsed(setting: string) {
  const found = parseQrSetting(setting)
  if (!found) throw new Error(`${setting} is no setting`)
  return found
}

describe('PromptPay', () => {
  it('writes a mobile number the way an independent library does', () => {
    for (const value of [
      '0812345678',
      '+66812345678',
      '66812345678',
      '0066812345678',
      '081 234 5678',
    ]) {
      const ours = readEmv(text(`promptpay-mobile:${value}`, thai))
      const theirs = readEmv(anyId({ type: 'MSISDN', target: '0812345678', amount: 100.07 }))
      expect('fields' in ours && [...ours.fields].sort()).toEqual(
        'fields' in theirs && [...theirs.fields].sort(),
      )
    }
  })

  it('writes an id, and a bill with the payment code as its first reference, likewise', () => {
    const id = readEmv(text('promptpay-id:1101700230708', thai))
    const theirId = readEmv(anyId({ type: 'NATID', target: '1101700230708', amount: 100.07 }))
    expect('fields' in id && [...id.fields].sort()).toEqual(
      'fields' in theirId && [...theirId.fields].sort(),
    )
    const bill = readEmv(text('promptpay-bill:010555609180401', thai))
    const theirBill = readEmv(
      billPayment({ billerId: '010555609180401', ref1: code, amount: 100.07 }),
    )
    expect('fields' in bill && [...bill.fields].sort()).toEqual(
      'fields' in theirBill && [...theirBill.fields].sort(),
    )
  })

  it('writes a second reference and a terminal where the bank asks for them', () => {
    const whole = text('promptpay-bill:010555609180401,SHOP7,SCB', thai)
    const read = readEmv(whole)
    const theirs = readEmv(
      billPayment({
        ...{ billerId: '010555609180401', ref1: code, ref2: 'SHOP7', ref3: 'SCB' },
        amount: 100.07,
      }),
    )
    expect('fields' in read && [...read.fields].sort()).toEqual(
      'fields' in theirs && [...theirs.fields].sort(),
    )
    const fields = 'fields' in read ? read.fields : []
    expect([fieldOf(fields, '30', '03'), fieldOf(fields, '62', '07')]).toEqual(['SHOP7', 'SCB'])
    expect(readQr(text('promptpay-bill:010555609180401,,SCB', thai))?.reference).toBe(code)
    for (const value of ['01055560918040', '010555609180401,shop', '010555609180401,A,B,C']) {
      expect(qrFault(parsed(`promptpay-bill:${value}`), thai)).toContain('not a biller id')
    }
  })

  it('is read across borders, and as a bank gives it to a shop', () => {
    const bill = { '00': 'A000000677012006', '01': '010555609180401', '02': 'REF1' }
    const shop = { '00': 'A000000677010113', '01': '006', '02': 'KB000001', '04': 'REF4' }
    const written = (tag: string, inner: object) =>
      writeEmv([
        ['00', '01'],
        [tag, writeFields(Object.entries(inner))],
        ['53', '764'],
        ['58', 'TH'],
      ])
    expect(readQr(written('30', bill))).toMatchObject({
      ...{ scheme: 'PromptPay', payTo: '010555609180401', reference: 'REF1' },
    })
    expect(readQr(written('31', shop))).toMatchObject({
      ...{ scheme: 'PromptPay', payTo: 'KB000001', reference: 'REF4' },
    })
  })

  it('has the exact amount where a floating-point number would not', () => {
    expect(
      readQr(text('promptpay-mobile:0812345678', thai, 100_000_000_000_1n / 10n))?.amount,
    ).toBe('1000000000.00')
    expect(readQr(text('promptpay-mobile:0812345678', thai, 7n))?.amount).toBe('0.07')
    expect(readQr(text('promptpay-mobile:0812345678', thai, 1n))?.amount).toBe('0.01')
  })
})

describe('VietQR', () => {
  it('is what an independent library writes, character by character', () => {
    const theirs = QRPay.initVietQR({
      bankBin: '970436',
      bankNumber: '0071001234567',
      amount: '180000',
      purpose: code,
    })
    expect(text('vietqr', vietnamese, 180_000n)).toBe(theirs.build())
  })

  it('is read by an independent library', () => {
    const theirs = new QRPay(text('vietqr', vietnamese, 180_000n))
    expect(theirs.isValid).toBe(true)
    expect(theirs.consumer.bankBin).toBe('970436')
    expect(theirs.consumer.bankNumber).toBe('0071001234567')
    expect(theirs.amount).toBe('180000')
    expect(theirs.additionalData.purpose).toBe(code)
  })
})

describe('Pix', () => {
  const fieldsOf = (value: string) => {
    const read = readEmv(text(`pix:${value}`, brazilian))
    return 'fields' in read ? read.fields : []
  }

  it('has key, plain name and city within their lengths, and the code as txid', () => {
    const fields = fieldsOf('4e0f1d3a-9c1b-4b62-8f7e-0123456789ab')
    expect(fields.map(([tag]) => tag)).toEqual([
      '00',
      '26',
      '52',
      '53',
      '54',
      '58',
      '59',
      '60',
      '62',
    ])
    expect(fieldOf(fields, '26', '01')).toBe('4e0f1d3a-9c1b-4b62-8f7e-0123456789ab')
    expect(fieldOf(fields, '59')).toBe('Padaria Sao Joao do Rio d')
    expect(fieldOf(fields, '60')).toBe('Sao Paulo')
    expect(fieldOf(fields, '62', '05')).toBe(code)
  })

  it('writes each kind of key as the directory has it', () => {
    const keys = [
      ['+5511987654321', '+5511987654321'],
      ['Loja@Padaria.Example', 'loja@padaria.example'],
      ['529.982.247-25', '52998224725'],
      ['11.222.333/0001-81', '11222333000181'],
      ['12.ABC.345/01DE-35', '12ABC34501DE35'],
    ]
    for (const [value, key] of keys) {
      expect(fieldOf(fieldsOf(value ?? ''), '26', '01')).toBe(key)
      expect(qrWarning(parsed(`pix:${value}`))).toBeUndefined()
    }
  })
})

describe('PayNow', () => {
  it('pays a company by its UEN or a person by the mobile number, the amount fixed', () => {
    for (const [value, type] of [
      ['201912345K001', '2'],
      ['+6591234567', '0'],
    ]) {
      const read = readEmv(text(`paynow:${value}`, singaporean))
      const fields = 'fields' in read ? read.fields : []
      expect(fieldOf(fields, '26', '01')).toBe(type)
      expect(fieldOf(fields, '26', '02')).toBe(value)
      expect(fieldOf(fields, '26', '03')).toBe('0')
      expect(fieldOf(fields, '62', '01')).toBe(code)
      expect(fieldOf(fields, '26', '04')).toBeUndefined()
    }
  })

  it('says until when, in Singapore’s time', () => {
    const expiresAt = new Date('2026-11-18T17:05:09Z')
    const payment = { amountMinor: 10_007n, code, expiresAt }
    const read = readEmv(qrText(parsed('paynow:201912345K001'), singaporean, payment) ?? '')
    expect(fieldOf('fields' in read ? read.fields : [], '26', '04')).toBe('20261119010509')
  })
})

describe('EPC', () => {
  it('has the payment code as its text where the account chose so', () => {
    const built = text('epc:text', german)
    expect(built.split('\n').slice(9)).toEqual(['', code])
    expect(readQr(built)?.reference).toBe(code)
    expect(qrFault(parsed('epc:words'), german)).toContain('epc:text')
  })

  it('has the lines of the guideline, and a structured reference', () => {
    const lines = text('epc', german).split('\n')
    expect(lines.slice(0, 9)).toEqual([
      'BCD',
      '002',
      '1',
      'SCT',
      'MARKDEFFXXX',
      'Bäckerei Müller',
      'DE75512108001245126199',
      'EUR100.07',
      '',
    ])
    expect(lines).toHaveLength(10)
    expect(isCreditorReference(lines[9] ?? '')).toBe(true)
    expect(lines[9]?.slice(4)).toBe(code)
  })

  it('fits into 331 bytes with the longest name that it takes', () => {
    const account = {
      ...german,
      accountName: 'ก'.repeat(70),
      accountNo: 'MT31MALT01100000000000000000123',
    }
    expect(qrFault(parsed('epc'), account)).toBeUndefined()
    expect(Buffer.byteLength(text('epc', account, 99_999_999_999n))).toBeLessThanOrEqual(331)
    expect(qrFault(parsed('epc'), { ...german, accountName: '🏦'.repeat(70) })).toContain(
      'too long',
    )
  })
})

describe('Swiss QR-bill', () => {
  it('has 31 lines with a structured address and an ISO reference', () => {
    const lines = text('swiss', swissBank).split('\n')
    expect(lines.slice(0, 11)).toEqual([
      'SPC',
      '0200',
      '1',
      'CH5604835012345678009',
      'S',
      'Bäckerei Müller',
      'Rue du Marché',
      '12',
      '1204',
      'Genève',
      'CH',
    ])
    expect(lines.slice(11, 18).join('')).toBe('')
    expect(lines.slice(18, 20)).toEqual(['100.07', 'CHF'])
    expect(lines.slice(20, 27).join('')).toBe('')
    expect(lines[27]).toBe('SCOR')
    expect(isCreditorReference(lines[28] ?? '')).toBe(true)
    expect(lines.slice(29)).toEqual(['', 'EPD'])
  })

  it('has the Swiss reference where the account is a QR-IBAN, which takes no other', () => {
    const lines = text('swiss', qrIban).split('\n')
    expect(lines[27]).toBe('QRR')
    expect(isSwissReference(lines[28] ?? '')).toBe(true)
  })

  it('pays euros too', () => {
    expect(qrFault(parsed('swiss'), { ...swissBank, currency: 'EUR' })).toBeUndefined()
    expect(text('swiss', { ...swissBank, currency: 'EUR' }).split('\n')[19]).toBe('EUR')
  })
})

test('EPC and Swiss codes are of level M alone, and Swiss ones have the cross in the middle', () => {
  // The first two bits of the format, unmasked, name the level: 00 is M.
  const level = (of: string) => {
    const { modules, size } = qrCode(of)
    const [high, low] = modules.subarray(8 * size)
    return (Number(high) * 2 + Number(low)) ^ 0b10
  }
  for (let length = 1; length <= 40; length++) {
    const accountName = 'x'.repeat(length)
    expect(level(text('epc', { ...german, accountName }))).toBe(0)
    expect(level(text('swiss', { ...swissBank, accountName }))).toBe(0)
  }
  expect(qrCode(text('epc', german)).patches).toEqual([])
  const { size, patches } = qrCode(text('swiss', swissBank))
  const [edge, square] = patches
  expect((edge?.width ?? 0) / size).toBeCloseTo(7 / 46)
  expect(edge?.isDark).toBe(false)
  expect(square?.isDark).toBe(true)
  for (const { x, width, y, height } of patches) {
    expect(x + width / 2).toBeCloseTo(size / 2)
    expect(y + height / 2).toBeCloseTo(size / 2)
  }
})

test('the cross hides nothing that a scanner needs, in small and large codes', () => {
  const long = `${'Straße'.repeat(11)};${'9'.repeat(16)};${'8'.repeat(16)};${'Zürich '.repeat(4)};CH`
  for (const account of [
    { ...swissBank, accountName: 'X', address: ';;1;B;CH' },
    { ...qrIban, accountName: 'é'.repeat(70), address: long },
  ]) {
    expect(qrFault(parsed('swiss'), account)).toBeUndefined()
    expect(scanned(qrPng(text('swiss', account)))).toBe(text('swiss', account))
  }
})

test('a long text that begins like an EPC code is still drawn', () => {
  const long = `BCD\n${'x'.repeat(400)}`
  expect(scanned(qrPng(long))).toBe(long)
})

test('UPI keeps the @ and writes spaces and signs as apps read them', () => {
  expect(text('upi:asha.sons@examplebank', indian)).toBe(
    `upi://pay?pa=asha.sons@examplebank&pn=Asha%20%26%20Sons&tr=${code}&tn=${code}&am=100.07&cu=INR`,
  )
})

describe("a bank's own code", () => {
  it('gets the amount and is for one payment; all else stays as it is', () => {
    const before = readEmv(issued)
    const after = readEmv(text(`template:${issued}`, indonesian, 25_001_200n))
    const [was, is] = ['fields' in before && before.fields, 'fields' in after && after.fields]
    if (!was || !is) throw new Error('a code cannot be read')
    expect(fieldOf(is, '01')).toBe('12')
    expect(fieldOf(is, '54')).toBe('250012.00')
    const others = (fields: typeof was) => fields.filter(([tag]) => tag !== '01' && tag !== '54')
    expect(others(is)).toEqual(others(was))
  })

  it('has its amount replaced where it has one', () => {
    const withAmount = writeEmv([
      ['00', '02'],
      ['02', '4000123456789012'],
      ['54', '5.00'],
      ['53', '458'],
    ])
    const account: QrAccount = { ...owner, currency: 'MYR', accountNo: '1234567890' }
    expect(qrFault(parsed(`template:${withAmount}`), account)).toBeUndefined()
    expect(text(`template:${withAmount}`, account)).toBe(
      writeEmv([
        ['00', '02'],
        ['01', '12'],
        ['02', '4000123456789012'],
        ['53', '458'],
        ['54', '100.07'],
      ]),
    )
  })
})

const every = Object.entries(samples).map(([kind, sample]) => ({ kind: kind as QrKind, ...sample }))

describe.each(every)('$kind', ({ kind, account, value }) => {
  const setting = { kind, value }

  it('is built and read back with the same amount and reference', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 99_999_999_999n }),
        fc.string(),
        (amountMinor, seed) => {
          const payment = { amountMinor, code: paymentCode(seed) }
          const built = qrText(setting, account, payment) ?? ''
          const read = readQr(built)
          expect(read?.currency).toBe(account.currency)
          expect(BigInt((read?.amount ?? '').replace('.', ''))).toBe(amountMinor)
          expect(read?.amount?.includes('.')).toBe(account.currency !== 'VND')
          if (carriesCode(kind)) expect(read?.reference).toContain(payment.code)
          else expect(built).not.toContain(payment.code)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('has no fault, and one where the currency is another', () => {
    expect(qrFault(setting, account)).toBeUndefined()
    const other = account.currency === 'GBP' ? 'USD' : 'GBP'
    const words = qrFault(setting, { ...account, currency: other })
    expect(words).toMatch(kind === 'template' ? /is in the currency/ : /does not pay in GBP/)
  })

  it('has no text for an amount that its field cannot hold, rather than a wrong one', () => {
    const built = qrText(setting, account, { amountMinor: 10n ** 14n, code })
    expect(built === undefined || readQr(built)?.amount === '1000000000000.00').toBe(true)
    if (kind !== 'upi') expect(built).toBeUndefined()
  })

  it('is read from its picture by an independent reader, to the same text', () => {
    const built = qrText(setting, account, { amountMinor: 10_007n, code }) ?? ''
    expect(scanned(qrPng(built))).toBe(built)
  })

  it('is written and read as KIND:VALUE', () => {
    expect(parseQrSetting(qrSettingText(setting))).toEqual(setting)
  })
})

describe('qrFault says what is wrong and what to do', () => {
  const withTip = writeEmv([
    ['00', '01'],
    ['26', writeFields([['00', 'X']])],
    ['53', '360'],
    ['55', '01'],
  ])
  const once = writeEmv([
    ['00', '01'],
    ['01', '12'],
    ['26', writeFields([['00', 'X']])],
    ['53', '360'],
  ])
  const nobody = writeEmv([
    ['00', '01'],
    ['53', '360'],
  ])
  const cases: [setting: string, account: QrAccount, words: string][] = [
    ['promptpay-mobile', thai, 'needs the mobile number'],
    ['promptpay-mobile:021234567', thai, 'not a Thai mobile number'],
    ['promptpay-mobile:08123456789', thai, 'not a Thai mobile number'],
    ['promptpay-id:123456789012', thai, 'give its 13 digits'],
    ['promptpay-bill:0105556091804', thai, 'give its 15 digits'],
    ['promptpay-bill', vietnamese, 'promptpay-bill does not pay in VND: choose one of vietqr'],
    ['vietqr:1', vietnamese, 'takes no value'],
    ['vietqr', { ...vietnamese, bankCode: 'BIDC' }, "needs the bank's BIN"],
    ['vietqr', { ...vietnamese, bankCode: '' }, 'no bank has none'],
    ['vietqr', { ...vietnamese, accountNo: '1'.repeat(20) }, '4 to 19 letters and digits'],
    ['pix:hello', brazilian, 'not a Pix key'],
    ['pix:a@b.example', { ...brazilian, city: null }, 'give a city'],
    ['pix:a@b.example', { ...brazilian, city: 'กรุงเทพ' }, 'give a city in Latin letters'],
    ['pix:a@b.example', { ...brazilian, accountName: 'สมชาย' }, 'give a name in Latin letters'],
    ['paynow:123', singaporean, 'neither a UEN'],
    ['paynow:+6512345678', singaporean, 'neither a UEN'],
    ['epc', { ...german, accountNo: 'DE76512108001245126199' }, 'check digits are wrong'],
    ['epc', { ...german, accountNo: '1234567890' }, 'is not an IBAN'],
    ['epc', { ...german, bankCode: 'KBANK' }, 'not a BIC'],
    ['epc', { ...german, accountName: 'A\nB' }, 'on one line'],
    ['swiss', { ...swissBank, accountNo: german.accountNo }, 'begins with CH or LI'],
    ['swiss', { ...swissBank, address: null }, "street;house number;post code;town;country'"],
    ['swiss', { ...swissBank, address: 'Gasse;1;;Bern;CH' }, 'has no post code'],
    ['swiss', { ...swissBank, address: 'Gasse;1;3000;Bern;Schweiz' }, 'more than 2 characters'],
    ['swiss', { ...swissBank, address: 'Gasse;1;3000;Bern;1A' }, 'not a country'],
    ['swiss', { ...swissBank, address: 'ถนน;1;3000;Bern;CH' }, 'in Latin letters'],
    ['swiss', { ...swissBank, accountName: 'สมชาย' }, 'in Latin letters'],
    ['upi:nobody', indian, 'not a UPI id'],
    ['upi:a&am=1@bank', indian, 'not a UPI id'],
    [`template:${issued.replace('WARUNG', 'WARONG')}`, indonesian, 'checksum'],
    ['template:hello', indonesian, 'not the text of a payment QR code'],
    [`template:${withTip}`, indonesian, 'a tip or a fee'],
    [`template:${once}`, indonesian, 'for one payment only'],
    [`template:${nobody}`, indonesian, 'does not say whom it pays'],
    [`template:${'0'.repeat(600)}`, indonesian, 'at most 512 characters'],
    [`template:${issued}`, { ...indonesian, currency: 'MYR' }, 'currency 360, and MYR is 458'],
  ]
  it.each(cases)('%s', (setting, account, words) => {
    expect(qrFault(parsed(setting), account)).toContain(words)
  })
})

test('a wrong check digit of an id is only a warning', () => {
  for (const setting of ['promptpay-id:1101700230709', 'promptpay-bill:010555609180501']) {
    expect(qrWarning(parsed(setting))).toContain('check digit')
    expect(qrFault(parsed(setting), thai)).toBeUndefined()
  }
  expect(qrWarning(parsed('promptpay-id:1101700230708'))).toBeUndefined()
  expect(qrWarning(parsed('pix:52998224726'))).toContain('check digits')
  expect(qrWarning(parsed('pix:a@b.example'))).toBeUndefined()
})

test('every currency has the bank’s own code and none; what has no code has no text', () => {
  expect(qrKindsOf('USD')).toEqual(['template', 'none'])
  expect(
    qrFault({ kind: 'none', value: null }, { ...owner, currency: 'USD', accountNo: '1' }),
  ).toBe(undefined)
  expect(text('none', thai)).toBe('')
  expect(parseQrSetting('giro')).toBeUndefined()
})

test('only a reference that always comes back tells payments apart', () => {
  const always = qrKinds.filter((kind) => referenceComesBack({ kind, value: null }) === 'always')
  expect(always).toEqual(['promptpay-bill', 'vietqr', 'paynow', 'epc', 'swiss'])
  expect(always.every((kind) => carriesCode(kind))).toBe(true)
  expect(referenceComesBack({ kind: 'paynow', value: '+6591234567' })).toBe('sometimes')
  expect(referenceComesBack({ kind: 'pix', value: null })).toBe('sometimes')
})

test('a text that is cut off or no payment is not read', () => {
  for (const nothing of [
    '',
    'hello',
    'BCD\n002',
    'SPC\n0200\n1',
    'upi://pay?pn=x',
    'upi://pay?pa=%',
  ]) {
    expect(readQr(nothing)).toBeUndefined()
  }
})
