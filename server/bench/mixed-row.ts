import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { load, type Signer, signedGet, signedPost } from './load.js'
import { answerOf, type Bench, newDatabase, orderBody, prove } from './orders-row.js'

const requests = 4_000
const connections = 32

/**
 * A day in small: deposits that are paid, withdrawals that are paid out, reads between them, every
 * outcome called back, all at once. It is not compared with anything: what counts is that nothing
 * fails, how long people wait, and that the ledger proves.
 */
export async function runMixed(bench: Bench) {
  process.stderr.write('mixed: ')
  let arrived = 0
  const receiver = createServer((request, response) => {
    arrived++
    request.resume().on('end', () => response.end('{"code":0}'))
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port: receiverPort } = receiver.address() as AddressInfo
  const url = await newDatabase(bench.postgresUrl)
  const child = fork(
    fileURLToPath(new URL('./serve-for-bench.js', import.meta.url)),
    ['mixed', '10', 'link', '1000000', `http://127.0.0.1:${receiverPort}`],
    {
      env: {
        ...process.env,
        DATABASE_URL: url,
        PORT: '0',
        DATA_DIR: bench.dataDir,
        LOG_LEVEL: 'silent',
      },
    },
  )
  const { url: serviceUrl, agents } = await answerOf<{ url: string; agents: Signer[] }>(child)
  const port = Number(new URL(serviceUrl).port)
  const story = (sandbox: string) => orderBody({ extraParams: { sandbox } })
  const asked = Array.from({ length: requests }, (_, at) => {
    const agent = agents[at % agents.length] as Signer
    switch (at % 4) {
      case 0:
        return signedPost(agent, '/payment/deposit', orderBody())
      case 1:
        return signedPost(agent, '/payment/deposit', story('paid'))
      case 2:
        return signedPost(agent, '/payment/withdraw', story('paid'))
      default:
        return signedGet(agent, at % 8 === 3 ? '/payment/wallet' : '/payment/orders?limit=20')
    }
  })
  const result = await load([port], asked, connections)
  process.stderr.write('.')
  const errors = Object.entries(result.statuses)
    .filter(([status]) => !status.startsWith('2'))
    .reduce((sum, [, count]) => sum + count, 0)
  // Everything that was begun comes to its end: half of the orders have an outcome.
  const outcomes = requests / 2
  const client = new pg.Client(url)
  await client.connect()
  for (;;) {
    const { rows } = await client.query<{ delivered: string }>(
      `select count(*) as delivered from sluice.callbacks where state = 'delivered'`,
    )
    if (Number(rows[0]?.delivered) >= outcomes) break
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await client.end()
  child.removeAllListeners('exit')
  child.kill('SIGKILL')
  receiver.closeAllConnections()
  receiver.close()
  await prove(url, 'mixed')
  process.stderr.write('\n')
  const row = { name: 'mixed', ...result, errors, outcomes, callbacks: arrived }
  process.stdout.write(
    `${row.name.padEnd(24)} ${row.perSecond.toFixed(0).padStart(6)}/s  p50 ${row.p50Ms.toFixed(1)} ms  p99 ${row.p99Ms.toFixed(1)} ms  ${errors} errors, ${outcomes} outcomes called back, ledger proved\n`,
  )
  return row
}
