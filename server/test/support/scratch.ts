import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../../src/db/embedded-binaries.ts'

const memory = '/dev/shm'
const prefix = 'sluice-tests-'
/** Several times what a run holds at once. */
const enoughBytes = 6 * 2 ** 30

/**
 * Makes a folder for everything that the run writes to temporary files. It is in memory where there is plenty:
 * hundreds of databases are made and dropped, and a file system on a disk spends more on that than PostgreSQL.
 */
export function makeScratch(): string {
  return (hasPlentyOfMemory() ? executableFolderIn(memory) : undefined) ?? folderIn(tmpdir())
}

function hasPlentyOfMemory(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < enoughBytes) return false
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= enoughBytes
  } catch {
    return false
  }
}

/** Some tests run programs from temporary files, which containers often forbid in memory. */
function executableFolderIn(parent: string): string | undefined {
  let folder: string | undefined
  try {
    folder = folderIn(parent)
    const probe = join(folder, 'probe')
    writeFileSync(probe, '#!/bin/sh\n', { mode: 0o755 })
    execFileSync(probe)
    rmSync(probe)
    return folder
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

function folderIn(parent: string): string {
  removeAbandoned(parent)
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  // PostgreSQL runs as a user of its own where the tests run as root.
  chmodSync(folder, 0o755)
  return folder
}

/** Runs that were killed leave their folders behind. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1])
    if (!(pid > 0) || isAlive(pid)) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true })
    } catch {
      // Something is mounted in it, or it is another user's: this run needs none of it.
    }
  }
}
