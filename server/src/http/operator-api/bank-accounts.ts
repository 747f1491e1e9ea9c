import { readAccountFigures } from '../../bank-accounts/account-figures.ts'
import { type BankAccount, readBankAccounts } from '../../bank-accounts/bank-account.ts'
import {
  type BankAccountTerms,
  bankAccountWarning,
} from '../../bank-accounts/bank-account-terms.ts'
import { bankAccountView } from '../../bank-accounts/bank-account-view.ts'
import { type BankConnection, readConnections } from '../../bank-accounts/bank-connections.ts'
import { readPlacesUsed } from '../../bank-accounts/expected-deposits.ts'
import { currencyRow } from '../../lib/currencies.ts'
import { jsonText } from '../../lib/json-text.ts'
import { localTimeIn } from '../../lib/local-time.ts'
import { type Currency, currencies, toMinor } from '../../lib/money.ts'
import { paymentCode } from '../../lib/payment-code.ts'
import { qrKindsOf, qrTakes, qrText } from '../../lib/qr/qr-text.ts'
import { qrDataUrl } from '../../lib/qr-png.ts'
import { paymentFormats } from '../../payment-files/render-payment-file.ts'
import { readStatements } from '../../payments/import-bank-file.ts'
import { reconcileAccount } from '../../reconcile/reconcile-account.ts'
import { readRoutingTable } from '../../routing/providers.ts'
import { builtInCsvProfiles } from '../../statements/csv-profiles.ts'
import { builtInFeedProfiles } from '../../statements/feed-profile.ts'
import { BankFileFault, type BankStatement } from '../../statements/statement.ts'
import type { Desk } from '../../teller/desk.ts'
import { bankAccountNamed } from './bank-account-named.ts'
import { termsFromDraft } from './bank-account-terms.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact, exactOrNull } from './order-summary.ts'
import {
  BankAccountChanges,
  BankAccountChoices,
  BankAccountDetail,
  BankAccountDraft,
  BankAccountList,
  BankAccountParams,
  BankAccountPreview,
  maxUploadBytes,
} from './schemas/bank-accounts.ts'

/** A request with a file in it. */
export const uploadLimit = 2 * maxUploadBytes

/** How long every page of the console says that an account was changed. */
const noticeMs = 24 * 3_600_000

/** The bank accounts: what they are, and what a new one would show its payers. */
export function bankAccountRoutes(api: OperatorApi, { desk, timeZone }: OperatorDeps): void {
  const { pool, now } = desk
  const look = { tag: 'Bank accounts', permission: 'view', agents: 'none' } as const

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/bank-accounts',
    summary: 'The bank accounts, and how they are doing',
    schema: { response: BankAccountList },
    handler: async () => {
      const accounts = await readBankAccounts(pool)
      const details = await detailsOf(desk, accounts)
      return jsonText({ data: details, next: null })
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/bank-accounts/:name',
    summary: 'One bank account with its terms',
    schema: { params: BankAccountParams, response: BankAccountDetail },
    handler: async ({ params }) =>
      jsonText(await detailOf(desk, await bankAccountNamed(pool, params.name))),
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/bank-account-changes',
    summary: 'Accounts that were added or changed in the last day, for all to see',
    schema: { response: BankAccountChanges },
    handler: async () => {
      const since = now().getTime() - noticeMs
      const data = (await readBankAccounts(pool))
        .map((account) => ({
          name: account.name,
          at: account.changedAt ?? account.createdAt,
          by: account.changedBy ?? account.createdBy,
          changed: account.changed,
          confirmed_by: account.confirmedBy,
        }))
        .filter(({ at }) => at.getTime() > since)
      return jsonText({ data, next: null })
    },
  })

  operatorRoute(api, {
    ...look,
    method: 'GET',
    url: '/bank-account-choices',
    summary: 'What an account can be made of',
    schema: { response: BankAccountChoices },
    handler: async () => ({
      currencies: currencies.map((currency) => ({
        currency,
        bank_code: currencyRow(currency).bankCode,
        qr_kinds: qrKindsOf(currency).map((kind) => {
          const { takes, isOptional } = qrTakes(kind)
          return { kind, takes, is_optional: isOptional }
        }),
      })),
      feed_profiles: Object.entries(builtInFeedProfiles).map(([name, profile]) => ({
        name,
        profile: JSON.stringify(profile, null, 2),
      })),
      csv_profiles: builtInCsvProfiles.map(({ profile, ...about }) => ({
        ...about,
        profile: JSON.stringify(profile, null, 2),
      })),
      payout_formats: paymentFormats.map(({ name, title, checked, currencies: all }) => ({
        name,
        title,
        checked,
        currencies: [...all],
      })),
    }),
  })

  operatorRoute(api, {
    ...look,
    permission: 'manage_bank_accounts',
    method: 'POST',
    url: '/bank-accounts/preview',
    withoutCode: 'it changes nothing',
    summary: 'What payers would see, and how a file would be read; nothing is saved',
    bodyLimit: uploadLimit,
    schema: { body: BankAccountDraft, response: BankAccountPreview },
    handler: async ({ body }) => {
      const currency = body.currency as Currency
      const { terms, errors } = termsFromDraft({ name: body.name, currency }, body, timeZone)
      const sample = body.sample as { content: string } | null
      const known = (await readBankAccounts(pool)).find(({ name }) => name === terms.name)
      return jsonText({
        errors,
        warning: bankAccountWarning(terms) ?? null,
        defaults: {
          match: terms.match,
          code_form: terms.codeForm,
          surplus_steps: terms.surplusSteps,
          hold_hours: terms.holdS / 3_600,
          zone: terms.zone,
        },
        payer_sees: errors.length > 0 ? null : payerSees(terms),
        sample: sample && (await readSample({ ...terms, ...formerOf(known) }, sample.content)),
      })
    },
  })
}

