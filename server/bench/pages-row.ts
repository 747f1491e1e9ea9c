import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openPool } from '../dist/db/pool.js'
import { startSession } from '../dist/operators/sessions.js'
import { writeHistory } from './history.js'
import { load, type Signer, signedPost } from './load.js'
import { answerOf, type Bench, newDatabase, orderBody } from './orders-row.js'

/** What a page's reads may take; what takes longer is marked. */
const budgetMs = 200
const agentCount = 20
const user = { id: 900_000, email: 'bench@sluice.example' }

interface Measured {
  page: string
  path: string
  status: number
  medianMs: number
  maxMs: number
  /** Entries of the list that was answered; null if it is no list. */
  rows: number | null
}

/**
 * What every page of the console asks the service for, on tables with a million orders: of twenty agents, over two
 * months, with orders of every kind and state among them. Each request is made once to warm up, then a few times.
 */
export async function runPages(bench: Bench) {
  const url = await newDatabase(bench.postgresUrl)
  const first = await serve(bench, url, agentCount)
  await someOrders(first.port, first.agents)
  first.stop()
  await writeHistory(url, bench.historyOrders, { newest: '1 minute', isProved: false })
  await markSome(url)
  const { port, agents, stop } = await serve(bench, url, first.agents)
  const cookie = await signedIn(url)
  const ask = asker(port, cookie)
  await summariesCaughtUp(ask)
  const measured: Measured[] = []
  for (const [page, path] of await callsOf(ask, agents[0]?.appId ?? '')) {
    const each = await measure(ask, page, path, Math.max(3, bench.rounds))
    measured.push(each)
    process.stdout.write(`${lineOf(each)}\n`)
  }
  stop()
  const slow = measured.filter(({ medianMs }) => medianMs > budgetMs)
  process.stdout.write(
    `${measured.length} reads on ${bench.historyOrders} orders; ${slow.length} took more than ${budgetMs} ms\n`,
  )
  return { name: 'pages', orders: bench.historyOrders, budgetMs, measured }
}

type Ask = (path: string) => Promise<{ status: number; ms: number; json: Json }>
// biome-ignore lint/suspicious/noExplicitAny: answers of all kinds
type Json = any

