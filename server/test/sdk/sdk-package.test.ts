import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { cleanUp, freePort, root, start, tempFolder } from '../support/process.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
beforeAll(async () => {
  s = await startTestService()
})
afterEach(cleanUp)
afterAll(async () => {
  await s.prove()
  await s.close()
})

/** A folder of an agent's, with nothing but the package installed. */
async function project(files: Record<string, string>): Promise<string> {
  const folder = await tempFolder()
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(root, 'sdk'), join(folder, 'node_modules/sluice-sdk'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

const environment = ({ url, appId, secret }: AgentClient) => ({
  SLUICE_URL: url,
  SLUICE_APP_ID: appId,
  SLUICE_SECRET: secret,
})

const smoke = `
const { createClient, makeCallback, verifyCallback, SluiceError } = sdk
const { SLUICE_URL: baseUrl, SLUICE_APP_ID: appId, SLUICE_SECRET: secret } = process.env
const sluice = createClient({ baseUrl, appId, secret })
const order = { refId: 'smoke-' + process.argv[1].slice(-3), userId: 'u', amount: 5n, accountName: 'A', accountNo: '1234', bankCode: 'SCB' }
async function run() {
  const first = await sluice.createDeposit(order)
  const second = await sluice.createDeposit(order)
  const refused = await sluice.createWithdraw({ ...order, refId: 'w' }).catch((error) => error)
  const { body, headers } = await makeCallback({ status: 'PAID' }, secret)
  const callback = await verifyCallback(body, headers, secret)
  console.log(JSON.stringify([first.order.amount, first.replayed, second.replayed,
    refused instanceof SluiceError && refused.code, callback.status]))
}
run()
`

test.each([
  ['ES modules', 'run.mjs', `import * as sdk from 'sluice-sdk'\n${smoke}`],
  ['CommonJS', 'run.cjs', `const sdk = require('sluice-sdk')\n${smoke}`],
])('the package works as %s, in this Node.js', async (_what, name, text) => {
  const cwd = await project({ [name]: text })
  const env = environment(await s.agent())
  const { code, stdout, stderr } = await start(process.execPath, [name], { cwd, env }).ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toEqual([5, false, true, 'insufficient_balance', 'PAID'])
})

test('the package has no dependencies and needs nothing of Node.js alone', async () => {
  const { dependencies } = JSON.parse(await readFile(join(root, 'sdk/package.json'), 'utf8'))
  expect(dependencies).toBeUndefined()
  const folder = join(root, 'sdk/dist/esm')
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  expect(files).toContain('sluice.js')
  for (const name of files) {
    const text = await readFile(join(folder, name), 'utf8')
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    expect(code, name).not.toMatch(/\b(Buffer|process|require|__dirname)\b|node:/)
    const imported = [...code.matchAll(/from '([^']+)'/g)].map(([, from]) => from)
    expect(imported.filter((from) => !/^\.\/[a-z-]+\.js$/.test(from ?? ''))).toEqual([])
  }
})

test('what its README shows works as printed', async () => {
  const readme = await readFile(join(root, 'sdk/README.md'), 'utf8')
  const shown = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text)
  expect(shown.length).toBeGreaterThan(5)
  const port = String(await freePort())
  const cwd = await project({ 'run.mjs': shown.join('\n').replaceAll('3000', port) })
  const agent = await s.agent({ depositCallbackUrl: `http://127.0.0.1:${port}/sluice` })
  const running = start(process.execPath, ['run.mjs'], { cwd, env: environment(agent) })
  await expect.poll(() => running.stdout + running.stderr).toMatch(/order-1001 PAID 250|Error/)
  await running.stop()
  expect(running.stderr).toBe('')
  expect(running.stdout).toMatch(/^\d+-[0-9a-f]{32} http\S+ false$/m)
  expect(running.stdout).toMatch(/^not enough money$/m)
  expect(running.stdout).toMatch(/^order-1001 EXPIRED .*\n200$/m)
  expect(running.stdout).toMatch(/^order-1001 PAID 250 \{ basket: 'B-7' \}$/m)
})
