import { type Columns, columns } from '../db/columns.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { currencyRow } from '../lib/currencies.ts'
import { gather } from '../lib/gather.ts'
import { startOfDay } from '../lib/local-time.ts'
import { type Currency, minorPerUnit } from '../lib/money.ts'
import { depositCodes } from '../lib/payment-code.ts'
import type { Recognition } from '../providers/provider.ts'
import type { BankAccount } from './bank-account.ts'
import { codeFormsOf } from './find-codes.ts'

/** What a deposit is recognised by at a bank account. */
export interface ExpectedDeposit {
  account: string
  code: string
  agentId: bigint
  orderId: string
  userId: string
  amountMinor: bigint
  payableMinor: bigint
  /** What the rail keeps of it, by the account's terms when the deposit was created; null: not kept then. */
  deductionMinor: bigint | null
  /** Whether the payable amount alone names the order. */
  byAmount: boolean
  /** The letters and digits of the account that the payer said to pay from. */
  payerAccountNo: string
  createdAt: Date
  expiresAt: Date
  heldUntil: Date
  /** `reserved`: the order may not be there yet. `released`: the amount may be used again. */
  state: 'reserved' | 'open' | 'released'
}

export const expectedColumns: Columns<ExpectedDeposit> = columns<ExpectedDeposit>({
  account: ['account', 'text'],
  code: ['code', 'text'],
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  userId: ['user_id', 'text'],
  amountMinor: ['amount', 'bigint'],
  payableMinor: ['payable', 'bigint'],
  deductionMinor: ['deduction', 'bigint', 'null'],
  byAmount: ['by_amount', 'boolean'],
  payerAccountNo: ['payer_account_no', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  expiresAt: ['expires_at', 'timestamptz'],
  heldUntil: ['held_until', 'timestamptz'],
  state: ['state', 'text'],
})

/** The part of a deposit order that makes it recognisable. */
export interface DepositToExpect {
  agentId: bigint
  orderId: string
  userId: string
  currency: Currency
  amountMinor: bigint
  accountNo: string
  createdAt: Date
  expiresAt: Date
}

/** One user of an agent holds at most so many unpaid places of one amount. */
const placesOfUser = 3
/** An agent holds at most this part of an amount's places while another agent uses the account. */
const shareOfAgent = 4

/** What an order is expected with at an account. */
export async function findExpected(
  db: Pool | Tx,
  account: Pick<BankAccount, 'name' | 'codeForm' | 'formerCodeForms'>,
  { agentId, orderId }: { agentId: bigint; orderId: string },
): Promise<ExpectedDeposit | undefined> {
  const { rows } = await db.query<ExpectedDeposit>(
    `select ${expectedColumns.select('e')} from expected_deposits e
     where e.account = $1 and e.code = any($2::text[]) and e.agent_id = $3 and e.order_id = $4`,
    [account.name, depositCodes(orderId, codeFormsOf(account)), agentId, orderId],
  )
  return rows[0]
}

const insertExpected = `insert into expected_deposits (${expectedColumns.names})
  select * from ${expectedColumns.unnest} on conflict do nothing returning account, code`

/** Expects deposits at bank accounts, before their orders are created. */
export class ExpectedDeposits {
  private readonly pool: Pool
  private readonly insertByCode: (expected: ExpectedDeposit) => Promise<boolean>

  constructor(pool: Pool) {
    this.pool = pool
    // Deposits that a code names need nothing but a row, so many of them share a commit.
    this.insertByCode = gather(async (rows) => {
      const { rows: done } = await pool.query<{ account: string; code: string }>(
        insertExpected,
        expectedColumns.values(rows),
      )
      const inserted = new Set(done.map(({ account, code }) => `${account} ${code}`))
      return rows.map(({ account, code }) => inserted.has(`${account} ${code}`))
    })
  }

  /**
   * Expects a deposit at an account, under a code and, if its amounts must differ, with a surplus. Returns
   * undefined if the account has no amount free for it or has taken as much as it may today.
   */
  async expect(
    account: string,
    recognises: Recognition,
    deposit: DepositToExpect,
  ): Promise<ExpectedDeposit | undefined> {
    const { by, holdMs, dayLimitMinor, deductionMinor, codeForm } = recognises
    for (const code of depositCodes(deposit.orderId, [codeForm])) {
      const expected: ExpectedDeposit = {
        account,
        code,
        agentId: deposit.agentId,
        orderId: deposit.orderId,
        userId: deposit.userId,
        amountMinor: deposit.amountMinor,
        payableMinor: deposit.amountMinor,
        deductionMinor,
        byAmount: by !== 'code',
        payerAccountNo: plainAccountNo(deposit.accountNo),
        createdAt: deposit.createdAt,
        expiresAt: deposit.expiresAt,
        heldUntil: new Date(deposit.expiresAt.getTime() + holdMs),
        state: 'reserved',
      }
      if (by === 'code' && dayLimitMinor === null) {
        if (await this.insertByCode(expected)) return expected
      } else {
        const placed = await this.place(expected, deposit.currency, recognises)
        if (placed !== 'code taken') return placed
      }
    }
    return undefined
  }

  /** Under a lock of the account, so that the limits are exact however many processes place deposits. */
  private async place(
    expected: ExpectedDeposit,
    currency: Currency,
    recognises: Recognition,
  ): Promise<ExpectedDeposit | 'code taken' | undefined> {
    const { account, amountMinor, byAmount } = expected
    return inTransaction(this.pool, async (tx) => {
      const lock = recognises.dayLimitMinor === null ? `${account} ${amountMinor}` : account
      // Whoever waits for the lock has a connection that others need: if its holder stops, the database ends it.
      await tx.query(`set local idle_in_transaction_session_timeout = '1s'`)
      await tx.query('select pg_advisory_xact_lock(7, hashtext($1))', [lock])
      const payableMinor = byAmount
        ? await freeAmount(tx, expected, currency, recognises.surplusSteps)
        : amountMinor
      if (payableMinor === undefined) return undefined
      const placed = { ...expected, payableMinor }
      if (!(await fitsToday(tx, placed, recognises))) return undefined
      const { rowCount } = await tx.query(insertExpected, expectedColumns.values([placed]))
      return rowCount === 1 ? placed : 'code taken'
    })
  }

  /** Frees the amount of a deposit that was not created after all. */
  async release({ account, code }: Pick<ExpectedDeposit, 'account' | 'code'>): Promise<void> {
    await this.pool.query(
      `update expected_deposits set state = 'released'
       where account = $1 and code = $2 and state = 'reserved'`,
      [account, code],
    )
  }
}

/** The letters and digits of an account number, as they are compared. */
export function plainAccountNo(accountNo: string): string {
  return accountNo.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
}

async function fitsToday(
  tx: Tx,
  { account, payableMinor, createdAt }: ExpectedDeposit,
  { dayLimitMinor, zone }: Recognition,
): Promise<boolean> {
  if (dayLimitMinor === null) return true
  // A deposit that came to nothing has not used the limit; a released one that was paid has.
  const { rows } = await tx.query<{ used: bigint }>(
    `select coalesce(sum(e.payable), 0)::bigint as used from expected_deposits e
     left join orders o on o.agent_id = e.agent_id and o.order_id = e.order_id
     where e.account = $1 and e.created_at >= $2
       and (o.status in ('WAITING', 'PAID') or (o.order_id is null and e.state = 'reserved'))`,
    [account, startOfDay(createdAt, zone)],
  )
  return (rows[0]?.used ?? 0n) + payableMinor <= dayLimitMinor
}

/** An amount at the account that nobody is expected to pay; undefined if none is free for this deposit. */
async function freeAmount(
  tx: Tx,
  { account, agentId, userId, amountMinor }: ExpectedDeposit,
  currency: Currency,
  steps: number,
): Promise<bigint | undefined> {
  const step = currencyRow(currency).surplusStepMinor
  const most = amountMinor + step * BigInt(steps)
  const { rows: taken } = await tx.query<Place>(
    `select payable, agent_id, order_id, user_id from expected_deposits
     where account = $1 and payable > $2 and payable <= $3 and by_amount and state <> 'released'`,
    [account, amountMinor, most],
  )
  const own = taken.filter((each) => each.agent_id === agentId)
  const ofUser = own.filter((each) => each.user_id === userId)
  if (ofUser.length >= placesOfUser && (await unpaidOf(tx, ofUser)) >= placesOfUser)
    return undefined
  const share = Math.max(1, Math.floor(steps / shareOfAgent))
  if (own.length >= share && (await isUsedByAnother(tx, account, agentId))) return undefined
  // An agent who is alone at the account leaves a share for whoever comes next, if anybody can.
  const shared = Math.floor(steps / shareOfAgent)
  if (own.length >= steps - shared && (await isThereAnother(tx, agentId, currency))) {
    return undefined
  }
  const used = new Set(taken.map(({ payable }) => payable))
  const unit = minorPerUnit(currency)
  const free: bigint[] = []
  for (let at = 1; at <= steps; at++) {
    const payable = amountMinor + step * BigInt(at)
    // Who forgets the surplus pays a round amount: that must not be the one which another order is known by.
    const isRound = step < unit && payable % unit === 0n
    if (!isRound && !used.has(payable)) free.push(payable)
  }
  return leastRecent(tx, account, drawn(free, 64))
}

/** Some of the values, by chance and in no order. */
function drawn<T>(values: T[], count: number): T[] {
  for (let at = 0; at < Math.min(count, values.length); at++) {
    const other = at + Math.floor(Math.random() * (values.length - at))
    const [a, b] = [values[at] as T, values[other] as T]
    values[at] = b
    values[other] = a
  }
  return values.slice(0, count)
}

/** Of these amounts, the first that was never expected, or the one whose time was over longest ago. */
async function leastRecent(
  tx: Tx,
  account: string,
  payables: readonly bigint[],
): Promise<bigint | undefined> {
  // Money that comes very late is then less likely to fit two orders.
  const { rows } = await tx.query<{ payable: bigint }>(
    `select k.payable from unnest($2::bigint[]) with ordinality k(payable, nth)
     left join lateral (
       select e.held_until from expected_deposits e
       where e.account = $1 and e.payable = k.payable and e.by_amount
       order by e.created_at desc limit 1
     ) used on true
     order by used.held_until nulls first, k.nth limit 1`,
    [account, payables],
  )
  return rows[0]?.payable
}

interface Place {
  payable: bigint
  agent_id: bigint
  order_id: string
  user_id: string
}

/** How many of these places are not paid. A user who pays holds nobody up. */
async function unpaidOf(tx: Tx, places: readonly Place[]): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from orders o
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on o.agent_id = k.agent_id and o.order_id = k.order_id
     where o.status = 'PAID'`,
    [places.map((each) => each.agent_id), places.map((each) => each.order_id)],
  )
  return places.length - (rows[0]?.count ?? 0)
}

async function isUsedByAnother(tx: Tx, account: string, agentId: bigint): Promise<boolean> {
  const { rows } = await tx.query(
    `(select 1 from expected_deposits
      where account = $1 and agent_id < $2 and state <> 'released' limit 1)
     union all
     (select 1 from expected_deposits
      where account = $1 and agent_id > $2 and state <> 'released' limit 1)`,
    [account, agentId],
  )
  return rows.length > 0
}

async function isThereAnother(tx: Tx, agentId: bigint, currency: Currency): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 from agents where agent_id <> $1 and currency = $2 and status = 'active' limit 1`,
    [agentId, currency],
  )
  return rows.length > 0
}

