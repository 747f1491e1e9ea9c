import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { vectors } from '../../../sdk/test/vectors.ts'
import { testDatabase } from '../support/database.ts'
import { cleanUp, root, start } from '../support/process.ts'

afterAll(cleanUp)

const folder = join(root, 'docs/examples')

// The other languages need what not every machine has: `npm run examples` runs them all.
test('the examples for bash and Node.js create an order, take its callback and refuse forgeries', async () => {
  const database = await testDatabase()
  const names = ['curl', 'node']
  const { code, stdout, stderr } = await start(
    process.execPath,
    [join(folder, 'runner/run-examples.mjs'), ...names],
    // The test's database does not wait for the disk, which the service says at every start.
    {
      env: {
        DATABASE_URL: database.url,
        DATABASE_OWNER_URL: database.ownerUrl,
        LOG_LEVEL: 'fatal',
      },
    },
  ).ended
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  for (const name of names) {
    expect(stdout).toMatch(new RegExp(`^${name} +\\d+ right +taken +refused`, 'm'))
  }
  await database.close()
})

test('vectors.txt says what vectors.json says', async () => {
  const { vectorLines } = await import(join(folder, 'runner/vector-lines.mjs'))
  expect(await readFile(join(folder, 'vectors.txt'), 'utf8')).toBe(vectorLines(vectors))
})
