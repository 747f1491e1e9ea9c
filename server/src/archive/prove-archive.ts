import { type Accounts, accountNames, noChange } from '../ledger/accounts.ts'
import { type ArchivePart, clearingsFrom, clearingsText } from '../ledger/archived.ts'
import type { JournalRow } from '../ledger/book.ts'
import { journalHash } from '../ledger/journal-hash.ts'
import { noHash } from '../lib/chain-hash.ts'
import { csvCells } from '../lib/csv-records.ts'
import { txnId } from '../lib/ids.ts'
import { ensure, ProofFailure } from '../proof/proof-failure.ts'
import { proveChain, proveHashes } from '../proof/prove.ts'
import { proveOrder } from '../proof/prove-orders.ts'
import { ArchiveFault, type Manifest, readManifest, readTable } from './part-files.ts'
import { type ArchivedOrder, journalFrom, orderFrom } from './read-records.ts'

/** The result of proving one agent's files. */
export interface ArchiveProof {
  appId: string
  parts: number
  journalRows: number
  orders: number
  /** The last journal row in the files. */
  toSeq: bigint
  /** The first fault found, in words. */
  finding: string | null
}

export interface ProveOptions {
  /** The parts according to the database; without them, the files are proved without the database. */
  recorded?: ArchivePart[]
  onProgress?: (proof: ArchiveProof) => void
  /** Called with the journal rows of each part, and with its orders in batches. */
  onJournal?: (rows: Map<bigint, JournalRow>, manifest: Manifest) => Promise<void>
  onOrders?: (orders: ArchivedOrder[], part: number) => Promise<void>
}

const rowsAtOnce = 1_000

/**
 * Proves one agent's archive from its first part: each file is as it was written, each part continues the
 * previous one, every balance follows from the row before, and every order matches its rows.
 */
export async function proveArchive(
  folder: string,
  appId: string,
  lastPart: number,
  options: ProveOptions = {},
): Promise<ArchiveProof> {
  const proof: ArchiveProof = {
    appId,
    parts: 0,
    journalRows: 0,
    orders: 0,
    toSeq: 0n,
    finding: null,
  }
  try {
    let last: ProvedPart | undefined
    for (let part = 1; part <= lastPart; part++) {
      const next = await readManifest(folder, appId, part)
      proveManifest(next, last, part, appId, options.recorded?.[part - 1])
      const rows = await proveJournal(folder, next.manifest, proof)
      const lastRow = rows.get(next.manifest.toSeq)
      const endedAt = options.recorded?.[part - 1]?.endedAt ?? lastRow?.at
      ensure(
        lastRow?.at.getTime() === endedAt?.getTime(),
        () => `part ${part} of the archive ends at another time than the database says`,
      )
      await options.onJournal?.(rows, next.manifest)
      await proveArchivedOrders(folder, next.manifest, rows, proof, options)
      proof.parts++
      proof.toSeq = next.manifest.toSeq
      options.onProgress?.(proof)
      last = { ...next, lastRow }
    }
  } catch (error) {
    if (!(error instanceof ProofFailure || error instanceof ArchiveFault)) throw error
    proof.finding = error.message
  }
  return proof
}

interface ProvedPart {
  manifest: Manifest
  sha256: string
  lastRow: JournalRow | undefined
}

function proveManifest(
  { manifest, sha256 }: { manifest: Manifest; sha256: string },
  last: ProvedPart | undefined,
  part: number,
  appId: string,
  recorded: ArchivePart | undefined,
): void {
  const name = `part ${part} of the archive`
  ensure(manifest.part === part && manifest.appId === appId, () => `${name} is another part`)
  ensure(
    recorded === undefined || recorded.sha256 === sha256,
    () => `${name} is not the one that was archived: its digest is another`,
  )
  ensure(
    recorded === undefined ||
      (recorded.fromSeq === manifest.fromSeq && recorded.toSeq === manifest.toSeq),
    () => `${name} has other journal rows than the database says`,
  )
  ensure(
    recorded === undefined || recorded.orders === BigInt(manifest.orders.rows),
    () => `${name} has another number of orders than the database says`,
  )
  ensure(
    manifest.previous === (last?.sha256 ?? null),
    () => `${name} does not follow the part before: the digest it names is another`,
  )
  ensure(
    manifest.fromSeq === (last?.manifest.toSeq ?? 0n) + 1n,
    () =>
      `${name} begins with journal row ${manifest.fromSeq}, the part before ends with ${last?.manifest.toSeq ?? 0n}`,
  )
  ensure(
    isSame(manifest.opening, last?.manifest.closing ?? noChange),
    () => `${name} does not open with the balances that the part before closes with`,
  )
  const closedWith = last?.manifest.closingClearings
  ensure(
    closedWith === undefined || manifest.openingClearings === closedWith,
    () => `${name} does not open with the clearing by provider that the part before closes with`,
  )
  const before = hashAfter(last)
  ensure(
    [before ?? manifest.openingHash, undefined].includes(manifest.openingHash),
    () => `${name} does not open with the hash that the part before closes with`,
  )
  ensure(
    manifest.openingHash !== undefined || last?.manifest.closingHash === undefined,
    () => `${name} is not chained to the part before`,
  )
  ensure(
    recorded === undefined || recorded.hash === (manifest.closingHash ?? null),
    () => `${name} closes with another hash than the database says`,
  )
  ensure(
    recorded === undefined || textOf(recorded) === manifest.closingClearings,
    () => `${name} closes with another clearing by provider than the database says`,
  )
  ensure(
    recorded === undefined || isSame(recorded.closing, manifest.closing),
    () => `${name} closes with other balances than the database says`,
  )
}

