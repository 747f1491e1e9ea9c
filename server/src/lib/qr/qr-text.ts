import { currencyRow } from '../currencies.ts'
import { bankTemplate } from './bank-template.ts'
import { epc } from './epc.ts'
import { payNow } from './paynow.ts'
import { pix } from './pix.ts'
import { promptPayBill, promptPayId, promptPayMobile } from './promptpay.ts'
import type { QrKind, QrSetting } from './qr-kinds.ts'
import type { ComesBack, QrAccount, QrPayment, QrScheme } from './qr-scheme.ts'
import { swiss } from './swiss.ts'
import { upi } from './upi.ts'
import { vietQr } from './vietqr.ts'

const none: QrScheme = {
  takes: null,
  carriesCode: false,
  referenceComesBack: () => 'never',
  fault: () => undefined,
  text: () => undefined,
}

const schemes: Record<QrKind, QrScheme> = {
  'promptpay-mobile': promptPayMobile,
  'promptpay-id': promptPayId,
  'promptpay-bill': promptPayBill,
  vietqr: vietQr,
  pix,
  paynow: payNow,
  epc,
  swiss,
  upi,
  template: bankTemplate,
  none,
}

/**
 * The text of the QR code that pays exactly this amount to the account. Undefined if the account shows none,
 * or if the kind has no room for so large an amount. The setting must have no `qrFault`.
 */
export function qrText(
  { kind, value }: QrSetting,
  account: QrAccount,
  payment: QrPayment,
): string | undefined {
  return schemes[kind].text(value ?? '', account, payment)
}

/** Why an account cannot have this QR code, and what to do about it, in a sentence; undefined if it can. */
export function qrFault({ kind, value }: QrSetting, account: QrAccount): string | undefined {
  const { takes, isOptional, fault } = schemes[kind]
  if (!qrKindsOf(account.currency).includes(kind)) {
    return `${kind} does not pay in ${account.currency}: choose one of ${qrKindsOf(account.currency).join(', ')}.`
  }
  if (takes === null && value !== null) return `${kind} takes no value: write ${kind} alone.`
  if (takes !== null && value === null && !isOptional)
    return `${kind} needs ${takes}: write ${kind}:VALUE.`
  return fault(value ?? '', account)
}

/** What looks mistyped in a setting, in words; an account may have it all the same. */
export function qrWarning({ kind, value }: QrSetting): string | undefined {
  return schemes[kind].warning?.(value ?? '')
}

/** The kinds that an account in a currency may have. */
export function qrKindsOf(currency: QrAccount['currency']): QrKind[] {
  return [...currencyRow(currency).qrKinds, 'template', 'none']
}

/** What the value of a kind is, in words; null if the kind takes none. */
export function qrTakes(kind: QrKind): { takes: string | null; isOptional: boolean } {
  const { takes, isOptional = false } = schemes[kind]
  return { takes, isOptional }
}

/** Whether the QR code holds the payment code. */
export function carriesCode(kind: QrKind): boolean {
  return schemes[kind].carriesCode
}

/**
 * Whether the bank reports the payment code with the money. Where it does not always, only a unique amount
 * tells payments apart for certain.
 */
export function referenceComesBack({ kind, value }: QrSetting): ComesBack {
  return schemes[kind].referenceComesBack(value ?? '')
}
