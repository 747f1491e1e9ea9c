import { createHash } from 'node:crypto'
import { raiseAlarm } from '../approvals/alarms.ts'
import {
  type BankAccount,
  findBankAccount,
  readBankAccounts,
} from '../bank-accounts/bank-account.ts'
import { noteConnection, takeTurn } from '../bank-accounts/bank-connections.ts'
import {
  SftpFault,
  type SftpFile,
  type SftpPlace,
  type SftpSession,
  sftpPlaceOf,
  visitMs,
  withSftp,
} from '../bank-accounts/sftp-session.ts'
import { timeToPass } from '../db/database-time.ts'
import type { Pool } from '../db/pool.ts'
import { isStatusReport, readStatusReport } from '../payment-files/pain002.ts'
import { accountOfMessage, takeBankAnswer } from '../payout-files/take-report.ts'
import { BankFileFault, maxFileBytes } from '../statements/statement.ts'
import type { Desk } from '../teller/desk.ts'
import { importBankFile } from './import-bank-file.ts'

/** What one visit reads at most; the rest comes with the next. */
const mostFiles = 50
const mostBytes = maxFileBytes
const unfinished = /\.(tmp|part|filepart)$/i

/** What became of a file, as it is kept. */
interface Fetched {
  became: 'statement' | 'report' | 'refused'
  said: string
  /** It is for another account of ours, which looks into the same folder and takes it. */
  isOfAnother?: boolean
}

interface ReadFile extends SftpFile {
  /** Null if it is too large to be read. */
  bytes: Buffer | null
}

/** What a visit brought, up to where the connection failed. */
interface Visit {
  files: ReadFile[]
  fault: SftpFault | null
}

/**
 * Fetches what banks put into their folders, and takes it as the bank's own word, since their server's key is pinned:
 * answers to payment files act at once, statements are imported. Each file is read once and stays where it is. If a
 * process dies after it took a file, the file is taken again, which adds nothing.
 */
export class BankInbox {
  private readonly desk: Desk
  private readonly mode: 'sandbox' | 'live'
  private readonly everyMs: number
  private readonly onRefused: (file: string, reason: string) => void
  private readonly onError: (error: unknown) => void
  /** What each folder showed at the last look: what changes is still being written. */
  private readonly seen = new Map<string, Set<string>>()
  /** How often each file was read that is not taken yet. */
  private readonly tries = new Map<string, number>()

  constructor(
    desk: Desk,
    mode: 'sandbox' | 'live',
    everyMs: number,
    onRefused: (file: string, reason: string) => void,
    onError: (error: unknown) => void,
  ) {
    this.desk = desk
    this.mode = mode
    this.everyMs = everyMs
    this.onRefused = onRefused
    this.onError = onError
  }

  /** Looks at the folder of every account whose turn it is, in one of the processes. */
  async poll(limitMs: number = visitMs): Promise<'done'> {
    const { pool, now, secretKeys } = this.desk
    for (const account of await readBankAccounts(pool)) {
      const { name, sftpGetFolder, confirmedAt } = account
      if (sftpGetFolder === null || confirmedAt === null) continue
      if (!(await takeTurn(pool, name, timeToPass(now), this.everyMs))) continue
      const place = sftpPlaceOf(secretKeys, account)
      try {
        if (!place) throw new SftpFault('The private key does not open with the secret key.')
        const { files, fault } = await this.read(account, place, sftpGetFolder, limitMs)
        for (const file of files) await this.take(account, place, file)
        await noteConnection(pool, name, fault?.message ?? null, now())
      } catch (error) {
        if (!(error instanceof SftpFault)) this.onError(error)
        else await noteConnection(pool, name, error.message, now())
      }
    }
    return 'done'
  }

  private read(
    { name }: BankAccount,
    place: SftpPlace,
    folder: string,
    limitMs: number,
  ): Promise<Visit> {
    return withSftp(
      place,
      async (session) => {
        const listed = (await session.list(folder)).filter(
          (file) => !file.name.startsWith('.') && !unfinished.test(file.name),
        )
        const before = this.seen.get(name) ?? new Set()
        this.seen.set(name, new Set(listed.map(looksOf)))
        const still = listed.filter((file) => before.has(looksOf(file)))
        const visit: Visit = { files: [], fault: null }
        let size = 0
        for (const file of this.failedLast(name, await unread(this.desk.pool, name, still))) {
          const isFull = visit.files.length === mostFiles
          if (isFull || (size > 0 && size + file.size > mostBytes)) break
          this.noteTry(name, file)
          try {
            const bytes = await readWhole(session, folder, file)
            visit.files.push({ ...file, bytes })
            size += bytes?.length ?? 0
          } catch (error) {
            if (!(error instanceof SftpFault)) throw error
            visit.fault = error
            break
          }
        }
        return visit
      },
      limitMs,
    )
  }

  /** Files that could not be read or taken come after all others: they hold nothing up. */
  private failedLast(account: string, files: SftpFile[]): SftpFile[] {
    const tries = (file: SftpFile) => this.tries.get(`${account} ${looksOf(file)}`) ?? 0
    return files.sort((a, b) => tries(a) - tries(b))
  }

