import type { Registry } from 'prom-client'

interface Value {
  metricName?: string
  labels: Record<string, string | number>
  value: number
  exemplar?: { labelSet: Record<string, string>; value: number; timestamp: number } | null
}

/**
 * What a registry holds as OpenMetrics, which has room for examples: the trace of one request that a histogram has
 * counted. The library has this format too, but a registry that gave it once gives counters without `_total` from then on.
 */
export async function openMetricsText(registry: Registry): Promise<string> {
  const metrics = await registry.getMetricsAsJSON()
  const lines = metrics.flatMap(({ name, help, type, values }) => {
    const isCounter = String(type) === 'counter'
    const family = isCounter ? name.replace(/_total$/, '') : name
    return [
      `# HELP ${family} ${escaped(help)}`,
      `# TYPE ${family} ${type}`,
      ...(values as Value[]).map((each) => lineOf(isCounter ? `${family}_total` : name, each)),
    ]
  })
  return `${lines.join('\n')}\n# EOF\n`
}

function lineOf(name: string, { metricName = name, labels, value, exemplar }: Value): string {
  const line = `${metricName}${labelsOf(labels)} ${numberOf(value)}`
  if (!exemplar) return line
  const { labelSet, value: seen, timestamp } = exemplar
  return `${line} # ${labelsOf(labelSet) || '{}'} ${numberOf(seen)} ${timestamp}`
}

function labelsOf(labels: Record<string, string | number>): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}="${escaped(String(value))}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}

function numberOf(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? String(value) : value > 0 ? '+Inf' : '-Inf'
}
