import type { PaymentClaim } from '../ledger/book.ts'
import { debitKeys } from '../ledger/decide-house.ts'
import { houseBook } from '../ledger/house.ts'
import { claimsById } from '../ledger/payment-claims.ts'
import { txnId } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import { depositCodes } from '../lib/payment-code.ts'
import { ensure, ensureSame, type ProofTx } from './proof-failure.ts'
import { keyOf, readRowsByKey } from './rows-by-key.ts'

interface MovementRow {
  account: string
  movement_id: string
  amount: bigint
  deducted: bigint
  currency: string
  state: string
  explained_by: string | null
  agent_id: bigint | null
  order_id: string | null
  returns: string | null
  paid_at: Date | null
  reported_at: Date
  why: string | null
  payer_account_no: string | null
  payer_name: string | null
  payer_bank: string | null
  held: boolean
  account_currency: string
  reports: bigint
  agreeing: bigint
  /** Whether a report says what the movement does. */
  says_day: boolean
  says_time: boolean
  says_text: boolean
  says_payer: boolean
  says_return: boolean
  is_trusted: boolean
}

/**
 * Proves a page of bank movements: each is reported, with its amount; a booked payment is in the books, once,
 * for the order that was decided on; what is not booked is not. `after` is an account and a movement. Returns
 * the last of them if the page was full.
 */
export async function proveMovementPage(
  tx: ProofTx,
  after: string,
  limit: number,
): Promise<string | null> {
  const [account = '', movementId = ''] = after.split(' ')
  const { rows } = await tx.query<MovementRow>(
    `select m.*, b.currency as account_currency, r.*
     from (select * from bank_movements
       where (account, movement_id) > ($1, coalesce(nullif($2, ''), $4)::uuid)
       order by account, movement_id limit $3) m
     join bank_accounts b on b.name = m.account
     cross join lateral (select count(*) as reports, count(*) filter (where r.amount = m.amount) as agreeing,
         bool_or(r.booked_on = m.booked_on) as says_day,
         bool_or(r.booked_at is not distinct from m.booked_at) as says_time,
         bool_or(r.text = m.text) as says_text,
         bool_or(r.payer_account_no is not distinct from m.payer_account_no) as says_payer,
         bool_or(coalesce(r.is_return, m.is_return) = m.is_return) as says_return,
         bool_or(r.is_trusted) as is_trusted
       from bank_reports r where r.account = m.account and r.movement_id = m.movement_id) r
     order by m.account, m.movement_id`,
    [account, movementId, limit, '0'.repeat(32)],
  )
  const claims = await readClaims(tx, rows)
  for (const row of rows) {
    const where = `bank movement ${row.account}:${row.movement_id}`
    ensureSame(where, 'currency', row.currency, row.account_currency)
    ensure(row.reports > 0n, () => `${where} was reported by nobody`)
    ensureSame(where, 'reports of its amount', row.agreeing, row.reports)
    proveWords(where, row)
    const claim = claims.get(`${row.account}:${row.movement_id}`)
    const isPayment = row.explained_by === 'payment'
    // A person may have said of a credit that it was no payment, or a sum of others.
    ensure(
      claim === undefined || isPayment || isByPerson(row) || isNoMoney(row),
      () => `${where} is in the books, but explained by ${row.explained_by ?? 'nothing'}`,
    )
    ensure(
      claim !== undefined || !isPayment || row.state !== 'booked',
      () => `${where} is booked, but not in the books`,
    )
    if (!claim) continue
    ensureSame(`the claim on ${where}`, 'amount', claim.amountMinor, row.amount + row.deducted)
    ensureSame(`the claim on ${where}`, 'currency', claim.currency, row.currency)
    if (row.state !== 'booked' || row.agent_id === null || row.order_id === null) continue
    ensureSame(
      `the claim on ${where}`,
      'order',
      claim.orderId && txnId(claim.agentId, claim.orderId),
      txnId(row.agent_id, row.order_id),
    )
  }
  await provePayments(tx, rows, claims)
  await proveDeductions(
    tx,
    rows.filter((row) => row.deducted !== 0n && row.amount > 0n),
  )
  await proveCharges(
    tx,
    rows.filter((row) => row.deducted !== 0n && row.amount < 0n && row.state === 'booked'),
  )
  await proveDebits(
    tx,
    rows.filter((row) => row.amount < 0n),
  )
  await proveExplained(
    tx,
    rows.filter((row) => isByPerson(row) && row.state === 'booked'),
  )
  await proveReturns(
    tx,
    rows.filter(({ returns }) => returns !== null),
  )
  await proveBatches(
    tx,
    rows.filter((row) => row.explained_by === 'batch' && row.state === 'booked'),
  )
  await proveNeverBooked(
    tx,
    rows.filter((row) => row.explained_by === 'never_booked' && row.state === 'booked'),
  )
  await proveSlips(tx, rows)
  const last = rows.at(-1)
  return last && rows.length >= limit ? `${last.account} ${last.movement_id}` : null
}

