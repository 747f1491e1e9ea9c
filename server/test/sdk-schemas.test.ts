import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { problemCodes } from '../../sdk/src/sluice-error.ts'
import {
  type OpenApi,
  operations,
  schemasFromOpenApi,
} from '../../sdk/test/schemas-from-openapi.ts'
import { problemCatalogue } from '../src/lib/problem.ts'
import { root } from './support/process.ts'
import { startTestService, type TestService } from './support/service.ts'

let s: TestService
let openapi: OpenApi
beforeAll(async () => {
  s = await startTestService()
  openapi = await (await fetch(`${s.service.url}/openapi.json`)).json()
})
afterAll(() => s.close())

test("the SDK's types are those of /openapi.json, to the letter", async () => {
  const path = 'sdk/src/api-schemas.ts'
  const text = execFileSync('npx', ['biome', 'format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: schemasFromOpenApi(openapi),
    encoding: 'utf8',
  })
  await expect(text).toMatchFileSnapshot(join(root, path))
})

test('the SDK has a function for every operation there is', () => {
  expect(operations(openapi).map(([path, method]) => `${method} ${path}`)).toEqual([
    'post /payment/deposit',
    'post /payment/withdraw',
    'get /payment/orders/{txn_id}',
    'get /payment/orders',
    'post /payment/orders/{txn_id}/cancel',
    'get /payment/wallet',
    'get /payment/wallet/entries',
    'get /payment/banks',
    'get /payment/events',
    'post /payment/events/{seq}/resend',
    'post /sandbox/orders/{txn_id}',
  ])
})

test("the SDK knows the service's codes and no others", () => {
  expect([...problemCodes].toSorted()).toEqual(Object.keys(problemCatalogue).toSorted())
})