  private noteTry(account: string, file: SftpFile): void {
    const key = `${account} ${looksOf(file)}`
    this.tries.set(key, (this.tries.get(key) ?? 0) + 1)
  }

  private async take(account: BankAccount, place: SftpPlace, file: ReadFile): Promise<void> {
    const { bytes } = file
    try {
      const fetched: Fetched = bytes
        ? await this.act(account, place, file.name, bytes)
        : { became: 'refused', said: 'The file is larger than 64 MiB.' }
      await this.keep(account, file, fetched)
    } catch (error) {
      // A fault of ours, or it cannot be done now: it is read again at the next visit.
      if (!(error instanceof BankFileFault)) return this.onError(error)
      await this.keep(account, file, { became: 'refused', said: error.message })
    }
  }

  private async act(
    account: BankAccount,
    { host }: SftpPlace,
    name: string,
    bytes: Buffer,
  ): Promise<Fetched> {
    const by = { userId: null, email: `sftp ${host}`.slice(0, 254), ip: null }
    if (!(await isStatusReport(bytes))) {
      const file = { name, bytes, via: 'sftp', by: by.email } as const
      const done = await importBankFile(this.desk, account, file, this.mode)
      return {
        became: 'statement',
        said: `${done.entries} entries, ${done.movements} of them new movements`,
      }
    }
    const { originalMessageId } = await readStatusReport(bytes)
    const answer = await takeBankAnswer(this.desk, account.name, originalMessageId, bytes, by)
    if (answer !== undefined) return { became: 'report', said: answer }
    const owner = await accountOfMessage(this.desk.pool, originalMessageId)
    const whose = owner === undefined ? '' : ` It is about a file of ${owner}: bring it there.`
    const said = `It answers no file of ${account.name}: ${originalMessageId}.${whose}`
    const isOfAnother = owner !== undefined && (await this.isReadBy(owner, account))
    return { became: 'refused', said, isOfAnother }
  }

  /** Whether another account looks into the folder of this one. */
  private async isReadBy(
    name: string,
    { sftpHost, sftpPort, sftpUser, sftpGetFolder }: BankAccount,
  ) {
    const other = await findBankAccount(this.desk.pool, name)
    return (
      other?.confirmedAt != null &&
      other.sftpHost === sftpHost &&
      other.sftpPort === sftpPort &&
      other.sftpUser === sftpUser &&
      other.sftpGetFolder === sftpGetFolder
    )
  }

  private async keep(account: BankAccount, file: ReadFile, fetched: Fetched): Promise<void> {
    const { name, size, modifiedAt, bytes } = file
    const at = this.desk.now()
    const { rowCount } = await this.desk.pool.query(
      `insert into bank_fetches (account, name, size, modified_at, sha256, became, said, fetched_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [
        account.name,
        name.slice(0, 255),
        size,
        modifiedAt,
        bytes && createHash('sha256').update(bytes).digest('hex'),
        fetched.became,
        fetched.said.replaceAll('\0', '').slice(0, 2_000) || '-',
        at,
      ],
    )
    this.tries.delete(`${account.name} ${looksOf(file)}`)
    if (fetched.became !== 'refused' || rowCount === 0) return
    this.onRefused(`${account.name}: ${name}`, fetched.said)
    if (fetched.isOfAnother) return
    // It is not read again: what is in it, a refusal or a debit, is known here only if a person brings it.
    const words = `A file that the bank gave for ${account.name} was not taken: ${name}. ${fetched.said} Find out what is in it, and import it by hand if it is the account's.`
    await raiseAlarm(this.desk.pool, { at, by: account.name, words: words.replaceAll('\0', '') })
  }
}

/** A file's bytes as they are listed; null if they are too many. What grows meanwhile is read at a later visit. */
async function readWhole(
  session: SftpSession,
  folder: string,
  file: SftpFile,
): Promise<Buffer | null> {
  if (file.size > maxFileBytes) return null
  const path = `${folder.replace(/\/+$/, '')}/${file.name}`
  const bytes = await session.read(path, maxFileBytes)
  const sizeNow = await session.sizeOf(path)
  if (bytes.length === file.size && sizeNow === file.size) return bytes
  throw new SftpFault(
    `${path} is listed with ${file.size} bytes, and ${bytes.length} came: it is read again.`,
  )
}

function looksOf({ name, size, modifiedAt }: SftpFile): string {
  return `${name} ${size} ${modifiedAt.getTime()}`
}

/** The files that nobody has read as they look now, the oldest first. */
async function unread(
  pool: Pool,
  account: string,
  files: readonly SftpFile[],
): Promise<SftpFile[]> {
  const { rows } = await pool.query<{ name: string; size: bigint; modified_at: Date }>(
    `select name, size, modified_at from bank_fetches where account = $1 and name = any($2::text[])`,
    [account, files.map(({ name }) => name.slice(0, 255))],
  )
  const known = new Set(
    rows.map(({ name, size, modified_at }) =>
      looksOf({ name, size: Number(size), modifiedAt: modified_at }),
    ),
  )
  return files
    .filter((file) => !known.has(looksOf({ ...file, name: file.name.slice(0, 255) })))
    .sort((a, b) => a.modifiedAt.getTime() - b.modifiedAt.getTime() || (a.name < b.name ? -1 : 1))
}