/** Proves that all a movement says was reported, and that it waits for a second person only if nobody is believed. */
function proveWords(where: string, row: MovementRow): void {
  for (const [what, isSaid] of [
    ['day', row.says_day],
    ['time', row.says_time],
    ['text', row.says_text],
    ['payer', row.says_payer],
    ['being a return', row.says_return],
  ] as const) {
    ensure(isSaid, () => `no report of ${where} says its ${what}`)
  }
  ensure(
    row.state !== 'unconfirmed' || !row.is_trusted,
    () => `${where} waits to be confirmed, but a report of it is the bank's word`,
  )
  // What is only the sum of payments is not believed by itself.
  ensure(
    row.state === 'unconfirmed' || row.explained_by === 'batch' || row.is_trusted,
    () => `${where} counts, but no report of it is the bank's word`,
  )
}

/** Proves that payments say what their movements do: who paid, and when. */
async function provePayments(
  tx: ProofTx,
  rows: readonly MovementRow[],
  claims: ReadonlyMap<string, PaymentClaim>,
): Promise<void> {
  const claimed = [...claims.values()]
  const { rows: payments } = await tx.query<{
    payment_id: string
    paid_at: Date
    payer_account_no: string | null
    payer_account_name: string | null
    payer_bank_code: string | null
    why: string | null
  }>(
    `select p.payment_id, p.paid_at, p.payer_account_no, p.payer_account_name, p.payer_bank_code, null as why
     from payments p join unnest($1::bigint[], $2::text[]) k(agent_id, payment_id)
       on p.agent_id = k.agent_id and p.payment_id = k.payment_id
     union all
     select payment_id, paid_at, payer_account_no, payer_account_name, payer_bank_code, why
     from unmatched_payments where payment_id = any($2::text[])`,
    [claimed.map(({ agentId }) => agentId), claimed.map(({ paymentId }) => paymentId)],
  )
  const byId = new Map(rows.map((row) => [`${row.account}:${row.movement_id}`, row]))
  for (const payment of payments) {
    const row = byId.get(payment.payment_id)
    if (!row) continue
    const where = `payment ${payment.payment_id}`
    const paidAt = row.paid_at ?? row.reported_at
    ensureSame(where, 'time', payment.paid_at.getTime(), paidAt.getTime())
    // Of what is nobody's the bank may say more later.
    const isWhole = row.order_id !== null
    for (const [what, said, moved] of [
      ['payer', payment.payer_account_name, row.payer_name],
      ["payer's bank", payment.payer_bank_code, row.payer_bank],
    ] as const) {
      if (isWhole || said !== null) ensureSame(where, what, said, moved)
    }
    if (isWhole)
      ensureSame(where, "payer's account", payment.payer_account_no, row.payer_account_no)
    if (row.why !== null && payment.why !== null) {
      ensureSame(where, 'reason to wait', payment.why, row.why)
    }
  }
}

