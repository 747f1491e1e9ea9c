import { createHash } from 'node:crypto'
import { currencyRow } from '../lib/currencies.ts'
import { txnId } from '../lib/ids.ts'
import type { Currency } from '../lib/money.ts'
import type { Characters } from '../payment-files/payment-file.ts'
import { renderPaymentFile } from '../payment-files/render-payment-file.ts'
import { ensure, ensureSame, ensureSameUnshown, type ProofTx } from './proof-failure.ts'

interface FileRow {
  account: string
  file_id: string
  state: string
  round: number
  format: string
  characters: Characters
  zone: string | null
  debtor_name: string
  debtor_account_no: string
  debtor_bank: string
  currency: Currency
  made_by: bigint
  already_paid: boolean
  debit: string | null
  rest: bigint
}

interface LineRow {
  n: number
  agent_id: bigint
  order_id: string
  attempt: number
  amount: bigint
  payee_name: string
  payee_account_no: string
  payee_bank: string
  /** Of the payout that was made of the line; null if it dropped out before. */
  reference: string | null
  item_state: string | null
  item_agent: bigint | null
  item_order: string | null
  item_attempt: number | null
  item_amount: bigint | null
  /** How two people ended it, in which round, and by which decision of theirs. */
  how: 'taken_out' | 'abandoned' | null
  end_round: number | null
  may_try_another: boolean | null
  proposal_id: string | null
  end_reason: string | null
}

interface RoundRow {
  round: number
  digest: string
  items: number
  amount: bigint
  made_by: bigint
  approved_by: bigint | null
  approved_digest: string | null
  is_resealed: boolean
}

/** The states in which a file's bytes are fixed, and those in which somebody has had them. */
const sealedStates = ['approved', 'exported', 'sent', 'acknowledged', 'closed']
const leftStates = sealedStates.slice(1)

/**
 * Proves the payout file that comes next: what was approved is what its withdrawals say and what is in the sealed
 * bytes, which are made again from the rows; each step has its person, and no payout is in two files. `after` is an
 * account and a file. Returns the next place, or null at the end.
 */
export async function proveNextPayoutFile(tx: ProofTx, after: string): Promise<string | null> {
  const [account = '', fileId = ''] = after.split(' ')
  const { rows } = await tx.query<FileRow>(
    `select * from payout_files
     where (account, file_id) > ($1, coalesce(nullif($2, ''), $3)::uuid)
     order by account, file_id limit 1`,
    [account, fileId, '0'.repeat(32)],
  )
  const [file] = rows
  if (!file) return null
  const lines = await readLines(tx, file)
  await proveRounds(tx, file, lines)
  await proveSeals(tx, file, lines)
  await proveItems(tx, file, lines)
  await proveEnds(tx, file, lines)
  if (file.debit !== null) await proveDebit(tx, file, lines)
  return `${file.account} ${file.file_id}`
}

/**
 * Three lists that are laid side by side here: as long as PostgreSQL has no statistics of a file that was just made, it
 * would compare each of its lines with each of its items.
 */
async function readLines(tx: ProofTx, file: FileRow): Promise<LineRow[]> {
  const of = [file.account, file.file_id]
  const where = 'where account = $1 and file_id = $2'
  const { rows: lines } = await tx.query<Omit<LineRow, keyof ItemRow | keyof EndRow>>(
    `select * from payout_file_lines ${where} order by n`,
    of,
  )
  const { rows: items } = await tx.query<ItemRow & { n: number }>(
    `select n, reference, state as item_state, agent_id as item_agent, order_id as item_order,
       attempt as item_attempt, amount as item_amount
     from payout_items ${where}`,
    of,
  )
  const { rows: ends } = await tx.query<EndRow & { n: number }>(
    `select n, how, round as end_round, may_try_another, proposal_id, reason as end_reason
     from payout_item_ends ${where}`,
    of,
  )
  const itemOf = new Map(items.map((item) => [item.n, item]))
  const endOf = new Map(ends.map((end) => [end.n, end]))
  return lines.map((line) => ({
    ...line,
    ...(itemOf.get(line.n) ?? noItem),
    ...(endOf.get(line.n) ?? noEnd),
  }))
}

type ItemRow = Pick<
  LineRow,
  'reference' | 'item_state' | 'item_agent' | 'item_order' | 'item_attempt' | 'item_amount'
>
type EndRow = Pick<LineRow, 'how' | 'end_round' | 'may_try_another' | 'proposal_id' | 'end_reason'>

