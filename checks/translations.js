import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

/** Prints what the languages of the console lack, by language, file of words and key: `npm run translations`. */
const file = fileURLToPath(new URL('../console/test/translations.ts', import.meta.url))
const { module } = await runnerImport(file, { configFile: false, logLevel: 'error' })
const missing = module.missingTranslations
for (const line of missing) console.log(line)
console.log(missing.length === 0 ? 'Every text is translated.' : `${missing.length} to do.`)
process.exitCode = missing.length === 0 ? 0 : 1
