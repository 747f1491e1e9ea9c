import { withPatience } from '../db/in-transaction.ts'
import { houseBook } from '../ledger/house.ts'
import type { Currency } from '../lib/money.ts'
import { ensure, type ProofTx } from './proof-failure.ts'

/** What the books have at a bank account, and what its movements say, in minor units. */
export interface AccountSides {
  /** What is at the account by all books together. */
  books: bigint
  /** What the booked movements add up to, and the debits that are booked as unexplained. */
  bank: bigint
  /** Payments of movements that the books still have. */
  payments: bigint
  /** Payments that were given back or taken back in the books, with no debit that is booked as that. */
  goneByHand: bigint
  /** What the books have as kept by the rail of these payments, negative. */
  deducted: bigint
  /** All that was written off at the account, or left it unexplained; negative for a loss. */
  writtenOff: bigint
  /** The part of it that explains no movement. */
  writtenOffByHand: bigint
  /** What payouts of files were paid from the account by the books. */
  paidOut: bigint
  /** Of payouts of files, what the books have paid and the bank has not debited, and what is the other way round. */
  paidNotDebited: bigint
  debitedNotPaid: bigint
  /** Whether movements are being booked: they may be in the books, but are not marked so yet. */
  isBooking: boolean
}

/** Reads both sides of a bank account, on one snapshot. */
export async function readAccountSides(
  tx: Pick<ProofTx, 'query'>,
  { name, currency }: { name: string; currency: Currency },
): Promise<AccountSides> {
  const { rows } = await tx.query<{
    books: bigint
    bank: bigint
    payments: bigint
    gone: bigint
    deducted: bigint
    written_off: bigint
    by_hand: bigint
    paid_out: bigint
    not_debited: bigint
    not_paid: bigint
    booking: boolean
  }>(
    `with moved as (
       select movement_id, amount, deducted, state, explained_by, tries,
         account || ':' || replace(movement_id::text, '-', '') as payment_id
       from bank_movements where account = $1
     ), paid as (
       select m.amount + m.deducted as amount, exists (select 1 from bank_movements d
           where d.account = $1 and d.returns = m.movement_id and d.state = 'booked') as is_debited,
         case when c.agent_id = 0 then u.state else p.state end as state
       from moved m join payment_claims c on c.payment_id = m.payment_id
       left join unmatched_payments u on u.payment_id = c.payment_id
       left join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
       -- What is no money of its own was taken out of the books.
       where not (m.state = 'booked' and m.explained_by in ('batch', 'never_booked'))
     ), kept as (
       select case when p.payment_id is null
         -- Archived: it was booked, and booked back if only what had arrived went back.
         then case when (m.explained_by in ('batch', 'never_booked') and m.state = 'booked')
             or exists (select 1 from bank_movements d where d.account = $1
               and d.returns = m.movement_id and d.amount = -m.amount and d.state = 'booked')
           then 0 else -m.deducted end
         else (select -coalesce(sum(j.clearing_change), 0) from journal j
           where j.agent_id = c.agent_id and j.clearing_at = $1 and j.once_key in (
             'cost:' || $1 || ':deduction:' || replace(m.movement_id::text, '-', ''),
             'cost:' || $1 || ':deduction-back:' || replace(m.movement_id::text, '-', ''))) end
         as amount
       from moved m join payment_claims c on c.payment_id = m.payment_id
       left join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
       where m.deducted > 0
       union all
       -- What the bank charged for a payout. Archived: it was booked.
       select case when o.order_id is null then case when m.state = 'booked' then -m.deducted else 0 end
         else (select -coalesce(sum(j.clearing_change), 0) from journal j
           where j.agent_id = i.agent_id and j.clearing_at = $1
             and j.once_key = 'cost:' || $1 || ':deduction:' || replace(m.movement_id::text, '-', '')) end
       from moved m join lateral (select agent_id, order_id from payout_items
         where account = $1 and debited_by = m.movement_id order by file_id, n limit 1) i on true
       left join orders o on o.agent_id = i.agent_id and o.order_id = i.order_id
       where m.deducted > 0 and m.amount < 0
     ), written as (
       select clearing_change, event, once_key, event <> 'written_off' or once_key like 'write-off:movement:%'
         or once_key like 'write-off:batch:%' as is_of_movement
       from journal where agent_id = $2 and clearing_at = $1
         and event in ('written_off', 'debit_reported', 'debit_explained')
     ), out as (
       select amount, paid, debited - returned - paid as apart from (
         select i.amount,
           -- An archived order is as its item was then.
           (case when o.order_id is null then i.state = 'paid'
             else o.status = 'PAID' and o.provider_ref = i.reference end)::int as paid,
           exists (select 1 from moved m where m.movement_id = i.debited_by
             and m.state = 'booked')::int as debited,
           exists (select 1 from moved m where m.movement_id = i.returned_by
             and m.state = 'booked')::int as returned
         from payout_items i
         left join orders o on o.agent_id = i.agent_id and o.order_id = i.order_id
         where i.account = $1 and i.reference is not null
       ) items
     )
     select
       (select coalesce(sum(amount * paid), 0) from out)::bigint as paid_out,
       (select coalesce(sum(amount * -apart), 0) from out where apart < 0)::bigint as not_debited,
       (select coalesce(sum(amount * apart), 0) from out where apart > 0)::bigint as not_paid,
       (select -coalesce(sum(balance), 0) from clearings where provider = $1)::bigint as books,
       (select coalesce(sum(amount), 0) from moved
        where (state = 'booked' and explained_by not in ('batch', 'never_booked'))
          or (state = 'unexplained' and 'debit_reported:' || payment_id in (
            select once_key from written where event = 'debit_reported')))::bigint as bank,
       -- An archived payment is in the books unless a movement took it back: until then it is not archived.
       (select coalesce(sum(amount), 0) from paid where state in ('waiting', 'credited')
          or (state is null and not is_debited))::bigint as payments,
       (select coalesce(sum(amount), 0) from paid where state in ('returned', 'taken_back')
          and not is_debited)::bigint as gone,
       (select coalesce(sum(amount), 0) from kept)::bigint as deducted,
       (select -coalesce(sum(clearing_change), 0) from written)::bigint as written_off,
       (select -coalesce(sum(clearing_change), 0) from written
        where not is_of_movement)::bigint as by_hand,
       -- One that fails again and again explains nothing.
       exists (select 1 from moved where state = 'matched' and tries < 10) as booking`,
    [name, houseBook(currency)],
  )
  const [row] = rows
  return {
    books: row?.books ?? 0n,
    bank: row?.bank ?? 0n,
    payments: row?.payments ?? 0n,
    goneByHand: row?.gone ?? 0n,
    deducted: row?.deducted ?? 0n,
    writtenOff: row?.written_off ?? 0n,
    writtenOffByHand: row?.by_hand ?? 0n,
    paidOut: row?.paid_out ?? 0n,
    paidNotDebited: row?.not_debited ?? 0n,
    debitedNotPaid: row?.not_paid ?? 0n,
    isBooking: row?.booking ?? false,
  }
}

