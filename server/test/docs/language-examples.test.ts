import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'

const languages = [
  ['bash', 'agent.sh'],
  ['JavaScript', 'agent.mjs'],
  ['Python', 'agent.py'],
  ['PHP', 'agent.php'],
  ['Go', 'agent.go'],
  ['Java', 'Agent.java'],
  ['C#', 'Agent.cs'],
] as const

test('the reference shows the examples that are run, to the letter', async () => {
  const examples = languages.map(([language, file]) => ({
    language,
    text: readFileSync(join(root, 'docs/examples', file), 'utf8'),
  }))
  const path = 'server/src/http/language-examples.ts'
  const input = `// Written by server/test/docs/language-examples.test.ts; run it with -u after a change.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs that are shown
export const languageExamples = ${JSON.stringify(examples)} as const
`
  const text = execFileSync(
    'node_modules/.bin/biome',
    ['check', '--write', `--stdin-file-path=${path}`],
    { cwd: root, input, encoding: 'utf8' },
  )
  await expect(text).toMatchFileSnapshot(join(root, path))
})
