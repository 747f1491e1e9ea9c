import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transitions } from '../../src/ledger/transitions.ts'
import { cleanUp, freePort, root, start, tempFolder } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

interface Block {
  language: string
  /** Of the file that the text is to be put into. */
  name: string
  text: string
}

const page = readFileSync(join(root, 'docs/integrate.md'), 'utf8')

/** What stands in fences under a heading. */
function blocksOf(heading: string): Block[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', name = '', text = '']) => ({ language, name, text }),
  )
}

let s: TestService
let folder: string
beforeAll(async () => {
  s = await startTestService({ realTime: true })
  folder = await tempFolder()
})
afterAll(async () => {
  await cleanUp()
  await s.prove()
  await s.close()
})

test('the quick start leads from an empty folder to a verified callback', async () => {
  const port = String(await freePort())
  const here = (text: string) =>
    text
      .replaceAll('http://localhost:8080', s.service.url)
      .replaceAll('3000', port)
      .replaceAll('~/sluice', root)
  const blocks = blocksOf('Quick start')
  const [starting, ...typed] = blocks.filter(({ language }) => language !== 'text')
  const [promised] = blocks.filter(({ language }) => language === 'text')
  // The service runs already, and another test follows how it is started.
  expect(starting?.text.trim()).toBe('npm ci && npm start')

  // The folder becomes the shop's by the page's own words, so each file is written when it comes up.
  const lines = typed.map(({ language, name, text }) =>
    language === 'sh' ? here(text) : `cat > ${name} <<'END_OF_FILE'\n${here(text)}END_OF_FILE\n`,
  )
  await writeFile(
    join(folder, 'typed.sh'),
    ["trap 'echo failed at line $LINENO' ERR", 'set -euo pipefail', ...lines].join('\n'),
  )
  const env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    // What was built is packed as it is, and nobody else is asked for anything.
    npm_config_ignore_scripts: 'true',
    npm_config_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  const running = start('bash', ['typed.sh'], { cwd: folder, env })
  await expect
    .poll(() => running.stdout)
    .toMatch(new RegExp(`^${promised?.text.trim()}$|^failed at`, 'm'))
  const { stdout, stderr } = running
  expect({ stdout, stderr }).toMatchObject({
    stdout: expect.stringContaining(promised?.text ?? '-'),
  })
  expect(running.stdout).toMatch(/^send the payer to http\S+\/pay\/\S+$/m)
  expect(running.stdout).toContain('waiting for callbacks')
  expect(running.stderr).not.toMatch(/Error/)
})

test('the worked signature comes out as printed', async () => {
  const [worked, shown] = blocksOf('The signature').filter(
    ({ language, text }) => language === 'sh' || text.startsWith('0000000'),
  )
  const { code, stdout } = await start('bash', ['-s'], { input: worked?.text ?? '' }).ended
  expect(code).toBe(0)
  expect(stdout).toBe(shown?.text)
})

test('the diagrams show every step that an order can take, and no other', () => {
  const drawn = blocksOf('What becomes of an order').flatMap(({ text }) => {
    const [, kind] = /^ *state "(\w+)"/m.exec(text) ?? []
    return [...text.matchAll(/^ *([A-Z]+) --> ([A-Z]+)/gm)].map(
      ([, from, to]) => `${kind} ${from} ${to}`,
    )
  })
  const steps = transitions.map(({ kind, from, to }) => `${kind} ${from} ${to}`)
  expect(drawn.toSorted()).toEqual(steps.toSorted())
})
