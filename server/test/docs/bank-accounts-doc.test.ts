import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { qrKinds } from '../../src/lib/qr/qr-kinds.ts'
import { cleanUp, copyOfRepository, freePort, root, start } from '../support/process.ts'

const doc = readFileSync(join(root, 'docs/bank-accounts.md'), 'utf8')
const typed = [...doc.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

afterEach(cleanUp)

test('the story of a deposit into a bank account goes as it is told', async () => {
  const copy = await copyOfRepository({ built: true })
  const port = await freePort()
  const env = { PORT: String(port) }
  const service = start('npm', ['start'], { cwd: copy, env })
  await expect.poll(() => service.stdout + service.stderr).toContain('A demo agent was made')
  const session = [
    'set -eo pipefail',
    ...typed.map((text) => text.replaceAll('8080', String(port))),
  ]
  const input = session.join('\n')
  const { code, stdout, stderr } = await start('bash', ['-s'], { cwd: copy, env, input }).ended
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(stdout).not.toContain('urn:sluice:problem')

  const [payable] = /100\.\d\d(?=5802TH)/.exec(stdout) ?? []
  expect(Number(payable)).toBeGreaterThan(100)
  expect(stdout).toMatch(/\{"movement":"[0-9a-f]{32}"\}/)
  expect(stdout).toContain('PAID')
  expect(stdout).toContain('1 statements with 1 entries: 0 new movements')
  const movements = stdout.split('\n').filter((line) => line.includes(' THB  credited  payment'))
  expect(movements).toHaveLength(1)
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d {2}green$/m)
  expect(stdout).toContain('Every balance is proved.')
  expect(stdout).toContain('kbank is draining')
})

test('it names every kind of QR code', () => {
  for (const kind of qrKinds) expect(doc).toContain(`\`${kind}`)
})
