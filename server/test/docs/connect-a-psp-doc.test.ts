import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readDocument } from '../../src/providers/http/document-faults.ts'
import { routed } from '../support/bank-accounts.ts'
import { fundedAgent, referencesFor, startProcess, statusOf } from '../support/fake-provider.ts'
import { cleanUp, command, root, tempFolder } from '../support/process.ts'
import { neverIdle } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'

const page = readFileSync(join(root, 'docs/connect-a-psp.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', name = '', text = '']) => ({ language, name, text }),
)
const parts = blocks.filter(({ name }) => name === 'kluaypay.json')
const [samples] = blocks.filter(({ name }) => name === 'kluaypay.samples.json')
const [typed] = blocks.filter(({ language }) => language === 'sh')

/** The file as a reader has it after a step. */
function fileAfter(step: number): Record<string, unknown> {
  return Object.assign({}, ...parts.slice(0, step).map(({ text }) => JSON.parse(text)))
}

/** Kluay Pay, as its documentation on the page describes it. */
const book = new Map<string, Record<string, unknown>>()
const server = createServer(neverIdle, (request, response) => {
  void answer(request, response)
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const say = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const { method, url = '', headers } = request
  if (headers.authorization !== 'Bearer KEY') return say(401, { code: 'KEY_INVALID' })
  if (method === 'GET') {
    const found = book.get(url.split('/').at(-1) ?? '')
    return found ? say(200, found) : say(404, { code: 'NO_SUCH_TRANSFER' })
  }
  const asked = JSON.parse(Buffer.concat(chunks).toString())
  if (book.has(asked.merchant_ref)) return say(409, { code: 'DUPLICATE_REF', message: 'known' })
  const isPayout = url === '/v2/transfers'
  const kept = isPayout
    ? { ...asked, id: `trf_${book.size}`, state: 'QUEUED' }
    : { ...asked, id: `col_${book.size}`, state: 'WAITING', qr: '00020101021230' }
  book.set(asked.merchant_ref, kept)
  return say(isPayout ? 202 : 201, kept)
}

let s: TestService
let base: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  s = await startTestService({ outside: { providers: [] } })
})
afterAll(async () => {
  await s.prove()
  await s.close()
  await cleanUp()
  server.close()
})

async function tell(kind: string, id: string, object: object): Promise<number> {
  const body = JSON.stringify({ event_id: id, kind, object })
  const t = Math.floor(s.clock().getTime() / 1000)
  const v1 = createHmac('sha256', 'SIGNING_SECRET').update(`${t}.${body}`).digest('hex')
  const { status } = await fetch(`${s.service.url}/providers/kluaypay/notices`, {
    method: 'POST',
    headers: { 'kluay-signature': `t=${t},v1=${v1}` },
    body,
  })
  return status
}

it('a half document says what is missing, a whole one nothing', () => {
  const faultsAfter = (step: number) => {
    const read = readDocument(JSON.stringify(fileAfter(step)))
    return 'faults' in read ? read.faults.map(({ says }) => says).join(' ') : ''
  }
  expect(parts).toHaveLength(4)
  expect(faultsAfter(1)).toContain('neither collects nor pays')
  expect(faultsAfter(2)).toContain('tells that a deposit is paid')
  expect(faultsAfter(4)).toBe('')
})

it('what the page has its readers type connects the company', async () => {
  const folder = await tempFolder()
  await writeFile(join(folder, 'kluaypay.json'), JSON.stringify({ ...fileAfter(4), base }))
  await writeFile(join(folder, 'kluaypay.samples.json'), samples?.text ?? '')
  const env = {
    DATABASE_URL: s.database.url,
    DATABASE_OWNER_URL: s.database.ownerUrl,
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  }
  const lines = (typed?.text ?? '').trim().split('\n')
  expect(lines).toHaveLength(5)
  let printed = ''
  for (const line of lines) {
    const args = line.replace('npx sluice ', '').split(' ')
    const files = args.map((each) => (each.endsWith('.json') ? join(folder, each) : each))
    const { code, stdout, stderr } = await command(files, env)
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' })
    printed += stdout
  }
  expect(printed).toContain('Version 1 of kluaypay has passed.')
  await routed(s, 'kluaypay')

  const agent = await s.agent()
  const deposit = await agent.deposit({ amount: 100 })
  expect(deposit.status).toBe(201)
  const txnId: string = deposit.json.txn_id
  const collection = book.get(txnId)
  expect(collection).toMatchObject({ amount: '100.00', currency: 'THB' })
  const paid = { ...collection, state: 'PAID', paid_at: s.clock().toISOString() }
  expect(await tell('collection.paid', 'evt_1', paid)).toBe(200)
  expect(await tell('collection.paid', 'evt_1', paid)).toBe(200)
  expect(await statusOf(agent, txnId)).toBe('PAID')
  expect(await agent.balance()).toBe(100)

  const rich = await fundedAgent(s)
  const { json } = await rich.withdraw({ bankCode: 'SCB' })
  const process = await startProcess(s, [])
  await process.desk.providers.freshen()
  await process.payOut(json.txn_id)
  const [reference = ''] = referencesFor(json.txn_id)
  expect(book.get(reference)).toMatchObject({ bank: '014', state: 'QUEUED' })
  const done = { ...book.get(reference), state: 'DONE' }
  expect(await tell('transfer.done', 'evt_2', done)).toBe(200)
  expect(await statusOf(rich, json.txn_id)).toBe('PAID')
  await process.close()
})

it('the page names every document that comes with the service', () => {
  const names = readdirSync(join(root, 'server/connectors'))
    .filter((file) => !file.endsWith('.samples.json'))
    .map((file) => file.replace('.json', ''))
  for (const name of names) expect(page).toContain(`\`${name}\``)
})
