import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { cleanUp, serve, tempFolder } from '../support/process.ts'

afterEach(cleanUp)

it('SIGUSR2 writes down what the process does, and it goes on', async () => {
  const database = await testDatabase()
  const dataDir = await tempFolder()
  const service = await serve({
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'fatal',
  })
  service.child.kill('SIGUSR2')
  const folder = join(dataDir, 'profiles')
  // Read only once it is written to its end.
  const whole = () =>
    readdirSync(folder)
      .sort()
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  await expect.poll(whole, { interval: 200 }).toHaveLength(2)
  const [cpu, heap] = whole()
  expect(cpu.nodes.length).toBeGreaterThan(0)
  expect(heap.head).toBeDefined()
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  await cleanUp()
  await database.close()
})
