import { readFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import {
  type BankAccount,
  findBankAccount,
  readBankAccounts,
} from '../bank-accounts/bank-account.ts'
import {
  type BankAccountTerms,
  bankAccountFaults,
  bankAccountWarning,
  freshTerms,
  sftpKeyFault,
  usualMatch,
  writtenAccountNo,
} from '../bank-accounts/bank-account-terms.ts'
import { bankAccountView } from '../bank-accounts/bank-account-view.ts'
import {
  type CommandBankAccount,
  commandBankAccount,
  termsForProposal,
} from '../bank-accounts/command-bank-account.ts'
import {
  createBankAccount,
  isNumberTaken,
  numberIsTaken,
  type TestPayment,
  updateBankAccount,
  whyNotMade,
} from '../bank-accounts/save-bank-account.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { type Currency, currencies, parseDecimal } from '../lib/money.ts'
import { digitsForm } from '../lib/payment-code.ts'
import { parseQrSetting, qrKinds } from '../lib/qr/qr-kinds.ts'
import { characterRules } from '../payment-files/payment-file.ts'
import { paymentFormats } from '../payment-files/render-payment-file.ts'
import { readRoutingTable, saveProviderState } from '../routing/providers.ts'
import { builtInCsvProfiles } from '../statements/csv-profiles.ts'
import { builtInFeedProfiles } from '../statements/feed-profile.ts'
import { withBackend } from './command.ts'
import { commandLine, onRecord } from './on-record.ts'
import { note, print, printJson, table } from './output.ts'
import {
  type AloneOptions,
  type CommandRequest,
  isProposedUnlessAlone,
  withBreakGlass,
} from './propose.ts'
import { UsageError } from './usage-error.ts'

export function bankAccountCommand(): Command {
  const command = new Command('bank-account')

  withTerms(command.command('create <name>'))
    .description('make a bank account of yours a provider: payers pay into it')
    .addOption(new Option('--currency <currency>').choices([...currencies]).makeOptionMandatory())
    .option('--no-route', 'make it in the state off: it gets no orders until it is switched on')
    .action(async (name: string, options: TermOptions & { currency: Currency; route: boolean }) => {
      await withBackend(async (backend, config) => {
        const { pool, secretKeys } = backend
        const { currency, feed = 'none' } = options
        const setting = qrSetting(options.qr ?? 'none')
        const fresh = {
          ...freshTerms(name, currency, setting, feed, config.timeZone),
          // Where it is about money, somebody has to say so.
          payoutTrustsPaid: config.mode === 'sandbox',
        }
        const terms = await termsOf(fresh, options)
        refuseFaults(terms)
        const sftpKey = await sftpKeyIn(options, terms, false)
        const testPayment = testPaymentIn(options, currency)
        const isTried = config.mode === 'sandbox' || setting.kind !== 'template' || testPayment
        const testPaid = testPayment && String(testPayment.amountMinor)
        const asked = request(name, terms, options, {
          ...{ isNew: true, isOff: !options.route, sftpKey, testPaid },
        })
        if (await isProposedUnlessAlone(config, backend, options, 'create a bank account', asked)) {
          return
        }
        const made = await onRecord(
          pool,
          { ...entryFor(name, options), action: 'create_bank_account' },
          () =>
            createBankAccount(pool, secretKeys, terms, {
              name: commandLine.email,
              at: new Date(),
              mode: config.mode,
              confirmedBy: isTried ? commandLine.email : null,
              sftpKey,
              testPayment,
              ...(!options.route && {
                also: (tx) => saveProviderState(tx, name, 'off', new Date()),
              }),
            }),
          (done) => done && bankAccountView(done.account, options.route ? 'on' : 'off'),
        )
        if (!made) throw new UsageError(await whyNotMade(pool, name))
        const view = bankAccountView(made.account, options.route ? 'on' : 'off')
        const secret = made.feedSecret === null ? {} : { feed_secret: made.feedSecret }
        if (options.json) return printJson({ ...view, ...secret })
        const when = !isTried ? ' once it was tried' : options.route ? '' : ' once it is on'
        print(`${name} takes deposits in ${terms.currency}${when}`)
        if (!isTried) note(untried(name))
        if (made.feedSecret !== null) {
          print(`feed secret: ${made.feedSecret}`)
          note('It is shown only now. The bank, or what reads its messages, reports with it.')
        }
        warn(terms)
      })
    })

  command
    .command('list')
    .description('list the bank accounts')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const { states } = await readRoutingTable(pool)
        const views = (await readBankAccounts(pool)).map((account) =>
          bankAccountView(account, states.get(account.name) ?? 'on'),
        )
        if (options.json) return printJson(views)
        print(
          table(
            ['NAME', 'STATE', 'CURRENCY', 'ACCOUNT', 'QR', 'MATCH', 'FEED'],
            views.map((view) => [
              view.name,
              view.state,
              view.currency,
              view.account_no,
              view.qr,
              view.match,
              view.feed,
            ]),
          ),
        )
      })
    })

  command
    .command('show <name>')
    .description('show a bank account')
    .option('--json', 'as JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const account = await existingAccount(pool, name)
        const { states } = await readRoutingTable(pool)
        const view = bankAccountView(account, states.get(name) ?? 'on')
        if (options.json) return printJson(view)
        for (const [key, value] of Object.entries(view)) print(`${key}: ${value ?? '-'}`)
      })
    })

  command
    .command('confirm <name>')
    .description('says where an account is confirmed: in the console, by another person')
    .action(async (name: string) => {
      await withBackend(async ({ pool }) => {
        const { confirmedBy } = await existingAccount(pool, name)
        throw new UsageError(
          confirmedBy === null
            ? `the command line confirms nothing: another person than the one who made ${name} what it is signs in to the console and confirms it there, under Bank accounts, ${name}`
            : `${name} is confirmed already, by ${confirmedBy}`,
        )
      })
    })

  withTerms(command.command('set <name>'))
    .description('change a bank account; orders that exist keep their instructions')
    .option('--new-feed-secret', 'replace the secret of the feed')
    .action(async (name: string, options: TermOptions & { newFeedSecret?: boolean }) => {
      await withBackend(async (backend, config) => {
        const { pool, secretKeys } = backend
        const before = await existingAccount(pool, name)
        const terms = await termsOf(before, options)
        refuseFaults(terms)
        const sftpKey = await sftpKeyIn(options, terms, before.sftpKey !== null)
        const testPayment = testPaymentIn(options, before.currency)
        const isOtherQr = terms.qrKind !== before.qrKind || terms.qrValue !== before.qrValue
        const isTried =
          config.mode === 'sandbox' ||
          terms.qrKind !== 'template' ||
          testPayment ||
          (!isOtherQr && before.testPaidAt !== null)
        const newSecret = options.newFeedSecret === true
        const testPaid = testPayment && String(testPayment.amountMinor)
        const asked = request(name, terms, options, { isNew: false, newSecret, sftpKey, testPaid })
        if (await isProposedUnlessAlone(config, backend, options, 'change a bank account', asked)) {
          return
        }
        const { states } = await readRoutingTable(pool)
        const state = states.get(name) ?? 'on'
        const done = await onRecord(
          pool,
          {
            ...entryFor(name, options),
            action: 'set_bank_account',
            before: bankAccountView(before, state),
          },
          () =>
            inTransaction(pool, (tx) =>
              updateBankAccount(tx, secretKeys, before, terms, {
                name: commandLine.email,
                at: new Date(),
                confirmedBy: isTried ? commandLine.email : null,
                newSecret: options.newFeedSecret === true,
                sftpKey,
                testPayment,
              }),
            ),
          (changed) => changed && bankAccountView(changed.account, state),
        )
        if (!done) {
          throw new UsageError(
            (await isNumberTaken(pool, before))
              ? numberIsTaken
              : 'the account was changed by somebody else: try again',
          )
        }
        const secret = done.feedSecret === null ? {} : { feed_secret: done.feedSecret }
        if (options.json) return printJson({ ...bankAccountView(done.account, state), ...secret })
        print(`${name} is changed`)
        if (done.feedSecret !== null) print(`feed secret: ${done.feedSecret}`)
        if (done.account.confirmedAt === null && !isTried) note(untried(name))
        warn(terms)
      })
    })
  return command
}