/** What the books have more than the movements, apart from what people did by hand. */
export function differenceOf(sides: AccountSides): bigint {
  const { books, bank, goneByHand, writtenOffByHand, paidNotDebited, debitedNotPaid } = sides
  return books - (bank - goneByHand + writtenOffByHand - paidNotDebited + debitedNotPaid)
}

interface NamedAccount {
  name: string
  currency: Currency
}

/** The bank account whose name comes next. */
export async function findNextAccount(
  tx: ProofTx,
  after: string,
): Promise<NamedAccount | undefined> {
  const { rows } = await tx.query<NamedAccount>(
    'select name, currency from bank_accounts where name > $1 order by name limit 1',
    [after],
  )
  return rows[0]
}

/**
 * An account with millions of movements takes longer than a statement usually may. Both sides must be read on one
 * snapshot, so this is the one piece of the proof that grows with the account.
 */
const accountS = 120

/**
 * Proves a bank account: the books have at it what the payments of its movements, what was deducted from them and the
 * write-offs there add up to, and that is what its movements say.
 */
export async function proveAccount(tx: ProofTx, account: NamedAccount): Promise<void> {
  await withPatience(tx, accountS, () => laySidesTogether(tx, account))
}

async function laySidesTogether(tx: ProofTx, account: NamedAccount): Promise<void> {
  const { name } = account
  const sides = await readAccountSides(tx, account)
  const { books, payments, deducted, writtenOff, paidOut } = sides
  ensure(
    books === payments + deducted + writtenOff - paidOut,
    () =>
      `the books have ${books} at ${name}, but payments there are ${payments}, deductions ${deducted}, write-offs ${writtenOff} and payouts ${paidOut}`,
  )
  const difference = differenceOf(sides)
  ensure(
    sides.isBooking || difference === 0n,
    () => `the books have ${difference} more at ${name} than its movements say`,
  )
  await proveWriteOffs(tx, account)
  await provePayoutsAreInFiles(tx, name)
  await proveSlipsAreUsed(tx, name)
}

