import { setTimeout } from 'node:timers/promises'
import { findBankAccount, readBankAccounts } from '../../bank-accounts/bank-account.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import type { Pool } from '../../db/pool.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseDecimal } from '../../lib/money.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import { refuseRelease, releaseByPeople, standingOf } from '../../payout-files/after-restore.ts'
import { approvePayoutFile } from '../../payout-files/approve-file.ts'
import { executionDay, nextCutoff } from '../../payout-files/banking-day.ts'
import { cancelDraft, draftPayoutFile, waitingPayouts } from '../../payout-files/draft-file.ts'
import { exportPayoutFile, markSent } from '../../payout-files/export-file.ts'
import { fileSummary, fileView } from '../../payout-files/file-view.ts'
import { goForward } from '../../payout-files/go-forward.ts'
import {
  findPayoutFile,
  type PayoutFile,
  readItems,
  readPayoutFiles,
  sumOf,
} from '../../payout-files/payout-file.ts'
import { sendBySftp } from '../../payout-files/put-file.ts'
import {
  bytesOf,
  readReport,
  refusedIn,
  rejectItems,
  takeStatusReport,
  wordsOf,
} from '../../payout-files/take-report.ts'
import { BankFileFault } from '../../statements/statement.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { bankAccountNamed, checkId } from './bank-account-named.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { maskedName, maskedNumber, notShown, seesPersons } from './personal-data.ts'
import {
  ApprovePayoutFile,
  NewPayoutFile,
  PayoutAccountParams,
  PayoutFileDetail,
  PayoutFileList,
  PayoutFileParams,
  PayoutFilesQuery,
  PayoutLock,
  PayoutReport,
  PayoutReportParams,
  PayoutReportTaken,
  PayoutsWaiting,
  ReasonAndCode,
  reportLimit,
  SentPayoutFile,
} from './schemas/payout-files.ts'
import { badCursor } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/**
 * How long who approves a file waits until it is sealed. Of ten thousand payouts on a busy machine they are told that it is
 * under way: no connection waits for an answer much longer.
 */
const approvesForMs = 60_000

/** How many withdrawals that nobody can pay are shown. */
const mostStuck = 100

