/** Shows bytes on one readable line; escapes what is not printable, as JSON does. */
export function escapedText(bytes: Buffer): string {
  return JSON.stringify(bytes.toString())
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replace(
      /[\u007f-\u009f\u00a0\u00ad\u2000-\u200f\u2028-\u202f\ufeff\ufffd]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}

/** Shows every byte: its offset, in hex, and as a character if it is printable. */
export function byteDump(bytes: Buffer): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16)
    const place = String(at).padStart(6)
    lines.push(
      `${place}  ${hexOf(row).padEnd(47)}  ${row.toString('latin1').replace(/[^ -~]/g, '.')}`,
    )
  }
  return lines.join('\n')
}

export function hexOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/(..)(?=.)/g, '$1 ')
}
