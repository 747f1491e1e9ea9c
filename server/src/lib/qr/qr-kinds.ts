/** The kinds of QR code that a bank account can show its payers. */
export const qrKinds = [
  'promptpay-mobile',
  'promptpay-id',
  'promptpay-bill',
  'vietqr',
  'pix',
  'paynow',
  'epc',
  'swiss',
  'upi',
  /** The QR code that the account's own bank issued, with the amount put in. */
  'template',
  'none',
] as const

export type QrKind = (typeof qrKinds)[number]

/** The QR code of a bank account: its kind, and what the kind needs to know beside the account. */
export interface QrSetting {
  kind: QrKind
  value: string | null
}

/** Reads `KIND` or `KIND:VALUE`; undefined if there is no such kind. */
export function parseQrSetting(text: string): QrSetting | undefined {
  const colon = text.indexOf(':')
  const [name, value] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)]
  const kind = qrKinds.find((each) => each === name)
  return kind && { kind, value: value === '' ? null : value }
}

/** The text that `parseQrSetting` reads. */
export function qrSettingText({ kind, value }: QrSetting): string {
  return value === null ? kind : `${kind}:${value}`
}