/** What is expected under these codes, at any account. */
export async function findByCodes(
  pool: Pool | Tx,
  codes: readonly string[],
): Promise<ExpectedDeposit[]> {
  const { rows } = await pool.query<ExpectedDeposit>(
    `select ${expectedColumns.select('e')} from expected_deposits e where e.code = any($1::text[])`,
    [codes],
  )
  return rows
}

/** How many rows one round looks at. */
const releasePage = 1_000
/** An order is created within seconds of its reservation, or not at all. */
const unorderedMs = 60_000

/**
 * Releases what is no longer expected: places whose order was never created, and those whose time is over.
 * Money that arrives for them is still recognised.
 */
export async function releaseExpected(pool: Pool, now: Date): Promise<'more' | 'done'> {
  const { rowCount: settled } = await pool.query(
    `update expected_deposits e
     set state = case when o.order_id is null then 'released' else 'open' end
     from (select account, code, agent_id, order_id from expected_deposits
       where state = 'reserved' and created_at <= $1 order by created_at limit $2) r
     left join orders o on o.agent_id = r.agent_id and o.order_id = r.order_id
     where e.account = r.account and e.code = r.code and e.state = 'reserved'`,
    [new Date(now.getTime() - unorderedMs), releasePage],
  )
  const { rowCount: released } = await pool.query(
    `update expected_deposits e set state = 'released'
     from (select account, code from expected_deposits
       where state = 'open' and held_until <= $1 order by held_until limit $2) r
     where e.account = r.account and e.code = r.code and e.state = 'open'`,
    [now, releasePage],
  )
  return settled === releasePage || released === releasePage ? 'more' : 'done'
}

/** How full an account is with the amount that most payers are expected to pay. */
export interface PlacesUsed {
  account: string
  amountMinor: bigint
  used: number
  places: number
}

/** For each account with unique amounts, the amount with the fewest places left. */
export async function readPlacesUsed(pool: Pool): Promise<PlacesUsed[]> {
  const { rows } = await pool.query<{
    account: string
    amount: bigint
    used: bigint
    places: number
  }>(
    `select distinct on (e.account) e.account, e.amount, count(*) as used,
       b.surplus_steps as places
     from expected_deposits e join bank_accounts b on b.name = e.account
     where e.by_amount and e.state <> 'released'
     group by e.account, e.amount, b.surplus_steps order by e.account, used desc, e.amount`,
  )
  return rows.map(({ account, amount, used, places }) => ({
    account,
    amountMinor: amount,
    used: Number(used),
    places,
  }))
}
