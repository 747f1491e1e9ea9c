import { readBankAccounts } from '../../bank-accounts/bank-account.ts'
import { readWaitingFiles } from '../../bank-accounts/bank-files.ts'
import { confirmableMs, madeBy, madeSo } from '../../bank-accounts/save-bank-account.ts'
import type { Pool } from '../../db/pool.ts'
import type { Currency } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { credentialOf, tieBetween } from '../../operators/credentials.ts'
import { may, type Operator, type Permission } from '../../operators/operator.ts'
import { whySamePerson } from '../../payout-files/approve-file.ts'
import { draftValidMs } from '../../payout-files/forget-drafts.ts'
import { readList, readPayoutDrafts } from '../../payout-files/payout-file.ts'
import type { Desk } from '../../teller/desk.ts'

/** What waits for a second person on a page of its own: an account, a bank's file that somebody brought, a payout file. */
export interface WaitingElsewhere {
  kind: 'bank_account' | 'bank_file' | 'payout_file'
  id: string
  /** The page of the console where it is confirmed or approved. */
  at: string
  title: string
  /** The bank account. */
  account: string
  minor: bigint | null
  currency: Currency
  by: string
  since: Date
  until: Date | null
  /** Why this operator may not confirm it. */
  refusal: Problem | undefined
}

/** How many of each kind are read. */
const most = 100
/** A file that was brought longer ago is on its account's page only. */
const filesSinceMs = 30 * 86_400_000

/** What waits for a second person on other pages than Approvals, the newest first. */
export async function waitingElsewhere(
  { pool, now }: Pick<Desk, 'pool' | 'now'>,
  operator: Operator,
): Promise<WaitingElsewhere[]> {
  if (operator.agentId !== null) return []
  const { userId } = operator
  const own = await credentialOf(pool, userId)
  const self: Self = { ...own, userId, operator }
  const found = await Promise.all([
    accounts(pool, self),
    files(pool, self, now()),
    drafts(pool, self),
  ])
  return found.flat().sort((a, b) => b.since.getTime() - a.since.getTime())
}

interface Self {
  operator: Operator
  userId: bigint
  n: number
  resetBy: bigint
}

/** Why somebody is not a second person, of what everyone must be to confirm anything. */
function refusalOf(
  self: Self,
  permission: Permission,
  by: string,
  maker: { userId: bigint; resetBy: bigint } | null,
): Problem | undefined {
  if (!may(self.operator, permission)) {
    return new Problem('not_permitted', `Only who has ${permission} may confirm this.`)
  }
  if (by === self.operator.email || maker?.userId === self.userId) {
    return new Problem('same_person', 'It is yours: another person has to confirm it.')
  }
  const tie = maker && tieBetween(maker, self, 'the person whose it is')
  return tie ? new Problem('same_person', tie) : undefined
}

async function accounts(pool: Pool, self: Self): Promise<WaitingElsewhere[]> {
  const all = await readBankAccounts(pool)
  return all
    .filter(({ confirmedAt }) => confirmedAt === null)
    .slice(0, most)
    .map((account) => ({
      kind: 'bank_account',
      id: account.name,
      at: `/bank-accounts/${account.name}`,
      title: account.changedAt ? 'Change a bank account' : 'Make a bank account',
      account: account.name,
      minor: null,
      currency: account.currency,
      by: madeBy(account),
      since: madeSo(account),
      until: new Date(madeSo(account).getTime() + confirmableMs),
      refusal: refusalOf(self, 'manage_bank_accounts', madeBy(account), account.maker),
    }))
}

async function files(pool: Pool, self: Self, now: Date): Promise<WaitingElsewhere[]> {
  const found = await readWaitingFiles(pool, new Date(now.getTime() - filesSinceMs), most)
  const forAdmins = new Problem('not_permitted', 'It came by the command line: only an admin may.')
  return found.map((file) => ({
    kind: 'bank_file',
    id: file.fileId,
    at: `/bank-accounts/${file.account}`,
    title: "Believe a bank's file that a person brought",
    account: file.account,
    minor: file.unconfirmedMinor,
    currency: file.currency,
    by: file.broughtBy,
    since: file.receivedAt,
    until: null,
    refusal:
      refusalOf(self, 'import_statements', file.broughtBy, file.bringer) ??
      (file.via === 'command' && self.operator.role !== 'admin' ? forAdmins : undefined),
  }))
}

async function drafts(pool: Pool, self: Self): Promise<WaitingElsewhere[]> {
  const found = await readPayoutDrafts(pool, most)
  return Promise.all(
    found.map(async (file) => ({
      kind: 'payout_file' as const,
      id: file.fileId,
      at: `/payout-files/${file.fileId}`,
      title: 'Pay out by a file',
      account: file.account,
      minor: (await readList(pool, file)).amountMinor,
      currency: file.currency,
      by: file.maker,
      since: file.madeAt,
      until: file.round === 1 ? new Date(file.madeAt.getTime() + draftValidMs) : null,
      refusal:
        refusalOf(self, 'approve_payout_files', '', null) ??
        whySamePerson(file, self.operator, self),
    })),
  )
}
