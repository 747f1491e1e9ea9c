import { NativeSelect } from '@mantine/core'
import { useEffect } from 'react'
import { ask } from '../api.ts'
import { languages, locale } from '../languages/language.ts'
import { chooseLanguage } from '../languages/load.ts'
import { api } from '../paths.ts'
import type { Me } from '../session.tsx'
import { words } from '../words.ts'
import { forgetAllDrafts } from './draft.ts'

export const languageChoices = Object.entries(languages).map(([value, label]) => ({ value, label }))

/** Starts the console again in another language. Numbers in drafts would read otherwise in it. */
export function switchLanguage(language: string): void {
  forgetAllDrafts()
  chooseLanguage(language)
}

/** Keeps the language with the user, for every browser, and speaks it. */
export async function chooseOwnLanguage(me: Me, language: string): Promise<void> {
  // Whoever may only look around chooses for this browser alone.
  await ask(api.setPreferences, { body: { ...me.preferences, language } }).catch(() => {})
  switchLanguage(language)
}

/** Speaks the language that the user chose, maybe in another browser; once in each tab, so that they can switch here. */
export function useOwnLanguage({ user, preferences: { language } }: Me): void {
  useEffect(() => {
    const key = `sluice.language.followed.${user.id}`
    if (sessionStorage.getItem(key) !== null) return
    sessionStorage.setItem(key, '')
    if (language !== null && language !== locale && language in languages) switchLanguage(language)
  }, [user.id, language])
}

export function LanguageSelect({
  choose = switchLanguage,
}: {
  choose?: (language: string) => void
}) {
  return (
    <NativeSelect
      mt={8}
      label={words.user.language}
      value={locale}
      data={languageChoices}
      onChange={(event) => choose(event.currentTarget.value)}
    />
  )
}
