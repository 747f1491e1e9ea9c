import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type Accounts, accountNames, noChange } from '../ledger/accounts.ts'
import { csvRecords } from '../lib/csv-records.ts'
import type { Currency } from '../lib/money.ts'

/**
 * The contents of a part of an archive. Its digest covers its files and, through `previous`, every
 * earlier part.
 */
export interface Manifest {
  format: 'sluice-archive-1'
  appId: string
  agentId: bigint
  currency: Currency
  part: number
  fromSeq: bigint
  toSeq: bigint
  opening: Accounts
  closing: Accounts
  /** Clearing by provider before and after the part; parts from before that was kept have none. */
  openingClearings?: string
  closingClearings?: string
  /** The hash of the row before the part and of its last row; parts from before rows were chained have none. */
  openingHash?: string
  closingHash?: string
  /** The digest of the previous part's manifest. */
  previous: string | null
  journal: FileDigest
  orders: FileDigest
}

export interface FileDigest {
  name: string
  rows: number
  sha256: string
}

/** A fault in an archive that a person has to fix. */
export class ArchiveFault extends Error {}

/** The name of a part's file within the archive folder. */
export function partName(
  appId: string,
  part: number,
  what: 'journal.csv.gz' | 'orders.csv.gz' | 'json',
) {
  return `${appId}/part-${String(part).padStart(6, '0')}.${what}`
}

/**
 * Writes a table to a new file and syncs it to disk. If an interrupted run left a file of this name, that
 * file was never used; it is kept under another name.
 */
export async function writeTable(
  folder: string,
  name: string,
  header: string,
  records: AsyncIterable<string[]>,
): Promise<FileDigest> {
  let rows = 0
  async function* text() {
    yield `${header}\n`
    for await (const some of records) {
      rows += some.length
      if (some.length > 0) yield `${some.join('\n')}\n`
    }
  }
  const sha256 = await writeNew(folder, name, async (write) => {
    await pipeline(text, createGzip(), async (packed: AsyncIterable<Buffer>) => {
      for await (const piece of packed) await write(piece)
    })
  })
  return { name, rows, sha256 }
}

/** Writes a manifest and returns its digest. It is written last: if it exists, so do the files it names. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<string> {
  const text = `${JSON.stringify(manifest, (_key, value) => (typeof value === 'bigint' ? `${value}` : value), 2)}\n`
  const name = partName(manifest.appId, manifest.part, 'json')
  return writeNew(folder, name, (write) => write(Buffer.from(text)))
}

async function writeNew(
  folder: string,
  name: string,
  fill: (write: (piece: Buffer) => Promise<void>) => Promise<void>,
): Promise<string> {
  const path = join(folder, name)
  const parent = join(path, '..')
  const firstMade = await mkdir(parent, { recursive: true, mode: 0o700 })
  await rename(path, `${path}.left-over`).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  try {
    await fill(async (piece) => {
      hash.update(piece)
      await file.writeFile(piece)
    })
    await file.sync()
  } finally {
    await file.close()
  }
  await syncFolder(parent)
  // A new folder is on disk only after its parent folder has been synced.
  if (firstMade !== undefined) {
    for (let made = parent; made.length >= firstMade.length; made = dirname(made)) {
      await syncFolder(dirname(made))
    }
  }
  return hash.digest('hex')
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Reads a part's manifest and computes its digest. */
export async function readManifest(
  folder: string,
  appId: string,
  part: number,
): Promise<{ manifest: Manifest; sha256: string }> {
  const name = partName(appId, part, 'json')
  const bytes = await readFile(join(folder, name)).catch((error) => {
    throw new ArchiveFault(`${name} cannot be read: ${error.message}`)
  })
  try {
    const manifest = manifestFrom(JSON.parse(bytes.toString('utf8')))
    return { manifest, sha256: createHash('sha256').update(bytes).digest('hex') }
  } catch (error) {
    throw new ArchiveFault(`${name} is not a manifest of an archive: ${String(error)}`)
  }
}

type Written<T> = {
  [K in keyof T]: T[K] extends bigint ? string : T[K] extends Accounts ? Written<Accounts> : T[K]
}

function manifestFrom(written: Written<Manifest>): Manifest {
  if (written.format !== 'sluice-archive-1') throw new Error('its format is another')
  return {
    ...written,
    agentId: BigInt(written.agentId),
    fromSeq: BigInt(written.fromSeq),
    toSeq: BigInt(written.toSeq),
    opening: accountsFrom(written.opening),
    closing: accountsFrom(written.closing),
  }
}

/** Older parts lack the accounts that did not exist then. */
function accountsFrom(written: Partial<Written<Accounts>>): Accounts {
  const accounts = { ...noChange }
  for (const name of accountNames) accounts[name] = BigInt(written[name] ?? 0)
  return accounts
}

/**
 * Reads the records of a part's table, header first. Throws at the end if the file is not as it was
 * written.
 */
export async function* readTable(folder: string, file: FileDigest): AsyncGenerator<string> {
  const hash = createHash('sha256')
  let rows = -1
  try {
    const source = createReadStream(join(folder, file.name))
    source.on('data', (piece) => hash.update(piece))
    const text = source.pipe(createGunzip()).setEncoding('utf8')
    source.on('error', (error) => text.destroy(error))
    for await (const record of csvRecords(text)) {
      rows++
      yield record
    }
  } catch (error) {
    throw new ArchiveFault(
      `${file.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  if (hash.digest('hex') !== file.sha256) {
    throw new ArchiveFault(`${file.name} is not the file that was archived: its digest is another`)
  }
  if (rows !== file.rows) {
    throw new ArchiveFault(`${file.name} has ${rows} rows, its manifest says ${file.rows}`)
  }
}

/** The agents in an archive, each with the number of its last part. */
export async function listArchive(folder: string): Promise<Map<string, number>> {
  const parts = new Map<string, number>()
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    throw new ArchiveFault(`the folder ${folder} cannot be read: ${error.message}`)
  })
  for (const entry of entries.filter((each) => each.isDirectory())) {
    const numbers = (await readdir(join(folder, entry.name))).flatMap((name) => {
      const match = /^part-(\d{6,})\.json$/.exec(name)
      return match ? [Number(match[1])] : []
    })
    if (numbers.length > 0) parts.set(entry.name, Math.max(...numbers))
  }
  return parts
}
