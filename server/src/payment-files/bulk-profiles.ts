import { findBank } from '../lib/banks.ts'
import { currencies } from '../lib/money.ts'
import type { BulkField, BulkProfile, BulkRecord } from './bulk-profile.ts'

const constant = (text: string, width = text.length): BulkField => ({
  source: 'constant',
  text,
  width,
})
const blank = (width: number) => constant('', width)
const zeros = (width: number) => constant('0'.repeat(width))
const thaiFile = {
  // Where the bank whose layout it is clears payments.
  currencies: currencies.filter((currency) => findBank(currency, 'KTB') !== undefined),
  checked: false,
  charset: 'windows-874',
  lineEnd: '\r\n',
  delimiter: null,
  quoted: false,
  extension: 'txt',
} as const

/** Krungthai, iPay: lines of 498. The company's id at the bank is left blank. */
function ktb(
  service: string,
  batch: BulkField = constant('000001'),
): Pick<BulkProfile, 'header' | 'detail' | 'trailer'> {
  const digits = { side: 'right', fill: '0' } as const
  return {
    header: [
      [
        constant('10'),
        constant('1'),
        batch,
        constant('006'),
        { source: 'count', width: 7, ...digits },
        { source: 'sum', decimals: 2, point: false, width: 19, ...digits },
        { source: 'execution-date', format: 'DDMMYYYY', width: 8 },
        constant('C'),
        zeros(8),
        blank(16 + 20 + 407),
      ],
    ],
    detail: [
      [
        constant('10'),
        constant('2'),
        batch,
        { source: 'payee-bank-number', width: 3, ...digits },
        { source: 'payee-branch', width: 4, ...digits },
        { source: 'payee-account', width: 11, minLength: 10, ...digits },
        constant('006'),
        { source: 'debtor-branch', width: 4, ...digits },
        { source: 'debtor-account', width: 11, minLength: 10, ...digits },
        { source: 'execution-date', format: 'DDMMYYYY', width: 8 },
        constant(service, 2),
        constant('00'),
        { source: 'amount', decimals: 2, point: false, width: 17, ...digits },
        blank(8),
        zeros(10),
        { source: 'payee-name', width: 100 },
        { source: 'debtor-name', width: 100 },
        blank(40 + 18 + 2),
        { source: 'code', width: 18 },
        blank(2 + 20),
        { source: 'line-number', width: 6, ...digits },
        constant('09'),
        blank(40 + 20),
        zeros(4),
        blank(34),
      ],
    ],
    trailer: [],
  }
}

/** Siam Commercial Bank: records 001 to 004 and 999, amounts with three decimals. */
function scb(product: string): Pick<BulkProfile, 'header' | 'detail' | 'trailer'> {
  const digits = { side: 'right', fill: '0' } as const
  const money = { decimals: 3, point: false, width: 16, ...digits } as const
  const ownType = constant('', 2)
  return {
    header: [
      [
        constant('001'),
        blank(12),
        { source: 'message-id', width: 32 },
        { source: 'created-at', format: 'YYYYMMDD', width: 8 },
        { source: 'created-at', format: 'HHMMSS', width: 6 },
        constant('BCM'),
        { source: 'batch-reference', width: 32 },
      ],
      [
        constant('002'),
        constant(product, 3),
        { source: 'execution-date', format: 'YYYYMMDD', width: 8 },
        { source: 'debtor-account', width: 25 },
        ownType,
        { source: 'debtor-branch', width: 4, ...digits },
        { source: 'currency', width: 3 },
        { source: 'sum', ...money },
        constant('00000001'),
        { source: 'count', width: 6, ...digits },
        { source: 'debtor-account', width: 15 },
        blank(9 + 1),
        ownType,
        { source: 'debtor-branch', width: 4, ...digits },
      ],
    ],
    detail: [
      [
        constant('003'),
        { source: 'line-number', width: 6, ...digits },
        { source: 'payee-account', width: 25 },
        { source: 'amount', ...money },
        { source: 'currency', width: 3 },
        constant('00000001'),
        constant('NNN'),
        blank(1 + 4 + 40 + 22 + 49),
        { source: 'payee-bank-number', width: 3, ...digits },
        { source: 'payee-bank-name', width: 35 },
        { source: 'payee-branch', width: 4, ...digits },
        blank(35 + 1 + 1),
        { source: 'code', width: 20 },
        blank(1 + 3 + 2),
        { source: 'text', width: 68 },
        blank(2),
      ],
      [
        constant('004'),
        constant('00000001'),
        { source: 'line-number', width: 6, ...digits },
        blank(15),
        { source: 'payee-name', width: 100 },
        blank(70 + 70 + 70 + 10 + 70 + 10 + 10 + 64 + 310),
      ],
    ],
    trailer: [
      [
        constant('999'),
        constant('000001'),
        { source: 'count', width: 6, ...digits },
        { source: 'sum', ...money },
      ],
    ],
  }
}