/** The bank's own QR code takes no deposits in live until a real payment with it has arrived. */
function untried(name: string): string {
  return `It gets no deposits until somebody has paid by its QR code with a bank app: then "sluice bank-account set ${name} --test-paid AMOUNT", or another person confirms it in the console.`
}

function testPaymentIn({ testPaid }: TermOptions, currency: Currency): TestPayment | null {
  if (testPaid === undefined) return null
  const amountMinor = parseDecimal(testPaid, currency)
  if (amountMinor === undefined || amountMinor === 0n) {
    throw new UsageError(`--test-paid must be an amount in ${currency}`)
  }
  return { by: commandLine.email, at: new Date(), amountMinor }
}

function warn(terms: BankAccountTerms): void {
  const warning = bankAccountWarning(terms)
  if (warning !== undefined) note(warning)
}

interface TermOptions extends AloneOptions {
  bank?: string
  accountNo?: string
  accountName?: string
  qr?: string
  match?: BankAccount['match']
  codeForm?: string
  feed?: BankAccount['feed']
  zone?: string
  city?: string
  address?: string
  hold?: string
  surplusSteps?: string
  dayLimit?: string
  fileLimit?: string
  tokenLimit?: string
  tokenDayLimit?: string
  feedProfile?: string
  payout?: BankAccount['payout']
  payoutFormat?: string
  payoutCharacters?: BankAccount['payoutCharacters']
  payoutCutoffs?: string
  payoutHolidays?: string
  payoutDraftBefore?: string
  payoutFileLimit?: string
  payoutDayLimit?: string
  payoutTrustsPaid?: 'yes' | 'no'
  sftpHost?: string
  sftpPort?: string
  sftpUser?: string
  sftpHostKey?: string
  sftpKeyFile?: string
  sftpPutFolder?: string
  sftpGetFolder?: string
  expectedDeduction?: string
  ownAccount?: string[]
  testPaid?: string
  csvProfile?: string
  encoding?: string
  json?: boolean
}