const noItem: ItemRow = {
  reference: null,
  item_state: null,
  item_agent: null,
  item_order: null,
  item_attempt: null,
  item_amount: null,
}
const noEnd: EndRow = {
  how: null,
  end_round: null,
  may_try_another: null,
  proposal_id: null,
  end_reason: null,
}

/** The lines that a round of a file is about: until then, some had ended or were taken out. */
function linesIn(round: number, lines: readonly LineRow[]): LineRow[] {
  if (round === 1) return [...lines]
  return lines.filter(
    ({ reference, how, end_round }) =>
      reference !== null && !(how === 'taken_out' && (end_round ?? round) < round),
  )
}

/**
 * Proves that each list says what its lines add up to, that somebody else approved it, and that a new one was asked
 * for because of what dropped out, what two people took out, or who had it sealed again.
 */
async function proveRounds(tx: ProofTx, file: FileRow, lines: readonly LineRow[]): Promise<void> {
  const { rows } = await tx.query<RoundRow>(
    `select l.round, l.digest, l.items, l.amount, l.made_by, a.approved_by, a.digest as approved_digest,
       r.round is not null as is_resealed
     from payout_file_lists l left join payout_file_approvals a
       on a.account = l.account and a.file_id = l.file_id and a.round = l.round
     left join payout_file_reseals r
       on r.account = l.account and r.file_id = l.file_id and r.round = l.round
     where l.account = $1 and l.file_id = $2 order by l.round`,
    [file.account, file.file_id],
  )
  const name = `payout file ${file.file_id}`
  ensureSame(name, 'rounds', rows.length, file.round)
  for (const [index, row] of rows.entries()) {
    const where = `round ${index + 1} of ${name}`
    const listed = linesIn(index + 1, lines)
    const isTakenFrom = lines.some(
      ({ how, end_round }) => how === 'taken_out' && end_round === index + 1,
    )
    ensureSame(where, 'number', row.round, index + 1)
    ensureSame(where, 'items', row.items, listed.length)
    ensureSame(where, 'amount', row.amount, sumOf(listed))
    ensureSame(where, 'digest', row.digest, digestOf({ ...file, round: row.round }, listed))
    const isLast = index + 1 === file.round
    const mustBe = isLast ? !['draft', 'cancelled'].includes(file.state) : !isTakenFrom
    ensure(!mustBe || row.approved_by !== null, () => `${where} was approved by nobody`)
    const isShorter = !isLast && linesIn(index + 2, lines).length < listed.length
    ensureSame(where, 'that it was sealed again', row.is_resealed, !isLast && !isShorter)
    ensure(
      !isTakenFrom || !isLast || file.state === 'cancelled',
      () => `payouts were taken out of ${where}, but nobody was asked about the rest`,
    )
    ensure(
      !isLast || file.state !== 'draft' || row.approved_by === null,
      () => `${where} is approved, but the file is a draft`,
    )
    if (row.approved_by === null) continue
    ensureSame(where, 'approved digest', row.approved_digest, row.digest)
    ensure(row.approved_by !== row.made_by, () => `${where} was approved by who made it`)
  }
}

function sumOf(lines: readonly LineRow[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n)
}

function digestOf(file: FileRow, lines: readonly LineRow[]): string {
  const head = [
    file.account,
    file.file_id,
    file.round,
    file.format,
    file.debtor_name,
    file.debtor_account_no,
    file.debtor_bank,
    file.currency,
    ...(file.characters === 'format' ? [] : [file.characters]),
    ...(file.debit === null ? [] : [file.debit]),
  ]
  const body = lines.map((line) => [
    txnId(line.agent_id, line.order_id),
    line.attempt,
    String(line.amount),
    line.payee_name,
    line.payee_account_no,
    line.payee_bank,
  ])
  return createHash('sha256')
    .update(JSON.stringify([head, ...body]))
    .digest('hex')
}

interface SealRow {
  round: number
  digest: string
  message_id: string
  sealed_at: Date
  execution_date: string
  items: number
  amount: bigint
  sha256: string
  bytes: Buffer
}

