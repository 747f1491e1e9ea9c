import { createHash } from 'node:crypto'
import { type Columns, columns } from '../db/columns.ts'
import type { Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { txnId } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import { Problem } from '../lib/problem.ts'
import type { Characters } from '../payment-files/payment-file.ts'
import type { Day } from '../statements/statement.ts'

/** `draft` waits for approval; `approving` is being handed over; from `approved` on the bytes are sealed. */
export type PayoutFileState =
  | 'draft'
  | 'approving'
  | 'approved'
  | 'exported'
  | 'sent'
  | 'acknowledged'
  | 'closed'
  | 'cancelled'

/** A file by which a bank account pays withdrawals. */
export interface PayoutFile {
  account: string
  fileId: string
  state: PayoutFileState
  /** Counts the lists that were shown for approval. */
  round: number
  format: string
  characters: Characters
  /** The account's zone when the draft was made; null for files of earlier releases, which tell the time by UTC. */
  zone: string | null
  /** The account as it was when the draft was made. */
  debtorName: string
  debtorAccountNo: string
  debtorBank: string
  currency: Currency
  /** 0: the command line. */
  madeBy: bigint
  maker: string
  /** Who had reset the maker, and so could be them; 0: nobody. */
  makerResetBy: bigint
  madeAt: Date
  /** The bank has debited its payouts before they were known here: it is never sealed. */
  alreadyPaid: boolean
  /** The movement by which the bank debited all of it in one sum that names none of them, as two people say. */
  debit: string | null
  /** What of that sum they say is not these withdrawals, but what the bank charged. */
  restMinor: bigint
}

export const fileColumns: Columns<PayoutFile> = columns<PayoutFile>({
  account: ['account', 'text'],
  fileId: ['file_id', 'uuid'],
  state: ['state', 'text'],
  round: ['round', 'int'],
  format: ['format', 'text'],
  characters: ['characters', 'text'],
  zone: ['zone', 'text', 'null'],
  debtorName: ['debtor_name', 'text'],
  debtorAccountNo: ['debtor_account_no', 'text'],
  debtorBank: ['debtor_bank', 'text'],
  currency: ['currency', 'text'],
  madeBy: ['made_by', 'bigint'],
  maker: ['maker', 'text'],
  makerResetBy: ['maker_reset_by', 'bigint'],
  madeAt: ['made_at', 'timestamptz'],
  alreadyPaid: ['already_paid', 'boolean'],
  debit: ['debit', 'uuid', 'null'],
  restMinor: ['rest', 'bigint'],
})

/** A withdrawal that a draft chose. */
export interface PayoutLine {
  account: string
  fileId: string
  n: number
  agentId: bigint
  orderId: string
  attempt: number
  amountMinor: bigint
  payeeName: string
  payeeAccountNo: string
  payeeBank: string
}

export const lineColumns: Columns<PayoutLine> = columns<PayoutLine>({
  account: ['account', 'text'],
  fileId: ['file_id', 'uuid'],
  n: ['n', 'int'],
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  attempt: ['attempt', 'int'],
  amountMinor: ['amount', 'bigint'],
  payeeName: ['payee_name', 'text'],
  payeeAccountNo: ['payee_account_no', 'text'],
  payeeBank: ['payee_bank', 'text'],
})

export type PayoutItemState =
  | 'waiting'
  /** Its order had ended before the bank could have it. */
  | 'dropped'
  | 'accepted'
  | 'paid'
  | 'rejected'
  | 'unknown'
  | 'cancelled'
  | 'returned'

/** What became of a line since the file was approved. */
export interface PayoutItem
  extends Pick<PayoutLine, 'account' | 'fileId' | 'n' | 'agentId' | 'orderId' | 'attempt'> {
  amountMinor: bigint
  /** The payout's reference, by which the bank names it. Null until it is handed over. */
  reference: string | null
  state: PayoutItemState
  said: string | null
  /** The movements by which its money left the account and came back. */
  debitedBy: string | null
  returnedBy: string | null
  /** How two people ended it, not the bank; null if they did not. */
  ended: ItemEnd | null
}

export type ItemEnd =
  /** It is in no bytes that anybody ever had. */
  | 'taken_out'
  /** Its file was never brought to the bank, or the bank has not paid it. */
  | 'abandoned'

const itemColumns = columns<Omit<PayoutItem, 'ended'>>({
  account: ['account', 'text'],
  fileId: ['file_id', 'uuid'],
  n: ['n', 'int'],
  agentId: ['agent_id', 'bigint'],
  orderId: ['order_id', 'uuid'],
  attempt: ['attempt', 'int'],
  amountMinor: ['amount', 'bigint'],
  reference: ['reference', 'text', 'null'],
  state: ['state', 'text'],
  said: ['said', 'text', 'null'],
  debitedBy: ['debited_by', 'uuid', 'null'],
  returnedBy: ['returned_by', 'uuid', 'null'],
})

/** How two people ended the item `i`, in SQL; null if they did not. */
export const endedSql = `(select e.how from payout_item_ends e
  where e.account = i.account and e.file_id = i.file_id and e.n = i.n)`

/** The columns of `payout_items i`. */
export const selectedItem = `${itemColumns.select('i')}, ${endedSql} as ended`

/** What a round of a file asks approval for. */
export interface PayoutList {
  digest: string
  items: number
  amountMinor: bigint
}

/** The bytes of a file and what is in them, fixed for ever. */
export interface PayoutSeal {
  round: number
  messageId: string
  name: string
  contentType: string
  sealedAt: Date
  executionDate: Day
  /** How many payouts are in the bytes. */
  items: number
  sha256: string
  bytes: Buffer
}

type Named = Pick<PayoutFile, 'account' | 'fileId'>

/** Identifies what is approved: from which account in which format how much goes to whom. */
export function digestOf(file: PayoutFile, lines: readonly PayoutLine[]): string {
  const { account, fileId, round, format, debtorName, debtorAccountNo, debtorBank, currency } = file
  const { characters, debit } = file
  const text = JSON.stringify([
    [
      ...[account, fileId, round, format, debtorName, debtorAccountNo, debtorBank, currency],
      // The digests of files from before there was a choice stay what they were.
      ...(characters === 'format' ? [] : [characters]),
      ...(debit === null ? [] : [debit]),
    ],
    ...lines.map((line) => [
      txnId(line.agentId, line.orderId),
      line.attempt,
      String(line.amountMinor),
      line.payeeName,
      line.payeeAccountNo,
      line.payeeBank,
    ]),
  ])
  return createHash('sha256').update(text).digest('hex')
}

export function sumOf(lines: readonly Pick<PayoutLine, 'amountMinor'>[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

/** Writes down what the file's present round asks approval for. */
export async function insertList(
  tx: Tx,
  file: PayoutFile,
  lines: readonly PayoutLine[],
  at: Date,
): Promise<void> {
  await tx.query(
    `insert into payout_file_lists
       (account, file_id, round, digest, items, amount, made_by, maker_reset_by, listed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      file.account,
      file.fileId,
      file.round,
      digestOf(file, lines),
      lines.length,
      sumOf(lines),
      file.madeBy,
      file.makerResetBy,
      at,
    ],
  )
}

/** Asks for approval of what is left of a file, or of the same once more. What was sealed before counts no more. */
export async function askAgain(
  tx: Tx,
  file: PayoutFile,
  lines: readonly PayoutLine[],
  at: Date,
): Promise<void> {
  const next: PayoutFile = { ...file, round: file.round + 1 }
  await insertList(tx, next, lines, at)
  await setState(tx, next, 'draft', next.round)
}

export async function findPayoutFile(
  db: Pool | Tx,
  fileId: string,
): Promise<PayoutFile | undefined> {
  const { rows } = await db.query<PayoutFile>(
    `select ${fileColumns.select('f')} from payout_files f where file_id = $1`,
    [fileId],
  )
  return rows[0]
}

/** Locks a file for the next step of its life, as it is now. */
export async function lockFile(tx: Tx, { account, fileId }: Named): Promise<PayoutFile> {
  const { rows } = await tx.query<PayoutFile>(
    `select ${fileColumns.select('f')} from payout_files f
     where account = $1 and file_id = $2 for no key update`,
    [account, fileId],
  )
  const [file] = rows
  if (!file) throw new Problem('not_found', 'There is no such payout file.')
  return file
}

export async function setState(
  tx: Tx,
  { account, fileId }: Named,
  state: PayoutFileState,
  round?: number,
): Promise<void> {
  await tx.query(
    `update payout_files set state = $3, round = coalesce($4, round)
     where account = $1 and file_id = $2`,
    [account, fileId, state, round ?? null],
  )
}

/** Refuses a step that the file's state does not allow. */
export function wrongState({ state }: Pick<PayoutFile, 'state'>, step: string): Problem {
  return new Problem('invalid_transition', `The file is ${state}: it cannot be ${step}.`)
}

/** Newest first. */
export async function readPayoutFiles(
  pool: Pool,
  filter: { account: string | null; before: string | null; limit: number },
): Promise<PayoutFile[]> {
  const { rows } = await pool.query<PayoutFile>(
    `select ${fileColumns.select('f')} from payout_files f
     where ($1::text is null or account = $1) and ($2::uuid is null or file_id < $2)
     order by file_id desc limit $3`,
    [filter.account, filter.before, filter.limit],
  )
  return rows
}

export async function readList(
  db: Pool | Tx,
  { account, fileId, round }: Pick<PayoutFile, 'account' | 'fileId' | 'round'>,
): Promise<PayoutList> {
  const { rows } = await db.query<PayoutList>(
    `select digest, items, amount as "amountMinor" from payout_file_lists
     where account = $1 and file_id = $2 and round = $3`,
    [account, fileId, round],
  )
  if (!rows[0]) throw new Error(`payout file ${fileId} has no list of round ${round}`)
  return rows[0]
}

/** What the draft chose, in its order. */
export async function readLines(db: Pool | Tx, { account, fileId }: Named): Promise<PayoutLine[]> {
  const { rows } = await db.query<PayoutLine>(
    `select ${lineColumns.select('l')} from payout_file_lines l
     where account = $1 and file_id = $2 order by n`,
    [account, fileId],
  )
  return rows
}

/** The items of a file since its first approval, in the order of its lines. */
export async function readItems(db: Pool | Tx, { account, fileId }: Named): Promise<PayoutItem[]> {
  const { rows } = await db.query<PayoutItem>(
    `select ${selectedItem} from payout_items i
     where account = $1 and file_id = $2 order by n`,
    [account, fileId],
  )
  return rows
}

/** The items that the file still pays: all but those that were taken out. */
export async function readItemsLeft(db: Pool | Tx, file: Named): Promise<PayoutItem[]> {
  return (await readItems(db, file)).filter(({ ended }) => ended !== 'taken_out')
}

/** The states in which a file is its sealed bytes. */
const sealedStates: readonly PayoutFileState[] = [
  'approved',
  'exported',
  'sent',
  'acknowledged',
  'closed',
]

/** The seal of a file's present round. Those of earlier rounds are never given out. */
export async function readSeal(
  db: Pool | Tx,
  { account, fileId, round, state }: PayoutFile,
): Promise<PayoutSeal | undefined> {
  if (!sealedStates.includes(state)) return undefined
  const { rows } = await db.query<PayoutSeal>(
    `select round, message_id as "messageId", name, content_type as "contentType",
       sealed_at as "sealedAt", execution_date as "executionDate", items, sha256, bytes
     from payout_file_seals where account = $1 and file_id = $2 and round = $3`,
    [account, fileId, round],
  )
  return rows[0]
}

/** The files that wait for approval, the newest first. */
export async function readPayoutDrafts(db: Pool | Tx, limit: number): Promise<PayoutFile[]> {
  const { rows } = await db.query<PayoutFile>(
    `select ${fileColumns.select('f')} from payout_files f where state = 'draft'
     order by made_at desc limit $1`,
    [limit],
  )
  return rows
}

/** The drafts of which nothing is handed over yet, made before a moment. */
export async function readOldDrafts(db: Pool | Tx, before: Date): Promise<PayoutFile[]> {
  const { rows } = await db.query<PayoutFile>({
    name: 'old-drafts',
    text: `select ${fileColumns.select('f')} from payout_files f
     where state = 'draft' and round = 1 and made_at < $1 order by made_at limit 50`,
    values: [before],
  })
  return rows
}
