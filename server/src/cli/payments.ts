import { Command } from 'commander'
import { txnId } from '../lib/ids.ts'
import { jsonObject, quoted } from '../lib/json-text.ts'
import { decimalText } from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { creditPayment, dismissPayment, returnPayment } from '../payments/payments.ts'
import { allToDecide, searchPayments } from '../payments/search-payments.ts'
import { existing } from './agent.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { existingOrder } from './order.ts'
import { ageText, print, printJson, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

export function paymentsCommand(): Command {
  const payments = new Command('payments')

  payments
    .command('list')
    .description('list what waits, the oldest first')
    .option('--agent <app_id>', 'only of this agent')
    .option('--json', 'as JSON')
    .action(async (options: { agent?: string; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const agent = options.agent === undefined ? undefined : await existing(pool, options.agent)
        const waiting = await searchPayments(pool, {
          ...allToDecide,
          agentId: agent?.agentId ?? null,
        })
        const now = new Date()
        const rows = waiting.map((each) => ({
          payment_id: each.paymentId,
          txn_id: each.agentId && each.orderId ? txnId(each.agentId, each.orderId) : null,
          why: each.why,
          amount: decimalText(each.amountMinor, each.currency),
          currency: each.currency,
          paid_at: each.paidAt.toISOString(),
          reported_at: each.reportedAt.toISOString(),
          reference: each.reference,
          contradicts: each.contradicts,
          payer_account_no: each.payer?.accountNo ?? null,
          payer_account_name: each.payer?.accountName ?? null,
          payer_bank_code: each.payer?.bankCode ?? null,
        }))
        if (options.json) {
          // Amounts are exact decimals, as everywhere.
          const lines = rows.map(({ amount, ...row }) =>
            jsonObject({
              ...Object.fromEntries(
                Object.entries(row).map(([name, value]) => [name, quoted(value)]),
              ),
              amount,
            }),
          )
          return print(`[${lines.join(',')}]`)
        }
        print(
          table(
            ['PAYMENT ID', 'WHY', 'AMOUNT', 'AGE', 'ORDER'],
            rows.map((row) => [
              row.payment_id,
              row.why ?? '-',
              `${row.amount} ${row.currency}`,
              ageText(Math.floor((now.getTime() - Date.parse(row.reported_at)) / 1000)),
              row.txn_id ?? `(${row.reference})${row.contradicts ? ` not ${row.contradicts}` : ''}`,
            ]),
          ),
        )
      })
    })

  withBreakGlass(
    payments
      .command('credit <payment_id>')
      .description('credit a payment: to an order with the amount really paid, or to a wallet')
      .option('--order <txn_id>', 'the deposit it pays')
      .option('--wallet <app_id>', 'the agent it belongs to, where no order is meant')
      .option('--reason <text>', 'why; needed with --wallet, stays in the journal'),
  )
    .option('--json', 'as JSON')
    .action(
      async (paymentId: string, options: ProposeOptions & { order?: string; wallet?: string }) => {
        if ((options.order === undefined) === (options.wallet === undefined)) {
          throw new UsageError('say where it goes: either --order <txn_id> or --wallet <app_id>')
        }
        if (options.wallet !== undefined && !isPrintable(options.reason ?? '', 900)) {
          throw new UsageError('--wallet needs --reason with 1 to 900 printable characters')
        }
        await withDesk(async (desk, backend, config) => {
          const { pool } = backend
          const request = {
            route: 'POST /payments/:payment_id/credit',
            params: { payment_id: paymentId },
            body: {
              ...(options.order === undefined
                ? { agent: options.wallet }
                : { txn_id: options.order }),
              reason: options.reason,
            },
          }
          if (await isProposed(config, backend, options, request)) return
          const to =
            options.order === undefined
              ? { agentId: (await existing(pool, options.wallet ?? '')).agentId, orderId: null }
              : (await existingOrder(pool, options.order)).found
          const reason = `Payment ${paymentId}: ${options.reason ?? ''}`
          const { agentId, orderId } = to
          const { changed } = await onRecord(
            pool,
            { ...entryOf('credit_payment', paymentId, options.reason), agentId },
            () => creditPayment(desk, paymentId, { agentId, orderId }, reason),
            (done) => ({ ...done, txn_id: orderId && txnId(agentId, orderId) }),
          )
          if (options.json) return printJson({ payment_id: paymentId, state: 'credited', changed })
          print(`${paymentId} is credited`)
        })
      },
    )

  withBreakGlass(
    payments
      .command('return <payment_id>')
      .description('mark a payment as returned to its payer')
      .requiredOption(
        '--evidence <text>',
        'how it went back, such as the reference of the transfer',
      ),
  )
    .option('--json', 'as JSON')
    .action(async (paymentId: string, options: ProposeOptions & { evidence: string }) => {
      if (!isPrintable(options.evidence, 1000)) {
        throw new UsageError('--evidence must be 1 to 1000 printable characters')
      }
      await withDesk(async (desk, backend, config) => {
        const { evidence, reason = evidence.slice(0, 500) } = options
        const request = {
          route: 'POST /payments/:payment_id/return',
          params: { payment_id: paymentId },
          body: { evidence, reason },
        }
        if (await isProposed(config, backend, options, request)) return
        await onRecord(
          desk.pool,
          entryOf('return_payment', paymentId, options.evidence),
          () => returnPayment(desk, paymentId, options.evidence),
          (done) => done,
        )
        if (options.json) return printJson({ payment_id: paymentId, state: 'returned' })
        print(`${paymentId} is returned`)
      })
    })

  withBreakGlass(
    payments
      .command('dismiss <payment_id>')
      .description('say that what was reported is not money')
      .requiredOption('--evidence <text>', 'what shows it, such as the statement it is not on'),
  )
    .option('--json', 'as JSON')
    .action(async (paymentId: string, options: ProposeOptions & { evidence: string }) => {
      if (!isPrintable(options.evidence, 1000)) {
        throw new UsageError('--evidence must be 1 to 1000 printable characters')
      }
      await withDesk(async (desk, backend, config) => {
        const { evidence, reason = evidence.slice(0, 500) } = options
        const request = {
          route: 'POST /payments/:payment_id/dismiss',
          params: { payment_id: paymentId },
          body: { evidence, reason },
        }
        if (await isProposed(config, backend, options, request)) return
        await onRecord(
          desk.pool,
          entryOf('dismiss_payment', paymentId, options.evidence),
          () => dismissPayment(desk, paymentId, options.evidence),
          (done) => done,
        )
        if (options.json) return printJson({ payment_id: paymentId, state: 'dismissed' })
        print(`${paymentId} is dismissed`)
      })
    })
  return payments
}

function entryOf(action: string, paymentId: string, reason: string | undefined) {
  // The text typed may not be a payment id at all.
  const subject = { kind: 'payment', id: paymentId.slice(0, 256) || 'none' }
  return { action, subject, agentId: null, reason: reason?.slice(0, 1000) || null }
}
