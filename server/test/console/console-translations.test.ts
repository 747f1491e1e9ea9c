import { expect, it } from 'vitest'
import { missingTranslations } from '../../../console/test/translations.ts'

it('every text of the console is there in every language, and says all that the English one says', () =>
  expect(missingTranslations).toEqual([]))
