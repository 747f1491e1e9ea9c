import { raiseAlert } from '../alerts/raise-alert.ts'
import type { BankAccount } from '../bank-accounts/bank-account.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { timeToPass } from '../db/database-time.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import type { Order } from '../ledger/book.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { currencyRow, mayBeCharged } from '../lib/currencies.ts'
import { newOrderId, txnId } from '../lib/ids.ts'
import { lesser } from '../lib/lesser.ts'
import { decimalText } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import { type Outsider, writeAudit } from '../operators/audit.ts'
import { credentialOf, nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import { type PayoutDesk, waitsFor } from '../payouts/pay-out.ts'
import { payoutsAllowed } from '../payouts/payout-approval.ts'
import { findAgentsToHandOver, findToHandOver } from '../payouts/payouts.ts'
import { debitedCodes, findLostSum, type NamedDebit } from './after-restore.ts'
import { leftOfDay } from './left-of-day.ts'
import {
  digestOf,
  fileColumns,
  insertList,
  lineColumns,
  lockFile,
  type PayoutFile,
  type PayoutLine,
  setState,
  sumOf,
  wrongState,
} from './payout-file.ts'

/** The most payouts in one file. */
const mostItems = 10_000
const pageSize = 1_000

/** Withdrawals that nobody has, by the account whose next file is to pay them, the oldest first. */
export interface WaitingPayouts {
  forFileOf: ReadonlyMap<string, Order[]>
  /** Those that nobody can pay as things are, such as after a change of format, and why. */
  stuck: { order: Order; why: string }[]
}

/** Looks at each withdrawal that nobody has once, for all accounts. Changes nothing. */
export async function waitingPayouts(desk: PayoutDesk): Promise<WaitingPayouts> {
  const forFileOf = new Map<string, Order[]>()
  const stuck: WaitingPayouts['stuck'] = []
  for (const order of await notInFiles(desk, null)) {
    const found = await waitsFor(desk, order)
    if (!found) continue
    if ('why' in found) {
      stuck.push({ order, why: found.why })
      continue
    }
    const own = forFileOf.get(found.fileOf) ?? []
    forFileOf.set(found.fileOf, own)
    own.push(order)
  }
  return { forFileOf, stuck }
}

/**
 * Withdrawals that wait for the next file of an account, the oldest first, or all of its currency that nobody has: what
 * the routes were when it paid is not known any more. Changes nothing.
 */
async function waitingFor(
  desk: PayoutDesk,
  account: Pick<BankAccount, 'name' | 'currency'>,
  whateverRoute = false,
): Promise<Order[]> {
  const orders = (await notInFiles(desk, account.name)).filter(
    ({ currency }) => currency === account.currency,
  )
  if (whateverRoute) return orders
  const waiting: Order[] = []
  for (const order of orders) {
    const found = await waitsFor(desk, order)
    if (found && 'fileOf' in found && found.fileOf === account.name) waiting.push(order)
  }
  return waiting
}

/** Withdrawals that nobody has, that wait for no person or time, and that no open file has, the oldest first. */
async function notInFiles(desk: PayoutDesk, account: string | null): Promise<Order[]> {
  await desk.providers.freshen()
  const chosen = await inOpenFiles(desk.pool, account)
  const waiting: Order[] = []
  for (const agentId of await findAgentsToHandOver(desk.pool)) {
    for await (const order of notHandedOver(desk, agentId)) {
      if (!chosen.has(order.orderId)) waiting.push(order)
    }
  }
  const allowed = await payoutsAllowed(desk, waiting)
  return waiting
    .filter(({ orderId }) => allowed.has(orderId))
    .sort((a, b) => (a.orderId < b.orderId ? -1 : 1))
}

async function* notHandedOver(desk: PayoutDesk, agentId: bigint): AsyncGenerator<Order> {
  let after = '0'.repeat(32)
  for (;;) {
    const at = timeToPass(desk.now)
    const page = await findToHandOver(desk.pool, agentId, after, at, 0, pageSize)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.orderId
  }
}

/** The orders that open files have, of one account or of all, which nobody has paid or dropped yet. */
async function inOpenFiles(db: Pick<Pool, 'query'>, account: string | null): Promise<Set<string>> {
  const { rows } = await db.query<{ order_id: string }>(
    `select l.order_id from payout_files f
     join payout_file_lines l on l.account = f.account and l.file_id = f.file_id
     where f.state in ('draft', 'approving') and ($1::text is null or f.account = $1)`,
    [account],
  )
  return new Set(rows.map(({ order_id }) => order_id))
}

interface DraftOptions {
  alreadyPaid?: boolean
  cutoff?: Date
  /** With `alreadyPaid`: what a file has paid that was lost, and was debited in one sum. */
  lost?: LostSum | undefined
}

export interface LostSum {
  movementId: string
  /** The withdrawals that it paid, each by its id or by the code by which the bank names it. */
  withdrawals: readonly string[]
  /** What it is more than these: the bank's charge. */
  restMinor: bigint
}

/**
 * Makes a draft of what waits for an account. Nothing is handed over: agents can still cancel. What a debit names that
 * nothing explains may be paid already, by a file that was made before the database was restored: only a draft of
 * exactly these has them, and that file never leaves. Before a cut-off at most one is made.
 */
export async function draftPayoutFile(
  desk: PayoutDesk,
  account: BankAccount,
  by: Operator | Outsider,
  { alreadyPaid = false, cutoff, lost }: DraftOptions = {},
): Promise<PayoutFile> {
  const { payoutFormat } = account
  if (account.payout !== 'file' || payoutFormat === null) {
    throw new Problem('invalid_transition', `${account.name} does not pay out by files.`)
  }
  if (account.confirmedAt === null) throw unconfirmed(account.name)
  const at = desk.now()
  const debited = await debitedCodes(desk.pool)
  const named = new Set(lost?.withdrawals)
  const waiting = (await waitingFor(desk, account, alreadyPaid)).filter((order) => {
    if (lost) return namesOf(order).some((each) => named.has(each))
    const debit = debitOf(debited, order)
    if (!alreadyPaid) return debit === undefined
    const { isCertain = false } = debit ?? {}
    return isCertain && debit?.account === account.name && debit.amountMinor === order.amountMinor
  })
  return inTransaction(desk.pool, async (tx) => {
    await lockAccount(tx, account.name)
    // Another draft may have been made meanwhile.
    const chosen = await inOpenFiles(tx, account.name)
    const free = waiting.filter(({ orderId }) => !chosen.has(orderId))
    // The ceilings are for what leaves.
    const most = alreadyPaid
      ? null
      : lesser(
          account.payoutFileLimitMinor,
          await leftOfDay(tx, account, at, { besides: null, withDrafts: true }),
        )
    const orders = within(free, most)
    if (lost) {
      await refuseSecondFile(tx, account.name, lost.movementId)
      await refuseOtherSum(tx, account, lost, orders)
    }
    if (orders.length === 0) throw nothingToDraft(account, free.length, most, alreadyPaid)
    const madeBy = by.userId ?? nobody
    const file: PayoutFile = {
      account: account.name,
      fileId: newOrderId(at),
      state: 'draft',
      round: 1,
      format: payoutFormat,
      characters: account.payoutCharacters,
      zone: account.zone,
      debtorName: account.accountName,
      debtorAccountNo: account.accountNo,
      debtorBank: account.bankCode,
      currency: account.currency,
      madeBy,
      maker: by.email,
      makerResetBy: (await credentialOf(tx, madeBy)).resetBy,
      madeAt: at,
      alreadyPaid,
      debit: lost?.movementId ?? null,
      restMinor: lost?.restMinor ?? 0n,
    }
    const lines = orders.map((order, index) => lineOf(file, order, index + 1))
    await tx.query(
      `insert into payout_files (${fileColumns.names}) select * from ${fileColumns.unnest}`,
      fileColumns.values([file]),
    )
    if (cutoff) await claimCutoff(tx, file, cutoff)
    await tx.query(
      `insert into payout_file_lines (${lineColumns.names}) select * from ${lineColumns.unnest}`,
      lineColumns.values(lines),
    )
    await insertList(tx, file, lines, at)
    await writeAudit(tx, {
      at,
      operator: by,
      action: 'draft_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      after: {
        account: account.name,
        items: lines.length,
        amount: sumOf(lines),
        digest: digestOf(file, lines),
      },
    })
    await raiseAlert(tx, {
      kind: 'approval_waiting',
      subject: `payout file of ${account.name} by ${madeBy}`,
      words: `A payout file of ${account.name} was drafted, and waits for a second person under Payout files.`,
      // What nobody signed in to make is for admins alone.
      to: { roles: madeBy === nobody ? ['admin'] : ['admin', 'operator'], except: madeBy },
      at,
    })
    return file
  })
}

