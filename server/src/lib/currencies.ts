import type { QrKind } from './qr/qr-kinds.ts'

interface CurrencyRow {
  /** ISO 4217: how many decimals an amount has, and the number that QR codes name the currency by. */
  decimals: 0 | 2
  isoNumber: string
  /** How `bankCode` is read: from the currency's table of banks, as an Indian IFSC, or as a BIC. */
  bankCode: 'table' | 'ifsc' | 'bic'
  /** ISO 20022: the code of the clearing system that knows banks by that code or by their number, if there is one. */
  clearing?: string
  /** Files are paid by the rules of SEPA: to IBANs, and in Latin letters. */
  isSepa?: true
  /** Payments without a reference are told apart by a small surplus: so many of these steps at most. */
  surplusStepMinor: bigint
  surplusSteps: number
  /** No bank charges more for one payment: what is more in a debit is something else. In minor units. */
  mostChargeMinor: bigint
  /** The kinds of QR code that pay in this currency; a bank's own QR code may be in any. */
  qrKinds: readonly QrKind[]
  /** In live one code confirms so much of payments together at most, unless a rule says otherwise: some $ 30,000. */
  togetherMinor: bigint
  /** The id of the house's book in this currency; migrations create it. */
  houseBook: bigint
}

/**
 * The currencies, and everything that differs between them; the first is the default. To add one, add a row
 * here and a migration that lets agents have it and creates the house's book, as 0029 does. If its banks go
 * by codes of their own, they also need a table in banks.ts.
 */
export const currencyRows = {
  THB: {
    decimals: 2,
    isoNumber: '764',
    bankCode: 'table',
    clearing: 'THCBC',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 500_000n,
    qrKinds: ['promptpay-mobile', 'promptpay-id', 'promptpay-bill'],
    togetherMinor: 1_000_000_00n,
    houseBook: -1n,
  },
  VND: {
    decimals: 0,
    isoNumber: '704',
    bankCode: 'table',
    surplusStepMinor: 1n,
    surplusSteps: 999,
    mostChargeMinor: 5_000_000n,
    qrKinds: ['vietqr'],
    togetherMinor: 800_000_000n,
    houseBook: -2n,
  },
  SGD: {
    decimals: 2,
    isoNumber: '702',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 20_000n,
    qrKinds: ['paynow'],
    togetherMinor: 40_000_00n,
    houseBook: -3n,
  },
  MYR: {
    decimals: 2,
    isoNumber: '458',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 50_000n,
    qrKinds: [],
    togetherMinor: 130_000_00n,
    houseBook: -4n,
  },
  IDR: {
    decimals: 2,
    isoNumber: '360',
    bankCode: 'bic',
    // Nobody pays in sen: the surplus is in whole rupiah.
    surplusStepMinor: 100n,
    surplusSteps: 999,
    mostChargeMinor: 200_000_000n,
    qrKinds: [],
    togetherMinor: 500_000_000_00n,
    houseBook: -5n,
  },
  PHP: {
    decimals: 2,
    isoNumber: '608',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 1_000_000n,
    qrKinds: [],
    togetherMinor: 1_800_000_00n,
    houseBook: -6n,
  },
  INR: {
    decimals: 2,
    isoNumber: '356',
    bankCode: 'ifsc',
    clearing: 'INFSC',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 1_000_000n,
    qrKinds: ['upi'],
    togetherMinor: 2_500_000_00n,
    houseBook: -7n,
  },
  BRL: {
    decimals: 2,
    isoNumber: '986',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 100_000n,
    qrKinds: ['pix'],
    togetherMinor: 160_000_00n,
    houseBook: -8n,
  },
  EUR: {
    decimals: 2,
    isoNumber: '978',
    bankCode: 'bic',
    isSepa: true,
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 15_000n,
    qrKinds: ['epc', 'swiss'],
    togetherMinor: 30_000_00n,
    houseBook: -9n,
  },
  CHF: {
    decimals: 2,
    isoNumber: '756',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 15_000n,
    qrKinds: ['swiss'],
    togetherMinor: 25_000_00n,
    houseBook: -10n,
  },
  GBP: {
    decimals: 2,
    isoNumber: '826',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 15_000n,
    qrKinds: [],
    togetherMinor: 25_000_00n,
    houseBook: -11n,
  },
  USD: {
    decimals: 2,
    isoNumber: '840',
    bankCode: 'bic',
    surplusStepMinor: 1n,
    surplusSteps: 99,
    mostChargeMinor: 15_000n,
    qrKinds: [],
    togetherMinor: 30_000_00n,
    houseBook: -12n,
  },
} as const satisfies Record<string, CurrencyRow>

/** The facts about a currency. */
export function currencyRow(currency: keyof typeof currencyRows): CurrencyRow {
  return currencyRows[currency]
}

/** Whether a bank may have charged so much with what it paid: less than that, and no more than any bank does. */
export function mayBeCharged(
  chargeMinor: bigint,
  paidMinor: bigint,
  currency: keyof typeof currencyRows,
): boolean {
  return chargeMinor <= paidMinor && chargeMinor <= currencyRow(currency).mostChargeMinor
}
