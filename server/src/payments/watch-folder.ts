import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type BankAccount, readBankAccounts } from '../bank-accounts/bank-account.ts'
import { tooLarge } from '../statements/file-bytes.ts'
import { BankFileFault, maxFileBytes } from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'
import { importBankFile } from './import-bank-file.ts'

type FolderDesk = Pick<Desk, 'pool' | 'now' | 'secretKeys'>

/** A file that did not change for this long is written completely. */
const stillMs = 10_000
const unfinished = /\.(tmp|part|filepart)$/i

/**
 * Imports the files that are put into `bank-in/<account>/`, and moves each to `done/` or `refused/` once that is
 * on disk. A file that is moved late is imported again, which adds nothing.
 */
export class WatchedFolder {
  private readonly root: string
  private readonly desk: FolderDesk
  private readonly mode: 'sandbox' | 'live'
  private readonly onRefused: (file: string, fault: BankFileFault) => void
  private readonly onError: (error: unknown) => void
  /** The size and time of each file when it was looked at last. */
  private seen = new Map<string, string>()

  constructor(
    dataDir: string,
    desk: FolderDesk,
    mode: 'sandbox' | 'live',
    onRefused: (file: string, fault: BankFileFault) => void,
    onError: (error: unknown) => void,
  ) {
    this.root = join(dataDir, 'bank-in')
    this.desk = desk
    this.mode = mode
    this.onRefused = onRefused
    this.onError = onError
  }

  /** Looks at every account's folder once. */
  async poll(): Promise<'done'> {
    const seen = new Map<string, string>()
    for (const account of await readBankAccounts(this.desk.pool)) {
      const folder = join(this.root, account.name)
      await mkdir(folder, { recursive: true })
      for (const name of (await readdir(folder)).sort()) {
        const path = join(folder, name)
        const found = await stat(path).catch(() => undefined)
        if (!found?.isFile() || name.startsWith('.') || unfinished.test(name)) continue
        const looks = `${found.size} ${found.mtimeMs}`
        seen.set(path, looks)
        const isStill = Date.now() - found.mtimeMs >= stillMs && this.seen.get(path) === looks
        if (isStill) await this.take(account, folder, name, found.size)
      }
    }
    this.seen = seen
    return 'done'
  }

  private async take(
    account: BankAccount,
    folder: string,
    name: string,
    size: number,
  ): Promise<void> {
    const path = join(folder, name)
    try {
      if (size > maxFileBytes) throw tooLarge()
      const bytes = await readFile(path)
      const file = { name, bytes, via: 'folder', by: 'bank-in folder' } as const
      await importBankFile(this.desk, account, file, this.mode)
      await moveTo(folder, 'done', name)
    } catch (error) {
      // A fault of ours or of the machine: the file stays, and the other files go on.
      if (!(error instanceof BankFileFault)) return this.onError(error)
      this.onRefused(path, error)
      await moveTo(folder, 'refused', name)
    }
  }
}

/** Another process may have moved it before. */
async function moveTo(folder: string, where: 'done' | 'refused', name: string): Promise<void> {
  await mkdir(join(folder, where), { recursive: true })
  await rename(join(folder, name), join(folder, where, name)).catch((error) => {
    if (error.code !== 'ENOENT') throw error
  })
}