async function readClaims(
  tx: ProofTx,
  rows: readonly MovementRow[],
): Promise<Map<string, PaymentClaim>> {
  const ids = rows.map(({ account, movement_id }) => `${account}:${movement_id}`)
  const { rows: claims } = await tx.query<PaymentClaim>(claimsById, [ids])
  return new Map(claims.map((claim) => [claim.paymentId, claim]))
}

function isByPerson({ explained_by }: Pick<MovementRow, 'explained_by'>): boolean {
  return ['bank_fee', 'interest', 'own_transfer', 'correction'].includes(explained_by ?? '')
}

function isNoMoney({ explained_by }: Pick<MovementRow, 'explained_by'>): boolean {
  return explained_by === 'batch' || explained_by === 'never_booked'
}

/** Proves that a payment and what was deducted from it are what its order asks for, and that the order bore the cost. */
async function proveDeductions(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: orders } = await tx.query<{ order_id: string; payable: bigint }>(
    `select o.order_id, coalesce(o.payable, o.amount) as payable from orders o
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on o.agent_id = k.agent_id and o.order_id = k.order_id`,
    [rows.map(({ agent_id }) => agent_id), rows.map(({ order_id }) => order_id)],
  )
  const costOf = ({ account, movement_id }: MovementRow) =>
    `cost:${account}:deduction:${movement_id}`
  const { rows: costs } = await tx.query<{ once_key: string; costs_change: bigint }>(
    `select j.once_key, j.costs_change from journal j
     join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
       on j.agent_id = k.agent_id and j.once_key = k.once_key`,
    [rows.map(({ agent_id }) => agent_id), rows.map(costOf)],
  )
  const payables = new Map(orders.map(({ order_id, payable }) => [order_id, payable]))
  const charged = new Map(costs.map(({ once_key, costs_change }) => [once_key, costs_change]))
  for (const row of rows) {
    const where = `bank movement ${row.account}:${row.movement_id}`
    const payable = payables.get(row.order_id ?? '')
    // The order may be archived, with its cost.
    if (payable === undefined) continue
    ensureSame(where, 'payment with its deduction', row.amount + row.deducted, payable)
    if (row.state !== 'booked') continue
    ensureSame(`the deduction of ${where}`, 'cost', charged.get(costOf(row)), -row.deducted)
  }
}

/** Proves that what the bank charged for a payout is a cost of its order. */
async function proveCharges(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: items } = await tx.query<{
    account: string
    debited_by: string
    agent_id: bigint
    order_id: string
  }>(
    `select i.account, i.debited_by, i.agent_id, i.order_id from payout_items i
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on i.account = k.account and i.debited_by = k.movement_id`,
    [rows.map(({ account }) => account), rows.map(({ movement_id }) => movement_id)],
  )
  const { rows: costs } = await tx.query<{ order_id: string; once_key: string; cost: bigint }>(
    `select o.order_id, k.once_key, coalesce(sum(j.costs_change), 0)::bigint as cost from orders o
     join unnest($1::bigint[], $2::uuid[], $3::text[]) k(agent_id, order_id, once_key)
       on o.agent_id = k.agent_id and o.order_id = k.order_id
     left join journal j on j.agent_id = o.agent_id and j.order_id = o.order_id
       and j.once_key = k.once_key
     group by o.order_id, k.once_key`,
    [
      items.map(({ agent_id }) => agent_id),
      items.map(({ order_id }) => order_id),
      items.map(({ account, debited_by }) => `cost:${account}:deduction:${debited_by}`),
    ],
  )
  // Of several payouts in one debit the first bears it.
  const charged = new Map<string, bigint>()
  for (const { once_key, cost } of costs) {
    charged.set(once_key, (charged.get(once_key) ?? 0n) + cost)
  }
  for (const { account, movement_id, deducted } of rows) {
    const cost = charged.get(`cost:${account}:deduction:${movement_id}`)
    // The order may be archived, with its cost.
    if (cost === undefined) continue
    ensureSame(`the charge of bank movement ${account}:${movement_id}`, 'cost', cost, -deducted)
  }
}

