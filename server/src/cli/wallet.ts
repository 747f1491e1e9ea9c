import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { accountNames } from '../ledger/accounts.ts'
import type { Wallet } from '../ledger/book.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { jsonObject, jsonText, quoted } from '../lib/json-text.ts'
import { localTimeIn, parseIsoTime } from '../lib/local-time.ts'
import { type Currency, decimalText, maxAmount, toMinor } from '../lib/money.ts'
import { type Period, periodNamed } from '../lib/period.ts'
import { isPrintable } from '../lib/printable.ts'
import { Problem } from '../lib/problem.ts'
import { readStatement, type Statement } from '../reports/statement.ts'
import { statementCsv, statementOnPaper, statementView } from '../reports/statement-view.ts'
import { adjustWallet } from '../teller/adjust-wallet.ts'
import { existing } from './agent.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { note, print, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

export function walletCommand(): Command {
  const wallet = new Command('wallet')

  wallet
    .command('show <app_id>')
    .description('show the balances of an agent')
    .option('--json', 'as JSON')
    .action(async (appId: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const agent = await existing(pool, appId)
        showWallet(appId, agent.currency, await readWallet(pool, agent.agentId), options.json)
      })
    })

  withBreakGlass(
    wallet
      .command('adjust <app_id> <amount>')
      .description('credit or, with a minus, debit a wallet; the same --ref twice changes nothing')
      .requiredOption('--reason <text>', 'why; it stays in the journal')
      .option('--ref <id>', 'your own reference; makes it safe to repeat'),
  )
    .option('--json', 'as JSON')
    .action(
      async (
        appId: string,
        amount: string,
        options: ProposeOptions & { reason: string; ref?: string },
      ) => {
        const units = /^-?\d{1,13}$/.test(amount) ? BigInt(amount) : 0n
        if (units === 0n || units > maxAmount || units < -maxAmount) {
          throw new UsageError(
            `the amount "${amount}" must be whole units other than 0, at most ${maxAmount}, such as 500 or -500`,
          )
        }
        if (!isPrintable(options.reason, 1000)) {
          throw new UsageError('--reason must be 1 to 1000 printable characters')
        }
        if (options.ref !== undefined && !isPrintable(options.ref, 128)) {
          throw new UsageError('--ref must be 1 to 128 printable characters')
        }
        await withDesk(async (desk, backend, config) => {
          const { agentId, currency } = await existing(desk.pool, appId)
          const ref = options.ref ?? randomUUID()
          const { reason } = options
          const request = {
            route: 'POST /wallets/:app_id/adjust',
            params: { app_id: appId },
            body: { amount: Number(units), ref, reason },
          }
          if (await isProposed(config, backend, options, request)) return
          const entry = {
            action: 'adjust_wallet',
            subject: { kind: 'wallet', id: appId },
            agentId,
            before: { amount: units, ref },
            reason,
          }
          const amountMinor = toMinor(units, currency)
          const { changed } = await onRecord(
            desk.pool,
            entry,
            () => adjustWallet(desk, agentId, { amountMinor, reason, ref }),
            (done) => ({ changed: done.changed }),
          ).catch((error) => {
            if (error instanceof Problem && error.status < 500) throw error
            note(`It may have been booked: repeat it with --ref ${ref}, which counts once.`)
            throw error
          })
          const after = await readWallet(desk.pool, agentId)
          showWallet(appId, currency, after, options.json, { changed })
        })
      },
    )

  wallet
    .command('statement <app_id>')
    .description('show what came in, what went out and what it cost, between two balances')
    .option('--period <what>', 'a day, week or month: 2026-11-16, 2026-W47 or 2026-11')
    .option('--from <time>', 'instead: an ISO 8601 time with zone')
    .option('--to <time>', 'up to before this time')
    .option('--json', 'as JSON')
    .option('--csv', 'as a table for a spreadsheet')
    .option('--pdf <file>', 'to print, into this file')
    .action(statement)
  return wallet
}

interface StatementOptions {
  period?: string
  from?: string
  to?: string
  json?: boolean
  csv?: boolean
  pdf?: string
}

async function statement(appId: string, options: StatementOptions): Promise<void> {
  const forms = [options.json, options.csv, options.pdf !== undefined]
  if (forms.filter(Boolean).length > 1) {
    throw new UsageError('take one of --json, --csv and --pdf')
  }
  await withBackend(async ({ pool }, { timeZone }) => {
    const period = periodIn(options, timeZone)
    const read = await readStatement(pool, await existing(pool, appId), period)
    if (options.json) return print(jsonText(statementView(read)))
    if (options.csv) return print(statementCsv(read).trimEnd())
    if (options.pdf === undefined) return showStatement(read)
    const { printStatement } = await import('../reports/statement-pdf.ts')
    const paper = {
      timeZone,
      localTime: localTimeIn(timeZone),
      madeAt: new Date(),
      withRows: false,
    }
    await pipeline(
      printStatement(statementOnPaper(pool, read, paper)),
      createWriteStream(options.pdf, { mode: 0o600 }),
    )
    note(`Written to ${options.pdf}.`)
  })
}

function periodIn({ period, from, to }: StatementOptions, timeZone: string): Period {
  if (period !== undefined && from === undefined && to === undefined) {
    const named = periodNamed(period, timeZone)
    if (named) return named
    throw new UsageError(`--period "${period}" must be such as 2026-11-16, 2026-W47 or 2026-11`)
  }
  if (period !== undefined || from === undefined || to === undefined) {
    throw new UsageError('say either --period, or --from and --to')
  }
  const [start, end] = [parseIsoTime(from), parseIsoTime(to)]
  if (start && end && start < end) return { from: start, to: end }
  throw new UsageError('--from and --to must be ISO 8601 times with zone, the later one second')
}

function showStatement({ agent, opening, closing, movements, feesMinor }: Statement): void {
  const money = (minor: bigint) => decimalText(minor, agent.currency)
  print(
    table(
      ['LINE', 'COUNT', agent.currency],
      [
        ['opening balance', '', money(opening.total)],
        ...movements.map(({ kind, count, amountMinor }) => [
          kind.replaceAll('_', ' '),
          String(count),
          money(amountMinor),
        ]),
        ['closing balance', '', money(closing.total)],
        ['  available', '', money(closing.available)],
        ['  held', '', money(closing.held)],
        ['  in reserve', '', money(closing.reserve)],
      ],
    ),
  )
  print('')
  print(`Fees come to ${money(feesMinor)} ${agent.currency}.`)
}

function showWallet(
  appId: string,
  currency: Currency,
  { balances, seq }: Wallet,
  json: boolean | undefined,
  more: { changed?: boolean } = {},
): void {
  const money = (minor: bigint) => decimalText(minor, currency)
  if (json) {
    print(
      jsonObject({
        app_id: quoted(appId),
        currency: quoted(currency),
        balance: money(balances.available),
        ...Object.fromEntries(
          accountNames
            .filter((name) => name !== 'available')
            .map((name) => [name, money(balances[name])]),
        ),
        seq: String(seq),
        changed: more.changed === undefined ? undefined : String(more.changed),
      }),
    )
    return
  }
  if (more.changed === false) print('This reference was used before: nothing changed.')
  print(
    table(
      ['ACCOUNT', currency],
      [...accountNames.map((name) => [name, money(balances[name])]), ['(seq)', String(seq)]],
    ),
  )
}