function asker(port: number, cookie: string): Ask {
  return async (path) => {
    const from = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/console/api${path}`, {
      headers: { cookie },
    })
    const text = await response.text()
    const ms = performance.now() - from
    const json = text.startsWith('{') ? JSON.parse(text) : {}
    return { status: response.status, ms, json }
  }
}

async function measure(ask: Ask, page: string, path: string, rounds: number): Promise<Measured> {
  const { status, json } = await ask(path)
  const took: number[] = []
  for (let round = 0; round < rounds; round++) took.push((await ask(path)).ms)
  took.sort((a, b) => a - b)
  return {
    ...{ page, path, status },
    medianMs: took[Math.floor(took.length / 2)] ?? 0,
    maxMs: took.at(-1) ?? 0,
    rows: Array.isArray(json.data) ? json.data.length : null,
  }
}

function lineOf({ page, path, status, medianMs, maxMs, rows }: Measured): string {
  const figures = `${medianMs.toFixed(1).padStart(8)} ms  most ${maxMs.toFixed(1).padStart(8)} ms`
  const isSlow = medianMs > budgetMs ? ' !' : ''
  return `${page.padEnd(20)} ${figures} ${String(rows ?? '').padStart(5)} rows  ${status} ${path}${isSlow}`
}

/** The reads of every page, with its filters; then every other read that can be asked for without more to go by. */
async function callsOf(ask: Ask, appId: string): Promise<[page: string, path: string][]> {
  const { json: orders } = await ask('/orders?limit=1')
  const { json: old } = await ask(`/orders?limit=1&agent=${appId}&to=${daysAgo(50)}`)
  const { json: payments } = await ask('/payments')
  const { json: waiting } = await ask('/orders?limit=1&status=WAITING')
  const [newest, oldest] = [orders.data[0], old.data[0]]
  const payment = encodeURIComponent(payments.data[0]?.payment_id ?? 'none')
  const calls: [string, string][] = [
    ['Home', '/home'],
    ['Wall, menu', '/queue/counts'],
    ...['24h', '7d', '30d', '12m'].map((period): [string, string] => [
      'Insights',
      `/insights?period=${period}`,
    ]),
    ['Insights', `/insights?period=30d&agent=${appId}`],
    ...['wallets', 'agents', 'providers', 'lanes'].map((of): [string, string] => [
      'Sparklines',
      `/trends?of=${of}`,
    ]),
    ['Orders', '/orders'],
    ...[
      'kind=withdraw',
      'status=PAID',
      'status=WAITING',
      'status=FAILED',
      'status=REVERT',
      'payout=unknown',
      'min_amount=100000',
      'provider=sandbox',
      'provider=nobody',
      'tag=vip',
      'user=user-7',
      `agent=${appId}&status=EXPIRED`,
      `from=${daysAgo(60)}&to=${daysAgo(50)}`,
      `cursor=${String(oldest?.txn_id).split('-').slice(1).join('')}`,
      'q=history-77',
      `q=${oldest?.txn_id}`,
    ].map((query): [string, string] => ['Orders', `/orders?${query}`]),
    ['Order', `/orders/${newest?.txn_id}`],
    ['Order', `/orders/${oldest?.txn_id}`],
    ['Order', `/orders/${waiting.data[0]?.txn_id}`],
    ['Order', `/orders/${oldest?.txn_id}/marks`],
    ...[
      'user-4',
      'history-77',
      'Somchai',
      '12345',
      '100',
      oldest?.txn_id,
      'Bench 3',
      'nothing here',
    ]
      .map(encodeURIComponent)
      .map((q): [string, string] => ['Ctrl K', `/search?q=${q}`]),
    ['Callbacks', '/callbacks'],
    ...['waiting', 'failing', 'exhausted', 'delivered'].map((state): [string, string] => [
      'Callbacks',
      `/callbacks?state=${state}`,
    ]),
    ['Callbacks', `/callbacks?agent=${appId}`],
    ['Callbacks', '/callback-lanes'],
    ['Callback', `/callbacks/${appId}/1`],
    ['Queue', '/queue'],
    ['Payments', '/payments'],
    ['Payment', `/payments/${payment}`],
    ['Open items', '/open-items'],
    ['Wallets', '/wallets'],
    ['Wallet', `/wallets/${appId}`],
    ['Wallet', `/wallets/${appId}?as_of=${daysAgo(30)}`],
    ['Wallet', `/wallets/${appId}/journal`],
    ['Books', '/books'],
    ['Books', `/books?as_of=${daysAgo(30)}`],
    ['Books', '/books/history'],
    ['Agents', '/agents'],
    ['Agent', `/agents/${appId}`],
    ['Agent', `/agents/${appId}/audit`],
    ['Agent', `/payments?agent=${appId}&limit=100`],
    ['Providers', '/provider-figures?hours=24'],
    ['Providers', '/provider-figures?hours=168'],
    ['API log', '/api-log'],
    ['Audit', '/audit'],
  ]
  const { json: described } = await ask('/openapi.json')
  const asked = new Set(calls.map(([, path]) => path.split('?')[0]))
  for (const [path, methods] of Object.entries<Json>(described.paths)) {
    const short = path.replace('/console/api', '')
    // Exports are as long as what they hold, and what names something else than these needs it to be there.
    if (!methods.get || short.includes('{') || /\.(csv|pdf|json)$/.test(short)) continue
    if (!asked.has(short)) calls.push(['others', short])
  }
  return calls
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString()
}

async function serve(bench: Bench, url: string, given: number | Signer[]) {
  const child = fork(
    fileURLToPath(new URL('./serve-for-bench.js', import.meta.url)),
    ['mixed', typeof given === 'number' ? String(given) : JSON.stringify(given), 'link', '1000000'],
    {
      env: {
        ...process.env,
        ...{ DATABASE_URL: url, PORT: '0', DATA_DIR: bench.dataDir, LOG_LEVEL: 'silent' },
      },
    },
  )
  const told = await answerOf<{ url: string; agents: Signer[] }>(child)
  return {
    port: Number(new URL(told.url).port),
    agents: told.agents,
    stop() {
      child.removeAllListeners('exit')
      child.kill('SIGKILL')
    },
  }
}

/** What the sandbox's bank does with orders; each comes about for some of them. */
const stories = {
  deposit: ['paid', 'paid', 'failed', 'late', 'underpaid', 'duplicate'],
  withdraw: ['paid', 'failed', 'revert', 'slow'],
}

async function someOrders(port: number, agents: readonly Signer[]): Promise<void> {
  for (let round = 0; round < 10; round++) {
    // Signed shortly before they are sent: a busy machine takes its time.
    const requests = Array.from({ length: 60 }, (_, at) => {
      const kind = at % 3 === 0 ? 'withdraw' : 'deposit'
      const sandbox = stories[kind][Math.floor(at / 3 + round) % stories[kind].length]
      const body = orderBody({ userId: `user-${at}`, extraParams: { sandbox } })
      return signedPost(agents[at % agents.length] as Signer, `/payment/${kind}`, body)
    })
    const { statuses } = await load([port], requests, 4)
    if (!statuses[201]) throw new Error(`pages: ${JSON.stringify(statuses)}`)
  }
}

/** Some orders and users that people have tagged. */
async function markSome(url: string): Promise<void> {
  const pool = openPool({ url, max: 1, name: 'sluice bench marks', onError: () => {} })
  await pool.query(
    `insert into record_tags (agent_id, kind, subject, tag, is_on, tagged_by, tagged_at)
     select o.agent_id, 'order', replace(o.order_id::text, '-', ''), 'vip', true, 'bench', now()
     from wallets w cross join lateral (select agent_id, order_id from orders
       where agent_id = w.agent_id order by order_id limit 10) o
     union all
     select agent_id, 'user', 'user-7', 'vip', true, 'bench', now() from wallets where agent_id > 0
     on conflict do nothing`,
  )
  await pool.end()
}

async function signedIn(url: string): Promise<string> {
  const pool = openPool({ url, max: 1, name: 'sluice bench session', onError: () => {} })
  await pool.query(
    `insert into users (user_id, email, role, created_at, updated_at) values ($1, $2, 'admin', now(), now())`,
    [user.id, user.email],
  )
  const who = { userId: BigInt(user.id), ip: '127.0.0.1', userAgent: 'bench' }
  const { token } = await startSession(pool, who, new Date())
  await pool.end()
  return `sluice_session=${token}`
}

/** Waits until the summaries hold everything. */
async function summariesCaughtUp(ask: Ask): Promise<void> {
  for (;;) {
    const { json } = await ask('/insights?period=24h')
    process.stderr.write(`\r${json.behind} rows to count   `)
    if (json.behind === 0) break
    await pause(1_000)
  }
  process.stderr.write('\n')
}
