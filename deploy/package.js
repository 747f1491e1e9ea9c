import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Packs the service into one npm package with the console and the payment page in it, which installs with
 * `npm install -g` and needs nothing of this repository. `npm run package` builds first and then calls this.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'build')

/** What the package consists of: where it is here, and where it goes. */
const contents = [
  ['server/bin', 'bin'],
  ['server/dist', 'dist'],
  ['server/connectors', 'connectors'],
  ['server/src/db/migrations', 'src/db/migrations'],
  ['server/src/db/distribute.sql', 'src/db/distribute.sql'],
  ['server/src/http/payment-page/style.css', 'src/http/payment-page/style.css'],
  ['console/dist', 'console'],
  ['README.md', 'README.md'],
  ['CHANGELOG.md', 'CHANGELOG.md'],
  ['LICENSE', 'LICENSE'],
]

/**
 * The part of our lock file that the service needs, so that an installation has exactly the packages that were tested
 * here, by their digests.
 */
export function shrinkwrapOf(lock, description) {
  const packages = {}
  const place = (name, from) => {
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
      const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
      if (lock.packages[path]) return path
      if (at === '') return undefined
    }
  }
  const add = (
    { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta },
    from,
  ) => {
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    for (const name of names) {
      const path = place(name, from)
      const isOptional =
        name in (optionalDependencies ?? {}) || peerDependenciesMeta?.[name]?.optional === true
      if (path === undefined && !isOptional)
        throw new Error(`the lock file has no ${name} for ${from}`)
      if (path === undefined || packages[path]) continue
      const { dev, devOptional, ...locked } = lock.packages[path]
      packages[path] = locked
      add(locked, path)
    }
  }
  add(description, '')
  const { name, version, license, dependencies, engines, bin } = description
  return {
    name,
    version,
    lockfileVersion: lock.lockfileVersion,
    requires: true,
    packages: { '': { name, version, license, dependencies, engines, bin }, ...packages },
  }
}

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

function pack() {
  const stage = join(out, 'npm')
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  for (const [from, to] of contents) {
    const path = join(root, from)
    if (!existsSync(path)) throw new Error(`${from} is missing: build first, with npm run build`)
    // Declarations and maps are for those who work on it.
    const isWanted = (name) =>
      !/\.(d\.ts|map|tsbuildinfo)$|\.built-from$/.test(name) || name.endsWith('embed.d.ts')
    cpSync(path, join(stage, to), { recursive: true, filter: isWanted })
  }
  const { private: _, devDependencies: __, ...own } = read('server/package.json')
  // They are in the lock file, and an installation that checks the one against the other must know why.
  const { overrides } = read('package.json')
  const description = { ...own, overrides }
  const write = (name, value) =>
    writeFileSync(join(stage, name), `${JSON.stringify(value, null, 2)}\n`)
  write('package.json', description)
  write('npm-shrinkwrap.json', shrinkwrapOf(read('package-lock.json'), description))
  const told = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', out], {
    cwd: stage,
    encoding: 'utf8',
  })
  const packed = JSON.parse(told)
  const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed)
  return join(out, filename)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(pack())
