import { type FoundBankFile, readBankFiles, tellOfFile } from '../../bank-accounts/bank-files.ts'
import { confirmMovements } from '../../bank-accounts/confirm-movements.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseIsoTime } from '../../lib/local-time.ts'
import type { Currency } from '../../lib/money.ts'
import { audited, writeAudit } from '../../operators/audit.ts'
import { bookMovements } from '../../payments/book-movement.ts'
import { importBankFile } from '../../payments/import-bank-file.ts'
import type { MovementMatch } from '../../payments/match-movements.ts'
import { type BankFilePreview, previewBankFile } from '../../payments/preview-bank-file.ts'
import { BankFileFault } from '../../statements/statement.ts'
import { invalidRequest } from '../check.ts'
import { bankAccountNamed, checkId } from './bank-account-named.ts'
import { refusedView, uploadLimit } from './bank-accounts.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import {
  BankAccountParams,
  BankFileList,
  BankFileParams,
  BankFilesQuery,
  Confirmed,
  ConfirmFile,
  FileImported,
  FilePreview,
  ImportedFile,
  UploadedFile,
} from './schemas/bank-accounts.ts'
import { badCursor } from './scope.ts'

/** The files of banks: who brought which, and bringing another. */
export function bankFileRoutes(api: OperatorApi, { desk, mode }: OperatorDeps): void {
  const { pool, now } = desk
  const common = { tag: 'Bank accounts', agents: 'none' } as const
  const bring = { ...common, permission: 'import_statements', method: 'POST' } as const

  operatorRoute(api, {
    ...common,
    permission: 'view',
    method: 'GET',
    url: '/bank-accounts/:name/files',
    summary: 'The files that came for an account, newest first',
    schema: { params: BankAccountParams, querystring: BankFilesQuery, response: BankFileList },
    handler: async ({ params, query }) => {
      const { name, currency } = await bankAccountNamed(pool, params.name)
      const { limit = 50 } = query
      const before = query.cursor === undefined ? null : placeIn(query.cursor)
      const found = await readBankFiles(pool, name, before, limit + 1)
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      return jsonText({
        data: shown.map((file) => fileView(file, currency)),
        next:
          found.length > limit && last ? `${last.receivedAt.toISOString()} ${last.fileId}` : null,
      })
    },
  })

  operatorRoute(api, {
    ...bring,
    url: '/bank-accounts/:name/files/preview',
    withoutCode: 'it changes nothing',
    summary: 'What importing a file would do; nothing is stored',
    bodyLimit: uploadLimit,
    schema: { params: BankAccountParams, body: UploadedFile, response: FilePreview },
    handler: async ({ params, body }) => {
      const account = await bankAccountNamed(pool, params.name)
      const bytes = Buffer.from(body.content, 'base64')
      try {
        const preview = await previewBankFile(desk, account, { name: body.name, bytes })
        // What is within the limit today depends on what comes before it: the import says for certain.
        const waits = mode === 'live' && preview.added > 0
        return jsonText({ ...previewView(preview, account.currency), waits })
      } catch (error) {
        if (!(error instanceof BankFileFault)) throw error
        return { ...nothing, refused: refusedView(error), waits: false }
      }
    },
  })

  operatorRoute(api, {
    ...bring,
    url: '/bank-accounts/:name/files',
    summary: 'Import a file of the bank',
    bodyLimit: uploadLimit,
    withoutCode: () => (mode === 'sandbox' ? 'nothing in the sandbox is money' : undefined),
    schema: {
      params: BankAccountParams,
      body: ImportedFile,
      response: { status: 201, schema: FileImported },
    },
    handler: async ({ operator, params, body, request }) => {
      const account = await bankAccountNamed(pool, params.name)
      const file = {
        name: body.name,
        bytes: Buffer.from(body.content, 'base64'),
        via: 'console' as const,
        by: operator.email,
        userId: operator.userId,
      }
      const done = await audited(
        pool,
        now,
        {
          operator,
          action: 'import_statement',
          subject: { kind: 'provider', id: account.name },
          agentId: null,
          before: { file: body.name },
        },
        () =>
          importBankFile(desk, account, file, mode).catch((error) => {
            if (!(error instanceof BankFileFault)) throw error
            throw invalidRequest([{ field: 'content', message: error.message }])
          }),
        ({ fileId, movements }) => ({ file: fileId, movements }),
      )
      const onError = (error: unknown) => request.log.error({ err: error })
      // The workers book the rest; a small file is booked when the answer comes.
      await bookMovements(desk, onError, account.name).catch(onError)
      const { fileId } = done
      const kept = await tellOfFile(pool, account.name, fileId, operator.userId, now())
      return {
        file_id: fileId,
        repeated: done.isRepeat,
        statements: done.statements,
        entries: done.entries,
        pending: done.pending,
        movements: done.movements,
        unconfirmed: kept?.unconfirmed ?? 0,
      }
    },
  })

  operatorRoute(api, {
    ...bring,
    url: '/bank-accounts/:name/files/:file_id/confirm',
    summary: 'Believe a file that another person brought: its movements are matched',
    schema: { params: BankFileParams, body: ConfirmFile, response: Confirmed },
    handler: async ({ operator, params, body, request }) => {
      const account = await bankAccountNamed(pool, params.name)
      checkId(params.file_id)
      const at = now()
      const { movements, amountMinor } = await confirmMovements(pool, account, params.file_id, {
        name: operator.email,
        userId: operator.userId,
        isAdmin: operator.role === 'admin',
        at,
        also: (tx, confirmed) =>
          writeAudit(tx, {
            at,
            operator,
            action: 'confirm_statement',
            subject: { kind: 'provider', id: account.name },
            agentId: null,
            after: { file: params.file_id, ...confirmed },
            reason: body.reason,
          }),
      })
      const onError = (error: unknown) => request.log.error({ err: error })
      await bookMovements(desk, onError, account.name).catch(onError)
      return jsonText({ movements, amount: exact(amountMinor, account.currency) })
    },
  })
}