/** Proves that the state has the rows that it needs, and that nobody had bytes that were not the last. */
async function proveSeals(tx: ProofTx, file: FileRow, lines: readonly LineRow[]): Promise<void> {
  const { rows: seals } = await tx.query<SealRow>(
    `select * from payout_file_seals where account = $1 and file_id = $2 order by round`,
    [file.account, file.file_id],
  )
  const { rows } = await tx.query<{ downloads: bigint; other: bigint; sent: boolean }>(
    `select count(*) as downloads, count(*) filter (where round is distinct from $3) as other,
       exists (select 1 from payout_file_sendings x where x.account = $1 and x.file_id = $2) as sent
     from payout_file_downloads where account = $1 and file_id = $2`,
    [file.account, file.file_id, file.round],
  )
  const where = `payout file ${file.file_id}`
  const { downloads = 0n, other = 0n, sent = false } = rows[0] ?? {}
  const last = seals.at(-1)
  // What the bank paid before the file was made never leaves.
  const isSealed = sealedStates.includes(file.state) && !file.already_paid
  ensureSame(
    where,
    'that it is sealed',
    last?.round === file.round,
    isSealed || isTakenApart(file, lines, last),
  )
  const isOut = leftStates.includes(file.state) && !file.already_paid
  ensureSame(where, 'that somebody has it', downloads > 0n, isOut)
  ensureSame(where, 'downloads of another round', other, 0n)
  ensure(file.state !== 'sent' || sent, () => `${where} is sent, but nobody says so`)
  for (const seal of seals) proveSeal(file, seal, linesIn(seal.round, lines))
}

/** Whether all of a sealed file was taken out, so that it was cancelled as it was. */
function isTakenApart(
  { state, round }: FileRow,
  lines: readonly LineRow[],
  last: SealRow | undefined,
): boolean {
  return (
    state === 'cancelled' &&
    last?.round === round &&
    linesIn(round, lines).every(({ how }) => how === 'taken_out')
  )
}

/** Proves that sealed bytes are what the rows make. */
function proveSeal(file: FileRow, seal: SealRow, lines: readonly LineRow[]): void {
  const where = `round ${seal.round} of payout file ${file.file_id}`
  const paid = lines.flatMap((line) =>
    line.reference === null ? [] : [{ ...line, reference: line.reference }],
  )
  ensureSame(where, 'sealed digest', seal.digest, digestOf({ ...file, round: seal.round }, lines))
  ensureSame(where, 'sealed items', seal.items, paid.length)
  ensureSame(where, 'sealed amount', seal.amount, sumOf(paid))
  const made = renderPaymentFile(file.format, {
    messageId: seal.message_id,
    batchReference: seal.message_id,
    createdAt: seal.sealed_at,
    executionDate: seal.execution_date,
    debtor: {
      name: file.debtor_name,
      accountNo: file.debtor_account_no,
      bankCode: file.debtor_bank === '' ? null : file.debtor_bank,
      currency: file.currency,
    },
    characters: file.characters,
    zone: file.zone,
    serviceLevel: currencyRow(file.currency).isSepa ? 'SEPA' : null,
    instant: false,
    items: paid.map((line) => ({
      code: line.reference,
      amountMinor: line.amount,
      payee: { name: line.payee_name, accountNo: line.payee_account_no, bankCode: line.payee_bank },
      text: null,
    })),
  })
  const digest = createHash('sha256').update(seal.bytes).digest('hex')
  ensureSame(where, 'sha256', seal.sha256, digest)
  ensureSameUnshown(where, 'content', seal.bytes.toString('base64'), made.bytes.toString('base64'))
}

/** Proves that the items are their orders' payouts, as these are and no others, while the orders are not archived. */
async function proveItems(tx: ProofTx, file: FileRow, lines: readonly LineRow[]): Promise<void> {
  const { rows } = await tx.query<{
    agent_id: bigint
    order_id: string
    amount: bigint
    account_name: string
    account_no: string
    bank_code: string
    status: string
    attempt: number | null
    reference: string | null
    provider: string | null
    payout_state: string | null
  }>(
    `select o.agent_id, o.order_id, o.amount, o.account_name, o.account_no, o.bank_code, o.status,
       p.attempt, p.reference, p.provider, p.state as payout_state
     from unnest($1::bigint[], $2::uuid[], $3::int[]) k(agent_id, order_id, attempt)
     join orders o on o.agent_id = k.agent_id and o.order_id = k.order_id
     left join payouts p on p.agent_id = k.agent_id and p.order_id = k.order_id
       and p.attempt = k.attempt`,
    [
      lines.map(({ agent_id }) => agent_id),
      lines.map(({ order_id }) => order_id),
      lines.map(({ attempt }) => attempt),
    ],
  )
  const orders = new Map(rows.map((row) => [txnId(row.agent_id, row.order_id), row]))
  for (const line of lines) {
    const order = orders.get(txnId(line.agent_id, line.order_id))
    const where = `line ${line.n} of payout file ${file.file_id}`
    if (line.item_agent !== null) {
      ensureSame(where, 'agent of its payout', line.item_agent, line.agent_id)
      ensureSame(where, 'order of its payout', line.item_order, line.order_id)
      ensureSame(where, 'attempt of its payout', line.item_attempt, line.attempt)
      ensureSame(where, 'amount of its payout', line.item_amount, line.amount)
    }
    if (!order) continue
    ensureSame(where, 'amount', line.amount, order.amount)
    ensureSameUnshown(where, 'payee', line.payee_name, order.account_name)
    ensureSameUnshown(where, 'account number', line.payee_account_no, order.account_no)
    ensureSameUnshown(where, 'bank', line.payee_bank, order.bank_code)
    if (line.reference === null) continue
    ensureSame(where, 'reference', line.reference, order.reference)
    ensureSame(where, 'provider', file.account, order.provider)
    const hasEnded = !['waiting', 'accepted', 'unknown'].includes(line.item_state ?? 'waiting')
    // What was taken out may be with another provider since.
    const isElsewhere = line.may_try_another === true && order.payout_state === 'rejected'
    ensure(
      !hasEnded || order.status !== 'WAITING' || isElsewhere,
      () => `${where} is ${line.item_state}, but its order waits`,
    )
  }
}