/**
 * Proves that a debit that nothing explains is in the house's account for that, and that one that is explained is not. A
 * worker moves them a moment after their state changes; `held` says how far it is.
 */
async function proveDebits(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  const named = rows.map((row) => ({
    row,
    agentId: houseBook(row.currency as Currency),
    keys: debitKeys(`${row.account}:${row.movement_id}`),
  }))
  const found = await readRowsByKey(
    tx,
    named.flatMap(({ agentId, keys }) =>
      Object.values(keys).map((onceKey) => ({ agentId, onceKey })),
    ),
  )
  for (const { row, agentId, keys } of named) {
    const where = `bank movement ${row.account}:${row.movement_id}`
    const rowOf = (key: string) => found.get(keyOf(agentId, key)) ?? undefined
    const isReported = rowOf(keys.reported) !== undefined
    const isExplained = rowOf(keys.explained) !== undefined
    const isWrittenOff = (rowOf(keys.writtenOff)?.change.unexplained ?? 0n) !== 0n
    ensure(
      isReported || (!isExplained && !isWrittenOff),
      () => `${where} left the account for what nothing explains, where it never was`,
    )
    ensure(!isExplained || !isWrittenOff, () => `${where} left that account twice`)
    const isThere = isReported && !isExplained && !isWrittenOff
    ensure(
      row.state !== 'unexplained' || !row.held || isThere,
      () => `${where} is unexplained, and not in the house's account for that`,
    )
    ensure(
      row.state !== 'booked' || row.held || !isThere,
      () => `${where} is explained, and still in the house's account for what is not`,
    )
  }
}

/** Proves that what a person explained is in the house's book, at the account. */
async function proveExplained(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  const named = rows.map((row) => ({
    ...row,
    house: houseBook(row.currency as Currency),
    key: `write-off:movement:${row.account}:${row.movement_id}`,
  }))
  const { rows: written } = await tx.query<{
    once_key: string
    clearing_change: bigint
    unexplained_change: bigint
    clearing_at: string | null
  }>(
    `select j.once_key, j.clearing_change, j.unexplained_change, j.clearing_at from journal j
     join unnest($1::bigint[], $2::text[]) k(agent_id, once_key)
       on j.agent_id = k.agent_id and j.once_key = k.once_key`,
    [named.map(({ house }) => house), named.map(({ key }) => key)],
  )
  const { rows: payments } = await tx.query<{ payment_id: string }>(
    `select payment_id from payment_claims c where payment_id = any($1::text[])
       and not exists (select 1 from unmatched_payments u
         where u.payment_id = c.payment_id and u.state = 'dismissed')`,
    [named.map(({ account, movement_id }) => `${account}:${movement_id}`)],
  )
  ensure(
    payments.length === 0,
    () => `bank movement ${payments[0]?.payment_id} is explained by a person, and a payment too`,
  )
  const byKey = new Map(written.map((row) => [row.once_key, row]))
  for (const { key, account, movement_id, amount } of named) {
    const where = `the row that explains bank movement ${account}:${movement_id}`
    const row = byKey.get(key)
    ensure(row !== undefined, () => `${where} is missing`)
    ensureSame(where, 'amount', row.clearing_change + row.unexplained_change, -amount)
    // If it was reported before, its account is that row's.
    ensureSame(where, 'account', row.clearing_at ?? account, account)
  }
}

/** SQL: whether a payment waits or is credited. */
function isInBooks(paymentId: string): string {
  return `(exists (select 1 from unmatched_payments u where u.payment_id = ${paymentId}
      and u.state = 'waiting')
    or exists (select 1 from payment_claims c
      join payments p on p.agent_id = c.agent_id and p.payment_id = c.payment_id
      where c.payment_id = ${paymentId} and p.state in ('waiting', 'credited')))`
}

