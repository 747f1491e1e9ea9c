import { NativeSelect } from '@mantine/core'
import { languages, locale } from '../languages/language.ts'
import { chooseLanguage } from '../languages/load.ts'
import { words } from '../words.ts'
import { forgetAllDrafts } from './draft.ts'

export const languageChoices = Object.entries(languages).map(([value, label]) => ({ value, label }))

/** Starts the console again in another language. Numbers in drafts would read otherwise in it. */
export function switchLanguage(language: string): void {
  forgetAllDrafts()
  chooseLanguage(language)
}

export function LanguageSelect() {
  return (
    <NativeSelect
      mt={8}
      label={words.user.language}
      value={locale}
      data={languageChoices}
      onChange={(event) => switchLanguage(event.currentTarget.value)}
    />
  )
}
