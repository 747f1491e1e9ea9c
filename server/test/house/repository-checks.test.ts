import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
// @ts-expect-error It is a plain script.
import * as checks from '../../../checks/repository-checks.js'

const { isAllowedLicence, licenceFaults, lockFaults, secretsIn } = checks as {
  isAllowedLicence: (expression: string) => boolean
  licenceFaults: (lock: object) => string[]
  lockFaults: (lock: object) => string[]
  secretsIn: (path: string, text: string) => string[]
}

describe('secrets', () => {
  // Put together here, so that this file holds none.
  const made = (...parts: string[]) => parts.join('')
  it.each([
    ['a private key', made('-----BEGIN RSA PRIVATE ', `KEY-----\n${'A'.repeat(120)}`)],
    ['a live secret of an agent', made('sk_', `live_${'a'.repeat(40)}`)],
    ['an access key of a cloud', made('AK', `IA${'A'.repeat(16)}`)],
    ['a token of a code host', made('gh', `p_${'a'.repeat(36)}`)],
    ['a token of a package registry', made('np', `m_${'a'.repeat(36)}`)],
    ['a login of a registry', made('//registry.example/:_auth', 'Token=abc')],
  ])('%s is found, and not repeated', (what, text) => {
    expect(secretsIn('a.ts', `one\n${text}`)).toEqual([`a.ts:2: holds ${what}`])
  })

  it('what only speaks of one is none', () => {
    expect(secretsIn('a.md', 'sk_live_... and ghp_..., AKIA...')).toEqual([])
  })
})

describe('licences', () => {
  it.each([
    ['MIT', true],
    ['MIT OR GPL-3.0', true],
    ['(MIT OR CC0-1.0)', true],
    ['MIT AND OFL-1.1', true],
    ['MIT AND GPL-3.0', false],
    ['AGPL-3.0', false],
    ['SEE LICENSE IN LICENSE', false],
  ])('%s is allowed: %s', (expression, isAllowed) => {
    expect(isAllowedLicence(expression)).toBe(isAllowed)
  })

  it('a package without one is found', () => {
    const packages = { '': {}, 'node_modules/a': { license: 'MIT' }, 'node_modules/b': {} }
    expect(licenceFaults({ packages })).toEqual(['node_modules/b names no licence'])
  })
})

it('the bill of materials is a file that machines read, whatever npm prints before it', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sbom-'))
  const file = join(folder, 'sbom.json')
  const printed = execFileSync(process.execPath, ['checks/sbom.js', file], {
    ...{ cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const bill = JSON.parse(readFileSync(file, 'utf8'))
  rmSync(folder, { recursive: true })
  expect(JSON.parse(printed)).toEqual(bill)
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX' })
  const names = bill.components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['fastify', 'pg', 'openid-client']))
})

it('the walk through ASVS counts itself right, and every yes says where', () => {
  const text = readFileSync(new URL('../../../docs/asvs.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| (\d+\.\d+\.\d+) +\| ([a-z/]+) +\| (.*?) *\|$/gm)]
  const count = (answer: string) => rows.filter(([, , each]) => each === answer).length
  expect(text).toContain(
    `${rows.length} requirements: ${count('yes')} yes, ${count('partly')} partly, ${count('no')} no, ` +
      `${count('operator')} the operator's, ${count('n/a')} not applicable.`,
  )
  expect(rows.filter(([, , answer, where]) => answer === 'yes' && where === '')).toEqual([])
})

it('a lock file pins every package by its contents, wherever it comes from', () => {
  const pinned = { version: '1.0.0', integrity: 'sha512-x' }
  const faults = (entry: object) =>
    lockFaults({ lockfileVersion: 3, packages: { 'node_modules/a': { ...pinned, ...entry } } })
  expect(faults({})).toEqual([])
  expect(faults({ integrity: undefined })).toHaveLength(1)
  expect(faults({ integrity: undefined, optional: true })).toHaveLength(1)
  expect(faults({ integrity: undefined, optional: true, dev: true })).toEqual([])
  expect(faults({ integrity: 'sha1-x' })).toHaveLength(1)
  expect(faults({ resolved: 'https://registry.example/a.tgz' })).toHaveLength(1)
  expect(faults({ version: 'git+ssh://example/a' })).toHaveLength(1)
})