/** Proves that a movement that takes another back is its opposite, and that the books have it back too. */
async function proveReturns(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  const { rows: returned } = await tx.query<{
    account: string
    movement_id: string
    amount: bigint
    deducted: bigint
    is_there: boolean
  }>(
    `select m.account, m.movement_id, m.amount, m.deducted,
       ${isInBooks('k.payment_id')} as is_there
     from bank_movements m
     join unnest($1::text[], $2::uuid[], $3::text[]) k(account, movement_id, payment_id)
       on m.account = k.account and m.movement_id = k.movement_id`,
    [
      rows.map(({ account }) => account),
      rows.map(({ returns }) => returns),
      rows.map(({ account, returns }) => `${account}:${returns}`),
    ],
  )
  const byId = new Map(returned.map((row) => [`${row.account} ${row.movement_id}`, row]))
  for (const { account, movement_id, returns, amount, state, explained_by } of rows) {
    const where = `what bank movement ${account}:${movement_id} takes back`
    const opposite = byId.get(`${account} ${returns}`)
    // All that was paid may go back, or what had arrived of it.
    const deducted = opposite && opposite.amount !== -amount ? opposite.deducted : 0n
    ensureSame(where, 'amount', opposite && opposite.amount + deducted, -amount)
    ensure(
      explained_by === 'payment_taken_back' || explained_by === 'payment_returned',
      () => `bank movement ${account}:${movement_id} takes one back, but is not explained so`,
    )
    ensure(state !== 'booked' || !opposite?.is_there, () => `${where} is still in the books`)
  }
}

/** Proves that a batch is the sum of payments, and that nothing of the sum itself is in the books. */
async function proveBatches(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: found } = await tx.query<{
    account: string
    movement_id: string
    parts: bigint
    written_off: bigint
    is_there: boolean
  }>(
    `select b.account, b.movement_id,
       (select coalesce(sum(part.amount), 0)::bigint from bank_reports part
        where part.account = b.account and part.source = b.source
          and part.report_key in (select b.report_key || '/' || nth
            from generate_series(1, b.batch_count) nth)) as parts,
       (select coalesce(sum(j.clearing_change), 0)::bigint from journal j
        where j.agent_id = k.house and j.once_key in (
          'write-off:movement:' || k.payment_id, 'write-off:batch:' || k.payment_id,
          'debit_reported:' || k.payment_id, 'debit_explained:' || k.payment_id)) as written_off,
       ${isInBooks('k.payment_id')} as is_there
     from bank_reports b
     join unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[])
       k(account, movement_id, payment_id, house)
       on b.account = k.account and b.movement_id = k.movement_id
     where b.batch_count is not null`,
    [
      rows.map(({ account }) => account),
      rows.map(({ movement_id }) => movement_id),
      rows.map(({ account, movement_id }) => `${account}:${movement_id}`),
      rows.map(({ currency }) => houseBook(currency as Currency)),
    ],
  )
  for (const { account, movement_id, amount } of rows) {
    const where = `the batch ${account}:${movement_id}`
    const own = found.filter((each) => each.account === account && each.movement_id === movement_id)
    ensure(
      own.some(({ parts }) => parts === amount),
      () => `${where} is not the sum of its payments`,
    )
    ensureSame(where, 'what is written off', own[0]?.written_off, 0n)
    ensure(!own[0]?.is_there, () => `${where} is in the books, and so are its payments`)
  }
}