function withTerms(command: Command): Command {
  return withBreakGlass(command)
    .option('--bank <code>', 'its bank; optional where the currency has no table of banks')
    .option('--account-no <number>', 'its number, or its IBAN')
    .option('--account-name <name>', 'whose account it is')
    .option('--qr <kind[:value]>', `the QR code that payers scan: ${qrKinds.join(', ')}`)
    .addOption(
      new Option('--match <rule>', 'how money names its order').choices([
        'code',
        'amount',
        'code+amount',
      ]),
    )
    .option(
      '--code-form <form>',
      'the two characters that payment codes begin with, such as SX; or "digits" for codes of 13 digits, where the bank takes nothing else',
    )
    .addOption(
      new Option('--feed <kind>', 'how the bank reports at once').choices([
        'signed',
        'token',
        'none',
      ]),
    )
    .option('--zone <zone>', "the bank's time zone, such as Asia/Bangkok")
    .option('--city <city>', 'the city, where the QR code needs it')
    .option('--address <text>', '"street;no;post code;town;country", where the QR code needs it')
    .option('--hold <hours>', "how long after an order's end its amount stays reserved")
    .option('--surplus-steps <number>', 'how many steps of surplus tell equal amounts apart')
    .option('--day-limit <amount>', 'how much it may be asked to take in a day; "none" for any')
    .option(
      '--file-limit <amount>',
      'in live: how much of what files brought by people report in a day is believed without a second person',
    )
    .option(
      '--token-limit <amount>',
      'in live: the largest payment that a push with a token is believed',
    )
    .option(
      '--token-day-limit <amount>',
      'in live: how much in a day pushes with a token are believed',
    )
    .option(
      '--feed-profile <file>',
      `how what the sender of the feed writes is read: a JSON file, or ${Object.keys(builtInFeedProfiles).join(', ')}; "none" for the usual body`,
    )
    .addOption(
      new Option('--payout <how>', 'how it pays withdrawals: file, by payment files').choices([
        'none',
        'file',
      ]),
    )
    .option(
      '--payout-format <name>',
      `the payment files that its bank takes: ${paymentFormats.map(({ name }) => name).join(', ')}`,
    )
    .addOption(
      new Option(
        '--payout-characters <rule>',
        'how names are written in its payment files: latin, kept as they are, or as the format usually does',
      ).choices(characterRules),
    )
    .option(
      '--payout-cutoffs <times>',
      'by commas, such as 11:00,15:30: later files are for the next banking day; "none" for any time',
    )
    .option('--payout-holidays <days>', 'by commas: when its bank does not work; "none" for none')
    .option(
      '--payout-draft-before <minutes>',
      'make a draft by itself this long before each cut-off; "none": people make them',
    )
    .option('--payout-file-limit <amount>', 'the most in one payment file; "none" for any')
    .option('--payout-day-limit <amount>', 'the most in payment files of a day; "none" for any')
    .addOption(
      new Option(
        '--payout-trusts-paid <answer>',
        "whether the bank's answer that it paid counts, or only the debit that it books",
      ).choices(['yes', 'no']),
    )
    .option(
      '--sftp-host <name>',
      'the server where its bank takes and gives files; "none" for none',
    )
    .option('--sftp-port <number>', 'its port, usually 22')
    .option('--sftp-user <name>', 'who signs in there')
    .option(
      '--sftp-host-key <SHA256:...>',
      'the fingerprint of the key that its server must have, as the bank told you; several by commas',
    )
    .option('--sftp-key-file <file>', 'the private key to sign in with; it is kept sealed')
    .option('--sftp-put-folder <path>', 'where payment files are put; "none" for nowhere')
    .option(
      '--sftp-get-folder <path>',
      'where its answers and statements are fetched from; "none" for nowhere',
    )
    .option(
      '--expected-deduction <amount>',
      'what the rail takes out of each payment before it arrives: a payment that names its order and is smaller by exactly this is all of it',
    )
    .option('--own-account <number...>', 'your other accounts: their transfers are no deposits')
    .option(
      '--csv-profile <file>',
      "how the bank's CSV files are read: a JSON file, or a known name",
    )
    .option(
      '--encoding <name>',
      'in which its MT940 and OFX files are written, such as cp850; "none" for the usual one',
    )
    .option(
      '--test-paid <amount>',
      'in live, for the QR code of a bank: a payment of this much was made with it, and arrived',
    )
    .option('--i-am-alone', 'in live: you do what two people should do; the audit log says so')
    .option('--json', 'as JSON')
}

