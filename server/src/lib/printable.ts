/** No control, format, private or unassigned characters, no lone surrogates, not blank. */
export function isPrintable(text: string, maxCharacters: number): boolean {
  const characters = [...text].length
  return (
    characters >= 1 &&
    characters <= maxCharacters &&
    text.trim() !== '' &&
    !/[\p{C}\p{Zl}\p{Zp}]/u.test(text)
  )
}
