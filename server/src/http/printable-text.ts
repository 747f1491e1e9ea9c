import Type from 'typebox'
import Format from 'typebox/format'
import { isPrintable } from '../lib/printable.ts'

/**
 * Text as people read it. What letters are differs from one engine of patterns to the next, so the pattern says
 * only what all of them understand, and the format, which is our own, decides.
 */
Format.Set('printable', (text) => isPrintable(text, Number.POSITIVE_INFINITY))
Format.Set('plain-text', (text) => text.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(text))

const withoutControls = '^[^\\x00-\\x1f\\x7f-\\x9f]*$'

/** Not blank; no control, format, private or unassigned characters. Counted in characters, not in UTF-16 units. */
export const printable = (max: number) =>
  Type.String({
    minLength: 1,
    maxLength: max,
    pattern: withoutControls,
    format: 'printable',
    description: `1 to ${max} printable characters`,
  })

/** What a person writes on one line; not blank. */
export const plainText = (min: number, max: number, description: string) =>
  Type.String({
    minLength: min,
    maxLength: max,
    pattern: withoutControls,
    format: 'plain-text',
    description,
  })
