import type { Span, SpanKind, TraceSettings } from '../lib/tracing.ts'

const mostWaiting = 4_096
const mostAtOnce = 512
const everyMs = 1_000
/** How long the end of the process may take for the last spans. */
const lastMs = 1_000

const kinds: Record<SpanKind, number> = { internal: 1, server: 2, client: 3 }

/**
 * Posts spans to a collector, a few hundred at a time, one post after the other. Nobody waits for it: what the collector
 * does not take in time, or what there is no room for, is dropped and counted.
 */
export class SpanExporter {
  private readonly settings: TraceSettings
  private readonly version: string
  private readonly onResult: (result: 'sent' | 'dropped', spans: number) => void
  private waiting: Span[] = []
  private timer: NodeJS.Timeout | undefined
  private sending: Promise<void> | undefined
  private readonly stopping = new AbortController()

  constructor(
    settings: TraceSettings,
    version: string,
    onResult: (result: 'sent' | 'dropped', spans: number) => void,
  ) {
    this.settings = settings
    this.version = version
    this.onResult = onResult
  }

  take(span: Span): void {
    if (this.waiting.length >= mostWaiting) {
      this.onResult('dropped', 1)
      return
    }
    this.waiting.push(span)
    this.timer ??= setTimeout(() => this.send(), everyMs).unref()
  }

  /** Sends what is left, as far as the collector takes it within a moment. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    const stop = setTimeout(() => this.stopping.abort(), lastMs)
    while (this.sending !== undefined || this.waiting.length > 0) {
      this.send()
      await this.sending
    }
    clearTimeout(stop)
  }

  private send(): void {
    if (this.sending !== undefined) return
    const spans = this.waiting.splice(0, mostAtOnce)
    this.sending = this.post(spans)
      .catch(() => 'dropped' as const)
      .then((result) => {
        this.onResult(result, spans.length)
        this.sending = undefined
        this.timer = this.waiting.length > 0 ? setTimeout(() => this.send(), 0).unref() : undefined
      })
  }

  private async post(spans: readonly Span[]): Promise<'sent' | 'dropped'> {
    const { url, headers, withinMs } = this.settings
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(this.bodyOf(spans)),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(withinMs), this.stopping.signal]),
    })
    await answer.body?.cancel()
    return answer.ok ? 'sent' : 'dropped'
  }

  private bodyOf(spans: readonly Span[]) {
    const { serviceName } = this.settings
    const resource = { attributes: attributesOf({ 'service.name': serviceName }) }
    const scope = { name: 'sluice', version: this.version }
    return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(otlpOf) }] }] }
  }
}

function otlpOf(span: Span) {
  const { name, parentId, label, kind, attributes, links, isError } = span
  return {
    ...name,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name: label,
    kind: kinds[kind],
    startTimeUnixNano: nanosOf(span.startedMs),
    endTimeUnixNano: nanosOf(span.endedMs),
    attributes: attributesOf(attributes),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: isError ? { code: 2 } : {},
  }
}

function nanosOf(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n)
}

function attributesOf(attributes: Record<string, string | number | boolean>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: taggedValue(value) }))
}

function taggedValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
