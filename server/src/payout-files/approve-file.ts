import { timingSafeEqual } from 'node:crypto'
import { type BankAccount, findBankAccount } from '../bank-accounts/bank-account.ts'
import { lockAccount } from '../bank-accounts/take-reports.ts'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import { sqlState } from '../db/pool.ts'
import { referencesOf } from '../ledger/payout-references.ts'
import { txnId } from '../lib/ids.ts'
import { decimalText } from '../lib/money.ts'
import { type OperatorProblemCode, Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import { type Credential, credentialOf, nobody } from '../operators/credentials.ts'
import type { Operator } from '../operators/operator.ts'
import { PaymentFileFault } from '../payment-files/payment-file.ts'
import type { PayoutDesk } from '../payouts/pay-out.ts'
import { debitedCodes, findLostSum } from './after-restore.ts'
import { unconfirmed } from './draft-file.ts'
import { leftOfDay } from './left-of-day.ts'
import { whyItMustStay } from './may-leave.ts'
import {
  lockFile,
  type PayoutFile,
  type PayoutLine,
  readItems,
  readItemsLeft,
  readLines,
  readList,
  setState,
} from './payout-file.ts'
import { paymentFileOf, rendered } from './seal-file.ts'

/** The words of the database's rules, for a request that came past the checks here. */
const refusals: Record<string, [OperatorProblemCode, string]> = {
  payout_file_approvals_pkey: ['already_decided', 'Somebody was first: read the file again.'],
  payout_file_approvals_by_another: ['same_person', 'Another person has to approve.'],
  payout_file_approvals_independent: ['same_person', 'Somebody else has to approve.'],
}

/**
 * Approves what a draft lists, by its digest. From then on its payouts belong to this file: `goForward` hands them
 * over and seals the bytes, in this or any other process.
 */
export async function approvePayoutFile(
  desk: Pick<PayoutDesk, 'pool' | 'now'>,
  named: Pick<PayoutFile, 'account' | 'fileId'>,
  digest: string,
  operator: Operator,
): Promise<void> {
  const at = desk.now()
  try {
    await inTransaction(desk.pool, async (tx) => {
      // In this order everywhere: an account's ceiling for the day holds over all of its files.
      await lockAccount(tx, named.account)
      const file = await lockFile(tx, named)
      const own = await credentialOf(tx, operator.userId)
      const same = whySamePerson(file, operator, own)
      if (same) throw same
      if (file.state !== 'draft') {
        throw new Problem('already_decided', `The file is ${file.state}: read it again.`)
      }
      const list = await readList(tx, file)
      if (!isSame(list.digest, digest)) {
        throw new Problem('digest_changed', 'Read the file again, and approve what it shows now.')
      }
      const account = await findBankAccount(tx, file.account)
      refuseOtherAccount(file, account)
      if (!file.alreadyPaid) {
        await refuseAboveCeiling(tx, file, account, at)
        await refuseDebited(tx, file)
      }
      if (file.round === 1) await claim(tx, file, account, at)
      if (file.debit !== null) await refuseOtherDebit(tx, file, file.debit)
      const why = await whyItMustStay(tx, file, await readItemsLeft(tx, file), at)
      if (why !== undefined) throw new Problem('invalid_transition', why)
      await tx.query(
        `insert into payout_file_approvals (account, file_id, round, digest, made_by, maker_reset_by,
           approved_by, approver, reset_by, approved_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          file.account,
          file.fileId,
          file.round,
          digest,
          file.madeBy,
          file.makerResetBy,
          operator.userId,
          operator.email,
          own.resetBy,
          at,
        ],
      )
      await setState(tx, file, 'approving')
      await writeAudit(tx, {
        at,
        operator,
        action: 'approve_payout_file',
        subject: { kind: 'payout_file', id: file.fileId },
        agentId: null,
        before: { maker: file.maker },
        after: { round: file.round, digest, items: list.items, amount: list.amountMinor },
      })
    })
  } catch (error) {
    const constraint = error instanceof Error && 'constraint' in error ? error.constraint : ''
    // On a distributed table the name of a constraint ends in the number of the shard.
    const refusal = Object.entries(refusals).find(([name]) =>
      String(constraint).startsWith(name),
    )?.[1]
    if (refusal && ['23505', '23514'].includes(sqlState(error) ?? '')) throw new Problem(...refusal)
    throw error
  }
}

/** Why somebody is no second person for a file; undefined if they are. */
export function whySamePerson(
  file: Pick<PayoutFile, 'madeBy' | 'makerResetBy'>,
  operator: Operator,
  { resetBy }: Credential,
): Problem | undefined {
  const { userId, role } = operator
  const say = (detail: string) => new Problem('same_person', detail)
  if (file.madeBy === userId) return say('You made this file: another person has to approve it.')
  if (file.makerResetBy === userId) {
    return say('You have reset who made it: somebody else has to approve it.')
  }
  if (resetBy !== nobody && (resetBy === file.madeBy || resetBy === file.makerResetBy)) {
    return say('Who made it, or who reset them, has reset you: somebody else has to approve it.')
  }
  // Anyone with a shell may have typed the command, and a schedule has looked at nothing.
  if (file.madeBy === nobody && role !== 'admin') {
    const detail = 'Nobody signed in to make it: only an admin may approve it.'
    return new Problem('not_permitted', detail)
  }
  return undefined
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** What was shown is paid from the account as it was then. */
function refuseOtherAccount(
  file: PayoutFile,
  account: BankAccount | undefined,
): asserts account is BankAccount {
  if (!account || account.confirmedAt === null) throw unconfirmed(file.account)
  const isSameAccount =
    account.payout === 'file' &&
    account.payoutFormat === file.format &&
    account.payoutCharacters === file.characters &&
    account.zone === (file.zone ?? account.zone) &&
    account.accountName === file.debtorName &&
    account.accountNo === file.debtorAccountNo &&
    account.bankCode === file.debtorBank
  if (isSameAccount) return
  const remedy = file.round === 1 ? 'make a new draft' : 'set it back to what it was'
  throw new Problem('changed_meanwhile', `The bank account is another now: ${remedy}.`)
}

async function refuseAboveCeiling(
  tx: Tx,
  file: PayoutFile,
  account: BankAccount,
  at: Date,
): Promise<void> {
  const left = await leftOfDay(tx, account, at, { besides: file.fileId, withDrafts: false })
  const { amountMinor } = await readList(tx, file)
  const most = account.payoutFileLimitMinor
  if (most !== null && amountMinor > most) {
    const words = decimalText(most, account.currency)
    throw new Problem(
      'invalid_transition',
      `One file of ${account.name} may pay ${words} ${account.currency} by now: ${file.round === 1 ? 'make a new draft' : 'take payouts out of it'}.`,
    )
  }
  if (left === null || amountMinor <= left) return
  const words = decimalText(left < 0n ? 0n : left, account.currency)
  throw new Problem(
    'invalid_transition',
    `Files of ${account.name} may pay ${words} ${account.currency} more today.`,
  )
}

/** A debit that nothing explains may have paid one of its payouts since the draft was made. */
async function refuseDebited(tx: Tx, file: PayoutFile): Promise<void> {
  const debited = await debitedCodes(tx)
  if (debited.size === 0) return
  for (const { agentId, orderId, attempt } of await readLines(tx, file)) {
    const [debit] = referencesOf(agentId, orderId, attempt).flatMap(
      (each) => debited.get(each) ?? [],
    )
    if (!debit) continue
    const { account, movementId, isCertain } = debit
    const which = `movement ${account}:${movementId}${isCertain ? '' : ', which nobody has confirmed yet,'}`
    const detail = `The bank may have paid ${txnId(agentId, orderId)} already, since ${which} names it: look at that; if it stays, give this draft up and make a new one.`
    throw new Problem('invalid_transition', detail)
  }
}

/** A debit pays what people said, all of it, and only if nothing else has explained it since. */
async function refuseOtherDebit(tx: Tx, file: PayoutFile, debit: string): Promise<void> {
  const list = await readList(tx, file)
  const items = (await readItems(tx, file)).filter(({ state }) => state !== 'dropped')
  if (items.length !== list.items || (file.round === 1 && (await isAnyTaken(tx, file)))) {
    const detail = 'Some of its withdrawals wait no more, or another file has them: give it up.'
    throw new Problem('changed_meanwhile', detail)
  }
  const sum = await findLostSum(tx, file.account, debit)
  if (sum && sum.amountMinor >= list.amountMinor) return
  throw new Problem('changed_meanwhile', `Movement ${debit} does not wait for this any more.`)
}

/** Whether one of its withdrawals has ended or left, or is to leave by a file of another account. */
async function isAnyTaken(tx: Tx, { account, fileId }: PayoutFile): Promise<boolean> {
  const { rows } = await tx.query(
    `select 1 from payout_items i
     join orders o on o.agent_id = i.agent_id and o.order_id = i.order_id
     where i.account = $1 and i.file_id = $2
       and (o.status <> 'WAITING' or o.handed_over_at is not null or exists (
         select 1 from payout_items other where other.agent_id = i.agent_id
           and other.order_id = i.order_id and other.attempt = i.attempt
           and other.account <> i.account and other.state <> 'dropped'))
     limit 1`,
    [account, fileId],
  )
  return rows.length > 0
}

/** Makes the lines this file's for ever. One that another file has claimed is left out. */
async function claim(tx: Tx, file: PayoutFile, account: BankAccount, at: Date): Promise<void> {
  const lines = await readLines(tx, file)
  // Nothing may be handed over that the bank's format cannot carry.
  try {
    rendered(file, paymentFileOf(file, account, lines.map(withCode), at))
  } catch (error) {
    if (!(error instanceof PaymentFileFault)) throw error
    throw new Problem('invalid_transition', error.message)
  }
  await tx.query(
    `insert into payout_items (account, file_id, n, agent_id, order_id, attempt, amount, state)
     select account, file_id, n, agent_id, order_id, attempt, amount, 'waiting'
     from payout_file_lines where account = $1 and file_id = $2
     on conflict do nothing`,
    [file.account, file.fileId],
  )
  if ((await readItems(tx, file)).length === 0) {
    throw new Problem('invalid_transition', 'Other files have all of its payouts.')
  }
}

/** A line under the code that it will most likely get. */
function withCode(line: PayoutLine): PayoutLine & { reference: string } {
  return { ...line, reference: referencesOf(line.agentId, line.orderId, line.attempt)[0] }
}
