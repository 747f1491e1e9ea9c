import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runSamples } from '../../src/providers/http/run-samples.ts'
import { documentOf } from '../support/connector.ts'
import { root } from '../support/process.ts'

const folder = join(root, 'server/connectors')
const files = readdirSync(folder)
const names = files
  .filter((file) => !file.endsWith('.samples.json'))
  .map((file) => file.replace(/\.json$/, ''))
const textOf = (file: string) => readFileSync(join(folder, file), 'utf8')

it('there are connectors of the companies that the documentation names, each with samples', () => {
  expect(names).toEqual([
    'omise-promptpay',
    'omise-transfers',
    'stripe-checkout',
    'stripe-paynow',
    'stripe-pix',
    'stripe-promptpay',
    'xendit-payouts',
    'xendit-qr',
    'xendit-va',
  ])
  expect(files).toHaveLength(2 * names.length)
})

it.each(names)('%s is a document that passes its samples', (name) => {
  const document = documentOf(JSON.parse(textOf(`${name}.json`)))
  const { passed, results, missing } = runSamples(document, textOf(`${name}.samples.json`))
  expect(results.filter(({ ok }) => !ok)).toEqual([])
  expect({ passed, missing }).toEqual({ passed: true, missing: [] })
})

it.each(names)('%s says what was read, when, and that nobody has tried it', (name) => {
  const { source, base } = documentOf(JSON.parse(textOf(`${name}.json`)))
  expect(source).toMatch(/(version|xendit-node) \d.*read on \d{4}-\d\d-\d\d/)
  expect(source).toContain('Not tried against the company.')
  expect(base).toMatch(/^https:/)
})

it.each(names)(
  '%s promises nowhere to pay a reference once, and shows what it does not know',
  (name) => {
    const document = documentOf(JSON.parse(textOf(`${name}.json`)))
    expect(document.idempotentByReference ?? false).toBe(false)
    const { samples } = JSON.parse(textOf(`${name}.samples.json`))
    const expected = samples.flatMap((sample: { expect: string[] }) => sample.expect)
    expect(expected).toContain('unknown')
    expect(expected).toContain('unread')
  },
)