function fileView(file: FoundBankFile, currency: Currency) {
  return {
    file_id: file.fileId,
    name: file.name,
    size: file.size,
    via: file.via,
    brought_by: file.broughtBy,
    received_at: file.receivedAt,
    refused: file.fault,
    statements: file.statements,
    entries: file.entries,
    from_day: file.fromDay,
    to_day: file.toDay,
    unconfirmed: file.unconfirmed,
    unconfirmed_amount: exact(file.unconfirmedMinor, currency),
    waits: file.isWaiting,
    confirmed_by: file.confirmedBy,
    confirmed_at: file.confirmedAt,
  }
}

const nothing = {
  format: null,
  brought_before: null,
  statements: 0,
  entries: 0,
  pending: 0,
  added: 0,
  known: 0,
  movements: [],
  notes: [],
}

function previewView(preview: BankFilePreview, currency: Currency) {
  return {
    refused: null,
    format: preview.statements[0]?.format ?? null,
    brought_before: preview.before,
    statements: preview.statements.length,
    entries: preview.entries,
    pending: preview.pending,
    added: preview.added,
    known: preview.known,
    movements: preview.movements.map(({ movement, line, match }) => ({
      line,
      day: movement.bookedOn,
      amount: exact(movement.amountMinor, currency),
      text: movement.text,
      payer: {
        account_no: movement.payerAccountNo,
        name: movement.payerName,
        bank: movement.payerBank,
      },
      would: match.type === 'nobody' && match.why === 'ambiguous' ? 'ambiguous' : match.type,
      txn_id: orderOf(match),
      detail: match.detail,
    })),
    notes: preview.statements.flatMap(({ notes }) => notes).slice(0, 50),
  }
}

function orderOf(match: MovementMatch): string | null {
  return match.type === 'order' ? txnId(match.agentId, match.orderId) : null
}

function placeIn(cursor: string): { receivedAt: Date; fileId: string } {
  const [time = '', fileId = ''] = cursor.split(' ')
  const receivedAt = parseIsoTime(time)
  if (!receivedAt || !/^[0-9a-f]{32}$/.test(fileId)) throw badCursor()
  return { receivedAt, fileId }
}
