import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { qrKinds } from '../../src/lib/qr/qr-kinds.ts'
import { cleanUp, copyOfRepository, freePort, root, start } from '../support/process.ts'

const bankAccounts = readFileSync(join(root, 'docs/bank-accounts.md'), 'utf8')
const payoutFiles = readFileSync(join(root, 'docs/payout-files.md'), 'utf8')

let copy: string
let env: { PORT: string }

// One service for both stories: each makes an account of its own.
beforeAll(async () => {
  copy = await copyOfRepository({ built: true })
  env = { PORT: String(await freePort()) }
  const service = start('npm', ['start'], { cwd: copy, env })
  await vi.waitFor(
    () => expect(service.stdout + service.stderr).toContain('A demo agent was made'),
    { timeout: 300_000 },
  )
})
afterAll(cleanUp)

/** Types what a page tells its readers to type. Returns what is printed. */
async function follow(doc: string): Promise<string> {
  const typed = [...doc.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
  const session = ['set -eo pipefail', ...typed.map((text) => text.replaceAll('8080', env.PORT))]
  const input = session.join('\n')
  const { code, stdout, stderr } = await start('bash', ['-s'], { cwd: copy, env, input }).ended
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
  expect(stdout).not.toContain('urn:sluice:problem')
  return stdout
}

test('the story of a deposit into a bank account goes as it is told', async () => {
  const stdout = await follow(bankAccounts)
  const [, payable] = /^54 (100\.\d\d)$/m.exec(stdout) ?? []
  expect(Number(payable)).toBeGreaterThan(100)
  expect(stdout).toMatch(/^29 0016A000000677010111/m)
  expect(stdout).toMatch(/deposit PAID {2}100\.\d+ {2}order-1/)
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
  for (const kind of qrKinds) expect(bankAccounts).toContain(`\`${kind}`)
})

test('the story of a withdrawal that a file pays goes as it is told', async () => {
  const stdout = await follow(payoutFiles)
  expect(stdout).toMatch(/^[0-9a-f]{32} {2}scb {6}draft {2}1 .* command line$/m)
  const waited = stdout.indexOf('status          WAITING')
  const paid = stdout.indexOf('status          PAID')
  expect(waited).toBeGreaterThan(0)
  expect(paid).toBeGreaterThan(waited)
  expect(stdout).toContain('"bank_reference":"SCB-2026-77"')
  expect(stdout).toContain('"accepted":1,"paid":0')
  expect(stdout).toMatch(/#3 {2}withdraw PAID {2}100 {2}payout-1/)
  expect(stdout).toMatch(/^[0-9a-f]{32} of scb: closed$/m)
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d {2}green$/m)
  expect(stdout).toContain('Every balance is proved.')
})
