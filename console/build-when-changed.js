import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Builds the console when what it is built from has changed. Every start and every test run asks for a
 * build, and nearly always the one that is there is right.
 */
const here = fileURLToPath(new URL('.', import.meta.url))
const stamp = join(here, 'dist/.built-from')

function filesUnder(path) {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function builtFrom() {
  const hash = createHash('sha256')
  const single = ['index.html', 'package.json', 'vite.config.ts', '../package-lock.json']
  for (const path of [
    ...single.map((name) => join(here, name)),
    ...filesUnder(join(here, 'src')).toSorted(),
    ...filesUnder(join(here, 'public')).toSorted(),
  ]) {
    hash
      .update(`${path.slice(here.length)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex')
}

const wanted = builtFrom()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  // Whoever runs this, a test run for one, it is what people will use that is built.
  process.env.NODE_ENV = 'production'
  // Only now: loading it takes longer than finding out that it is not needed.
  const { build } = await import('vite')
  await build({ root: here, logLevel: 'warn' })
  writeFileSync(stamp, wanted)
}
