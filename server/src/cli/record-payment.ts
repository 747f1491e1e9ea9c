import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { movementView } from '../bank-accounts/movement-view.ts'
import { searchMovements } from '../bank-accounts/read-movements.ts'
import { keepSlip, maxSlipBytes, pictureType } from '../bank-accounts/slips.ts'
import { isPrintable } from '../lib/printable.ts'
import { Problem } from '../lib/problem.ts'
import { writeAudit } from '../operators/audit.ts'
import { bookMovements } from '../payments/book-movement.ts'
import { recordPayment, seenPayment, type ToldPayment } from '../payments/record-payment.ts'
import { existingAccount } from './bank-account.ts'
import { withDesk } from './command.ts'
import { commandLine } from './on-record.ts'
import { note, print, printJson } from './output.ts'
import { commandLineUser, isProposed, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

interface RecordOptions {
  account: string
  day: string
  amount: string
  payer: string
  slip: string
  payerAccount?: string
  payerBank?: string
  reference?: string
  text?: string
  order?: string
  reason: string
  breakGlass?: boolean
  json?: boolean
}

/** Records a payment by hand. In live it is proposed, and somebody else approves it in the console. */
export function recordCommand(): Command {
  const record = new Command('record').requiredOption(
    '--reason <text>',
    'how you know; stays in the audit log',
  )
  return withBreakGlass(record)
    .description('record a payment by hand, from the slip of its payer')
    .requiredOption('--account <name>', 'the bank account that it was paid to')
    .requiredOption('--day <day>', 'the day on which it was paid, such as 2026-11-16')
    .requiredOption('--amount <amount>', 'what the payer paid, as it is on the slip')
    .requiredOption('--payer <name>', 'whose account it came from')
    .requiredOption('--slip <file>', 'a picture of the slip: JPEG, PNG or WebP')
    .option('--payer-account <number>', "the payer's account, as far as it is known")
    .option('--payer-bank <bank>', "the payer's bank")
    .option('--reference <number>', "the number that the payer's bank put on the slip")
    .option('--text <text>', 'what the payer wrote')
    .option('--order <txn_id>', 'the order that it is for')
    .option('--json', 'as JSON')
    .action(async (options: RecordOptions) => {
      const texts = [options.payer, options.payerAccount, options.payerBank, options.reference]
      for (const text of [...texts, options.text, options.reason]) {
        if (text !== undefined && !isPrintable(text, 500)) {
          throw new UsageError(`"${text}" is not printable text of at most 500 characters`)
        }
      }
      const { bytes, type } = await readPicture(options.slip)
      await withDesk(async (desk, backend, config) => {
        const { pool, secretKeys, now } = desk
        const account = await existingAccount(pool, options.account)
        const by = commandLineUser()
        const slip = await keepSlip(pool, secretKeys, { bytes, type, by, at: now() })
        const told = toldIn(options, slip)
        const payment = await seenPayment(pool, account, told)
        const request = {
          route: 'POST /bank-accounts/:name/payments',
          params: { name: account.name },
          body: { ...told, reason: options.reason },
        }
        if (await isProposed(config, backend, options, request)) return
        const { movementId, isKnown } = await recordPayment(desk, account, payment, {
          recordedBy: by,
          proposalId: null,
          approvedBy: null,
          also: (tx, recorded) =>
            writeAudit(tx, {
              at: now(),
              operator: commandLine,
              action: 'record_payment',
              subject: { kind: 'provider', id: account.name },
              agentId: payment.order?.agentId ?? null,
              after: {
                movement: recorded.movementId,
                day: told.day,
                amount: told.amount,
                slip,
                known: recorded.isKnown,
              },
              reason: options.reason,
            }),
        })
        // It is on record: what cannot be booked now is booked by the service.
        const onError = (error: unknown) => note(`The service will book it: ${String(error)}`)
        await bookMovements(desk, onError, account.name, movementId).catch(onError)
        const [found] = await searchMovements(pool, {
          ...{ account: account.name, movementId, from: null, to: null, states: null },
          ...{ explainedBy: null, amountMinor: null, text: null, fileId: null, before: null },
          limit: 1,
        })
        const view = found && movementView(found)
        if (options.json) return printJson({ known: isKnown, movement: view })
        print(
          isKnown
            ? `movement ${movementId} had been reported before: nothing counts again`
            : `movement ${movementId} is recorded${view?.txn_id ? ` and pays ${view.txn_id}` : ''}`,
        )
      }).catch(plainly)
    })
}

async function readPicture(file: string): Promise<{ bytes: Buffer; type: string }> {
  const bytes = await readFile(file).catch((error) => {
    throw new UsageError(`cannot read ${file}: ${error.message}`)
  })
  if (bytes.length > maxSlipBytes) throw new UsageError(`${file} is larger than 4 MiB`)
  const type = pictureType(bytes)
  if (!type) throw new UsageError(`${file} is no JPEG, PNG or WebP picture`)
  return { bytes, type }
}

function toldIn(options: RecordOptions, slip: string): ToldPayment {
  const { payerAccount, payerBank, reference, text, order } = options
  return {
    day: options.day,
    amount: options.amount,
    payer: {
      name: options.payer,
      ...(payerAccount !== undefined && { account_no: payerAccount }),
      ...(payerBank !== undefined && { bank: payerBank }),
    },
    slip,
    ...(reference !== undefined && { reference }),
    ...(text !== undefined && { text }),
    ...(order !== undefined && { txn_id: order }),
  }
}

/** A field that is wrong is an option that is wrong. */
function plainly(error: unknown): never {
  const [first] = error instanceof Problem ? (error.errors ?? []) : []
  throw first ? new UsageError(`${first.field} ${first.message}`) : error
}
