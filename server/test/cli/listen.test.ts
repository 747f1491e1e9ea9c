import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyCallback } from '../../../sdk/src/verify-callback.ts'
import { forwardEvent, pausesMs } from '../../src/cli/forward-event.ts'
import {
  cleanUp,
  freePort,
  type Running,
  root,
  start,
  startSluice,
  tempFolder,
} from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type AgentClient, startTestService, type TestService } from '../support/service.ts'

let s: TestService
let agent: AgentClient
let receiver: Receiver
let folder: string

beforeAll(async () => {
  s = await startTestService({ realTime: true })
})
beforeEach(async () => {
  agent = await s.agent()
  receiver = await startReceiver()
  folder = await tempFolder()
})
afterEach(async () => {
  await s.prove()
  await receiver.close()
  await cleanUp()
})
afterAll(() => s.close())

/** Listens with the agent's own credentials and nothing else: there is no database to look into. */
function listen(args: string[], secret = agent.secret): Running {
  const common = ['--app-id', agent.appId, '--url', s.service.url, '--secret', secret]
  return startSluice(['listen', ...common, ...args], { DATA_DIR: folder })
}

const kept = async () => {
  const name = `${agent.appId}-${new URL(s.service.url).host.replace(':', '-')}.json`
  return JSON.parse(await readFile(join(folder, 'listen', name), 'utf8')).seq
}

const eventually = (read: () => unknown) => expect.poll(read)