/**
 * The hash that the row after a part is chained to. The chain begins with the digest of the last part before it.
 * Undefined if that part has rows that do not name their provider, which the row in the books did by then.
 */
function hashAfter(last: ProvedPart | undefined): string | undefined {
  if (!last) return noHash
  const { manifest, sha256, lastRow } = last
  if (manifest.closingHash !== undefined) return manifest.closingHash
  if (manifest.closingClearings === undefined) return undefined
  return lastRow ? journalHash(sha256, lastRow) : noHash
}

function textOf({ clearings }: ArchivePart): string | undefined {
  return clearings === null ? undefined : clearingsText(clearings)
}

function isSame(a: Accounts, b: Accounts): boolean {
  return accountNames.every((name) => a[name] === b[name])
}

/** Proves the chain of a part's journal rows; returns the rows by seq. */
async function proveJournal(
  folder: string,
  manifest: Manifest,
  proof: ArchiveProof,
): Promise<Map<bigint, JournalRow>> {
  const bySeq = new Map<bigint, JournalRow>()
  let before = openingRow(manifest)
  const { openingClearings, closingClearings } = manifest
  const clearings = openingClearings === undefined ? undefined : clearingsFrom(openingClearings)
  let hash = manifest.openingHash
  let rows: JournalRow[] = []
  const proveSome = () => {
    proveChain(manifest, rows, before, clearings)
    if (hash !== undefined) hash = proveHashes(rows, hash)
    for (const row of rows) {
      ensure(row.agentId === manifest.agentId, () => `journal row ${row.seq} is another agent's`)
      bySeq.set(row.seq, row)
    }
    before = rows.at(-1) ?? before
    proof.journalRows += rows.length
    rows = []
  }
  for await (const values of tableOf(folder, manifest, 'journal')) {
    rows.push(
      read(manifest.journal.name, () => journalFrom(manifest, values.header, values.record)),
    )
    if (rows.length === rowsAtOnce) proveSome()
  }
  proveSome()
  ensure(
    before?.seq === manifest.toSeq && isSame(before.balances, manifest.closing),
    () => `part ${manifest.part} of the archive does not end as its manifest says`,
  )
  ensure(
    hash === manifest.closingHash,
    () => `part ${manifest.part} of the archive does not end with the hash its manifest says`,
  )
  ensure(
    clearings === undefined || clearingsText(clearings) === closingClearings,
    () => `part ${manifest.part} of the archive does not end with the clearing its manifest says`,
  )
  return bySeq
}

/** A placeholder for the row before a part; undefined for the first part. */
function openingRow({ agentId, currency, fromSeq, opening }: Manifest): JournalRow | undefined {
  if (fromSeq === 1n) return undefined
  return {
    agentId,
    seq: fromSeq - 1n,
    orderId: null,
    event: 'adjustment',
    at: new Date(0),
    currency,
    change: noChange,
    balances: opening,
    clearingAt: null,
    clearingThere: null,
    onceKey: null,
    reason: null,
    hash: '',
  }
}

async function proveArchivedOrders(
  folder: string,
  manifest: Manifest,
  rows: Map<bigint, JournalRow>,
  proof: ArchiveProof,
  options: ProveOptions,
): Promise<void> {
  let orders: ArchivedOrder[] = []
  for await (const { header, record } of tableOf(folder, manifest, 'orders')) {
    const archived = read(manifest.orders.name, () => orderFrom(manifest, header, record))
    proveArchivedOrder(archived, manifest, rows)
    proof.orders++
    orders.push(archived)
    if (orders.length < rowsAtOnce) continue
    await options.onOrders?.(orders, manifest.part)
    orders = []
  }
  if (orders.length > 0) await options.onOrders?.(orders, manifest.part)
}

/** Proves that the order matches its rows, and that its rows are those of the journal. */
function proveArchivedOrder(
  { order, rows, facts }: ArchivedOrder,
  { agentId, currency, fromSeq, toSeq }: Manifest,
  journal: Map<bigint, JournalRow>,
): void {
  const name = `order ${txnId(order.agentId, order.orderId)}`
  ensure(order.agentId === agentId, () => `${name} is another agent's`)
  ensure(order.status !== 'WAITING', () => `${name} is archived and waits`)
  proveOrder({ agentId, currency }, order, facts)
  for (const row of rows) {
    ensure(row.seq < toSeq, () => `${name} is archived before its journal row ${row.seq}`)
    ensure(
      row.seq < fromSeq || isSameRow(journal.get(row.seq), row),
      () => `${name} has another journal row ${row.seq} than the journal`,
    )
  }
}

/** Whether two rows have the same contents. */
export function isSameRow(a: JournalRow | undefined, b: JournalRow): boolean {
  return (
    a !== undefined &&
    a.orderId === b.orderId &&
    a.event === b.event &&
    a.at.getTime() === b.at.getTime() &&
    a.reason === b.reason &&
    a.currency === b.currency &&
    a.onceKey === b.onceKey &&
    isSame(a.change, b.change) &&
    isSame(a.balances, b.balances) &&
    // A row in an older file does not name its provider.
    (a.clearingAt === null ||
      (a.clearingAt === b.clearingAt && a.clearingThere === b.clearingThere)) &&
    (a.hash === '' || b.hash === '' || a.hash === b.hash)
  )
}

/** A record that cannot be read is also a fault. */
function read<T>(name: string, record: () => T): T {
  try {
    return record()
  } catch (error) {
    throw new ArchiveFault(`${name} has a record that cannot be read: ${String(error)}`)
  }
}

async function* tableOf(folder: string, manifest: Manifest, table: 'journal' | 'orders') {
  let header: ReturnType<typeof csvCells> | undefined
  for await (const record of readTable(folder, manifest[table])) {
    if (header) yield { header, record }
    else header = csvCells(record)
  }
}
