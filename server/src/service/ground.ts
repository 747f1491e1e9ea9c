import type { Logger } from 'pino'
import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { isConnectionLost } from '../db/pool.ts'
import { Metrics } from '../http/metrics.ts'
import type { Clock } from '../lib/clock.ts'
import type { Tracer, TraceSettings } from '../lib/tracing.ts'
import { version } from '../version.ts'
import { Address } from './address.ts'
import { Closing } from './closing.ts'

/** What every part of a service is built on. */
export interface Ground {
  config: Config
  backend: Backend
  log: Logger
  clock: Clock
  address: Address
  metrics: Metrics
  /** Follows orders on their way; undefined unless a collector is set. */
  tracer: Tracer | undefined
  closing: Closing
  onError: (error: unknown) => void
}

export async function makeGround(
  config: Config,
  backend: Backend,
  log: Logger,
  clock: Clock,
): Promise<Ground> {
  const closing = new Closing()
  const metrics = new Metrics()
  return {
    config,
    backend,
    log,
    clock,
    address: new Address(config),
    metrics,
    tracer: config.traces && (await startTracing(config.traces, metrics, closing)),
    closing,
    onError: (error) => {
      // Ctrl-C reaches the embedded database at the same moment as the service.
      if (!closing.hasBegun || !isConnectionLost(error)) log.error({ err: error })
    },
  }
}

/** Nothing of it is loaded where no collector is set. */
async function startTracing(
  settings: TraceSettings,
  metrics: Metrics,
  closing: Closing,
): Promise<Tracer> {
  const [{ Tracer }, { SpanExporter }] = await Promise.all([
    import('../lib/tracing.ts'),
    import('./export-spans.ts'),
  ])
  const exporter = new SpanExporter(settings, version, (result, spans) =>
    metrics.spansWent(result, spans),
  )
  // What was opened first is closed last, so this has the spans of all the others.
  closing.add(() => exporter.close())
  return new Tracer(settings.ratio, (span) => exporter.take(span))
}