/** One file says what a debit paid. */
async function refuseSecondFile(tx: Tx, account: string, movementId: string): Promise<void> {
  const { rows } = await tx.query<{ file_id: string }>(
    `select replace(file_id::text, '-', '') as file_id from payout_files
     where account = $1 and debit = $2 and state <> 'cancelled'`,
    [account, movementId],
  )
  const [file] = rows
  if (!file) return
  const detail = `Payout file ${file.file_id} says what movement ${movementId} paid: approve it, or give it up first.`
  throw new Problem('invalid_transition', detail)
}

/**
 * Refuses unless these are all withdrawals that were named, and make up the debit of a lost file with what the bank
 * charged. A withdrawal that was lost too is never part of that charge: nothing would remember that it is paid, and its
 * agent, who creates it again, would have it paid a second time.
 */
async function refuseOtherSum(
  tx: Tx,
  { name, currency }: BankAccount,
  { movementId, withdrawals, restMinor }: LostSum,
  orders: readonly Order[],
): Promise<void> {
  const sum = await findLostSum(tx, name, movementId)
  if (!sum) {
    const detail = `${name} has no debit ${movementId} of a lost payment file that waits for an explanation.`
    throw new Problem('invalid_transition', detail)
  }
  const known = new Set(orders.flatMap(namesOf))
  const missing = withdrawals.find((each) => !known.has(each))
  if (missing !== undefined) {
    throw new Problem('invalid_transition', `${missing} does not wait here, or no more.`)
  }
  const paidMinor = sumOf(orders)
  const rest = sum.amountMinor - paidMinor
  const isPlausible = rest >= 0n && mayBeCharged(rest, paidMinor, currency)
  if (rest === restMinor && isPlausible) return
  const text = (minor: bigint) => decimalText(minor, currency)
  const [all, left, said, more] = [paidMinor, sum.amountMinor, restMinor, rest].map(text)
  const most = text(currencyRow(currency).mostChargeMinor)
  const createAgain = `have those created again first, while ${name} alone pays their agents' withdrawals, and name them too`
  const remedy =
    rest < 0n
      ? 'It cannot have paid all of them.'
      : isPlausible
        ? `If the bank charged the other ${more} with it, say that this is the rest. If it paid withdrawals by it that were lost here, ${createAgain}.`
        : `A bank charges less than it pays, and ${most} at most, so the other ${more} paid withdrawals that were lost here. Their agents know the refIds: ${createAgain}. Until then the debit keeps files back.`
  throw new Problem(
    'invalid_transition',
    `They add up to ${all}${restMinor === 0n ? '' : ` with a rest of ${said}`}, and the debit is of ${left} ${currency}. ${remedy}`,
  )
}

