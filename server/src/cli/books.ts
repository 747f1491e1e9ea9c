import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import { findAgentById } from '../agents/find-agent.ts'
import { accountNames } from '../ledger/accounts.ts'
import { houseBook } from '../ledger/house.ts'
import { readWallet } from '../ledger/read-wallet.ts'
import { Exact, jsonText } from '../lib/json-text.ts'
import { parseIsoTime } from '../lib/local-time.ts'
import {
  type Currency,
  currencies,
  decimalText,
  maxAmount,
  parseDecimal,
  toMinor,
} from '../lib/money.ts'
import { isPrintable } from '../lib/printable.ts'
import { Problem } from '../lib/problem.ts'
import { isBalanced, readTrialBalances, type TrialBalance } from '../reports/trial-balance.ts'
import {
  trialBalanceCsv,
  trialBalanceView,
  trialLineNames,
  trialLines,
  usedBooks,
} from '../reports/trial-balance-view.ts'
import { dayBefore, type Swept, sweepPage } from '../teller/sweep-fees.ts'
import { writeOff } from '../teller/write-off.ts'
import { withBackend, withDesk } from './command.ts'
import { onRecord } from './on-record.ts'
import { note, print, table } from './output.ts'
import { isProposed, type ProposeOptions, withBreakGlass } from './propose.ts'
import { UsageError } from './usage-error.ts'

interface ShowOptions {
  asOf?: string
  currency?: string
  books?: boolean
  json?: boolean
  csv?: boolean
}

export function booksCommand(): Command {
  const books = new Command('books')

  books
    .command('show', { isDefault: true })
    .description('show the trial balance; needs not be said')
    .option('--as-of <time>', 'as it was then: an ISO 8601 time with zone')
    .option('--currency <code>', 'only this currency')
    .option('--books', 'every book too, not only what they come to')
    .option('--json', 'as JSON')
    .option('--csv', 'as a table for a spreadsheet')
    .action(show)

  books
    .command('sweep')
    .description("move agents' fees and costs to the house; once per agent and day")
    .option('--json', 'as JSON')
    .action(sweep)

  withBreakGlass(
    books
      .command('write-off <amount>')
      .description(
        'the house takes a difference on itself: positive if the provider has less than the books say',
      )
      .requiredOption('--currency <code>', 'the currency of the account')
      .requiredOption('--provider <name>', 'where the difference is')
      .requiredOption('--reason <text>', 'why; it stays in the journal')
      .option('--ref <id>', 'your own reference; makes it safe to repeat'),
  )
    .option('--json', 'as JSON')
    .action(runWriteOff)
  return books
}

async function show(options: ShowOptions): Promise<void> {
  if (options.json && options.csv) throw new UsageError('take either --json or --csv')
  const asOf = options.asOf === undefined ? undefined : parseIsoTime(options.asOf)
  if (options.asOf !== undefined && !asOf) {
    throw new UsageError(
      `--as-of "${options.asOf}" must be an ISO 8601 time with zone, such as 2026-01-31T08:30:00Z`,
    )
  }
  const currency = options.currency === undefined ? undefined : currencyNamed(options.currency)
  await withBackend(async ({ pool }) => {
    const balances = await readTrialBalances(pool, { asOf, currency })
    const withBooks = options.books === true
    if (options.json) print(jsonText(trialBalanceView(balances, asOf, withBooks)))
    else if (options.csv) print(trialBalanceCsv(balances, asOf, withBooks).replace(/\n$/, ''))
    else for (const balance of balances) printBalance(balance, withBooks)
    for (const { currency: of, faults } of balances) {
      for (const fault of faults) note(`${of}: ${fault}`)
    }
    const balanced = isBalanced(balances)
    if (!options.json && !options.csv) {
      print(balanced ? 'The books balance.' : 'The books do NOT balance.')
    }
    if (!balanced) process.exitCode = 1
  })
}

function printBalance(balance: TrialBalance, withBooks: boolean): void {
  const { currency, providers } = balance
  const money = (minor: bigint) => decimalText(minor, currency)
  const rows = trialLineNames.flatMap((name) => [
    [name, money(trialLines[name](balance))],
    ...(name === 'clearing'
      ? providers.map(({ provider, clearing }) => [`  ${provider}`, money(clearing)])
      : []),
  ])
  print(table(['LINE', currency], [...rows, ['total', money(balance.total)]]))
  print('')
  if (!withBooks) return
  print(
    table(
      ['BOOK', ...accountNames.map((account) => account.toUpperCase()), 'SEQ'],
      usedBooks(balance).map(({ appId, name, seq, balances }) => [
        appId ?? name,
        ...accountNames.map((account) => money(balances[account])),
        String(seq),
      ]),
    ),
  )
  print('')
}