/** Proves that every slip that was used has the report that it was used for. */
async function proveSlipsAreUsed(tx: ProofTx, name: string): Promise<void> {
  const { rows } = await tx.query<{ slip: string }>(
    `select slip from hand_payments h where account = $1 and not exists (
       select 1 from bank_reports r
       where r.account = $1 and r.source = 'hand' and r.report_key = h.slip) limit 1`,
    [name],
  )
  ensure(rows.length === 0, () => `slip ${rows[0]?.slip} was used at ${name} for no report`)
}

/** Proves that every payout that an account was handed is in a file, and every debit is of items of that sum. */
async function provePayoutsAreInFiles(tx: ProofTx, name: string): Promise<void> {
  const { rows } = await tx.query<{ reference: string }>(
    `select p.reference from payouts p where p.provider = $1 and not exists (
       select 1 from payout_items i where i.account = $1 and i.agent_id = p.agent_id
         and i.order_id = p.order_id and i.attempt = p.attempt) limit 1`,
    [name],
  )
  ensure(rows.length === 0, () => `payout ${rows[0]?.reference} of ${name} is in no payout file`)
  const { rows: apart } = await tx.query<{ movement_id: string }>(
    `select m.movement_id from bank_movements m
     where m.account = $1 and m.explained_by in ('payout', 'payout_returned') and abs(m.amount + m.deducted) <> (
       select coalesce(sum(i.amount), 0) from payout_items i where i.account = m.account
         and m.movement_id = case m.explained_by when 'payout' then i.debited_by else i.returned_by end)
     limit 1`,
    [name],
  )
  ensure(
    apart.length === 0,
    () => `bank movement ${name}:${apart[0]?.movement_id} is not the sum of the payouts that it is`,
  )
}

/** Proves that what was written off for a movement is for one that a person explained. */
async function proveWriteOffs(
  tx: ProofTx,
  { name, currency }: { name: string; currency: Currency },
): Promise<void> {
  const { rows } = await tx.query<{ once_key: string }>(
    `select j.once_key from journal j
     where j.agent_id = $2 and j.clearing_at = $1 and j.event = 'written_off'
       and (j.once_key like 'write-off:movement:%' or j.once_key like 'write-off:batch:%')
       and j.once_key not in (
         select unnest(case when explained_by in ('batch', 'never_booked')
           then array['write-off:movement:' || id, 'write-off:batch:' || id]
           else array['write-off:movement:' || id] end)
         from (select explained_by, account || ':' || replace(movement_id::text, '-', '') as id
           from bank_movements where account = $1 and explained_by in (
             'bank_fee', 'interest', 'own_transfer', 'correction', 'batch', 'never_booked')) explained)
     limit 1`,
    [name, houseBook(currency)],
  )
  const [orphan] = rows
  ensure(!orphan, () => `${orphan?.once_key} is in the books, but explains no movement of ${name}`)
}
