import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { TokenBuckets } from '../lib/token-bucket.ts'

/** A request of an agent, as it was answered. */
export interface ApiRequest {
  agentId: bigint
  at: Date
  requestId: string
  method: string
  path: string
  status: number
  /** The code of the problem that it was answered with. */
  code: string | null
  /** What the answer said of it. */
  detail: string | null
  durationMs: number
  ip: string
  body: string | null
  /** Requests that came before and are left out, because there were too many. */
  leftOut: number
}

/** What is known when the answer is sent; the body is masked later, off the request's path. */
export interface AnsweredRequest extends Omit<ApiRequest, 'body' | 'leftOut'> {
  readBody: () => string | null
  /** Its signature was right: anybody can name an agent. */
  isProved: boolean
}

/**
 * How many requests of an agent are kept, and how many bytes of their bodies: in a burst, and a second after that. An
 * agent that errs all day takes some 600 MB of a day: a row without its body is about 300 bytes.
 */
const kept = {
  wellAtOnce: 300,
  wellPerS: 2,
  refusedAtOnce: 20_000,
  refusedPerS: 10,
  unprovedAtOnce: 60,
  unprovedPerS: 0.2,
  bytesAtOnce: 16 * 1024 * 1024,
  bytesPerS: 4 * 1024,
}
/** So many are written at once without waiting for the timer; beyond the other, memory would fill. */
const enough = 1_000
const mostWaiting = 20_000

/**
 * Keeps the requests of agents for a while. They are written in batches, outside of the requests: what a process has not
 * written when it dies is lost, and no request ever waits for it. What is answered well is sampled if there is much of
 * it; errors are kept, after a long burst up to so many a second, and their bodies while there is room for them.
 */
export class ApiLog {
  private readonly pool: Pool
  private readonly onError: (error: unknown) => void
  private readonly well = new TokenBuckets()
  private readonly refused = new TokenBuckets()
  private readonly unproved = new TokenBuckets()
  private readonly bytes = new TokenBuckets()
  private readonly leftOut = new Map<bigint, number>()
  private waiting: AnsweredRequest[] = []
  private writing: Promise<void> = Promise.resolve()
  private readonly timer: NodeJS.Timeout

  constructor(pool: Pool, onError: (error: unknown) => void, everyMs = 1_000) {
    this.pool = pool
    this.onError = onError
    this.timer = setInterval(() => void this.flush(), everyMs)
    this.timer.unref()
  }

  note(request: AnsweredRequest): void {
    const { agentId, at, status, isProved } = request
    // Strangers who name an agent take no room from its own errors.
    const { taken } = !isProved
      ? this.unproved.take(`${agentId}`, kept.unprovedPerS, kept.unprovedAtOnce, at.getTime())
      : status < 400
        ? this.well.take(`${agentId}`, kept.wellPerS, kept.wellAtOnce, at.getTime())
        : this.refused.take(`${agentId}`, kept.refusedPerS, kept.refusedAtOnce, at.getTime())
    if (!taken || this.waiting.length >= mostWaiting) {
      this.leftOut.set(agentId, (this.leftOut.get(agentId) ?? 0) + 1)
      return
    }
    this.waiting.push(request)
    if (this.waiting.length === enough) void this.flush()
  }

  /** The body, while the agent's bodies are not too many. */
  private bodyOf({ agentId, at, readBody }: AnsweredRequest): string | null {
    const body = readBody()
    if (body === null) return null
    const { bytesPerS, bytesAtOnce } = kept
    const size = Buffer.byteLength(body)
    const { taken } = this.bytes.take(`${agentId}`, bytesPerS, bytesAtOnce, at.getTime(), size)
    return taken ? body : null
  }

  /** Writes what has come in since. */
  flush(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const requests = this.waiting
      this.waiting = []
      if (requests.length === 0) return
      const rows = requests.map((request) => {
        const leftOut = this.leftOut.get(request.agentId) ?? 0
        this.leftOut.delete(request.agentId)
        return { ...request, body: this.bodyOf(request), leftOut }
      })
      await writeRequests(this.pool, rows).catch(this.onError)
    })
    return this.writing
  }

  async stop(): Promise<void> {
    clearInterval(this.timer)
    await this.flush()
  }
}

async function writeRequests(pool: Pool, rows: readonly ApiRequest[]): Promise<void> {
  await pool.query({
    name: 'api-log',
    text: `insert into api_requests (agent_id, at, request_id, method, path, status, code, duration_ms,
        ip, body, left_out, detail)
      select * from unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
        $6::int[], $7::text[], $8::int[], $9::text[], $10::text[], $11::int[], $12::text[])
      on conflict do nothing`,
    values: [
      rows.map(({ agentId }) => agentId),
      rows.map(({ at }) => at),
      rows.map(({ requestId }) => requestId),
      rows.map(({ method }) => method),
      rows.map(({ path }) => path),
      rows.map(({ status }) => status),
      rows.map(({ code }) => code),
      rows.map(({ durationMs }) => Math.round(durationMs)),
      rows.map(({ ip }) => ip),
      rows.map(({ body }) => body),
      rows.map(({ leftOut }) => leftOut),
      rows.map(({ detail }) => detail),
    ],
  })
}

export interface ApiLogSearch {
  agentIds: readonly bigint[]
  /** Only what was answered with a problem. */
  isRefused: boolean
  after: { at: Date; requestId: string } | undefined
  limit: number
}

/** Requests of some agents, newest first. */
export async function readApiLog(
  pool: Pool,
  { agentIds, isRefused, after, limit }: ApiLogSearch,
): Promise<ApiRequest[]> {
  const { rows } = await pool.query<ApiRequest>(
    `select r.agent_id as "agentId", r.at, r.request_id as "requestId", r.method, r.path, r.status,
       r.code, r.detail, r.duration_ms as "durationMs", r.ip, r.body, r.left_out as "leftOut"
     from unnest($1::bigint[]) a(agent_id) cross join lateral (
       select * from api_requests q where q.agent_id = a.agent_id
         and ($2::timestamptz is null or (q.at, q.request_id) < ($2, $3))
         ${isRefused ? 'and q.status >= 400' : ''}
       order by q.at desc, q.request_id desc limit $4
     ) r order by r.at desc, r.request_id desc limit $4`,
    [agentIds, after?.at ?? null, after?.requestId ?? '', limit],
  )
  return rows
}

const daysKept = 7
const dayMs = 86_400_000

/** Makes the days to come, and drops one that is too old. */
export async function keepApiLog(pool: Pool, now: Date): Promise<'done' | 'more'> {
  for (let ahead = 0; ahead <= 3; ahead++) {
    const day = new Date(now.getTime() + ahead * dayMs).toISOString().slice(0, 10)
    await withShortLocks(pool, 'select make_log_day($1::date) as done', day)
  }
  const dropped = await withShortLocks(
    pool,
    'select drop_log_day($1) as done',
    new Date(now.getTime() - daysKept * dayMs),
  )
  return dropped ? 'more' : 'done'
}

/** Others who use the table queue behind a pending lock, so we give up on it quickly. */
async function withShortLocks(pool: Pool, text: string, value: unknown): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    await tx.query('set local lock_timeout = 200')
    const { rows } = await tx.query<{ done: string | boolean | null }>(text, [value])
    return Boolean(rows[0]?.done)
  })
}
