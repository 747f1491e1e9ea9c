import { expect, it } from 'vitest'
import { qrKinds } from '../../lib/qr/qr-kinds.ts'
import { howToScan } from './how-to-scan.ts'
import {
  chooseLanguage,
  clockText,
  fill,
  fillPlain,
  makeLanguage,
  moneyText,
  timeText,
} from './language.ts'
import { chinese } from './words/chinese.ts'
import { english } from './words/english.ts'
import { portuguese } from './words/portuguese.ts'
import { thai } from './words/thai.ts'
import { vietnamese } from './words/vietnamese.ts'

const of = (code: string) => chooseLanguage(code, undefined)

it.each([
  [undefined, undefined, 'en'],
  ['th', 'vi', 'th'],
  ['TH-th', undefined, 'th'],
  ['xx', 'vi', 'vi'],
  ['', 'fr, th;q=0.5', 'th'],
  [undefined, 'en;q=0.3, vi;q=0.9, th;q=0.8', 'vi'],
  [undefined, 'th;q=0, vi;q=0.1', 'vi'],
  [undefined, 'de, fr', 'en'],
  [undefined, 'zh-CN,zh;q=0.9', 'zh'],
  ['pt-BR', undefined, 'pt'],
  [undefined, ';;;,,q=,th;q=abc', 'en'],
])('asked for %s, accepting %s: %s', (asked, accepted, code) => {
  expect(chooseLanguage(asked, accepted).code).toBe(code)
})

it('every language says everything, with the same things filled in', () => {
  const names = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort()
  for (const [name, words] of Object.entries({ thai, vietnamese, chinese, portuguese })) {
    expect(Object.keys(words).sort(), name).toEqual(Object.keys(english).sort())
    for (const [key, text] of Object.entries(english)) {
      expect(
        names({ ...english, ...words }[key as keyof typeof english]),
        `${name} ${key}`,
      ).toEqual(names(text))
    }
  }
})

it('every kind of QR code has its own words, and a code of a bank the general ones', () => {
  for (const own of [english, thai, vietnamese, chinese, portuguese]) {
    const words = { ...english, ...own }
    const said = qrKinds.map((kind) => howToScan(words, kind))
    expect(new Set(said).size).toBe(8)
    expect(howToScan(words, 'template')).toBe(words.scanHow)
    expect(howToScan(words, undefined)).toBe(words.scanHow)
    expect(howToScan(words, 'promptpay-bill')).toBe(`${words['scan.promptpay']} ${words.samePhone}`)
  }
})

it('a text that a language lacks stands in English, the others in their own', () => {
  const { words } = makeLanguage('xx', 'Half', { copy: 'Abschreiben' })
  expect(words.copy).toBe('Abschreiben')
  expect(words.close).toBe(english.close)
})

const space = '\u00a0'

it.each([
  ['en', 125_050n, 'THB', '฿1,250.50'],
  ['th', 125_050n, 'THB', '฿1,250.50'],
  ['vi', 125_050n, 'THB', `1.250,50${space}฿`],
  ['zh', 125_050n, 'THB', '฿1,250.50'],
  ['pt', 125_050n, 'BRL', `R$${space}1.250,50`],
  ['vi', 1_250_000n, 'VND', `1.250.000${space}₫`],
  ['en', 1n, 'THB', '฿0.01'],
  // Intl itself would leave out the decimals of rupiah.
  ['en', 10_000_700n, 'IDR', `Rp${space}100,007.00`],
  ['vi', 10_050n, 'IDR', `100,50${space}Rp`],
  ['en', 125_050n, 'SGD', `SGD${space}1,250.50`],
  ['en', 125_050n, 'USD', '$1,250.50'],
  ['th', 125_050n, 'USD', 'US$1,250.50'],
  ['en', 125_050n, 'EUR', '€1,250.50'],
  ['en', 125_050n, 'CHF', `CHF${space}1,250.50`],
  // Beyond what a double holds to the satang.
  ['en', 9_007_199_254_740_991n, 'THB', '฿90,071,992,547,409.91'],
] as const)('%s writes %s %s as %s', (code, minor, currency, text) => {
  expect(moneyText(of(code), minor, currency)).toBe(text)
})

it('times are those of the service, in the way of the language', () => {
  const at = new Date('2026-11-15T05:30:00Z')
  expect(timeText(of('en'), at, 'Asia/Bangkok')).toBe('Nov 15, 2026, 12:30 PM GMT+7')
  expect(timeText(of('th'), at, 'Asia/Bangkok')).toContain('2569')
  expect(timeText(of('vi'), at, 'UTC')).toContain('05:30')
})

it.each([
  [0, '00:00'],
  [59, '00:59'],
  [900, '15:00'],
  [3_661, '1:01:01'],
  [2_592_000, '30 days 0:00:00'],
])('%s seconds are %s', (seconds, text) => {
  expect(clockText(of('en'), seconds)).toBe(text)
})

it('what is filled in cannot bring markup along', () => {
  expect(fill('Pay {agent}', { agent: '<b>' }).text).toBe('Pay &#60;b&#62;')
  expect(fillPlain('Pay {agent}, {other}', { agent: '$&<b>' })).toBe('Pay $&<b>, {other}')
})
