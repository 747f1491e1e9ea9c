import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { typesFromOpenApi } from '../../console/test/types-from-openapi.ts'
import type { OpenApi } from '../../sdk/test/schemas-from-openapi.ts'
import { inlineSchemas } from '../src/http/name-schemas.ts'
import { root } from './support/process.ts'
import { startTestService, type TestService } from './support/service.ts'

let s: TestService
let openapi: OpenApi
beforeAll(async () => {
  s = await startTestService()
  openapi = inlineSchemas(
    (await (await fetch(`${s.service.url}/console/api/openapi.json`)).json()) as OpenApi,
  )
})
afterAll(() => s.close())

test("the console's types are those of its API, to the letter", async () => {
  const path = 'console/src/api-schemas.ts'
  const text = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: typesFromOpenApi(openapi),
    encoding: 'utf8',
  })
  await expect(text).toMatchFileSnapshot(join(root, path))
})