const pageSize = 100

async function sweep(options: { json?: boolean }): Promise<void> {
  await withDesk(async (desk, _backend, config) => {
    const { day } = dayBefore(desk.now(), config.timeZone)
    const swept: (Swept & { appId: string })[] = []
    let heldUp = 0
    for (let after: bigint | null = 0n; after !== null; ) {
      const page = await sweepPage(desk, { day, after, limit: pageSize })
      for (const each of page.swept) {
        const agent = await findAgentById(desk.pool, each.agentId)
        swept.push({ ...each, appId: agent?.appId ?? String(each.agentId) })
      }
      heldUp += page.heldUp.length
      after = page.next
    }
    if (heldUp > 0) {
      const detail = `${heldUp} books could not be reached in time; the others are swept. Run it again.`
      throw new Problem('overloaded', detail)
    }
    if (options.json) {
      const moved = swept.map(({ appId, currency, feesMinor, costsMinor }) => ({
        app_id: appId,
        currency,
        fees: new Exact(decimalText(feesMinor, currency)),
        costs: new Exact(decimalText(costsMinor, currency)),
      }))
      return print(jsonText({ day, swept: moved }))
    }
    if (swept.length === 0) return print(`Nothing to move for ${day}.`)
    print(
      table(
        ['AGENT', 'CURRENCY', 'FEES', 'COSTS'],
        swept.map(({ appId, currency, feesMinor, costsMinor }) => [
          appId,
          currency,
          decimalText(feesMinor, currency),
          decimalText(costsMinor, currency),
        ]),
      ),
    )
  })
}

async function runWriteOff(
  amount: string,
  options: ProposeOptions & { currency: string; provider: string; reason: string; ref?: string },
): Promise<void> {
  const currency = currencyNamed(options.currency)
  const amountMinor = parseDecimal(amount, currency) ?? 0n
  const most = toMinor(maxAmount, currency)
  if (amountMinor === 0n || amountMinor > most || amountMinor < -most) {
    throw new UsageError(
      `the amount "${amount}" must be an amount in ${currency} other than 0, at most ${maxAmount}`,
    )
  }
  const { provider, reason } = options
  if (!isPrintable(provider, 200)) {
    throw new UsageError('--provider must be 1 to 200 printable characters')
  }
  if (!isPrintable(reason, 1000)) {
    throw new UsageError('--reason must be 1 to 1000 printable characters')
  }
  if (options.ref !== undefined && !isPrintable(options.ref, 128)) {
    throw new UsageError('--ref must be 1 to 128 printable characters')
  }
  await withDesk(async (desk, backend, config) => {
    const ref = options.ref ?? randomUUID()
    const body = { amount: decimalText(amountMinor, currency), currency, provider, ref, reason }
    const request = { route: 'POST /books/write-off', body }
    if (await isProposed(config, backend, options, request)) return
    const houseId = houseBook(currency)
    const [before] = await readTrialBalances(desk.pool, { currency })
    const isKnown =
      before?.providers.some((each) => each.provider === provider) ||
      desk.providers.all.some(({ name }) => name === provider)
    if (!isKnown) throw new UsageError(`there is no provider "${provider}", and no money at it`)
    const entry = {
      action: 'write_off',
      subject: { kind: 'books', id: currency },
      agentId: null,
      before: { amount: decimalText(amountMinor, currency), provider, ref },
      reason,
    }
    const { changed } = await onRecord(
      desk.pool,
      entry,
      () => writeOff(desk, { currency, provider, amountMinor, reason, ref }),
      (done) => ({ changed: done.changed }),
    ).catch((error) => {
      if (error instanceof Problem && error.status < 500) throw error
      note(`It may have been booked: repeat it with --ref ${ref}, which counts once.`)
      throw error
    })
    const { balances } = await readWallet(desk.pool, houseId)
    const [trial] = await readTrialBalances(desk.pool, { currency })
    const there = trial?.providers.find((each) => each.provider === provider)?.clearing ?? 0n
    if (options.json) {
      return print(
        jsonText({
          changed,
          currency,
          provider,
          ref,
          clearing: new Exact(decimalText(there, currency)),
          differences: new Exact(decimalText(balances.differences, currency)),
        }),
      )
    }
    if (!changed) print('This reference was used before: nothing changed.')
    print(
      `Clearing at ${provider} is ${decimalText(there, currency)} ${currency}, differences are ${decimalText(balances.differences, currency)} ${currency}.`,
    )
  })
}

function currencyNamed(text: string): Currency {
  const found = currencies.find((each) => each === text)
  if (!found) throw new UsageError(`--currency "${text}" must be one of ${currencies.join(', ')}`)
  return found
}
