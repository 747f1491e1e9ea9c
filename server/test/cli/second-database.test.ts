import { readdirSync } from 'node:fs'
import { cp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, inject, it } from 'vitest'
import { cleanUp, dataFolder, serve, start, tempFolder } from '../support/process.ts'

afterAll(cleanUp)

it('a command that is not told where the data is makes no second database beside a service', async () => {
  const dataDir = await dataFolder()
  const served = await serve({ DATA_DIR: dataDir, LOG_LEVEL: 'fatal' })
  const elsewhere = await tempFolder()
  const { sluice } = inject('programs')
  const list = [sluice, 'agent', 'list', '--json']
  for (const args of [list, [sluice, 'migrate']]) {
    const lost = await start(process.execPath, args, { cwd: elsewhere }).ended
    expect([lost.code, lost.stdout]).toEqual([1, ''])
    expect(lost.stderr).toContain(await realpath(dataDir))
    expect(lost.stderr).toContain('set DATA_DIR')
    expect(readdirSync(elsewhere)).toEqual([])
  }
  // Nor does it write to an old one, which nobody serves from.
  const old = await tempFolder()
  await cp(inject('madeDataDir'), join(old, 'data'), { recursive: true })
  const stale = await start(process.execPath, list, { cwd: old }).ended
  expect([stale.code, stale.stdout]).toEqual([1, ''])
  expect(stale.stderr).toContain('is not being served from')
  expect(stale.stderr).toContain(await realpath(dataDir))
  // Told so, it goes there.
  const env = { DATA_DIR: dataDir }
  const told = await start(process.execPath, list, { cwd: elsewhere, env }).ended
  expect(JSON.parse(told.stdout)).toMatchObject([{ app_id: served.demo?.appId }])
  expect(readdirSync(elsewhere)).toEqual([])
  await served.stop()
})
