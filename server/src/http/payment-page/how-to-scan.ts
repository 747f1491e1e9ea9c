import type { QrKind } from '../../lib/qr/qr-kinds.ts'
import type { Words } from './words/english.ts'

const scanWords: Partial<Record<QrKind, keyof Words>> = {
  'promptpay-mobile': 'scan.promptpay',
  'promptpay-id': 'scan.promptpay',
  'promptpay-bill': 'scan.promptpay',
  vietqr: 'scan.vietqr',
  pix: 'scan.pix',
  paynow: 'scan.paynow',
  epc: 'scan.epc',
  swiss: 'scan.swiss',
  upi: 'scan.upi',
}

/** What the payer does with a QR code of this kind; a bank's own code and unknown kinds get the general words. */
export function howToScan(words: Words, kind: QrKind | undefined): string {
  const named = kind && scanWords[kind]
  return named === undefined ? words.scanHow : `${words[named]} ${words.samePhone}`
}
