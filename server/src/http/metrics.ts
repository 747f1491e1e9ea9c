import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type OpenMetricsContentType,
  Registry,
} from 'prom-client'
import { readPlacesUsed } from '../bank-accounts/expected-deposits.ts'
import { readBacklog } from '../callbacks/read-callbacks.ts'
import { type ConnectorFigures, readFigures } from '../connectors/connector-figures.ts'
import { oldestSnapshot } from '../db/oldest-snapshot.ts'
import { coveredUntil } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'
import { itemKinds } from '../ledger/book.ts'
import { countOpenItems } from '../ledger/open-items.ts'
import { Problem } from '../lib/problem.ts'
import type { Span } from '../lib/tracing.ts'
import { countOpenEvents } from '../payments/open-events.ts'
import { paymentsToDecide } from '../payments/search-payments.ts'
import { countOpenPayouts } from '../payouts/payouts.ts'
import { readHold } from '../payouts/restore-hold.ts'
import { proofState } from '../proof/verify.ts'
import type { Answered } from './app.ts'
import { openMetricsText } from './open-metrics.ts'

/** The service's metrics, created once per process. */
export class Metrics {
  readonly registry = new Registry()
  /** Histograms that keep the trace of an example; the library wants them in a registry of this kind. */
  private readonly withExamples = openMetricsRegistry()

