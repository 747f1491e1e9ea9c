import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const src = join(import.meta.dirname, '../src')

type Words = Record<string, unknown>

/** What the languages of the console lack, such as `th orders.columns.fee: no translation`. */
export const missingTranslations = await findMissing()

async function findMissing(): Promise<string[]> {
  const { languages, sources } = await load('languages/language.ts')
  const { files } = await load('languages/load.ts')
  const missing: string[] = []
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/(^|[/-])words\.ts$|action-text\.ts$/.test(path)) continue
    await load(path)
    const english = /^export const \w+Words\b.* = \{$/m.test(readFileSync(join(src, path), 'utf8'))
    if (english) missing.push(`${path}: export translated('…', { … })`)
  }
  for (const language of Object.keys(languages).filter((each) => each !== 'en')) {
    const { default: texts } = await files[language]()
    for (const [file, english] of sources) {
      missing.push(...faults(english, texts[file], file).map((fault) => `${language} ${fault}`))
    }
    for (const file of Object.keys(texts)) {
      if (!sources.has(file)) missing.push(`${language} ${file}: there is no such file of words`)
    }
  }
  return missing
}

function load(path: string) {
  return import(/* @vite-ignore */ join(src, path))
}

type Says = (...given: string[]) => string

/** What is wrong with a translated text, or with the texts in it. */
function faults(english: unknown, own: unknown, at: string): string[] {
  if (own === undefined || own === '')
    return leaves(english, at).map((key) => `${key}: no translation`)
  if (typeof own !== typeof english) return [`${at}: is not of the same kind`]
  if (typeof english === 'function') return faultsOfFunction(english as Says, own as Says, at)
  if (typeof english !== 'object' || english === null) return []
  const [wanted, has] = [english as Words, own as Words]
  const leftOver = Object.keys(has).filter((key) => !(key in wanted))
  return [
    ...Object.keys(wanted).flatMap((key) => faults(wanted[key], has[key], `${at}.${key}`)),
    ...leftOver.map((key) => `${at}.${key}: there is no such text`),
  ]
}

/** A translation says all that the English text says of what it is given. */
function faultsOfFunction(english: Says, own: Says, at: string) {
  if (own.length < english.length) return [`${at}: takes fewer arguments`]
  const given = Array.from({ length: english.length }, (_, n) => `<${n}>`)
  const says = english(...given)
  const lost = given.filter((each) => says.includes(each) && !own(...given).includes(each))
  return lost.map((each) => `${at}: does not say argument ${each}`)
}

function leaves(english: unknown, at: string): string[] {
  if (typeof english !== 'object' || english === null) return [at]
  return Object.entries(english).flatMap(([key, text]) => leaves(text, `${at}.${key}`))
}
