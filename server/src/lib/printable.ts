/**
 * Whether text is not blank, not too long, and free of control, format, private and unassigned characters
 * and lone surrogates.
 */
export function isPrintable(text: string, maxCharacters: number): boolean {
  const characters = [...text].length
  return (
    characters >= 1 &&
    characters <= maxCharacters &&
    text.trim() !== '' &&
    !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
  )
}
