import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandNames, loadCommand } from '../../src/cli/commands.ts'
import { root } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

/** What wakes people up at night, and what they then read. */

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const rules = read('deploy/observe/alerts.yml')
const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?runbook: (\S+)/g)].map(
  ([, name = '', runbook = '']) => [name, runbook] as const,
)
const pages = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md')

let s: TestService
let metrics: string
beforeAll(async () => {
  s = await startTestService()
  metrics = await (await fetch(`${s.service.url}/metrics`)).text()
})
afterAll(() => s.close())

test.each(['deploy/observe/alerts.yml', 'deploy/observe/dashboard.json'])(
  '%s reads only what the service tells',
  (path) => {
    const told = new Set([...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
    const asked = [...read(path).matchAll(/sluice_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|count|sum)$/, ''),
    )
    expect(asked.length).toBeGreaterThan(15)
    expect(asked.filter((name) => !told.has(name))).toEqual([])
  },
)

test('every alert has a page, every page an alert, and the list names them all', () => {
  expect(alerts.length).toBe(rules.match(/- alert:/g)?.length)
  expect(alerts.map(([, runbook]) => runbook).sort()).toEqual(
    pages.map((name) => `docs/runbooks/${name}`).sort(),
  )
  const list = read('docs/runbooks/README.md')
  for (const [name, runbook] of alerts) {
    expect(list).toContain(`\`${name}\``)
    expect(list).toContain(`(${runbook.split('/').at(-1)})`)
  }
})

describe.each(pages)('%s', (name) => {
  const page = read(`docs/runbooks/${name}`)

  test('says what it means, what to look at and what to do', () => {
    const headings = [...page.matchAll(/^##? (.+)$/gm)].map(([, heading]) => heading)
    expect(headings.slice(1)).toEqual(['What it means', 'What to look at', 'What to do'])
  })

  test('names commands and options that there are', async () => {
    for (const [, line = ''] of page.matchAll(/`sluice ([^`]+)`/g)) {
      const words = line.split(' ')
      const first = words.shift() ?? ''
      expect(commandNames, line).toContain(first)
      let command: Command = await loadCommand(first, 'whole')
      for (;;) {
        const inner = command.commands.find((each) => each.name() === words[0])
        if (!inner) break
        command = inner
        words.shift()
      }
      if (command.commands.length > 0) expect(words, line).toEqual([])
      const options = command.options.map(({ long }) => long)
      for (const word of words.filter((each) => each.startsWith('--'))) {
        expect(options, line).toContain(word)
      }
    }
  })
})
