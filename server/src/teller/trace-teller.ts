import type { Command } from '../ledger/commands.ts'
import { firstOf, type Span, type Tracer } from '../lib/tracing.ts'

/** The span of a command, from when it is asked for until it is answered. It is a part of its order's trace. */
export function spanOfCommand(tracer: Tracer, command: Command): Span {
  const label = `teller ${command.type}`
  const orderId = 'orderId' in command ? command.orderId : null
  const span =
    command.type === 'create'
      ? tracer.ofNewOrder(command.order.orderId, label)
      : orderId === null
        ? tracer.alone(label)
        : tracer.ofOrder(orderId, label)
  return span.set({ 'sluice.agent': String(command.agentId) })
}

/** The span of a batch, in a trace of its own: it and the commands in it are linked. */
export function spanOfBatch(tracer: Tracer, spans: readonly (Span | undefined)[]): Span {
  const batch = tracer.alone('teller batch').set({ 'sluice.commands': spans.length })
  for (const each of spans) {
    batch.link(each?.name)
    each?.link(batch.name)
  }
  return batch
}

/** Ends the span of a command that is answered. A repeat leads to the order that was created first. */
export function endSpan(span: Span, orderId: string | undefined, isRefused: boolean): void {
  if (orderId !== undefined && orderId !== span.name.traceId) span.link(firstOf(orderId))
  span.set({ 'sluice.refused': isRefused || undefined }).end()
}
