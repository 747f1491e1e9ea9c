import { Command } from 'commander'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { isPrintable } from '../lib/printable.ts'
import { closeAlike, closeEvent, listOpenEvents, type OpenEvent } from '../payments/open-events.ts'
import { withBackend } from './command.ts'
import { onRecord } from './on-record.ts'
import { ageText, print, table } from './output.ts'
import { UsageError } from './usage-error.ts'

export function eventCommand(): Command {
  const event = new Command('event')
  listCommand(event)
  closeCommand(event)
  return event
}

function listCommand(event: Command): void {
  event
    .command('list')
    .description('list what providers reported and nobody could act on yet, the oldest first')
    .option('--provider <name>', 'only of this provider')
    .option('--json', 'as JSON')
    .action(async (options: { provider?: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const now = new Date()
        const found = await listOpenEvents(pool, now, {
          provider: options.provider,
          limit: 10_000,
        })
        if (options.json) return print(`[${found.map(eventJson).join(',')}]`)
        print(
          table(
            ['PROVIDER', 'EVENT', 'AGE', 'ALIKE', 'WHAT', 'WHY IT WAITS'],
            found.map((each) => [
              each.provider,
              each.eventId,
              ageText(Math.floor((now.getTime() - each.receivedAt.getTime()) / 1000)),
              String(each.alike),
              each.words,
              each.detail ?? '',
            ]),
          ),
        )
      })
    })
}

function closeCommand(event: Command): void {
  event
    .command('close <provider> <event>')
    .description('close one with what you found out; moves no money')
    .requiredOption('--evidence <text>', 'what you know it from; it stays with the event')
    .option('--alike <count>', 'and all others of the same unknown kind, as many as the list says')
    .option('--json', 'as JSON')
    .action(
      async (
        provider: string,
        eventId: string,
        options: { evidence: string; alike?: string; json?: boolean },
      ) => {
        const { evidence } = options
        const alike = options.alike === undefined ? undefined : Number(options.alike)
        if (alike !== undefined && !(Number.isInteger(alike) && alike > 1)) {
          throw new UsageError('--alike must be the number that sluice event list shows')
        }
        if (!isPrintable(evidence, 1000)) {
          throw new UsageError('--evidence must be 1 to 1000 printable characters')
        }
        await withBackend(async ({ pool }) => {
          const [found] = await listOpenEvents(pool, new Date(), { provider, eventId, limit: 1 })
          if (!found) {
            throw new UsageError(
              `no event "${eventId}" of ${provider} is open: sluice event list shows them all`,
            )
          }
          const entry = {
            action: 'close_event',
            subject: { kind: 'event', id: `${provider}:${eventId}` },
            agentId: found.agentId === 0n ? null : found.agentId,
            before: { says: found.words, waits: found.detail },
            reason: evidence,
          }
          const closed = alike ?? 1
          await onRecord(
            pool,
            entry,
            async () => {
              if (alike === undefined) await closeEvent(pool, found, evidence)
              else await closeAlike(pool, found, evidence, alike)
            },
            () => ({ result: 'closed', closed }),
          )
          print(
            options.json
              ? jsonObject({
                  provider: quoted(provider),
                  event_id: quoted(eventId),
                  result: '"closed"',
                  closed: String(closed),
                })
              : alike !== undefined
                ? `${closed} events of ${provider} are closed`
                : `${eventId} of ${provider} is closed`,
          )
        })
      },
    )
}

function eventJson(event: OpenEvent): string {
  const { agentId, orderId } = event
  return jsonObject({
    provider: quoted(event.provider),
    event_id: quoted(event.eventId),
    txn_id: quoted(orderId === null ? null : txnId(agentId, orderId)),
    words: quoted(event.words),
    detail: quoted(event.detail),
    received_at: quoted(event.receivedAt.toISOString()),
    tries: String(event.tries),
    alike: String(event.alike),
  })
}
