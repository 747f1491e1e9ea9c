import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runSamples } from '../../src/providers/http/run-samples.ts'
import { noticeFault } from '../../src/providers/http/verify-notice.ts'
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

it.each(names)('%s is a document that passes its samples', async (name) => {
  const document = documentOf(JSON.parse(textOf(`${name}.json`)))
  const { passed, results, missing } = await runSamples(document, textOf(`${name}.samples.json`))
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

it('two signatures of Omise, as while its secret is rotated, are one too many only if neither is right', () => {
  const { notice } = documentOf(JSON.parse(textOf('omise-promptpay.json')))
  if (!notice) throw new Error('there is no notice')
  const body = Buffer.from('{}')
  const at = new Date('2026-01-31T08:30:00Z')
  const t = String(at.getTime() / 1000)
  const key = Buffer.from('the secret of notices').toString('base64')
  const right = createHmac('sha256', 'the secret of notices').update(`${t}.{}`).digest('hex')
  const wrong = '0'.repeat(64)
  const fault = (signature: string) =>
    noticeFault(
      notice,
      {
        body,
        headers: { 'omise-signature': signature, 'omise-signature-timestamp': t },
        method: 'POST',
        path: '/',
        url: 'https://sluice.example/',
        ip: undefined,
      },
      () => key,
      at,
    )
  expect(fault(right)).toBeUndefined()
  expect(fault(`${wrong}, ${right}`)).toBeUndefined()
  expect(fault(`${wrong},${wrong}`)).toBe('its signature is not right')
})
