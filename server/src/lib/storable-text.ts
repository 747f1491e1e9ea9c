/** Text that the database takes: without NUL and half surrogate pairs, which others may send. */
export function storableText(text: string): string {
  return Buffer.from(text.replaceAll('\u0000', '\uFFFD')).toString()
}

export function storableOrNull(text: string | null | undefined): string | null {
  return text == null ? null : storableText(text)
}
