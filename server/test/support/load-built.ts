import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const src = `${join(import.meta.dirname, '../../src')}/`
const dist = `${join(import.meta.dirname, '../../dist')}/`

/**
 * Tests of the service load what was built of it, as Node.js does: for Vitest to transform every file, and to run it
 * its own way, takes longer than most tests. A file that tests load as source is loaded with all that it imports.
 */
export const loadBuilt = {
  name: 'load-built',
  enforce: 'pre' as const,
  resolveId(id: string, importer = ''): string | undefined {
    if (!/^\.\.?\/.*\.ts$/.test(id)) return undefined
    const isOfTests = importer.endsWith('.test.ts') || !importer.startsWith(src)
    const path = resolve(dirname(importer), id)
    const isBuilt = path.startsWith(src) && !/\.test\.ts$|\/payment-page\/client\//.test(path)
    // The setup may be what builds it.
    if (!isOfTests || !isBuilt || importer.endsWith('/global-setup.ts')) return undefined
    return dist + path.slice(src.length).replace(/\.ts$/, '.js')
  },
}

/** What Vitest does not transform. */
export const builtFiles = new RegExp(`^${dist.replaceAll(/[/.]/g, '\\$&')}`)

/** Whether a file of the service was changed since it was built. */
export function isStale(): boolean {
  const builtAt = statSync(join(dist, '.tsbuildinfo'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .some((path) => statSync(join(src, path)).mtimeMs > builtAt)
}