/** The terms with everything that the options say. */
async function termsOf(before: BankAccountTerms, options: TermOptions): Promise<BankAccountTerms> {
  const { bank, accountNo, accountName, qr, match, feed, zone, city, address } = options
  const setting = qr === undefined ? undefined : qrSetting(qr)
  return {
    ...before,
    ...(bank !== undefined && { bankCode: bank.toUpperCase() }),
    ...(accountNo !== undefined && { accountNo: writtenAccountNo(accountNo) }),
    ...(accountName !== undefined && { accountName }),
    ...(setting && { qrKind: setting.kind, qrValue: setting.value }),
    // Nobody chose how money was recognised: it follows the QR code.
    ...(setting &&
      before.match === usualMatch({ kind: before.qrKind, value: before.qrValue }) && {
        match: usualMatch(setting),
      }),
    ...(match && { match }),
    ...(options.codeForm !== undefined && { codeForm: codeFormIn(options.codeForm) }),
    ...(feed && { feed }),
    ...(zone !== undefined && { zone }),
    ...(city !== undefined && { city: city === '' ? null : city }),
    ...(address !== undefined && { address: address === '' ? null : address }),
    ...(options.hold !== undefined && {
      holdS: Math.round(whole('hold', options.hold, 720) * 3_600),
    }),
    ...(options.surplusSteps !== undefined && {
      surplusSteps: whole('surplus-steps', options.surplusSteps, 9_999),
    }),
    ...(options.dayLimit !== undefined && {
      dayLimitMinor: ceiling('day-limit', options.dayLimit, before.currency),
    }),
    ...(options.fileLimit !== undefined && {
      fileLimitMinor: atLeastZero('file-limit', options.fileLimit, before.currency),
    }),
    ...(options.tokenLimit !== undefined && {
      tokenLimitMinor: atLeastZero('token-limit', options.tokenLimit, before.currency),
    }),
    ...(options.tokenDayLimit !== undefined && {
      tokenDayLimitMinor: atLeastZero('token-day-limit', options.tokenDayLimit, before.currency),
    }),
    ...(options.feedProfile !== undefined && {
      feedProfile: await feedProfileText(options.feedProfile),
    }),
    ...(options.payout && { payout: options.payout }),
    ...(options.payoutFormat !== undefined && {
      payoutFormat: options.payoutFormat === 'none' ? null : options.payoutFormat,
    }),
    ...(options.payoutCharacters && { payoutCharacters: options.payoutCharacters }),
    ...(options.payoutCutoffs !== undefined && { payoutCutoffs: listOf(options.payoutCutoffs) }),
    ...(options.payoutHolidays !== undefined && {
      payoutHolidays: listOf(options.payoutHolidays),
    }),
    ...(options.payoutDraftBefore !== undefined && {
      payoutDraftBefore:
        options.payoutDraftBefore === 'none'
          ? null
          : whole('payout-draft-before', options.payoutDraftBefore, 1_440),
    }),
    ...(options.payoutFileLimit !== undefined && {
      payoutFileLimitMinor: ceiling('payout-file-limit', options.payoutFileLimit, before.currency),
    }),
    ...(options.payoutDayLimit !== undefined && {
      payoutDayLimitMinor: ceiling('payout-day-limit', options.payoutDayLimit, before.currency),
    }),
    ...(options.payoutTrustsPaid && { payoutTrustsPaid: options.payoutTrustsPaid === 'yes' }),
    ...sftpTerms(before, options),
    ...(options.expectedDeduction !== undefined && {
      expectedDeductionMinor: atLeastZero(
        'expected-deduction',
        options.expectedDeduction,
        before.currency,
      ),
    }),
    ...(options.ownAccount && {
      ownAccounts: options.ownAccount.map(writtenAccountNo).join(','),
    }),
    ...(options.csvProfile !== undefined && { csvProfile: await profileText(options.csvProfile) }),
    ...(options.encoding !== undefined && {
      encoding: options.encoding === 'none' ? null : options.encoding,
    }),
  }
}