/** Proves that what the bank never had is reported by hand alone, and that nothing of it is in the books. */
async function proveNeverBooked(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  if (rows.length === 0) return
  const { rows: found } = await tx.query<{
    payment_id: string
    is_reported: boolean
    written_off: bigint
    is_there: boolean
  }>(
    `select k.payment_id, exists (select 1 from bank_reports r where r.account = k.account
         and r.movement_id = k.movement_id and r.source <> 'hand') as is_reported,
       (select coalesce(sum(j.clearing_change), 0)::bigint from journal j
        where j.agent_id = k.house and j.once_key in (
          'write-off:movement:' || k.payment_id, 'write-off:batch:' || k.payment_id,
          'debit_reported:' || k.payment_id, 'debit_explained:' || k.payment_id)) as written_off,
       ${isInBooks('k.payment_id')} as is_there
     from unnest($1::text[], $2::uuid[], $3::text[], $4::bigint[])
       k(account, movement_id, payment_id, house)`,
    [
      rows.map(({ account }) => account),
      rows.map(({ movement_id }) => movement_id),
      rows.map(({ account, movement_id }) => `${account}:${movement_id}`),
      rows.map(({ currency }) => houseBook(currency as Currency)),
    ],
  )
  for (const { payment_id, is_reported, written_off, is_there } of found) {
    const where = `bank movement ${payment_id}`
    ensure(!is_reported, () => `${where} was never booked, they say, and its bank reports it`)
    ensureSame(where, 'what is written off', written_off, 0n)
    ensure(!is_there, () => `${where} was never booked, they say, and is in the books`)
  }
}

/** Proves that what was recorded by hand has its slip. */
async function proveSlips(tx: ProofTx, rows: readonly MovementRow[]): Promise<void> {
  const { rows: without } = await tx.query<{ account: string; movement_id: string }>(
    `select r.account, r.movement_id from bank_reports r
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on r.account = k.account and r.movement_id = k.movement_id
     where r.source = 'hand' and not exists (select 1 from hand_payments h
       where h.slip = r.report_key and h.account = r.account)`,
    [rows.map(({ account }) => account), rows.map(({ movement_id }) => movement_id)],
  )
  const [bare] = without
  ensure(
    !bare,
    () => `bank movement ${bare?.account}:${bare?.movement_id} is recorded by hand without a slip`,
  )
}

/**
 * Proves that the claims on payments of bank accounts each have their movement: no money of an account is in
 * the books that its bank did not report.
 */
export async function proveBankClaims(
  tx: ProofTx,
  claims: readonly Pick<PaymentClaim, 'paymentId' | 'amountMinor'>[],
): Promise<void> {
  const { rows: accounts } = await tx.query<{ name: string }>('select name from bank_accounts')
  const names = new Set(accounts.map(({ name }) => name))
  const ofBanks = claims.flatMap(({ paymentId, amountMinor }) => {
    const [name = '', id = ''] = paymentId.split(':', 2)
    return names.has(name) ? [{ name, id, paymentId, amountMinor }] : []
  })
  if (ofBanks.length === 0) return
  const strange = ofBanks.find(({ id }) => !/^[0-9a-f]{32}$/.test(id))
  ensure(
    !strange,
    () => `payment ${strange?.paymentId} is of a bank account, but no movement of it`,
  )
  const { rows } = await tx.query<{ account: string; movement_id: string; amount: bigint }>(
    `select m.account, m.movement_id, m.amount + m.deducted as amount from bank_movements m
     join unnest($1::text[], $2::uuid[]) k(account, movement_id)
       on m.account = k.account and m.movement_id = k.movement_id`,
    [ofBanks.map(({ name }) => name), ofBanks.map(({ id }) => id)],
  )
  const amounts = new Map(rows.map((row) => [`${row.account}:${row.movement_id}`, row.amount]))
  for (const { paymentId, amountMinor } of ofBanks) {
    ensureSame(
      `the bank movement of payment ${paymentId}`,
      'amount',
      amounts.get(paymentId),
      amountMinor,
    )
  }
}

