import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createClient,
  type NewOrder,
  type NewRefund,
  type SluiceClient,
} from '../../../sdk/src/sluice.ts'
import { problemCodes } from '../../../sdk/src/sluice-error.ts'
import {
  type OpenApi,
  operations,
  schemasFromOpenApi,
} from '../../../sdk/test/schemas-from-openapi.ts'
import { inlineSchemas } from '../../src/http/name-schemas.ts'
import { problemCatalogue } from '../../src/lib/problem.ts'
import { root } from '../support/process.ts'
import { startTestService, type TestService } from '../support/service.ts'

let s: TestService
let openapi: OpenApi
beforeAll(async () => {
  s = await startTestService()
  openapi = inlineSchemas((await (await fetch(`${s.service.url}/openapi.json`)).json()) as OpenApi)
})
afterAll(() => s.close())

test("the SDK's types are those of /openapi.json, to the letter", async () => {
  const path = 'sdk/src/api-schemas.ts'
  const text = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
    cwd: root,
    input: schemasFromOpenApi(openapi),
    encoding: 'utf8',
  })
  await expect(text).toMatchFileSnapshot(join(root, path))
})

test('the SDK has a function for every operation, and asks for nothing else', async () => {
  const asked = new Set<string>()
  const client: SluiceClient = createClient({
    baseUrl: 'http://localhost',
    appId: 'app_1',
    secret: 'sk_1',
    fetch: async (url, { method }) => {
      asked.add(
        `${method} ${new URL(url).pathname.replace('TXN', '{txn_id}').replace('42', '{seq}')}`,
      )
      return new Response('{"data":[],"next":null}')
    },
  })
  const order = {} as NewOrder
  const calls: Record<keyof SluiceClient, () => unknown> = {
    createDeposit: () => client.createDeposit(order),
    createWithdraw: () => client.createWithdraw(order),
    refundOrder: () => client.refundOrder('TXN', {} as NewRefund),
    getOrder: () => client.getOrder('TXN'),
    getOrderByRefId: () => client.getOrderByRefId('ref-1'),
    listOrders: () => client.listOrders(),
    eachOrder: () => client.eachOrder().next(),
    cancelOrder: () => client.cancelOrder('TXN'),
    getWallet: () => client.getWallet(),
    getReserve: () => client.getReserve(),
    listWalletEntries: () => client.listWalletEntries(),
    eachWalletEntry: () => client.eachWalletEntry().next(),
    listBanks: () => client.listBanks(),
    listEvents: () => client.listEvents(),
    eachEvent: () => client.eachEvent().next(),
    resendEvent: () => client.resendEvent(42),
    triggerOutcome: () => client.triggerOutcome('TXN', { outcome: 'PAID' }),
  }
  for (const call of Object.values(calls)) await call()
  const described = operations(openapi).map(([path, method]) => `${method.toUpperCase()} ${path}`)
  expect([...asked].toSorted()).toEqual(described.toSorted())
})

test("the SDK knows the service's codes and no others", () => {
  expect([...problemCodes].toSorted()).toEqual(Object.keys(problemCatalogue).toSorted())
})
