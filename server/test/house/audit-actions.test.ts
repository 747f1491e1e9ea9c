import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { auditActions } from '../../src/operators/audit-actions.ts'

const root = join(import.meta.dirname, '../../src')
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .filter((name) => !name.endsWith('audit-actions.ts'))
  .map((name) => readFileSync(join(root, name), 'utf8'))

/** Names that are written as `action: '…'`, or given to a function of the file that takes an action. */
function actionsIn(text: string): string[] {
  const takers = [...text.matchAll(/function (\w+)(?:<[^>]*>)?\(([^)]*)\)/g)].flatMap(
    ([, name, parameters]) => (/\baction: string/.test(parameters ?? '') ? (name ?? []) : []),
  )
  const given = takers.flatMap((name) =>
    [...text.matchAll(new RegExp(`(?<!function )\\b${name}\\(([^(){};]*)`, 'g'))].flatMap(
      ([, values]) =>
        [...(values ?? '').matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map(([, each]) => each),
    ),
  )
  const written = [...text.matchAll(/\baction: '([a-z_]+)'/g)].map(([, each]) => each)
  return [...written, ...given].filter((each) => each !== undefined)
}

it('every action that is audited can be chosen by who reads the log', () => {
  const used = new Set(
    files.filter((text) => /[aA]udit|onRecord/.test(text)).flatMap((text) => actionsIn(text)),
  )
  expect(used.size).toBeGreaterThan(60)
  const known: readonly string[] = auditActions
  expect([...used].filter((action) => !known.includes(action))).toEqual([])
})

it('every action that can be chosen is one that the service audits', () => {
  const all = files.join('\n')
  // Some names are put together: `void` and `_order`, `pause` and `_callbacks`.
  const isThere = (action: string) => {
    const [, verb = ''] = /^(.*)_(?:order|callbacks)$/.exec(action) ?? []
    return (
      all.includes(`'${action}'`) ||
      (verb !== '' && (all.includes(`'${verb.replace('_', '-')}'`) || all.includes(`${verb}: `)))
    )
  }
  expect(auditActions.filter((action) => !isThere(action))).toEqual([])
})