/** Tells the files of a day apart. The layouts that have none of it stay as they are: their sealed files are made again. */
const batchNumber: BulkField = { source: 'batch-number', width: 6, side: 'right', fill: '0' }

const csvHeadings = 'code,name,account,bank,amount,currency,date,text'
const csvRecord: BulkRecord = [
  { source: 'code' },
  { source: 'payee-name' },
  { source: 'payee-account' },
  { source: 'payee-bank-code' },
  // As many decimals as any currency has, so that every amount is exact.
  { source: 'amount', decimals: 2, point: true },
  { source: 'currency' },
  { source: 'execution-date', format: 'YYYY-MM-DD' },
  { source: 'text' },
]
const csvFile = {
  currencies,
  checked: false,
  charset: 'utf-8',
  lineEnd: '\r\n',
  delimiter: ',',
  extension: 'csv',
  header: [csvHeadings.split(',').map((text): BulkField => ({ source: 'constant', text }))],
  detail: [csvRecord],
  trailer: [],
} satisfies Partial<BulkProfile>
const numberedCsv = {
  ...csvFile,
  header: csvFile.header.map((record) => [
    ...record,
    { source: 'constant', text: 'file' } as const,
  ]),
  detail: [[...csvRecord, { source: 'message-id' } as const]],
} satisfies Partial<BulkProfile>

/** Layouts as far as public sources show them. None of these banks has confirmed them. */
export const bulkProfiles: readonly BulkProfile[] = [
  {
    name: 'ktb-ipay-standard',
    title: 'Krungthai iPay, to accounts at other banks',
    payeeBanks: { allBut: 'KTB' },
    ...thaiFile,
    ...ktb('59'),
  },
  {
    name: 'ktb-ipay-direct',
    title: 'Krungthai iPay, to accounts at Krungthai',
    payeeBanks: { only: 'KTB' },
    ...thaiFile,
    ...ktb('14'),
  },
  {
    name: 'scb-mcl',
    title: 'SCB Business Net media clearing, to accounts at other banks',
    payeeBanks: { allBut: 'SCB' },
    ...thaiFile,
    ...scb('MCL'),
  },
  {
    name: 'scb-dcp',
    title: 'SCB Business Net direct credit, to accounts at SCB',
    payeeBanks: { only: 'SCB' },
    ...thaiFile,
    ...scb('DCP'),
  },
  { name: 'csv', title: 'CSV, every field in quotes', ...csvFile, quoted: true },
  { name: 'csv-plain', title: 'CSV without quotes', ...csvFile, quoted: false },
  {
    name: 'ktb-ipay-standard-numbered',
    title: 'Krungthai iPay, to accounts at other banks, each file with a batch number of its own',
    payeeBanks: { allBut: 'KTB' },
    ...thaiFile,
    ...ktb('59', batchNumber),
  },
  {
    name: 'ktb-ipay-direct-numbered',
    title: 'Krungthai iPay, to accounts at Krungthai, each file with a batch number of its own',
    payeeBanks: { only: 'KTB' },
    ...thaiFile,
    ...ktb('14', batchNumber),
  },
  {
    name: 'csv-numbered',
    title: 'CSV, every field in quotes, with the id of the file in each line',
    ...numberedCsv,
    quoted: true,
  },
  {
    name: 'csv-plain-numbered',
    title: 'CSV without quotes, with the id of the file in each line',
    ...numberedCsv,
    quoted: false,
  },
]
