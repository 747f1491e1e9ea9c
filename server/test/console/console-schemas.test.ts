import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { typesFromOpenApi } from '../../../console/test/types-from-openapi.ts'
import type { OpenApi } from '../../../sdk/test/schemas-from-openapi.ts'
import { termNames, termOf } from '../../src/agents/terms.ts'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { currencyRow } from '../../src/lib/currencies.ts'
import { currencies } from '../../src/lib/money.ts'
import { root } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let openapi: OpenApi
beforeAll(async () => {
  s = await startTestService()
  openapi = inlineSchemas(
    (await (await fetch(`${s.service.url}/console/api/openapi.json`)).json()) as OpenApi,
  )
})
afterAll(() => s.close())

test("the console's types are those of its API, to the letter", () =>
  expectWritten('console/src/api-schemas.ts', typesFromOpenApi(openapi)))

test("the console's form of an agent's terms has the terms of the service", () => {
  const fields = termNames.map(termOf).map(({ field: name, kind, group, choices }) => ({
    name,
    kind,
    group,
    ...(choices && { choices }),
  }))
  return expectWritten(
    'console/src/pages/agent/agent-terms.ts',
    `// Written by server/test/console/console-schemas.test.ts; run it with -u after a change.
export const agentTerms = ${JSON.stringify(fields)} as const
`,
  )
})

test("the console's currencies are those of the service", () =>
  expectWritten(
    'console/src/parts/currency-rows.ts',
    `// Written by server/test/console/console-schemas.test.ts; run it with -u after a change.
export const currencyRows = ${JSON.stringify(
      Object.fromEntries(
        currencies.map((each) => [each, { decimals: currencyRow(each).decimals }]),
      ),
    )} as const
`,
  ))

async function expectWritten(path: string, input: string): Promise<void> {
  const text = execFileSync(
    'node_modules/.bin/biome',
    ['check', '--write', `--stdin-file-path=${path}`],
    { cwd: root, input, encoding: 'utf8' },
  )
  await expect(text).toMatchFileSnapshot(join(root, path))
}