  private readonly http = new Histogram({
    name: 'sluice_http_request_seconds',
    help: 'Time to answer a request',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.withExamples],
    enableExemplars: true,
  })
  private readonly orders = new Counter({
    name: 'sluice_orders_total',
    help: 'Orders by kind and by the state they came to; WAITING counts creations',
    labelNames: ['kind', 'outcome'],
    registers: [this.registry],
  })
  private readonly batchSize = new Histogram({
    name: 'sluice_teller_batch_commands',
    help: 'Commands in one transaction of the teller',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [this.registry],
  })
  private readonly batchTime = new Histogram({
    name: 'sluice_teller_batch_seconds',
    help: 'Time from taking a batch to its commit',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [this.withExamples],
    enableExemplars: true,
  })
  private readonly faults = new Counter({
    name: 'sluice_teller_faults_total',
    help: 'Batches that met a fault of the database or its connection',
    registers: [this.registry],
  })

  private readonly moves = new Counter({
    name: 'sluice_database_moves_total',
    help: 'How often another database server, or the same one after a restart, was met and looked at',
    registers: [this.registry],
  })

  private readonly callbacks = new Counter({
    name: 'sluice_callback_attempts_total',
    help: 'Attempts to deliver a callback, by what they came to',
    labelNames: ['reason'],
    registers: [this.registry],
  })
  private readonly callbackTime = new Histogram({
    name: 'sluice_callback_seconds',
    help: 'Time from an outcome to the acceptance of its callback',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3600, 86400],
    registers: [this.withExamples],
    enableExemplars: true,
  })

  private readonly spans = new Counter({
    name: 'sluice_spans_total',
    help: 'Spans of traces that the collector took, or that were dropped',
    labelNames: ['result'],
    registers: [this.registry],
  })

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    for (const each of [this.http, this.batchTime, this.callbackTime]) {
      this.registry.registerMetric(each)
    }
  }

  answered({ method, route, status, seconds, span }: Answered): void {
    const labels = { method, route, status }
    this.http.observe({ labels, value: seconds, exemplarLabels: exampleOf(span) })
  }

  batch({ size, seconds, span }: { size: number; seconds: number; span: Span | undefined }): void {
    this.batchSize.observe(size)
    this.batchTime.observe({ labels: {}, value: seconds, exemplarLabels: exampleOf(span) })
  }

  order(kind: string, outcome: string): void {
    this.orders.inc({ kind, outcome })
  }

  /** Counts an attempt to deliver a callback; `seconds` is the time since its outcome, if it was accepted. */
  callback(reason: string, seconds: number | undefined, span: Span | undefined): void {
    this.callbacks.inc({ reason })
    if (seconds === undefined) return
    this.callbackTime.observe({ labels: {}, value: seconds, exemplarLabels: exampleOf(span) })
  }

  spansWent(result: 'sent' | 'dropped', spans: number): void {
    this.spans.inc({ result }, spans)
  }

  fault(): void {
    this.faults.inc()
  }

  databaseMoved(): void {
    this.moves.inc()
  }

  /** Registers the gauges whose values are read at collection time. */
  watch(pools: Record<string, Pool>, queueDepth: () => number, now: () => Date): void {
    new Gauge({
      name: 'sluice_teller_queue_commands',
      help: 'Commands that have not been answered',
      registers: [this.registry],
      collect() {
        this.set(queueDepth())
      },
    })
    new Gauge({
      name: 'sluice_pool_connections',
      help: 'Connections to the database',
      labelNames: ['pool', 'state'],
      registers: [this.registry],
      collect() {
        for (const [name, pool] of Object.entries(pools)) {
          this.set({ pool: name, state: 'idle' }, pool.idleCount)
          this.set({ pool: name, state: 'used' }, pool.totalCount - pool.idleCount)
          this.set({ pool: name, state: 'awaited' }, pool.waitingCount)
        }
      },
    })
    const { main } = pools
    if (!main) throw new Error('there is no main pool')
    const backlog = atOnce(() => readBacklog(main, now()))
    this.gauge('sluice_callbacks_waiting', 'Callbacks that are to be sent or under way', async () =>
      one((await backlog())?.waiting),
    )
    this.gauge(
      'sluice_callbacks_oldest_seconds',
      'Age of the oldest outcome that has not reached its agent',
      async () => one((await backlog())?.oldestAgeS),
    )
    const payouts = atOnce(() => countOpenPayouts(main))
    this.gauge(
      'sluice_payouts_open',
      'Payouts that are with a provider and whose end is not known',
      async () => (await payouts())?.map(({ state, count }) => ({ state, value: count })),
    )
    this.gauge(
      'sluice_payouts_oldest_seconds',
      'Time since the oldest payout whose end is not known was handed over',
      async () =>
        (await payouts())?.map(({ state, oldest }) => ({
          state,
          value: Math.max(0, (now().getTime() - oldest.getTime()) / 1000),
        })),
    )
    this.gauge(
      'sluice_payments_waiting',
      'Payments that came in and wait for a decision',
      async () => one((await paymentsToDecide(main, null, null)).count),
    )
    const events = atOnce(() => countOpenEvents(main, now()))
    this.gauge(
      'sluice_notice_events_open',
      'Events that providers reported and that could not be acted on yet',
      async () => one((await events())?.count),
    )
    this.gauge(
      'sluice_notice_events_oldest_seconds',
      'Age of the oldest reported event that could not be acted on yet',
      async () => {
        const { oldestAt } = (await events()) ?? { oldestAt: null }
        return one(oldestAt ? Math.max(0, (now().getTime() - oldestAt.getTime()) / 1000) : 0)
      },
    )
    this.gauge(
      'sluice_open_items',
      'Payouts of which a provider and the books say what cannot both be true; must be 0',
      async () => {
        const open = await countOpenItems(main)
        // Every kind is listed even if its count is zero, so that an alert can tell zero from a missing
        // value.
        return itemKinds.map((kind) => ({
          kind,
          value: open.find((each) => each.kind === kind)?.count ?? 0,
        }))
      },
    )
    const hold = atOnce(() => readHold(main))
    this.gauge(
      'sluice_restore_held_seconds',
      'Time since payouts are held because the database was restored; 0 if they are not',
      async () => {
        const held = await hold()
        if (held === undefined) return undefined
        return one(held ? Math.max(1, (now().getTime() - held.markedAt.getTime()) / 1000) : 0)
      },
    )
    this.gauge(
      'sluice_restore_differences_open',
      'Of a restore that holds payouts, what somebody has to find out about before they are released',
      async () => {
        const held = await hold()
        return held === undefined ? undefined : one(held?.open ?? 0)
      },
    )
    const proof = atOnce(() => proofState(main))
    this.gauge('sluice_proof_red_agents', 'Agents whose book does not prove; must be 0', async () =>
      one((await proof())?.redAgents),
    )
    this.gauge(
      'sluice_proof_unproved_rows',
      'Journal rows that the endless proof has not reached yet',
      async () => one((await proof())?.unprovedRows),
    )
    const snapshot = atOnce(() => oldestSnapshot(main))
    this.gauge(
      'sluice_oldest_snapshot_seconds',
      'Age of the oldest snapshot, which keeps old versions of rows; missing where it cannot be seen',
      async () =>
        one(await snapshot().then((oldest) => (oldest === null ? 0 : (oldest?.ageS ?? undefined)))),
    )
    this.gauge(
      'sluice_oldest_snapshot_transactions',
      'Transactions begun since the oldest snapshot was taken',
      async () =>
        one(await snapshot().then((oldest) => (oldest === null ? 0 : oldest?.transactions))),
    )
    this.gauge(
      'sluice_bank_places_used_share',
      'Of the amounts that an account can tell apart, the share in use, for the amount with most payers',
      async () =>
        (await readPlacesUsed(main)).map(({ account, used, places }) => ({
          account,
          value: used / places,
        })),
    )
    const connectors = atOnce(() => readFigures(main, now()))
    const ofConnectors = async (value: (figures: ConnectorFigures) => number) => {
      const read = await connectors()
      return read && [...read].map(([connector, each]) => ({ connector, value: value(each) }))
    }
    this.gauge(
      'sluice_connector_calls',
      'Calls to a payment company, of the processes of the last day since each began',
      () => ofConnectors(({ calls }) => calls),
    )
    this.gauge('sluice_connector_failures', 'Of these, calls without a usable answer', () =>
      ofConnectors(({ failures }) => failures),
    )
    this.gauge(
      'sluice_connector_paused',
      '1 while some process does not call a payment company, because it fails',
      () => ofConnectors(({ state }) => (state === 'open' ? 0 : 1)),
    )
    this.gauge(
      'sluice_partitions_ahead_seconds',
      'Time until rows go into a default partition, for want of a month; must not come near 0',
      async () => {
        const at = now()
        const ends = [...(await coveredUntil(main, at)).values()].map((end) => end.getTime())
        return one((Math.min(...ends) - at.getTime()) / 1000)
      },
    )
  }

  /** A gauge that is read from the database at collection time. */
  private gauge(name: string, help: string, read: () => Promise<Figure[] | undefined>): void {
    new Gauge({
      name,
      help,
      labelNames: ['state', 'kind', 'account', 'connector'],
      registers: [this.registry],
      async collect() {
        const figures = await read().catch(() => undefined)
        // Without the database, a missing value is better than a wrong one.
        this.reset()
        for (const { value, ...labels } of figures ?? []) this.set(labels, value)
      },
    })
  }
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  return registry
}

