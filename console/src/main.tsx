import { loadLanguage } from './languages/load.ts'

// Before any other module: texts are read when a module is loaded.
await loadLanguage()
await import('./console.tsx')
