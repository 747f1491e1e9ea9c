import { type Language, languages, speak } from './language.ts'
import type { Translation } from './translation.ts'

export const files: Partial<Record<Language, () => Promise<{ default: Translation }>>> = {
  th: () => import('./thai.ts'),
  vi: () => import('./vietnamese.ts'),
  'zh-CN': () => import('./chinese.ts'),
  'pt-BR': () => import('./portuguese.ts'),
}

const key = 'sluice.language'

/** Loads the language that is chosen in this browser, else the first of the browser's that there is. */
export async function loadLanguage(): Promise<void> {
  const language = find(localStorage.getItem(key) ?? '') ?? ofBrowser()
  // A console in English is better than none.
  const file = await files[language]?.().catch(() => undefined)
  if (!file) return
  speak(language, file.default)
  document.documentElement.lang = language
}

/** Keeps the language in this browser and starts the console again, in it. */
export function chooseLanguage(language: string): void {
  localStorage.setItem(key, language)
  location.reload()
}

function ofBrowser(): Language {
  for (const tag of navigator.languages) {
    const language = find(tag)
    if (language) return language
  }
  return 'en'
}

/** The language for a tag such as th-TH or pt. */
function find(tag: string): Language | undefined {
  const start = tag.toLowerCase().split('-')[0]
  return (Object.keys(languages) as Language[]).find((each) => each.split('-')[0] === start)
}