describe('listen', () => {
  test('forwards what happens from now on as the service itself would send it', async () => {
    await agent.fund(7)
    const listening = listen(['--forward-to', `${receiver.url}/hook`])
    await eventually(() => listening.stderr).toContain('after event 1.')
    const { json: order } = await agent.deposit({
      refId: 'order-🍜',
      amount: 500,
      extraParams: { a: 1.5 },
    })
    await agent.trigger(order.txn_id, 'PAID')
    await receiver.until(1)
    await eventually(() => listening.stdout).toMatch(
      new RegExp(
        `#2 {2}deposit PAID {2}500 {2}order-🍜 {2}${order.txn_id} {2}-> 200 in \\d+ ms\\n$`,
      ),
    )
    await listening.stop()

    const [{ body, headers, path }] = receiver.received as [(typeof receiver.received)[0]]
    const { json: events } = await agent.get('/payment/events?after=1')
    expect(body).toBe(events.data[0].body)
    expect(path).toBe('/hook')
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-appid': agent.appId,
      'x-event-seq': '2',
      'x-attempt': '1',
      'user-agent': expect.stringMatching(/^Sluice\/\d/),
    })
    await expect(verifyCallback(body, headers, agent.secret)).resolves.toMatchObject({
      amount: 500,
    })
    expect(receiver.received).toHaveLength(1)
  })

  test('after a break it goes on where it was, and nothing is missing', async () => {
    await agent.fund(1)
    const first = listen(['--after', '0', '--forward-to', receiver.url])
    await receiver.until(1)
    await eventually(kept).toBe(1)
    await first.stop('SIGKILL')
    for (const amount of [2, 3]) await agent.fund(amount)
    const second = await listen(['--once', '--forward-to', receiver.url]).ended
    expect(second.code).toBe(0)
    expect(receiver.received.map(({ json }) => json.amount)).toEqual([1, 2, 3])
    expect(await kept()).toBe(3)
  })

  test('repeats until the receiver accepts, with a new attempt number', async () => {
    receiver.answer = (_received, response) =>
      response.writeHead(receiver.received.length === 1 ? 500 : 202).end()
    await agent.fund(1)
    const { stdout, stderr } = await listen([
      '--once',
      '--after',
      '0',
      '--forward-to',
      receiver.url,
    ]).ended
    expect(stderr).toContain(`event 1: ${receiver.url}: 500; again in 0.5 s`)
    expect(stdout).toMatch(/-> 202 in \d+ ms at attempt 2\n$/)
    expect(receiver.received.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2'])
  })

  test('shows only what is asked for, as JSON where that is asked for, without colours in a pipe', async () => {
    await agent.fund(1000)
    const { json: open } = await agent.deposit()
    await agent.trigger(open.txn_id, 'VOID')
    const { json: out } = await agent.withdraw()
    await agent.trigger(out.txn_id, 'PAID')
    const seen = async (...args: string[]) => {
      const { stdout, code } = await listen(['--once', '--after', '0', '--json', ...args]).ended
      expect(code).toBe(0)
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const [all, paid, some] = await Promise.all([
      seen(),
      seen('--events', 'PAID'),
      seen('--events', 'withdraw.PAID,VOID'),
    ])
    const told = (events: { kind: string; status: string }[]) =>
      events.map(({ kind, status }) => `${kind}.${status}`)
    expect(told(all)).toEqual(['deposit.PAID', 'deposit.VOID', 'withdraw.PAID'])
    expect(told(paid)).toEqual(['deposit.PAID', 'withdraw.PAID'])
    expect(told(some)).toEqual(['deposit.VOID', 'withdraw.PAID'])
    expect(all).toEqual((await agent.get('/payment/events')).json.data)
    const { stdout } = await listen(['--once', '--after', '0']).ended
    expect(stdout).not.toContain('\x1b')
    const command = `${process.execPath} server/bin/sluice.js listen --once --after 0 --app-id ${agent.appId} --url ${s.service.url} --secret ${agent.secret}`
    const terminal = await start('script', ['-qec', command, '/dev/null'], {
      cwd: root,
      env: { DATA_DIR: folder, TERM: 'xterm-256color' },
    }).ended
    expect(terminal.stdout).toContain('\x1b[32mPAID\x1b[0m')
  })

  test('waits for a service that does not answer', async () => {
    const port = await freePort()
    const common = ['--app-id', agent.appId, '--secret', agent.secret]
    const waiting = startSluice(['listen', ...common, '--url', `http://127.0.0.1:${port}`], {
      DATA_DIR: folder,
    })
    await eventually(() => waiting.stderr).toMatch(/does not answer: .*; asking again in 1 s/)
    await waiting.stop()
    const once = ['listen', '--once', ...common, '--url', `http://127.0.0.1:${port}`]
    const { code, stderr } = await startSluice(once, { DATA_DIR: folder }).ended
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^sluice: .*does not answer/),
    })
  })

  test.each<[args: string[], says: RegExp]>([
    [[], /the service refuses the signature: is app_\w+ the app id/],
    [['--events', 'paid'], /--events "paid" is not a kind, a status or both/],
    [['--after', '-1'], /--after must be a number/],
    [['--forward-to', 'localhost'], /--forward-to must be an http or https URL/],
    [['--url', 'pay.example'], /--url must be the base address/],
  ])('%j with another secret is refused in words', async (args, says) => {
    const { code, stdout, stderr } = await listen(args, 'sk_other').ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(says)
    expect(stderr).not.toMatch(/\n\s+at |sk_other/)
  })
})

test('a receiver that never accepts is given up after the last pause', async () => {
  receiver.answer = (_received, response) => response.writeHead(302, { location: '/' }).end()
  const event = {
    seq: 1,
    txn_id: 't',
    ref_id: 'r',
    kind: 'deposit',
    status: 'PAID',
    at: '',
    epoch: 0,
    body: '{}',
  }
  const slept: number[] = []
  const forwarded = await forwardEvent(event, {
    url: receiver.url,
    appId: 'app_1',
    secrets: ['sk_1'],
    onRepeat: () => {},
    sleep: async (ms) => void slept.push(ms),
  })
  expect(forwarded).toMatchObject({ ok: false, attempts: pausesMs.length + 1, result: '302' })
  expect(slept).toEqual(pausesMs)
})