function codeFormIn(text: string): string {
  return text.toLowerCase() === digitsForm ? digitsForm : text.toUpperCase()
}

function sftpTerms(before: BankAccountTerms, options: TermOptions): Partial<BankAccountTerms> {
  const { sftpHost: host, sftpPort, sftpUser, sftpHostKey } = options
  if (host === 'none') {
    const none = { sftpHost: null, sftpPort: null, sftpUser: null, sftpHostKey: null }
    return { ...none, sftpPutFolder: null, sftpGetFolder: null }
  }
  const folder = (path: string) => (path === 'none' ? null : path)
  const isNew = host !== undefined && before.sftpPort === null
  return {
    ...(host !== undefined && { sftpHost: host }),
    ...(sftpPort !== undefined
      ? { sftpPort: whole('sftp-port', sftpPort, 65_535) }
      : isNew && { sftpPort: 22 }),
    ...(sftpUser !== undefined && { sftpUser }),
    ...(sftpHostKey !== undefined && { sftpHostKey: sftpHostKey.replaceAll(' ', '') }),
    ...(options.sftpPutFolder !== undefined && { sftpPutFolder: folder(options.sftpPutFolder) }),
    ...(options.sftpGetFolder !== undefined && { sftpGetFolder: folder(options.sftpGetFolder) }),
  }
}

