import { afterAll, expect, it } from 'vitest'
import { type Language, plainNumber, speak } from '../../../console/src/languages/language.ts'
import { problemWords } from '../../../console/src/problem-words.ts'
import { missingTranslations } from '../../../console/test/translations.ts'
import { operatorProblemCatalogue, problemCatalogue } from '../../src/lib/problem.ts'

afterAll(() => speak('en', {}))

it('every text of the console is there in every language, and says all that the English one says', () =>
  expect(missingTranslations).toEqual([]))

it('a refusal is called in English what the service calls it', () => {
  const titles = { ...problemCatalogue, ...operatorProblemCatalogue }
  for (const [code, title] of Object.entries(problemWords)) {
    expect(titles[code as keyof typeof titles][1], code).toBe(title)
  }
  expect(Object.keys(problemWords)).toEqual(
    expect.arrayContaining(Object.keys(operatorProblemCatalogue)),
  )
})

it.each<[language: Language, typed: string, means: string]>([
  ['en', '1,000', '1000'],
  ['en', '-1,234,567.50', '-1234567.50'],
  ['en', '1.000', '1.000'],
  // Not how it is written: refused by the service, never guessed at.
  ['en', '100,50', '100,50'],
  ['en', '1,00', '1,00'],
  ['th', '12,000.25', '12000.25'],
  ['pt-BR', '1.000', '1000'],
  ['pt-BR', ' 1.234.567,50 ', '1234567.50'],
  ['pt-BR', '100,50', '100.50'],
  // As the service writes its own.
  ['pt-BR', '100.50', '100.50'],
  ['vi', '50.000', '50000'],
  ['vi', '0.125', '0.125'],
  ['vi', '1.000,5,5', '1.000,5,5'],
])('in %s, %s is %s', (language, typed, means) => {
  speak(language, {})
  expect(plainNumber(typed)).toBe(means)
})
