import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import {
  cleanUp,
  copyOfRepository,
  expectShutDown,
  freePort,
  postmasterPid,
  root,
  start,
} from '../support/process.ts'

interface Block {
  language: string
  text: string
}

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks: Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', text = '']) => ({ language, text }),
)
const isShell = ({ language }: Block) => ['sh', 'bash', 'shell', 'console'].includes(language)

afterEach(cleanUp)

test('what README tells to type works as printed, and answers as it says', async () => {
  const copy = await copyOfRepository({ built: true })
  const port = await freePort()
  const here = (text: string) => text.replaceAll('8080', String(port))
  const env = { PORT: String(port) }
  const shell = blocks.filter(isShell)

  // npm ci has done its work already, and these tests would start themselves.
  const starts = shell.find(({ text }) => /\bnpm start\b/.test(text))
  const typed = shell.filter((block) => block !== starts && block.text.trim() !== 'npm test')
  expect(starts?.text.replace('npm ci && ', '').trim()).toBe('npm start')
  const service = start('npm', ['start'], { cwd: copy, env })
  await expect
    .poll(() => service.stdout + service.stderr)
    .toContain('A demo agent was made for you')
  for (const path of ['/readyz', '/docs']) {
    expect((await fetch(here(`http://localhost:8080${path}`))).status).toBe(200)
  }

  const session = ['set -eo pipefail', ...typed.map(({ text }) => here(text))]
  const input = session.join(`\necho '${separator}'\n`)
  const { code, stdout, stderr } = await start('bash', ['-s'], { cwd: copy, env, input }).ended
  const outputs = stdout.split(`${separator}\n`).slice(1)
  const failed = typed[outputs.length - 1]?.text
  expect({ code, failed: code === 0 ? undefined : failed, stderr }).toMatchObject({ code: 0 })
  expect(outputs.length).toBe(typed.length)
  expect(stdout).not.toContain('urn:sluice:problem')

  // Where a block of JSON follows, it is what the block before it answers.
  const answered = blocks.flatMap((block, at) => {
    const before = blocks[at - 1]
    if (block.language !== 'json' || !before || !isShell(before)) return []
    return [{ promised: block.text, output: outputs[typed.indexOf(before)] ?? '' }]
  })
  expect(answered.length).toBeGreaterThan(0)
  for (const { promised, output } of answered) {
    expect(shapeOf(JSON.parse(output))).toEqual(shapeOf(JSON.parse(promised)))
  }
  const [order] = answered.map(({ output }) => JSON.parse(output))
  expect(order).toMatchObject({ amount: 250, txn_id: expect.stringMatching(/^\d+-[0-9a-f]{32}$/) })
  expect(order.link).toMatch(here('http://localhost:8080/pay/'))

  const all = outputs.join('')
  expect(all).toContain(`${order.txn_id} is PAID`)
  expect(all).toContain(`"balance":${order.amount - order.fee},`)
  expect(all).toContain('Every balance is proved.')

  // Ctrl-C goes to everything that the terminal runs.
  const dataDir = join(copy, 'data')
  expect(postmasterPid(dataDir)).toBeDefined()
  process.kill(-service.pid, 'SIGINT')
  await service.ended
  expect(postmasterPid(dataDir)).toBeUndefined()
  await expectShutDown(dataDir)
})

const separator = '---- next block ----'

/** The same fields with the types of their values; numbers, which are the point, as they are. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'number' ? value : typeof value
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}
