import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../support/process.ts'

const sizeMb = 400

/** A folder that can run full, on a tmpfs of its own where that may be mounted. */
export class SmallDisk {
  readonly folder: string
  /** Why it cannot run full. */
  readonly fault: string | undefined
  private readonly ballast: string

  private constructor(folder: string, fault: string | undefined) {
    this.folder = folder
    this.fault = fault
    this.ballast = join(folder, 'ballast')
    if (fault === undefined) mounted.add(folder)
  }

  static async open(): Promise<SmallDisk> {
    const folder = await tempFolder()
    try {
      const options = `size=${sizeMb}m,mode=755`
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' })
      return new SmallDisk(folder, undefined)
    } catch (error) {
      const why = error instanceof Error ? error.message.split('\n').at(-2) : ''
      return new SmallDisk(folder, `no small tmpfs can be mounted here: ${why || error}`)
    }
  }

  /** Leaves no room for anybody. */
  fill(): void {
    const file = openSync(this.ballast, 'w')
    try {
      for (const size of [4 << 20, 4 << 10]) fillWith(file, Buffer.alloc(size))
    } finally {
      closeSync(file)
    }
  }

  clear(): void {
    rmSync(this.ballast, { force: true })
  }

  /** To be called when nothing runs on it any more. */
  close(): void {
    unmount(this.folder)
  }
}

function fillWith(file: number, bytes: Buffer): void {
  try {
    while (writeSync(file, bytes) === bytes.length);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

const mounted = new Set<string>()

function unmount(folder: string): void {
  if (!mounted.delete(folder)) return
  // Lazily: a server that was just killed may take a moment to let go of it.
  execFileSync('umount', ['-l', folder], { stdio: 'pipe' })
}

// A run that is broken off leaves nothing behind either.
process.on('exit', () => {
  for (const folder of mounted) unmount(folder)
})