/** Proves that two people decided on what they ended: just this, of this file, before anybody had it or after. */
async function proveEnds(tx: ProofTx, file: FileRow, lines: readonly LineRow[]): Promise<void> {
  const ended = lines.filter(({ how }) => how !== null)
  if (ended.length === 0) return
  const { rows } = await tx.query<{
    proposal_id: string
    action: string
    subject_id: string
    input: string
    proposed_by: bigint
    decided_by: bigint | null
    verdict: string | null
  }>(
    `select p.proposal_id, p.action, p.subject_id, p.input::text as input, p.proposed_by,
       d.decided_by, d.verdict
     from proposals p left join proposal_decisions d using (proposal_id)
     where p.proposal_id = any($1::uuid[])`,
    [ended.map(({ proposal_id }) => proposal_id)],
  )
  const decided = new Map(rows.map((row) => [row.proposal_id, row]))
  // The bank may have what nobody had here, as far as is known.
  const { rows: told } = await tx.query(
    `select 1 from payout_file_reports where account = $1 and file_id = $2
     union all select 1 from payout_items
       where account = $1 and file_id = $2 and debited_by is not null limit 1`,
    [file.account, file.file_id],
  )
  const isOut = leftStates.includes(file.state) || told.length > 0
  for (const line of ended) {
    const where = `line ${line.n} of payout file ${file.file_id}`
    const decision = decided.get(line.proposal_id ?? '')
    ensureSame(where, 'verdict of two people', decision?.verdict, 'approved')
    ensure(
      decision?.decided_by !== decision?.proposed_by,
      () => `${where} was ended by one person alone`,
    )
    const isTakenOut = line.how === 'taken_out'
    const action = isTakenOut ? 'take_out_payouts' : 'abandon_payout_file'
    ensureSame(where, 'what was decided', decision?.action, action)
    ensureSame(where, 'file that was decided on', decision?.subject_id, file.file_id)
    const { codes, may_try_another, reason, evidence } = askedIn(decision?.input)
    if (isTakenOut) {
      ensure(
        codes?.includes(line.reference ?? '') === true,
        () => `${where} was taken out, but nobody decided on ${line.reference}`,
      )
      ensureSame(where, 'that another may pay it', line.may_try_another, may_try_another)
    } else {
      ensure(isOut, () => `${where} was never brought to the bank, but nobody had it`)
      ensureSame(where, 'abandoned round', line.end_round, file.round)
    }
    const words = isTakenOut ? reason : `${reason} (${evidence})`
    ensureSameUnshown(where, 'reason of its end', line.end_reason, words)
    ensure(
      line.item_state !== 'dropped' && line.reference !== null,
      () => `${where} was ended, but was never handed over`,
    )
  }
}

/**
 * Proves that a sum by which the bank debited a lost file is what its withdrawals add up to, with those that dropped out
 * since and the rest that people named; what was booked is compared with the movement at its account.
 */
async function proveDebit(tx: ProofTx, file: FileRow, lines: readonly LineRow[]): Promise<void> {
  const { rows } = await tx.query<{ amount: bigint }>(
    'select amount from bank_movements where account = $1 and movement_id = $2',
    [file.account, file.debit],
  )
  const [debit] = rows
  if (!debit) return
  ensureSame(`payout file ${file.file_id}`, 'debit', -debit.amount, sumOf(lines) + file.rest)
}

interface AskedEnd {
  codes?: string[]
  may_try_another?: boolean
  reason?: string
  evidence?: string
}

/** What the proposer asked for. */
function askedIn(input: string | undefined): AskedEnd {
  const { body }: { body?: AskedEnd } = JSON.parse(input ?? '{}')
  return body ?? {}
}
