import { raiseAlert } from '../alerts/raise-alert.ts'
import type { Pool } from '../db/pool.ts'
import type { Currency } from '../lib/money.ts'
import { nobody } from '../operators/credentials.ts'

/** A bank's file as it came, with what became of it. */
export interface FoundBankFile {
  fileId: string
  name: string
  size: number
  via: 'console' | 'command' | 'folder' | 'sftp'
  broughtBy: string
  receivedAt: Date
  /** Why nothing was taken from it. */
  fault: string | null
  statements: number
  entries: number
  fromDay: string | null
  toDay: string | null
  /** Movements that only this file and other untrusted ones report, and their amounts without signs. */
  unconfirmed: number
  unconfirmedMinor: bigint
  /** Whether something in it, if only its balances, is not the bank's word yet. */
  isWaiting: boolean
  /** Null if nobody had to: it is the bank's word, or within the limit. */
  confirmedBy: string | null
  confirmedAt: Date | null
}

/** A file that a person brought and that waits for a second one. */
export interface WaitingFile
  extends Pick<FoundBankFile, 'fileId' | 'via' | 'broughtBy' | 'receivedAt' | 'unconfirmedMinor'> {
  account: string
  currency: Currency
  bringer: { userId: bigint; resetBy: bigint }
}

/** Tells who can be the second person for a file, if there has to be one; `by` is 0 for the command line. */
export async function tellOfFile(
  pool: Pool,
  account: string,
  fileId: string,
  by: bigint,
  at: Date,
): Promise<FoundBankFile | undefined> {
  const kept = (await readBankFiles(pool, account, null, 20)).find((each) => each.fileId === fileId)
  if (!kept?.isWaiting) return kept
  await raiseAlert(pool, {
    kind: 'approval_waiting',
    subject: `bank file ${account} by ${by}`,
    words: `A file of ${account} was brought, and waits for a second person under Bank accounts.`,
    to: { roles: by === nobody ? ['admin'] : ['admin', 'operator'], except: by },
    at,
  })
  return kept
}

/** The files of all accounts that wait for a second person, brought since a moment, newest first. */
export async function readWaitingFiles(
  pool: Pool,
  since: Date,
  limit: number,
): Promise<WaitingFile[]> {
  const { rows } = await pool.query<
    Omit<WaitingFile, 'bringer'> & { userId: bigint; resetBy: bigint }
  >(
    `select f.account, b.currency, f.file_id as "fileId", f.via, f.brought_by as "broughtBy",
       f.received_at as "receivedAt", f.bringer_user_id as "userId",
       f.bringer_reset_by as "resetBy", w.amount as "unconfirmedMinor"
     from bank_files f join bank_accounts b on b.name = f.account
     cross join lateral (select coalesce(sum(abs(m.amount)), 0)::bigint as amount
       from bank_movements m where m.account = f.account and m.state = 'unconfirmed'
         and exists (select 1 from bank_reports r where r.account = m.account
           and r.movement_id = m.movement_id and r.file_id = f.file_id)) w
     where f.received_at >= $1 and f.via in ('console', 'command') and f.fault is null
       and not exists (select 1 from bank_file_confirmations c
         where c.account = f.account and c.file_id = f.file_id)
       and (exists (select 1 from bank_statements s
           where s.account = f.account and s.file_id = f.file_id and not s.is_trusted)
         or exists (select 1 from bank_reports r where r.account = f.account
           and r.file_id = f.file_id and not r.is_trusted))
     order by f.received_at desc limit $2`,
    [since, limit],
  )
  return rows.map(({ userId, resetBy, ...file }) => ({ ...file, bringer: { userId, resetBy } }))
}

/** The files of an account, newest first; `before` is the last of the page before. */
export async function readBankFiles(
  pool: Pool,
  account: string,
  before: { receivedAt: Date; fileId: string } | null,
  limit: number,
): Promise<FoundBankFile[]> {
  const { rows } = await pool.query<FoundBankFile>(
    `select f.file_id as "fileId", f.name, f.size, f.via, f.brought_by as "broughtBy",
       f.received_at as "receivedAt", f.fault, s.statements, s.entries, s.from_day as "fromDay",
       s.to_day as "toDay", w.unconfirmed, w.amount as "unconfirmedMinor",
       f.fault is null and (exists (select 1 from bank_statements s
           where s.account = f.account and s.file_id = f.file_id and not s.is_trusted)
         or exists (select 1 from bank_reports r where r.account = f.account
           and r.file_id = f.file_id and not r.is_trusted)) as "isWaiting",
       c.confirmed_by as "confirmedBy", c.confirmed_at as "confirmedAt"
     from (select * from bank_files
       where account = $1 and ($2::timestamptz is null or (received_at, file_id) < ($2, $3::uuid))
       order by received_at desc, file_id desc limit $4) f
     left join bank_file_confirmations c on c.account = f.account and c.file_id = f.file_id
     cross join lateral (select count(*)::int as statements,
         coalesce(sum(entries), 0)::int as entries, min(from_day) as from_day, max(to_day) as to_day
       from bank_statements s where s.account = f.account and s.file_id = f.file_id) s
     cross join lateral (select count(*)::int as unconfirmed,
         coalesce(sum(abs(m.amount)), 0)::bigint as amount
       from bank_movements m where m.account = f.account and m.state = 'unconfirmed'
         and exists (select 1 from bank_reports r where r.account = m.account
           and r.movement_id = m.movement_id and r.file_id = f.file_id)) w
     order by f.received_at desc, f.file_id desc`,
    [account, before?.receivedAt ?? null, before?.fileId ?? null, limit],
  )
  return rows
}
