import { heardBy } from '../alerts/alert.ts'
import type { Trouble } from '../alerts/keep-watch.ts'
import type { Pool } from '../db/pool.ts'

/** Money that left a bank account against the books. */
export const payoutAlarmKinds = ['paid_twice', 'paid_after_failed', 'unexplained_debit'] as const

export type PayoutAlarmKind = (typeof payoutAlarmKinds)[number]

/** One case of it, which a person ends by explaining the movement or closing the open item. */
interface PayoutAlarm {
  kind: PayoutAlarmKind
  account: string
  place: 'movement' | 'open_item'
  id: string
  at: Date
}

const most = 1_000

async function findAlarms(pool: Pool): Promise<PayoutAlarm[]> {
  const { rows: debits } = await pool.query<PayoutAlarm>(
    `select case when m.detail like 'paid_twice:%' then 'paid_twice' else 'unexplained_debit' end as kind,
       m.account, 'movement' as place, m.movement_id as id, m.reported_at as at
     from bank_movements m where m.state = 'unexplained' and m.amount < 0
     order by m.booked_on desc limit ${most}`,
  )
  const { rows: items } = await pool.query<PayoutAlarm>(
    `select i.kind, i.provider as account, 'open_item' as place, i.item_id as id, i.opened_at as at
     from open_items i
     where i.closed_at is null and i.kind in ('paid_twice', 'paid_after_failed')
       and i.provider_said <> 'REVERT'
       and i.provider in (select b.name from bank_accounts b)
     limit ${most}`,
  )
  return [...debits, ...items]
}

/** What of each kind there is at each account, and since when. */
export async function countPayoutAlarms(
  pool: Pool,
): Promise<(Omit<PayoutAlarm, 'id' | 'at'> & { count: number; oldestAt: Date })[]> {
  const counted = new Map<string, PayoutAlarm & { count: number; oldestAt: Date }>()
  for (const alarm of await findAlarms(pool)) {
    const { kind, account, place, at } = alarm
    const key = `${kind} ${account} ${place}`
    const known = counted.get(key) ?? { ...alarm, count: 0, oldestAt: at }
    const oldestAt = new Date(Math.min(Number(at), Number(known.oldestAt)))
    counted.set(key, { ...known, count: known.count + 1, oldestAt })
  }
  return [...counted.values()].sort((a, b) => Number(a.oldestAt) - Number(b.oldestAt))
}

const words: Record<PayoutAlarmKind, (account: string) => string> = {
  paid_twice: (account) => `${account} has paid a payout twice. Ask the bank for the money.`,
  paid_after_failed: (account) =>
    `${account} has paid a payout that had failed, and whose money was given back. See Open items.`,
  unexplained_debit: (account) =>
    `Money left ${account} that nobody sent, as far as the books know. Say what it was on its page.`,
}

/** Money that left against the books: each case is told once. */
export async function payoutAlarms(pool: Pool): Promise<Trouble[]> {
  return (await findAlarms(pool)).map(({ kind, account, place, id }) => ({
    subject: `${kind} ${place} ${account}:${id}`,
    topic: `${kind} ${account}`,
    words: words[kind](account),
    to: { roles: heardBy.payout_alarm },
  }))
}
