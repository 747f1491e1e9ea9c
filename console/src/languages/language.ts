/** The languages of the console, each by its own name. */
export const languages = {
  en: 'English',
  th: 'ไทย',
  vi: 'Tiếng Việt',
  'zh-CN': '简体中文',
  'pt-BR': 'Português (Brasil)',
}

export type Language = keyof typeof languages

/** The language that is spoken, for Intl too. Set before any text is read; another one takes a reload. */
export let locale: Language = 'en'

/** The texts of that language by file of words; none for English, which the files are written in. */
let own: Partial<Record<string, object>> = {}

export function speak(language: Language, texts: Partial<Record<string, object>>): void {
  locale = language
  own = texts
}

/** Every file of words in English, by name: what there is to translate. */
export const sources = new Map<string, object>()

/** The words of a file in the language that is spoken; in English where it lacks a text. */
export function translated<Words extends object>(file: string, english: Words): Words {
  sources.set(file, english)
  return merged(english, own[file]) as Words
}

function merged(english: unknown, texts: unknown): unknown {
  if (texts === undefined) return english
  if (typeof english !== 'object' || english === null) return texts
  const inner = texts as Record<string, unknown>
  const entries = Object.entries(english).map(([key, text]) => [key, merged(text, inner[key])])
  return Array.isArray(english) ? entries.map(([, text]) => text) : Object.fromEntries(entries)
}

/** A number as people write it in the language that is spoken. */
export function numberText(number: number): string {
  return number.toLocaleString(locale)
}

/** A share as a percentage with one decimal. */
export function percentText(share: number): string {
  return share.toLocaleString(locale, { style: 'percent', ...one })
}

const one = { minimumFractionDigits: 1, maximumFractionDigits: 1 }

/**
 * A number that a person typed in the language that is spoken, as the service takes it: 1.000,50 in some is 1000.50.
 * The service's own texts stay as they are, as they have at most two decimals.
 */
export function plainNumber(text: string): string {
  const typed = text.trim()
  const { group, decimal } = separators()
  const isGrouped = new RegExp(`^[+-]?[1-9]\\d{0,2}(\\${group}\\d{3})+(\\${decimal}\\d+)?$`).test(
    typed,
  )
  const whole = isGrouped ? typed.replaceAll(group, '') : typed
  return /^[+-]?\d+\D\d+$/.test(whole) ? whole.replace(decimal, '.') : whole
}

function separators(): { group: string; decimal: string } {
  const parts = new Intl.NumberFormat(locale).formatToParts(12_345.6)
  const find = (type: string, usual: string) =>
    parts.find((part) => part.type === type)?.value ?? usual
  return { group: find('group', ','), decimal: find('decimal', '.') }
}
