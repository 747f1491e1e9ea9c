import { Command, Option } from 'commander'
import { bookings, type ItemKind, itemKinds } from '../ledger/book.ts'
import { bookingsOf, notClosed } from '../ledger/decide-item.ts'
import { findOrder } from '../ledger/find-order.ts'
import { closeItem, type FoundItem, findItem, searchItems } from '../ledger/open-items.ts'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { bookItem } from '../payouts/book-item.ts'
import { itemNext, sidesOf } from '../payouts/item-words.ts'
import { existing } from './agent.ts'
import { withBackend, withDesk } from './command.ts'
import { commandLine, onRecord } from './on-record.ts'
import { ageText, print, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

export function openItemCommand(): Command {
  const item = new Command('open-item')
  listCommand(item)
  showCommand(item)
  closeCommand(item)
  bookCommand(item)
  return item
}

function listCommand(item: Command): void {
  item
    .command('list')
    .description('list what contradicts the books and is open, the oldest first')
    .option('--agent <app_id>', 'only of this agent')
    .addOption(new Option('--kind <kind>', 'only of this kind').choices(itemKinds))
    .option('--closed', 'those that were closed instead, the latest first')
    .option('--json', 'as JSON')
    .action(
      async (options: { agent?: string; kind?: ItemKind; closed?: boolean; json?: boolean }) => {
        await withBackend(async ({ pool }) => {
          const agent =
            options.agent === undefined ? undefined : await existing(pool, options.agent)
          const found = await searchItems(pool, {
            state: options.closed ? 'closed' : 'open',
            agentId: agent?.agentId ?? null,
            kind: options.kind ?? null,
            assignee: null,
            after: null,
            limit: 10_000,
          })
          if (options.json) return print(`[${found.map(itemJson).join(',')}]`)
          const now = Date.now()
          print(
            table(
              ['ITEM', 'AMOUNT', 'AGE', 'WHAT'],
              found.map((each) => [
                each.itemId,
                amountOf(each),
                ageText(Math.floor((now - each.openedAt.getTime()) / 1000)),
                sidesOf(each),
              ]),
            ),
          )
        })
      },
    )
}

function showCommand(item: Command): void {
  item
    .command('show <item>')
    .description('show one, and what can be done about it')
    .option('--json', 'as JSON')
    .action(async (itemId: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const found = await existingItem(await findItem(pool, itemId), itemId)
        if (options.json) return print(itemJson(found))
        const order = await findOrder(pool, found.agentId, found.orderId)
        print(`${found.itemId}: ${amountOf(found)}, order ${txnId(found.agentId, found.orderId)}`)
        print(`${sidesOf(found)} The order is ${order?.status} now.`)
        print(itemNext(found, order ?? { status: 'WAITING', providerRef: null }))
        if (found.evidence !== null) print(`Closed on: ${found.evidence}`)
      })
    })
}

function closeCommand(item: Command): void {
  item
    .command('close <item>')
    .description('close one with what you found out; moves no money')
    .requiredOption('--evidence <text>', 'what you know it from; it stays with the item')
    .option('--json', 'as JSON')
    .action(async (itemId: string, options: { evidence: string; json?: boolean }) => {
      const { evidence } = options
      if (!isPrintable(evidence, 1000)) {
        throw new UsageError('--evidence must be 1 to 1000 printable characters')
      }
      await withBackend(async ({ pool }) => {
        const found = await existingItem(await findItem(pool, itemId), itemId)
        const { agentId, kind, closedAt } = found
        const entry = {
          action: 'close_open_item',
          subject: { kind: 'open_item', id: itemId },
          agentId,
          before: { kind, closed_at: closedAt },
          reason: evidence,
        }
        const closed = { at: new Date(), by: commandLine.email, evidence }
        await onRecord(
          pool,
          entry,
          async () => {
            if (await closeItem(pool, found, closed)) return
            throw new UsageError(`${itemId}: ${notClosed}`)
          },
          () => ({ resolution: 'looked_into' }),
        )
        if (!options.json) return print(`${itemId} is closed`)
        print(itemJson(await existingItem(await findItem(pool, itemId), itemId)))
      })
    })
}

function bookCommand(item: Command): void {
  withBreakGlass(
    item
      .command('book <item>')
      .description('book what left against the books, or that it is back, and close the item')
      .addOption(
        new Option('--as <way>', 'who bears it, or that it is back')
          .choices(bookings.map((each) => each.replace('_', '-')))
          .makeOptionMandatory(),
      )
      .requiredOption('--reason <text>', 'what you know it from; it stays with the item'),
  )
    .option('--json', 'as JSON')
    .action(async (itemId: string, options: ProposeOptions & { as: string; reason: string }) => {
      const { reason } = options
      if (!isPrintable(reason, 500)) {
        throw new UsageError('--reason must be 1 to 500 printable characters')
      }
      await withDesk(async (desk, backend, config) => {
        const { pool } = desk
        const found = await existingItem(await findItem(pool, itemId), itemId)
        const order = await findOrder(pool, found.agentId, found.orderId)
        const way = bookings.find((each) => each.replace('_', '-') === options.as)
        if (!order || !way || !bookingsOf(found, order).includes(way)) {
          const next = order ? ` ${itemNext(found, order)}` : ''
          throw new UsageError(`${itemId} cannot be booked so.${next}`)
        }
        const request = {
          route: 'POST /open-items/:item_id/book',
          params: { item_id: itemId },
          body: { as: way, reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const { agentId, kind, closedAt } = found
        const entry = {
          action: 'close_open_item',
          subject: { kind: 'open_item', id: itemId },
          agentId,
          before: { kind, closed_at: closedAt },
          reason,
        }
        await onRecord(
          pool,
          entry,
          () => bookItem(desk, found, way, { reason, by: commandLine.email }),
          () => ({ resolution: 'looked_into', booked_as: way }),
        )
        if (!options.json) return print(`${itemId} is booked and closed`)
        print(itemJson(await existingItem(await findItem(pool, itemId), itemId)))
      })
    })
}

async function existingItem(found: FoundItem | undefined, itemId: string): Promise<FoundItem> {
  if (!found) {
    throw new UsageError(`there is no item "${itemId}": sluice open-item list shows them all`)
  }
  return found
}

function amountOf({ amountMinor, currency }: FoundItem): string {
  return `${decimalText(amountMinor, currency)} ${currency}`
}

/** Amounts are exact decimals, as everywhere. */
function itemJson(item: FoundItem): string {
  return jsonObject({
    item_id: quoted(item.itemId),
    kind: quoted(item.kind),
    txn_id: quoted(txnId(item.agentId, item.orderId)),
    provider: quoted(item.provider),
    reference: quoted(item.reference),
    amount: decimalText(item.amountMinor, item.currency),
    currency: quoted(item.currency),
    provider_said: quoted(item.providerSaid),
    order_status: quoted(item.orderStatus),
    order_provider: quoted(item.orderProvider),
    opened_at: quoted(item.openedAt.toISOString()),
    closed_at: quoted(item.closedAt?.toISOString() ?? null),
    resolution: quoted(item.resolution),
    closed_by: quoted(item.closedBy),
    evidence: quoted(item.evidence),
    booked_as: quoted(item.bookedAs),
    assignee: quoted(item.assignee),
  })
}