const none = {}

/** The trace of one that a histogram has counted. */
function exampleOf(span: Span | undefined): Record<string, string> {
  return span ? { trace_id: span.name.traceId, span_id: span.name.spanId } : none
}

interface Figure {
  state?: string
  kind?: string
  account?: string
  connector?: string
  value: number
}

function one(value: number | undefined): Figure[] | undefined {
  return value === undefined ? undefined : [{ value }]
}

/** Shares one read among all gauges that are collected at the same time. */
function atOnce<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let reading: Promise<T | undefined> | undefined
  return () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}

/** `GET /metrics`, protected by a bearer token if one is set. */
export function metricsRoute(
  app: FastifyInstance,
  metrics: Metrics,
  token: string | undefined,
): void {
  app.get('/metrics', async (request, reply) => {
    if (token !== undefined && !isToken(request.headers.authorization, token)) {
      reply.header('www-authenticate', 'Bearer')
      throw new Problem('invalid_signature', 'Send authorization: Bearer with METRICS_TOKEN.')
    }
    const { registry } = metrics
    if (!request.headers.accept?.includes('application/openmetrics-text')) {
      return reply.type(registry.contentType).send(await registry.metrics())
    }
    const text = await openMetricsText(registry)
    return reply.type(Registry.OPENMETRICS_CONTENT_TYPE).send(text)
  })
}

function isToken(header: string | undefined, token: string): boolean {
  const expected = Buffer.from(`Bearer ${token}`)
  const given = Buffer.alloc(expected.length)
  given.write(header ?? '')
  return timingSafeEqual(given, expected) && header?.length === expected.length
}