function formerOf(known: BankAccount | undefined): Pick<BankAccount, 'formerNumbers'> {
  const numbers = known ? [known.formerNumbers, known.accountNo] : []
  return { formerNumbers: numbers.filter((each) => each !== '').join(',') }
}

/** What the payer of an order of 100 would see. */
function payerSees(terms: BankAccountTerms) {
  const { currency, qrKind, qrValue, match, codeForm } = terms
  const amountMinor = toMinor(100n, currency)
  const payableMinor =
    match === 'code' ? amountMinor : amountMinor + 7n * currencyRow(currency).surplusStepMinor
  const code = paymentCode('sample', codeForm)
  const text = qrText({ kind: qrKind, value: qrValue }, terms, { amountMinor: payableMinor, code })
  return {
    amount: exact(amountMinor, currency),
    payable: exact(payableMinor, currency),
    code: match === 'amount' ? null : code,
    qr: text === undefined ? null : { text, picture: qrDataUrl(text) },
  }
}

async function readSample(
  terms: Parameters<typeof readStatements>[0],
  content: string,
): Promise<object> {
  const none = { format: null, entries: 0, first: [] }
  let statements: BankStatement[]
  try {
    statements = await readStatements(terms, { bytes: Buffer.from(content, 'base64') })
  } catch (error) {
    if (!(error instanceof BankFileFault)) throw error
    return { ...none, refused: refusedView(error) }
  }
  const entries = statements.flatMap((each) => each.entries)
  return {
    refused: null,
    format: statements[0]?.format ?? null,
    entries: entries.length,
    first: entries.slice(0, 10).map((entry) => ({
      line: entry.line,
      day: entry.bookedOn,
      amount: exact(entry.amountMinor, terms.currency),
      status: entry.status,
      text: entry.texts.join(' '),
      payer: {
        account_no: entry.counterparty.accountNo,
        name: entry.counterparty.name,
        bank: entry.counterparty.bank,
      },
    })),
  }
}

/** Why a file is refused: the line, and the sentence without it. */
export function refusedView({ line, message }: BankFileFault) {
  return { line, message: line === null ? message : message.replace(`Line ${line}: `, '') }
}

function sftpStateOf(connection: BankConnection | undefined) {
  if (!connection) return null
  const { fault, since, lookedAt } = connection
  return { fault, since, looked_at: lookedAt }
}

/** An account with its figures, as the console shows it. */
export async function detailOf(desk: Desk, account: BankAccount) {
  const [detail] = await detailsOf(desk, [account])
  return detail
}

async function detailsOf(desk: Desk, accounts: readonly BankAccount[]) {
  const { pool } = desk
  const [{ states }, figures, places, connections] = await Promise.all([
    readRoutingTable(pool),
    readAccountFigures(
      pool,
      accounts.map(({ name }) => name),
    ),
    readPlacesUsed(pool),
    readConnections(pool),
  ])
  const details = []
  for (const account of accounts) {
    const { name, currency, testPaidMinor, testPaidAt, testPaidBy } = account
    const { qr: _, ...view } = bankAccountView(account, states.get(name) ?? 'on')
    const own = figures.get(name)
    const used = places.find((each) => each.account === name)
    details.push({
      ...view,
      sftp_state: sftpStateOf(connections.get(name)),
      qr_kind: account.qrKind,
      qr_value: account.qrValue,
      feed_url: account.feed === 'none' ? null : `${desk.publicUrl()}/bank-feed/${name}`,
      former_numbers: account.formerNumbers.split(',').filter(Boolean),
      test_payment: testPaidAt && {
        amount: exactOrNull(testPaidMinor, currency),
        paid_at: testPaidAt,
        paid_by: testPaidBy,
      },
      version: account.version,
      expected: own?.expected ?? 0,
      places:
        account.match === 'code'
          ? null
          : {
              used: used?.used ?? 0,
              all: account.surplusSteps,
              amount: exact(used?.amountMinor ?? 0n, currency),
            },
      last_report_at: own?.lastReportAt ?? null,
      last_day: await lastDayOf(desk, account),
      unconfirmed: own?.unconfirmed ?? 0,
      unexplained: own?.unexplained ?? 0,
    })
  }
  return details
}

/** The state of the last day of the last week on which something moved. */
async function lastDayOf(desk: Desk, account: BankAccount) {
  const weekAgo = new Date(desk.now().getTime() - 7 * 86_400_000)
  const since = localTimeIn(account.zone)(weekAgo).slice(0, 10)
  const { days } = await reconcileAccount(desk.pool, account, desk.now(), since)
  const last = days.at(-1)
  return last ? { day: last.day, state: last.state } : null
}
