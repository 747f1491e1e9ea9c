import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { camt053, mt940 } from '../support/bank-files.ts'
import { checkPairingSamples } from './check-pairing-samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-pairing-samples-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('files of banks are the same movements in any order, twice and with pushes', async () => {
  for (const kind of ['camt', 'mt940']) mkdirSync(join(folder, kind))
  const entry = (servicerRef: string, day: string) => ({
    ...{ amount: '2.50', direction: 'CRDT' as const, day, servicerRef },
    payments: [{ endToEndId: 'NOTPROVIDED', amount: '2.50', text: 'same' }],
  })
  const entries = [entry('A', '2026-11-02'), entry('B', '2026-11-02'), entry('C', '2026-11-03')]
  const days = [entries.slice(0, 2), entries]
  for (const [nth, each] of days.entries()) {
    const file = camt053({ opening: '0.00', closing: '7.50', day: '2026-11-03', entries: each })
    writeFileSync(join(folder, 'camt', `${nth}.xml`), file)
  }
  const lines = Array(3).fill({ amount: '2.50', mark: 'C', text: 'x' })
  const whole = mt940({ opening: '10.00', closing: '17.50', entries: lines })
  writeFileSync(join(folder, 'mt940', 'a.sta'), whole)
  writeFileSync(join(folder, 'mt940', 'refused.sta'), whole.slice(0, -40))
  expect(await checkPairingSamples(folder)).toEqual({ checked: 3, differences: [] })
})