/** Proves that what is expected at bank accounts is what the orders say. Pages as movements do. */
export async function proveExpectedPage(
  tx: ProofTx,
  after: string,
  limit: number,
): Promise<string | null> {
  const [account = '', code = ''] = after.split(' ')
  const { rows } = await tx.query<{
    account: string
    code: string
    agent_id: bigint
    order_id: string
    user_id: string
    amount: bigint
    payable: bigint
    by_amount: boolean
    payer_account_no: string
    expires_at: Date
    created_at: Date
    state: string
    codeForm: string
    formerCodeForms: string
  }>(
    `select e.account, e.code, e.agent_id, e.order_id, e.user_id, e.amount, e.payable, e.by_amount,
       e.payer_account_no, e.expires_at, e.created_at, e.state,
       b.code_form as "codeForm", b.former_code_forms as "formerCodeForms"
     from (select * from expected_deposits
       where (account, code) > ($1, $2) order by account, code limit $3) e
     join bank_accounts b on b.name = e.account order by e.account, e.code`,
    [account, code, limit],
  )
  const { rows: orders } = await tx.query<{
    agent_id: bigint
    order_id: string
    user_id: string
    amount: bigint
    payable: bigint | null
    provider: string | null
    account_no: string
    expires_at: Date
    created_at: Date
  }>(
    `select o.agent_id, o.order_id, o.user_id, o.amount, o.payable, o.provider, o.account_no,
       o.expires_at, o.created_at
     from orders o join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on o.agent_id = k.agent_id and o.order_id = k.order_id`,
    [rows.map(({ agent_id }) => agent_id), rows.map(({ order_id }) => order_id)],
  )
  const byId = new Map(orders.map((order) => [`${order.agent_id} ${order.order_id}`, order]))
  await proveTheyWereCreated(
    tx,
    rows.filter((row) => row.state === 'open' && !byId.has(`${row.agent_id} ${row.order_id}`)),
  )
  for (const row of rows) {
    const order = byId.get(`${row.agent_id} ${row.order_id}`)
    const where = `what is expected under ${row.code}`
    // By its code money is given to an order, which is why it follows from the order.
    const forms = [row.codeForm, ...row.formerCodeForms.split(',').filter(Boolean)]
    ensure(
      depositCodes(row.order_id, forms).includes(row.code),
      () => `${where} is of another order`,
    )
    ensureSame(where, 'recognition by amount', row.by_amount, row.payable !== row.amount)
    // It may have been archived, never created, or given to another account after this one was full.
    if (!order || order.provider !== row.account) continue
    ensureSame(where, "payer's account", row.payer_account_no, lettersAndDigits(order.account_no))
    ensureSame(where, 'amount', row.amount, order.amount)
    ensureSame(where, 'payable', row.payable, order.payable ?? order.amount)
    ensureSame(where, 'user', row.user_id, order.user_id)
    ensureSame(where, 'creation', row.created_at.getTime(), order.created_at.getTime())
    ensureSame(where, 'end', row.expires_at.getTime(), order.expires_at.getTime())
  }
  const last = rows.at(-1)
  return last && rows.length >= limit ? `${last.account} ${last.code}` : null
}

/** Proves that what is still expected is of orders, though they are archived. */
async function proveTheyWereCreated(
  tx: ProofTx,
  rows: readonly { code: string; agent_id: bigint; order_id: string }[],
): Promise<void> {
  if (rows.length === 0) return
  const { rows: archived } = await tx.query<{ agent_id: bigint; order_id: string }>(
    `select r.agent_id, r.order_id from archived_refs r
     join unnest($1::bigint[], $2::uuid[]) k(agent_id, order_id)
       on r.agent_id = k.agent_id and r.order_id = k.order_id`,
    [rows.map(({ agent_id }) => agent_id), rows.map(({ order_id }) => order_id)],
  )
  const known = new Set(archived.map((each) => `${each.agent_id} ${each.order_id}`))
  const stray = rows.find((row) => !known.has(`${row.agent_id} ${row.order_id}`))
  ensure(!stray, () => `what is expected under ${stray?.code} is of no order`)
}

function lettersAndDigits(accountNo: string): string {
  return accountNo.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
}
