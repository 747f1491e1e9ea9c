import type { CsvProfile } from './csv-profile.ts'

/** A profile that comes with the service. */
export interface BuiltInCsvProfile {
  name: string
  bank: string
  /** The bank's product that the file is exported from, or what is known about it. */
  export: string
  /**
   * Whether a published file of the bank, or a description made from one, shows this layout. The others are
   * what people report: compare them with a file of the bank before they are used.
   */
  checked: boolean
  profile: CsvProfile
}

const english = { encoding: 'utf-8', delimiter: ',', decimalMark: '.', groupingMark: ',' } as const
const thai = { ...english, encoding: 'windows-874' } as const
const vietnamese = english

/** Layouts of Thai and Vietnamese banks. An account may start from one and change it. */
export const builtInCsvProfiles: BuiltInCsvProfile[] = [
  {
    name: 'kbank-biz',
    bank: 'Kasikornbank',
    export: 'K BIZ, statement of a savings account with details',
    checked: true,
    profile: {
      ...english,
      accountLabel: 'Account Number',
      notEntries: ['Beginning Balance', 'Open Account'],
      columns: {
        date: 'Date',
        time: 'Time/ Eff.Date',
        debit: 'Withdrawal',
        credit: 'Deposit',
        balance: 'Outstanding Balance',
        texts: ['Details', 'Descriptions', 'Channel'],
      },
      dateFormat: 'DD-MM-YY',
      timeFormat: 'HH:mm',
    },
  },
  {
    name: 'kbank-corporate',
    bank: 'Kasikornbank',
    export: 'the corporate portal, statement of earlier days, in Thai',
    checked: true,
    profile: {
      ...thai,
      accountLabel: 'เลขที่บัญชี',
      footer: '** สิ้นสุดรายงาน',
      columns: {
        date: 'วันที่ทำรายการ',
        time: 'เวลา',
        debit: 'จำนวนเงินหักบัญชี',
        credit: 'จำนวนเงินนำฝากเข้าบัญชี',
        balance: 'ยอดคงเหลือ',
        texts: ['รายละเอียด', 'รายการ', 'ช่องทาง', 'หมายเลข'],
      },
      dateFormat: 'DD-MMM-YYYY',
      timeFormat: 'HH:mm:ss',
      buddhistYear: true,
    },
  },
  {
    name: 'scb-business',
    bank: 'Siam Commercial Bank',
    export: 'SCB Business',
    checked: true,
    profile: {
      ...thai,
      columns: {
        account: 'Account Number',
        date: 'Date',
        time: 'Time',
        debit: 'Debit Amount',
        credit: 'Credit Amount',
        balance: 'Balance Amount',
        balanceSign: 'Balance Sign',
        texts: ['Description', 'Transaction Code', 'Channel'],
      },
      dateFormat: 'DD/MM/YYYY',
      timeFormat: 'HH:mm',
    },
  },
  {
    name: 'bbl',
    bank: 'Bangkok Bank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...english,
      columns: {
        date: 'Date',
        debit: 'Debit',
        credit: 'Credit',
        balance: 'Balance',
        texts: ['Description', 'Channel'],
      },
      dateFormat: 'DD/MM/YYYY',
    },
  },
  {
    name: 'ktb',
    bank: 'Krungthai Bank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...thai,
      columns: {
        date: 'Date',
        debit: 'Withdrawal',
        credit: 'Deposit',
        balance: 'Balance',
        texts: ['Description', 'Transaction Code'],
      },
      dateFormat: 'DD/MM/YYYY HH:mm:ss',
    },
  },
  {
    name: 'bay',
    bank: 'Bank of Ayudhya (Krungsri)',
    export: 'as people report it',
    checked: false,
    profile: {
      ...thai,
      columns: {
        date: 'Date',
        time: 'Time',
        debit: 'Withdrawal',
        credit: 'Deposit',
        balance: 'Balance',
        texts: ['Description', 'Channel'],
      },
      dateFormat: 'DD/MM/YYYY',
      timeFormat: 'HH:mm:ss',
    },
  },
  {
    name: 'ttb',
    bank: 'TMBThanachart Bank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...english,
      columns: {
        date: 'Transaction Date',
        time: 'Time',
        debit: 'Debit',
        credit: 'Credit',
        balance: 'Balance',
        texts: ['Description', 'Channel'],
      },
      dateFormat: 'DD/MM/YYYY',
      timeFormat: 'HH:mm',
    },
  },
  {
    name: 'mb',
    bank: 'MB Bank',
    export: 'detailed statement with debit and credit advice; it writes 37 where there is nothing',
    checked: true,
    profile: {
      ...vietnamese,
      emptyValue: '37',
      accountLabel: 'Tài khoản/ Account No',
      notEntries: ['Transaction date'],
      footer: 'Tổng phát sinh trong kỳ',
      columns: {
        date: 'Ngày hạch toán',
        time: 'Ngày giao dịch',
        debit: 'Phát sinh nợ',
        credit: 'Phát sinh có',
        balance: 'Số dư lũy kế',
        texts: ['Nội dung'],
        reference: 'Số bút toán',
        payerName: 'Đơn vị thụ hưởng/ Đơn vị chuyển',
        payerAccount: 'Tài khoản',
        payerBank: 'Ngân hàng đối tác',
      },
      dateFormat: 'DD/MM/YYYY',
      timeFormat: 'DD/MM/YYYY HH:mm:ss',
    },
  },
  {
    name: 'vietcombank',
    bank: 'Vietcombank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...vietnamese,
      decimalMark: ',',
      groupingMark: '.',
      notEntries: ['Tổng cộng'],
      columns: {
        date: 'Ngày giao dịch',
        debit: 'Số tiền ghi nợ',
        credit: 'Số tiền ghi có',
        texts: ['Mô tả'],
        reference: 'Số tham chiếu',
      },
      dateFormat: 'DD/MM/YYYY',
    },
  },
  {
    name: 'techcombank',
    bank: 'Techcombank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...vietnamese,
      columns: {
        date: 'Transaction Date',
        amount: 'Amount',
        balance: 'Balance',
        texts: ['Description'],
        reference: 'Reference',
      },
      sign: 'as-written',
      dateFormat: 'YYYY-MM-DD HH:mm:ss',
    },
  },
  {
    name: 'acb',
    bank: 'ACB',
    export: 'as people report it',
    checked: false,
    profile: {
      ...vietnamese,
      columns: {
        date: 'Ngày giao dịch',
        debit: 'Ghi nợ',
        credit: 'Ghi có',
        balance: 'Số dư',
        texts: ['Nội dung giao dịch'],
        reference: 'Số GD',
      },
      dateFormat: 'DD/MM/YYYY',
    },
  },
  {
    name: 'vietinbank',
    bank: 'VietinBank',
    export: 'as people report it',
    checked: false,
    profile: {
      ...vietnamese,
      columns: {
        date: 'Ngày hạch toán',
        debit: 'Nợ',
        credit: 'Có',
        balance: 'Số dư TK',
        texts: ['Mô tả giao dịch'],
        reference: 'Số giao dịch',
      },
      dateFormat: 'DD/MM/YYYY HH:mm:ss',
    },
  },
  {
    name: 'bidv',
    bank: 'BIDV',
    export: 'as people report it',
    checked: false,
    profile: {
      ...vietnamese,
      columns: {
        date: 'Ngày giao dịch',
        debit: 'Số tiền ghi nợ',
        credit: 'Số tiền ghi có',
        balance: 'Số dư',
        texts: ['Nội dung'],
        reference: 'Số chứng từ',
      },
      dateFormat: 'DD/MM/YYYY HH:mm:ss',
    },
  },
]
