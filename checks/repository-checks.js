import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * What can be checked about the repository without a network: no secrets in its files, no licence that does not go
 * with ours, and a lock file that pins every package by its contents. `npm run check` runs it.
 */

const root = fileURLToPath(new URL('..', import.meta.url))

/** Secrets by their shape. Examples in documents and tests are made so that they do not match, or say that they are. */
const secretShapes = [
  ['a private key', /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\n[A-Za-z0-9+/=\n]{100,}/],
  ['a live secret of an agent', /\bsk_live_[A-Za-z0-9_-]{30,}/],
  ['an access key of a cloud', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a token of a code host', /\b(?:ghp|gho|ghs|ghr|github_pat|glpat)[-_][A-Za-z0-9_-]{20,}/],
  ['a token of a package registry', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['a token of a chat', /\bxox[abprs]-[A-Za-z0-9-]{20,}/],
  ['a key of a payment company', /\b(?:rk|pk)_live_[A-Za-z0-9]{20,}/],
  ['a login of a registry', /\/\/[^\s/]+\/:_(?:authToken|password)=(?!\$\{)\S+/],
]

/** Where a file holds a secret, as `path:line: what it is`; never the secret itself. */
export function secretsIn(path, text) {
  return secretShapes.flatMap(([what, shape]) => {
    const found = shape.exec(text)
    if (!found) return []
    return [`${path}:${text.slice(0, found.index).split('\n').length}: holds ${what}`]
  })
}

/** Licences that let us use, change and pass on what we install. */
const allowedLicences = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'Unlicense'],
  ...['CC0-1.0', 'BlueOak-1.0.0', 'Python-2.0', 'Zlib'],
  // Files under it stay under it, and we change none.
  'MPL-2.0',
  // Fonts that are embedded in documents.
  'OFL-1.1',
])

/** Packages that name no licence in their description, and where it stands instead. */
const licencesElsewhere = {
  'png-js': 'MIT',
  // Under `licenses`, as older descriptions have it.
  ssh2: 'MIT',
  'cpu-features': 'MIT',
  buildcheck: 'MIT',
}

/** Whether an expression such as `MIT OR GPL-3.0` lets us choose allowed licences only. */
export function isAllowedLicence(expression) {
  const text = expression.replace(/^\((.*)\)$/, '$1')
  if (text.includes(' OR ')) return text.split(' OR ').some(isAllowedLicence)
  return text.split(' AND ').every((each) => allowedLicences.has(each.trim()))
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** What is wrong with the licences in a lock file. */
export function licenceFaults({ packages }) {
  return Object.entries(packages).flatMap(([path, { license, link }]) => {
    if (path === '' || link) return []
    const licence = license ?? licencesElsewhere[nameOf(path)]
    if (licence === undefined) return [`${path} names no licence`]
    return isAllowedLicence(licence) ? [] : [`${path} is under ${licence}, which is not allowed`]
  })
}

/**
 * What is wrong with the pins of a lock file. A package may come from any registry, so it must be known by its
 * contents. Tools for other platforms, which a lock file made on this one cannot know, may lack it: they are neither
 * installed here nor part of the service.
 */
export function lockFaults({ lockfileVersion, packages }) {
  const faults = lockfileVersion === 3 ? [] : ['the lock file is not of version 3']
  for (const [path, entry] of Object.entries(packages)) {
    if (!path.includes('node_modules/') || entry.link) continue
    const { integrity, resolved, optional, dev } = entry
    const isForElsewhere = optional === true && dev === true
    if (integrity === undefined && !isForElsewhere) faults.push(`${path} is not pinned by a digest`)
    if (integrity !== undefined && !integrity.startsWith('sha512-')) {
      faults.push(`${path} is pinned by a weak digest`)
    }
    if (resolved !== undefined)
      faults.push(`${path} is bound to a place: ${new URL(resolved).host}`)
    if (/^(git|file|http)/.test(entry.version ?? '')) faults.push(`${path} is not from a registry`)
  }
  return faults
}

/** Packages that are installed and have no digest in the lock file. */
function installedUnpinned({ packages }) {
  return Object.entries(packages)
    .filter(([path, { integrity, link }]) => path.includes('node_modules/') && !link && !integrity)
    .filter(([path]) => existsSync(join(root, path)))
    .map(([path]) => `${path} is installed and not pinned by a digest`)
}

function main() {
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  const paths = files.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const faults = [
    ...paths.flatMap((path) => secretsIn(path, readFileSync(join(root, path), 'latin1'))),
    ...licenceFaults(lock),
    ...lockFaults(lock),
    ...installedUnpinned(lock),
  ]
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (faults.length > 0) process.exit(1)
  const count = Object.keys(lock.packages).length
  process.stdout.write(
    `${paths.length} files without secrets, ${count} packages allowed and pinned.\n`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
