import Type from 'typebox'
import Format from 'typebox/format'
import { isPrintable } from '../lib/printable.ts'

/**
 * Text that people read. Regular expression engines disagree on what a letter is, so the pattern contains
 * only what all of them understand, and our custom format decides.
 */
Format.Set('printable', (text) => isPrintable(text, Number.POSITIVE_INFINITY))
Format.Set(
  'plain-text',
  (text) => text.trim() !== '' && !/[\p{Cc}\p{Cs}]/u.test(text) && !turns.test(text),
)

/** Characters that make the text after them read in another order than it was written. */
const turns = /[\u202a-\u202e\u2066-\u2069]/

const withoutControls = '^[^\\x00-\\x1f\\x7f-\\x9f]*$'

/**
 * Not blank; no control, format, private-use or unassigned characters. Length counts characters, not UTF-16
 * units.
 */
export const printable = (max: number) =>
  Type.String({
    minLength: 1,
    maxLength: max,
    pattern: withoutControls,
    format: 'printable',
    description: `1 to ${max} printable characters`,
  })

/** Text that a person writes on one line; not blank. */
export const plainText = (min: number, max: number, description: string) =>
  Type.String({
    minLength: min,
    maxLength: max,
    pattern: withoutControls,
    format: 'plain-text',
    description,
  })
