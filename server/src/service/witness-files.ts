import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Heads, parseHeads } from '../proof/heads.ts'

/** What a process keeps outside of the database, to compare the database with. */
export interface Witness {
  format: 'sluice-witness-1'
  witnessId: string
  /** This turn of the process's mark is in the database for certain, and everything committed before it. */
  turn: number
  at: string
  system: string | null
  timeline: number | null
  epoch: number
  /** The ends of the chains, not later than the turn. */
  heads: Heads
}

export interface KeptWitness extends Witness {
  path: string
}

export function witnessFolder(dataDir: string, deployment: string): string {
  return join(dataDir, 'witness', deployment)
}

/** Every witness of a database that is kept here; one that cannot be read counts as none. */
export async function readWitnesses(folder: string): Promise<KeptWitness[]> {
  const names = await readdir(folder).catch(() => [])
  const found: KeptWitness[] = []
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const path = join(folder, name)
    const text = await readFile(path, 'utf8').catch(() => '')
    const witness = parseWitness(text)
    if (witness) found.push({ ...witness, path })
  }
  return found
}

function parseWitness(text: string): Witness | undefined {
  try {
    const value: Partial<Witness> = JSON.parse(text)
    const isWhole =
      value.format === 'sluice-witness-1' &&
      /^[0-9a-f]{32}$/.test(value.witnessId ?? '') &&
      Number.isSafeInteger(value.turn) &&
      Number.isSafeInteger(value.epoch) &&
      !Number.isNaN(Date.parse(value.at ?? '')) &&
      value.heads !== undefined
    return isWhole ? (value as Witness) : undefined
  } catch {
    return undefined
  }
}

/** On disk when it returns, whole or not at all. */
export async function writeWitness(folder: string, witness: Witness): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${witness.witnessId}.json`)
  const text = `${JSON.stringify(witness)}\n`
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/** Throws if nothing can be kept in a folder. */
export async function tryFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, 'try.new')
  await writeFile(path, 'Nothing is kept here.\n', { mode: 0o600, flush: true })
  await rm(path, { force: true })
}

export async function forgetWitness({ path }: KeptWitness): Promise<void> {
  await rm(path, { force: true })
}

const longestLine = 4 << 20

/** The last heads in a file that they are added to line by line; undefined if there is none. */
export async function lastHeads(path: string): Promise<Heads | undefined> {
  const file = await open(path).catch(() => undefined)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const length = Math.min(size, longestLine)
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
    // A line that was cut off, at either end, is passed over.
    for (const line of buffer.toString('utf8').split('\n').reverse()) {
      if (line.trim() === '') continue
      try {
        return parseHeads(line)[0]
      } catch {}
    }
    return undefined
  } finally {
    await file.close()
  }
}