/** Answers who asks while a look is under way with that look. */
function sharedLook<T>(look: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= look().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

/** How a refusal that a person brings is proposed to another. */
const rejectUrl = '/payout-files/:id/reports/:report_id/reject'

/** Files by which bank accounts pay out: making, approving and exporting them, and what the bank answers. */
export function payoutFileRoutes(api: OperatorApi, { desk, mode }: OperatorDeps): void {
  const { pool, now } = desk
  const common = { tag: 'Payout files', agents: 'none' } as const
  const look = { ...common, permission: 'view', method: 'GET' } as const
  const make = { ...common, permission: 'make_payout_files', method: 'POST' } as const
  const shown = async (file: PayoutFile) => jsonText(await viewOf(desk, file))
  // Ten thousand may wait, and every open page asks: those that ask together share a look.
  const looked = sharedLook(() => waitingPayouts(desk))

  operatorRoute(api, {
    ...look,
    url: '/payout-files',
    summary: 'Payout files, newest first',
    schema: { querystring: PayoutFilesQuery, response: PayoutFileList },
    handler: async ({ query }) => {
      const { account = null, cursor = null, limit = 50 } = query
      if (cursor !== null && !/^[0-9a-f]{32}$/.test(cursor)) throw badCursor()
      const found = await readPayoutFiles(pool, { account, before: cursor, limit: limit + 1 })
      const page = found.slice(0, limit)
      return jsonText({
        data: await Promise.all(page.map((file) => fileSummary(pool, file, moneyOf(file)))),
        next: found.length > limit ? (page.at(-1)?.fileId ?? null) : null,
      })
    },
  })

  operatorRoute(api, {
    ...look,
    url: '/payouts-waiting',
    summary: 'What waits for the next file of each account that pays out by files',
    schema: { response: PayoutsWaiting },
    handler: async () => {
      const accounts = (await readBankAccounts(pool)).filter(({ payout }) => payout === 'file')
      const { forFileOf, stuck } = await looked()
      const data = await Promise.all(
        accounts.map(async (account) => {
          const orders = forFileOf.get(account.name) ?? []
          const standing = await standingOf(pool, account, now())
          const lost = [...(standing?.debits.values() ?? [])].filter(
            ({ mayHavePaid }) => mayHavePaid.count > 0,
          )
          return {
            account: account.name,
            currency: account.currency,
            format: account.payoutFormat,
            count: orders.length,
            sum: exact(sumOf(orders), account.currency),
            cutoffs: account.payoutCutoffs === '' ? [] : account.payoutCutoffs.split(','),
            zone: account.zone,
            next_cutoff: nextCutoff(account, now()),
            execution_date: executionDay(account, now()),
            locked: standing?.missing ?? [],
            lost_sums: lost.map(({ movementId, amountMinor, bookedOn, mayHavePaid }) => ({
              movement: movementId,
              amount: exact(amountMinor, account.currency),
              day: bookedOn,
              count: mayHavePaid.count,
              sum: exact(mayHavePaid.minor, account.currency),
            })),
          }
        }),
      )
      return jsonText({
        data,
        stuck: stuck.slice(0, mostStuck).map(({ order, why }) => ({
          txn_id: txnId(order.agentId, order.orderId),
          amount: exact(order.amountMinor, order.currency),
          currency: order.currency,
          why,
        })),
        stuck_count: stuck.length,
      })
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files',
    summary: 'Make a draft of the withdrawals that wait for an account',
    withoutCode: 'a draft hands nothing over',
    schema: { body: NewPayoutFile, response: { status: 201, schema: PayoutFileDetail } },
    handler: async ({ operator, body }) => {
      const account = await findBankAccount(pool, body.account)
      if (!account) throw new Problem('not_found', 'There is no such bank account.')
      const alreadyPaid = body.debited === true
      const { movement, txn_ids: withdrawals, rest } = body
      const isLost = movement !== undefined && withdrawals !== undefined && alreadyPaid
      if (!isLost && [movement, withdrawals, rest].some((each) => each !== undefined)) {
        throw fieldProblem('movement', 'goes with txn_ids and "debited": true')
      }
      const restMinor = rest === undefined ? 0n : parseDecimal(rest, account.currency)
      if (restMinor === undefined) {
        throw fieldProblem('rest', `has more decimals than ${account.currency}`)
      }
      const lost = isLost ? { movementId: movement, withdrawals, restMinor } : undefined
      return shown(await draftPayoutFile(desk, account, operator, { alreadyPaid, lost }))
    },
  })

  operatorRoute(api, {
    ...look,
    url: '/payout-files/:id',
    summary: 'A payout file with its items, and who did what with it',
    schema: { params: PayoutFileParams, response: PayoutFileDetail },
    handler: async ({ operator, params }) => {
      const view = await viewOf(desk, await fileNamed(pool, params.id))
      if (seesPersons(operator)) return jsonText(view)
      const debit = view.debit && { ...view.debit, text: notShown }
      return jsonText({ ...view, debit, items: view.items.map(masked) })
    },
  })

  operatorRoute(api, {
    ...common,
    permission: 'approve_payout_files',
    method: 'POST',
    url: '/payout-files/:id/approve',
    summary: 'Approve what a draft lists: its payouts are handed over and the file is sealed',
    schema: { params: PayoutFileParams, body: ApprovePayoutFile, response: PayoutFileDetail },
    handler: async ({ operator, params, body, request }) => {
      const file = await fileNamed(pool, params.id)
      await approvePayoutFile(desk, file, body.digest, operator)
      // If this breaks off, a worker goes on.
      const sealed = goForward(desk, file).catch((error) => request.log.error({ err: error }))
      const answered = new AbortController()
      const enough = setTimeout(approvesForMs, undefined, { signal: answered.signal, ref: false })
      await Promise.race([sealed, enough]).finally(() => answered.abort())
      return shown(await fileNamed(pool, params.id))
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/cancel',
    summary: 'Give a draft up; its withdrawals wait for the next one',
    schema: { params: PayoutFileParams, body: ReasonAndCode, response: PayoutFileDetail },
    handler: async ({ operator, params, body }) => {
      await cancelDraft(desk, await fileNamed(pool, params.id), operator, body.reason)
      return shown(await fileNamed(pool, params.id))
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/export',
    summary: 'Download the sealed bytes, always the same; who and why is kept',
    schema: {
      params: PayoutFileParams,
      body: ReasonAndCode,
      response: { status: 200, type: 'application/octet-stream' },
    },
    handler: async ({ operator, params, body, reply }) => {
      const file = await fileNamed(pool, params.id)
      const seal = await exportPayoutFile(desk, file, operator, body.reason)
      return reply
        .type(seal.contentType)
        .header('content-disposition', `attachment; filename="${seal.name}"`)
        .header('x-content-sha256', seal.sha256)
        .send(seal.bytes)
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/send',
    summary: "Send the file to the bank's server by SFTP; asking again tries again",
    schema: { params: PayoutFileParams, body: ReasonAndCode, response: PayoutFileDetail },
    handler: async ({ operator, params, body }) => {
      await sendBySftp(desk, await fileNamed(pool, params.id), operator, body.reason)
      return shown(await fileNamed(pool, params.id))
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/sent',
    summary: 'Say that the bank has the file, under a number of its own',
    schema: { params: PayoutFileParams, body: SentPayoutFile, response: PayoutFileDetail },
    handler: async ({ operator, params, body }) => {
      await markSent(desk, await fileNamed(pool, params.id), body.bank_reference, operator)
      return shown(await fileNamed(pool, params.id))
    },
  })

  operatorRoute(api, {
    ...make,
    url: '/payout-files/:id/status',
    summary: 'Bring what the bank answered, as pain.002: refusals wait for a second person',
    bodyLimit: reportLimit,
    takesXml: 'content',
    withoutCode: () => (mode === 'sandbox' ? 'nothing in the sandbox is money' : undefined),
    schema: { params: PayoutFileParams, body: PayoutReport, response: PayoutReportTaken },
    handler: async ({ operator, params, body }) => {
      const file = await fileNamed(pool, params.id)
      const bytes = bytesIn(body.content)
      const taken = await takeStatusReport(desk, file, bytes, operator, mode).catch((error) => {
        if (!(error instanceof BankFileFault)) throw error
        throw invalidRequest([{ field: 'content', message: error.message }])
      })
      const refused = refusedIn(taken, await readItems(pool, file))
      const proposed =
        refused.length > 0 &&
        (await api.approvals.proposeInstead(`POST ${rejectUrl}`, operator, {
          params: { id: file.fileId, report_id: taken.reportId },
          body: { reason: "The bank's answer refuses them." },
        }))
      const count = (outcome: string) =>
        [...taken.outcomes.values()].filter((each) => each.outcome === outcome).length
      return jsonText({
        ...(await viewOf(desk, await fileNamed(pool, params.id))),
        report: taken.reportId,
        repeated: taken.isRepeat,
        accepted: count('accepted'),
        paid: count('paid'),
        unknown: count('unknown'),
        refused: refused.length,
        proposal: proposed ? proposed.proposal : null,
        breaks: taken.breaks,
      })
    },
  })

  twoPersonRoute(api, {
    ...make,
    url: '/bank-accounts/:name/release-payouts',
    summary:
      'After a restore: say, with evidence, that an account has paid nothing that is not known',
    schema: { params: PayoutAccountParams, body: ReasonAndCode, response: PayoutLock },
    approval: {
      action: 'release_payouts',
      repeats: 'keyed',
      view: async ({ params, body }) => {
        const account = await bankAccountNamed(pool, params.name)
        await refuseRelease(pool, account, body.reason, now())
        const standing = await standingOf(pool, account, now())
        return {
          subject: { kind: 'provider', id: account.name },
          agentId: null,
          before: { locked: standing?.missing ?? [] },
          after: { locked: [] },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const account = await bankAccountNamed(pool, params.name)
      await inTransaction(pool, (tx) => releaseByPeople(tx, account, operator, body.reason, now()))
      return jsonText({ account: account.name, locked: [] })
    },
  })

  twoPersonRoute(api, {
    ...make,
    url: rejectUrl,
    summary: 'Believe that the bank refuses payouts of a file: their money is released',
    schema: { params: PayoutReportParams, body: ReasonAndCode, response: PayoutFileDetail },
    approval: {
      action: 'reject_payouts',
      repeats: 'keyed',
      view: async ({ params }) => {
        const { file, refused } = await refusedBy(pool, params.id, params.report_id)
        const minor = sumOf(refused.map(({ item }) => item))
        return {
          subject: { kind: 'payout_file', id: file.fileId },
          agentId: null,
          amount: { minor, currency: file.currency },
          before: refused.map(({ item }) => ({ code: item.reference, state: item.state })),
          after: refused.map(({ item, outcome }) => ({
            code: item.reference,
            amount: exact(item.amountMinor, file.currency),
            state: outcome.outcome,
            said: wordsOf(outcome),
          })),
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const file = await fileNamed(pool, params.id)
      await audited(
        pool,
        now,
        {
          operator,
          action: 'reject_payouts',
          subject: { kind: 'payout_file', id: file.fileId },
          agentId: null,
          before: { report: params.report_id },
          reason: body.reason,
        },
        () => rejectItems(desk, file, params.report_id),
      )
      return viewOf(desk, await fileNamed(pool, params.id)).then(jsonText)
    },
  })
}

/** What a report refuses that the books have not ended so. */
async function refusedBy(pool: Pool, fileId: string, reportId: string) {
  const file = await fileNamed(pool, fileId)
  checkId(reportId)
  const read = await readReport(pool, file, await bytesOf(pool, file, reportId))
  const refused = refusedIn(read, await readItems(pool, file))
  if (refused.length === 0) {
    throw new Problem('invalid_transition', 'The report refuses no payout that is still open.')
  }
  return { file, refused }
}

/** A payout file by its id. */
export async function fileNamed(pool: Pool, id: string): Promise<PayoutFile> {
  const file = /^[0-9a-f]{32}$/.test(id) ? await findPayoutFile(pool, id) : undefined
  if (!file) throw new Problem('not_found', 'There is no such payout file.')
  return file
}

/** A payout file as it is answered. */
export function viewOf({ pool, now }: Pick<Desk, 'pool' | 'now'>, file: PayoutFile) {
  return fileView(pool, file, moneyOf(file), now())
}

type ItemView = Awaited<ReturnType<typeof viewOf>>['items'][number]

function masked({ payee: { name, account_no, bank }, ...item }: ItemView): ItemView {
  return {
    ...item,
    said: item.said && notShown,
    payee: { name: maskedName(name), account_no: maskedNumber(account_no), bank },
  }
}

function moneyOf({ currency }: PayoutFile) {
  return (minor: bigint) => exact(minor, currency)
}

/** A file in base64, or its text as it is: XML begins with a letter that base64 does not have. */
function bytesIn(content: string): Buffer {
  const isText = content.trimStart().startsWith('<')
  return Buffer.from(content, isText ? 'utf8' : 'base64')
}
