import { type Currency, decimalText, minorPerUnit } from '../../lib/money.ts'
import { type Html, html } from '../html.ts'
import { chinese } from './words/chinese.ts'
import { english, type Words } from './words/english.ts'
import { portuguese } from './words/portuguese.ts'
import { thai } from './words/thai.ts'
import { vietnamese } from './words/vietnamese.ts'

/** A language of the page, with its formats for money and times. */
export interface Language {
  code: string
  name: string
  direction: 'ltr' | 'rtl'
  words: Words
}

/** Texts that the language lacks appear in English. */
export function makeLanguage(code: string, name: string, words: Partial<Words>): Language {
  return { code, name, direction: 'ltr', words: { ...english, ...words } }
}

const inEnglish = makeLanguage('en', 'English', english)

export const languages: readonly Language[] = [
  inEnglish,
  makeLanguage('th', 'ไทย', thai),
  makeLanguage('vi', 'Tiếng Việt', vietnamese),
  makeLanguage('zh', '中文', chinese),
  makeLanguage('pt', 'Português', portuguese),
]

/** The requested language, else the reader's most preferred one that the page has, else English. */
export function chooseLanguage(
  asked: string | undefined,
  acceptLanguage: string | undefined,
): Language {
  const wanted = [asked ?? '', ...byPreference(acceptLanguage ?? '')]
  for (const tag of wanted) {
    const spoken = languages.find(({ code }) => code === tag.toLowerCase().split('-')[0])
    if (spoken) return spoken
  }
  return inEnglish
}

/** The acceptable tags of an Accept-Language header, best first. */
function byPreference(header: string): string[] {
  return header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((each) => each.trim())
      const q = parameters.find((each) => each.startsWith('q='))
      return { tag, weight: q === undefined ? 1 : Number(q.slice(2)) || 0 }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

/** A text with its {names} filled in, escaped for the page. */
export function fill(text: string, values: Record<string, string | Html>): Html {
  return html`${text.split(/(\{\w+\})/).map((part) => values[part.slice(1, -1)] ?? part)}`
}

/** The same as plain text, for a title or an attribute. */
export function fillPlain(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** Formats money for readers of this language, exact to the last minor unit. */
export function moneyText({ code }: Language, minor: bigint, currency: Currency): string {
  const perUnit = minorPerUnit(currency)
  const decimals = decimalPlaces(perUnit)
  const partsWith = (currencyDisplay: 'narrowSymbol' | 'symbol') =>
    new Intl.NumberFormat(code, {
      style: 'currency',
      currency,
      currencyDisplay,
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    }).formatToParts(minor / perUnit)
  const narrow = partsWith('narrowSymbol')
  // Several currencies are written with a bare dollar sign, and payers must see which is meant.
  const isShared = narrow.some(({ type, value }) => type === 'currency' && value === '$')
  // Whole units are formatted as a bigint, and the fraction replaces the zeros.
  const fraction = (minor % perUnit).toString().padStart(decimals, '0')
  return (isShared ? partsWith('symbol') : narrow)
    .map(({ type, value }) => (type === 'fraction' ? fraction : value))
    .join('')
}

/** Money as it is typed into a banking app. */
export function bareMoney(minor: bigint, currency: Currency): string {
  return decimalText(minor, currency)
}

export function timeText({ code }: Language, at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat(code, {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(at)
}

/** Hours, minutes and seconds as on a clock, after any days in words. */
export function clockText({ code }: Language, seconds: number): string {
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor((seconds % 86_400) / 3600)
  const two = (number: number) => String(number).padStart(2, '0')
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`
  const clock = days + hours > 0 ? `${hours}:${rest}` : rest
  if (days === 0) return clock
  const unit = new Intl.NumberFormat(code, { style: 'unit', unit: 'day', unitDisplay: 'long' })
  return `${unit.format(days)} ${clock}`
}

function decimalPlaces(perUnit: bigint): number {
  return String(perUnit).length - 1
}