/** The private key that an option names, if the account needs one. */
async function sftpKeyIn(
  { sftpKeyFile }: TermOptions,
  terms: BankAccountTerms,
  hasOne: boolean,
): Promise<string | null> {
  if (sftpKeyFile === undefined) {
    if (terms.sftpHost === null || hasOne) return null
    throw new UsageError('--sftp-key-file is needed: the private key to sign in with')
  }
  const key = await readFile(sftpKeyFile, 'utf8').catch(() => '')
  const fault = sftpKeyFault(key)
  if (fault !== undefined) throw new UsageError(`--sftp-key-file ${fault}`)
  return key
}

function qrSetting(text: string) {
  const setting = parseQrSetting(text)
  if (!setting) throw new UsageError(`--qr must be one of ${qrKinds.join(', ')}, not "${text}"`)
  return setting
}

function whole(name: string, text: string, most: number): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0 && value <= most) return value
  throw new UsageError(`--${name} must be a whole number up to ${most}`)
}

function listOf(text: string): string {
  return text === 'none' ? '' : text.replaceAll(' ', '')
}

function ceiling(name: string, text: string, currency: Currency): bigint | null {
  if (text === 'none') return null
  const minor = parseDecimal(text, currency)
  if (minor !== undefined && minor > 0n) return minor
  throw new UsageError(`--${name} must be an amount in ${currency}, or "none"`)
}

function atLeastZero(name: string, text: string, currency: Currency): bigint {
  const minor = parseDecimal(text, currency)
  if (minor !== undefined && minor >= 0n) return minor
  throw new UsageError(`--${name} must be an amount in ${currency}; 0 for none`)
}

async function feedProfileText(nameOrFile: string): Promise<string | null> {
  if (nameOrFile === 'none') return null
  const builtIn = builtInFeedProfiles[nameOrFile]
  if (builtIn) return JSON.stringify(builtIn)
  return readFile(nameOrFile, 'utf8').catch(() => {
    const names = Object.keys(builtInFeedProfiles).join(', ')
    throw new UsageError(`--feed-profile must be a JSON file that can be read, or ${names}`)
  })
}

/** The profile itself is kept with the account, so that a later version of ours changes nothing for it. */
async function profileText(nameOrFile: string): Promise<string | null> {
  if (nameOrFile === 'none') return null
  const builtIn = builtInCsvProfiles.find(({ name }) => name === nameOrFile)
  if (builtIn) return JSON.stringify(builtIn.profile)
  const names = builtInCsvProfiles.map(({ name }) => name).join(', ')
  return readFile(nameOrFile, 'utf8').catch(() => {
    throw new UsageError(
      `--csv-profile must be a JSON file that can be read, or one of ${names}; "sluice statement profiles" tells more`,
    )
  })
}

/** What is proposed where somebody can approve it. */
function request(
  name: string,
  terms: BankAccountTerms,
  { reason = null }: { reason?: string | null },
  more: Pick<CommandBankAccount, 'isNew' | 'sftpKey' | 'testPaid'> & Partial<CommandBankAccount>,
): CommandRequest {
  const asked = { isOff: false, newSecret: false, reason, ...more }
  return {
    route: commandBankAccount,
    params: { name },
    body: { ...asked, terms: termsForProposal(terms) },
  }
}

function refuseFaults(terms: BankAccountTerms): void {
  const faults = bankAccountFaults(terms)
  if (faults.length === 0) return
  throw new UsageError(
    faults.map(({ field, message }) => `--${field.replaceAll('_', '-')}: ${message}`).join('\n'),
  )
}

function entryFor(name: string, { iAmAlone, reason }: TermOptions) {
  const why = reason ?? (iAmAlone ? 'one person alone: --i-am-alone' : undefined)
  return {
    subject: { kind: 'provider', id: name },
    agentId: null,
    ...(why !== undefined && { reason: why }),
  }
}

/** The account of a name; an error lists those that exist. */
export async function existingAccount(pool: Pool, name: string): Promise<BankAccount> {
  const account = await findBankAccount(pool, name)
  if (account) return account
  const names = (await readBankAccounts(pool)).map((each) => each.name).join(', ') || 'none'
  throw new UsageError(`there is no bank account "${name}"; there are: ${names}`)
}