/** What people may call a withdrawal by: its id, or the code that the bank has for it. */
function namesOf({ agentId, orderId, version }: Order): string[] {
  return [txnId(agentId, orderId), ...referencesOf(agentId, orderId, version)]
}

function nothingToDraft(
  { name, currency }: BankAccount,
  waiting: number,
  most: bigint | null,
  alreadyPaid: boolean,
): Problem {
  const left = most === null || most < 0n ? 0n : most
  const detail = alreadyPaid
    ? `No debit of ${name} names a withdrawal of its amount that waits.`
    : waiting === 0
      ? `No withdrawal waits for a file of ${name}.`
      : `${waiting} withdrawals wait, and each is more than a file of ${name} may pay now, ${decimalText(left, currency)} ${currency}: drafts that nobody has approved count too.`
  return new Problem('invalid_transition', detail)
}

/** Refuses if another process was first. */
async function claimCutoff(tx: Tx, { account, fileId }: PayoutFile, cutoff: Date): Promise<void> {
  const { rowCount } = await tx.query(
    `insert into payout_file_schedules (account, cutoff, file_id) values ($1, $2, $3)
     on conflict do nothing`,
    [account, cutoff, fileId],
  )
  if (rowCount === 0) throw new Problem('already_decided', 'A draft for this cut-off is made.')
}

function debitOf(
  debited: Awaited<ReturnType<typeof debitedCodes>>,
  { agentId, orderId, version }: Order,
): NamedDebit | undefined {
  if (debited.size === 0) return undefined
  const code = referencesOf(agentId, orderId, version).find((each) => debited.has(each))
  return code === undefined ? undefined : debited.get(code)
}

export function unconfirmed(name: string): Problem {
  return new Problem(
    'invalid_transition',
    `${name} was changed, and nobody has confirmed that yet: it pays nothing out.`,
  )
}

/** The oldest that fit into one file. One that alone is too much waits, and holds up no other. */
function within(orders: readonly Order[], limitMinor: bigint | null): Order[] {
  let sum = 0n
  const fitting = orders.filter(({ amountMinor }) => {
    if (limitMinor !== null && sum + amountMinor > limitMinor) return false
    sum += amountMinor
    return true
  })
  return fitting.slice(0, mostItems)
}

function lineOf({ account, fileId }: PayoutFile, order: Order, n: number): PayoutLine {
  return {
    account,
    fileId,
    n,
    agentId: order.agentId,
    orderId: order.orderId,
    attempt: order.version,
    amountMinor: order.amountMinor,
    payeeName: order.accountName,
    payeeAccountNo: order.accountNo,
    payeeBank: order.bankCode,
  }
}

/** Gives a draft up that was never approved. Its withdrawals wait for the next one. */
export async function cancelDraft(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Pick<PayoutFile, 'account' | 'fileId'>,
  by: Operator | Outsider,
  reason: string,
): Promise<void> {
  await inTransaction(desk.pool, async (tx) => {
    const file = await lockFile(tx, named)
    if (file.state !== 'draft') throw wrongState(file, 'cancelled')
    if (file.round > 1) {
      const detail = 'Its payouts are handed over already: approve the list that is left.'
      throw new Problem('invalid_transition', detail)
    }
    await setState(tx, file, 'cancelled')
    await writeAudit(tx, {
      at: desk.now(),
      operator: by,
      action: 'cancel_payout_file',
      subject: { kind: 'payout_file', id: file.fileId },
      agentId: null,
      reason,
    })
  })
}
