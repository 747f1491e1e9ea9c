import Type from 'typebox'
import { maxSlipBytes } from '../../../bank-accounts/slips.ts'
import { qrKinds } from '../../../lib/qr/qr-kinds.ts'
import { characterRules } from '../../../payment-files/payment-file.ts'
import { plainText } from '../../printable-text.ts'
import {
  code,
  currency,
  decimal,
  isoTime,
  money,
  oneOf,
  orNull,
  page,
  paging,
  reason,
  strict,
} from './shapes.ts'

const text = (max: number, description: string) => Type.String({ maxLength: max, description })
const day = (description: string) =>
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description })

/** The largest file that the console takes, in base64. Larger ones go by the command line or the folder. */
export const maxUploadBytes = 16 * 1024 * 1024
const content = Type.String({
  maxLength: Math.ceil(maxUploadBytes / 3) * 4,
  pattern: '^[A-Za-z0-9+/]*={0,2}$',
  description: 'the file in base64, at most 16 MiB',
})
const fileName = plainText(1, 255, 'the name of the file, at most 255 characters')

const qrKind = oneOf(qrKinds, `one of ${qrKinds.join(', ')}`)
const match = oneOf(['code', 'amount', 'code+amount'], 'code, amount or code+amount')
const feed = oneOf(['signed', 'token', 'none'], 'signed, token or none')
const accountState = oneOf(
  ['on', 'draining', 'off', 'unconfirmed'],
  'unconfirmed: it takes no deposits until another person confirms it',
)
const payout = oneOf(['none', 'file'], 'file: withdrawals leave by payment files')
const payoutCharacters = oneOf(
  characterRules,
  'how names are written in its files: latin letters, kept as they are, or as the format usually does',
)
const dayState = oneOf(['green', 'amber', 'red'], 'green, amber or red')

export const BankAccountParams = Type.Object({ name: text(32, 'the name of a bank account') })

/** What an operator says about an account; what is left out follows from the rest. */
const terms = {
  bank: text(16, "the bank's code, or empty"),
  account_no: text(60, 'its number or IBAN'),
  account_name: text(100, 'whose account it is'),
  city: orNull(text(50, 'where the QR code needs it')),
  address: orNull(text(200, 'street;no;post code;town;country, where the QR code needs it')),
  qr_kind: qrKind,
  qr_value: orNull(text(1000, 'what the kind needs to know')),
  match: Type.Optional(match),
  code_form: Type.Optional(text(6, 'two characters that payment codes begin with, or digits')),
  surplus_steps: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 9999, description: 'a whole number from 1 to 9999' }),
  ),
  hold_hours: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 720, description: 'a whole number from 0 to 720' }),
  ),
  day_limit: orNull(decimal('an amount; null for any')),
  file_limit: decimal('an amount; 0 believes no file that a person brings alone'),
  token_limit: Type.Optional(decimal('the largest payment that a push with a token is believed')),
  token_day_limit: Type.Optional(decimal('how much in a day pushes with a token are believed')),
  expected_deduction: Type.Optional(
    decimal('what the rail takes out of each payment before it arrives'),
  ),
  feed_profile: Type.Optional(
    orNull(text(8192, 'how what the sender of the feed writes is read, as JSON')),
  ),
  payout: Type.Optional(payout),
  payout_format: Type.Optional(orNull(text(40, 'the format of payment files that its bank takes'))),
  payout_characters: Type.Optional(payoutCharacters),
  payout_cutoffs: Type.Optional(
    Type.Array(text(5, 'a time such as 14:30'), { maxItems: 10, description: 'times' }),
  ),
  payout_holidays: Type.Optional(
    Type.Array(text(10, 'a day such as 2026-12-31'), { maxItems: 300, description: 'days' }),
  ),
  payout_draft_before: Type.Optional(
    orNull(
      Type.Integer({
        minimum: 1,
        maximum: 1440,
        description:
          'minutes before each cut-off, from 1 to 1440, at which a draft is made by itself',
      }),
    ),
  ),
  payout_file_limit: Type.Optional(orNull(decimal('the most in one file; null for any amount'))),
  payout_day_limit: Type.Optional(
    orNull(decimal('the most in files approved in a day; null for any amount')),
  ),
  payout_trusts_paid: Type.Optional(
    Type.Boolean({
      description: "whether the bank's answer that it paid counts, or only the debit it books",
    }),
  ),
  sftp_host: Type.Optional(orNull(text(253, "its bank's server for files; null for none"))),
  sftp_port: Type.Optional(
    orNull(Type.Integer({ minimum: 1, maximum: 65535, description: 'from 1 to 65535' })),
  ),
  sftp_user: Type.Optional(orNull(text(100, 'who signs in there'))),
  sftp_host_key: Type.Optional(
    orNull(text(400, 'the fingerprint of the key that the server must have; several by commas')),
  ),
  sftp_put_folder: Type.Optional(orNull(text(500, 'where payment files are put'))),
  sftp_get_folder: Type.Optional(orNull(text(500, 'where answers and statements are fetched'))),
  sftp_key: Type.Optional(
    orNull(text(16384, 'a new private key; it is never shown. Left out: the one that is set')),
  ),
  feed,
  zone: Type.Optional(text(50, 'a time zone such as Asia/Bangkok')),
  csv_profile: orNull(text(8192, 'how its CSV files are read, as JSON')),
  encoding: orNull(text(40, 'of its MT940 and OFX files, such as cp850; null for the usual one')),
  own_accounts: Type.Array(text(60, 'an account number'), {
    maxItems: 50,
    description: 'account numbers',
  }),
}

const named = {
  name: text(32, '1 to 32 small letters, digits and dashes'),
  currency,
}

export const BankAccountDraft = Type.Object(
  {
    ...named,
    ...terms,
    sample: orNull(Type.Object({ content }, strict)),
  },
  strict,
)

export const NewBankAccount = Type.Object(
  {
    ...named,
    ...terms,
    route: Type.Boolean({ description: 'false: it is off at first' }),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

const version = Type.Integer({ minimum: 1, description: 'version of the account as read' })

export const ChangedBankAccount = Type.Object(
  { ...terms, version, reason, code: Type.Optional(code) },
  strict,
)

export const ConfirmBankAccount = Type.Object(
  {
    version,
    test_payment: Type.Optional(
      Type.Object(
        {
          amount: decimal('the amount that was paid'),
          paid_at: isoTime('when it was paid'),
          paid_by: plainText(3, 100, 'who paid it'),
        },
        strict,
      ),
    ),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const NewFeedSecret = Type.Object({ version, reason, code: Type.Optional(code) }, strict)

const figures = {
  expected: Type.Integer({ description: 'deposits whose payment is awaited' }),
  places: orNull(
    Type.Object({
      used: Type.Integer({ description: 'unique amounts in use, of the amount most asked for' }),
      all: Type.Integer(),
      amount: money('the amount most asked for'),
    }),
  ),
  last_report_at: orNull(isoTime('when the bank last told something new')),
  last_day: orNull(Type.Object({ day: Type.String(), state: dayState })),
  unconfirmed: Type.Integer({ description: 'movements that wait for a second person' }),
  unexplained: Type.Integer({ description: 'movements that wait for an explanation' }),
}

export const BankAccountRow = Type.Object({
  name: Type.String(),
  state: accountState,
  currency,
  bank: Type.String(),
  account_no: Type.String(),
  account_name: Type.String(),
  qr_kind: qrKind,
  match,
  feed,
  ...figures,
})
export const BankAccountList = Type.Object({ data: Type.Array(BankAccountRow), next: Type.Null() })

export const BankAccountDetail = Type.Object({
  name: Type.String(),
  state: accountState,
  currency,
  bank: Type.String(),
  account_no: Type.String(),
  account_name: Type.String(),
  city: orNull(Type.String()),
  address: orNull(Type.String()),
  qr_kind: qrKind,
  qr_value: orNull(Type.String()),
  match,
  code_form: Type.String(),
  surplus_steps: Type.Integer(),
  hold_hours: Type.Number(),
  day_limit: orNull(Type.String()),
  file_limit: Type.String(),
  expected_deduction: Type.String(),
  feed,
  token_limit: Type.String(),
  token_day_limit: Type.String(),
  feed_profile: orNull(Type.String()),
  payout,
  payout_format: orNull(Type.String()),
  payout_characters: payoutCharacters,
  payout_cutoffs: Type.Array(Type.String()),
  payout_holidays: Type.Array(Type.String()),
  payout_draft_before: orNull(Type.Integer()),
  payout_file_limit: orNull(Type.String()),
  payout_day_limit: orNull(Type.String()),
  payout_trusts_paid: Type.Boolean(),
  sftp_host: orNull(Type.String()),
  sftp_port: orNull(Type.Integer()),
  sftp_user: orNull(Type.String()),
  sftp_host_key: orNull(Type.String()),
  sftp_put_folder: orNull(Type.String()),
  sftp_get_folder: orNull(Type.String()),
  sftp_state: orNull(
    Type.Object({
      fault: orNull(Type.String({ description: 'why files do not come or go' })),
      since: isoTime('since when it is so'),
      looked_at: isoTime('of the last visit'),
    }),
  ),
  feed_url: orNull(Type.String({ description: 'where the bank reports to' })),
  zone: Type.String(),
  csv_profile: orNull(Type.String()),
  encoding: orNull(Type.String()),
  own_accounts: Type.Array(Type.String()),
  former_numbers: Type.Array(Type.String()),
  created_at: isoTime('when it was made'),
  created_by: Type.String(),
  changed: orNull(Type.String({ description: 'what was changed last, by commas' })),
  changed_at: orNull(isoTime('when')),
  changed_by: orNull(Type.String()),
  confirmed_at: orNull(isoTime('it takes deposits since')),
  confirmed_by: orNull(Type.String()),
  test_payment: orNull(
    Type.Object({
      amount: money('what was paid'),
      paid_at: isoTime('when'),
      paid_by: Type.String(),
    }),
  ),
  version,
  ...figures,
})

export const SavedBankAccount = Type.Object({
  account: BankAccountDetail,
  feed_secret: orNull(Type.String({ description: 'shown only here' })),
})

const fault = Type.Object({ field: Type.String(), message: Type.String() })
const payer = Type.Object({
  account_no: orNull(Type.String()),
  name: orNull(Type.String()),
  bank: orNull(Type.String()),
})
const refused = Type.Object({
  line: orNull(Type.Integer()),
  message: Type.String({ description: 'why the file is refused' }),
})

export const BankAccountPreview = Type.Object({
  errors: Type.Array(fault),
  warning: orNull(Type.String()),
  defaults: Type.Object({
    match,
    code_form: Type.String(),
    surplus_steps: Type.Integer(),
    hold_hours: Type.Number(),
    zone: Type.String(),
  }),
  payer_sees: orNull(
    Type.Object({
      amount: money('what the sample order asks for'),
      payable: money('what is to be paid'),
      code: orNull(Type.String({ description: 'the payment code, where it names the order' })),
      qr: orNull(
        Type.Object({
          text: Type.String(),
          picture: Type.String({ description: 'as a data: URL' }),
        }),
      ),
    }),
  ),
  sample: orNull(
    Type.Object({
      refused: orNull(refused),
      format: orNull(Type.String()),
      entries: Type.Integer({ description: 'entries in the file' }),
      first: Type.Array(
        Type.Object({
          line: Type.Integer(),
          day: Type.String(),
          amount: money('negative if it left'),
          status: oneOf(['booked', 'pending'], 'booked or pending'),
          text: Type.String(),
          payer,
        }),
      ),
    }),
  ),
})

export const BankAccountChoices = Type.Object({
  currencies: Type.Array(
    Type.Object({
      currency,
      bank_code: oneOf(['table', 'ifsc', 'bic'], 'how a bank is named'),
      qr_kinds: Type.Array(
        Type.Object({
          kind: qrKind,
          takes: orNull(Type.String({ description: 'what its value is' })),
          is_optional: Type.Boolean({ description: 'whether it may go without a value' }),
        }),
      ),
    }),
  ),
  feed_profiles: Type.Array(
    Type.Object({
      name: Type.String(),
      profile: Type.String({ description: 'as JSON' }),
    }),
  ),
  csv_profiles: Type.Array(
    Type.Object({
      name: Type.String(),
      bank: Type.String(),
      export: Type.String(),
      checked: Type.Boolean({ description: 'a published file of the bank shows this layout' }),
      profile: Type.String({ description: 'as JSON' }),
    }),
  ),
  payout_formats: Type.Array(
    Type.Object({
      name: Type.String(),
      title: Type.String(),
      checked: Type.Boolean({ description: 'a standard, or the bank has taken a file of it' }),
      currencies: Type.Array(currency),
    }),
  ),
})

export const BankAccountChanges = Type.Object({
  data: Type.Array(
    Type.Object({
      name: Type.String(),
      at: isoTime('when'),
      by: Type.String(),
      changed: orNull(Type.String({ description: 'what, by commas; null: it was added' })),
      confirmed_by: orNull(Type.String()),
    }),
  ),
  next: Type.Null(),
})

export const UploadedFile = Type.Object({ name: fileName, content }, strict)
export const ImportedFile = Type.Object(
  { name: fileName, content, code: Type.Optional(code) },
  strict,
)

export const BankFileParams = Type.Object({
  name: text(32, 'the name of a bank account'),
  file_id: text(32, 'the id of a file'),
})

export const ConfirmFile = Type.Object({ reason, code: Type.Optional(code) }, strict)

export const BankFileRow = Type.Object({
  file_id: Type.String(),
  name: Type.String(),
  size: Type.Integer(),
  via: oneOf(['console', 'command', 'folder'], 'how it came'),
  brought_by: Type.String(),
  received_at: isoTime('when it came'),
  refused: orNull(Type.String({ description: 'why nothing was taken from it' })),
  statements: Type.Integer(),
  entries: Type.Integer(),
  from_day: orNull(Type.String()),
  to_day: orNull(Type.String()),
  unconfirmed: Type.Integer({ description: 'movements that wait for a second person' }),
  unconfirmed_amount: money('their amounts together, without signs'),
  waits: Type.Boolean({
    description: 'another person has to confirm it, if only for the balances in it',
  }),
  confirmed_by: orNull(Type.String()),
  confirmed_at: orNull(isoTime('when')),
})
export const BankFileList = page(BankFileRow)
export const BankFilesQuery = Type.Object({ ...paging }, strict)

export const FilePreview = Type.Object({
  refused: orNull(refused),
  format: orNull(Type.String()),
  brought_before: orNull(Type.Object({ by: Type.String(), at: isoTime('when') })),
  statements: Type.Integer(),
  entries: Type.Integer({ description: 'booked entries' }),
  pending: Type.Integer({ description: 'entries that the bank has not booked yet' }),
  added: Type.Integer({ description: 'movements that nobody has reported before' }),
  known: Type.Integer({ description: 'entries about movements that are known' }),
  waits: Type.Boolean({ description: 'a second person will have to confirm what is new' }),
  movements: Type.Array(
    Type.Object({
      line: orNull(Type.Integer()),
      day: Type.String(),
      amount: money('negative if it left'),
      text: Type.String(),
      payer,
      would: oneOf(
        ['order', 'nobody', 'ambiguous', 'takes_back', 'unexplained'],
        'what it would be taken for',
      ),
      txn_id: orNull(Type.String()),
      detail: Type.String(),
    }),
  ),
  notes: Type.Array(Type.String()),
})

export const FileImported = Type.Object({
  file_id: Type.String(),
  repeated: Type.Boolean({ description: 'the same file was imported before' }),
  statements: Type.Integer(),
  entries: Type.Integer(),
  pending: Type.Integer(),
  movements: Type.Integer({ description: 'new ones' }),
  unconfirmed: Type.Integer({ description: 'of these, waiting for a second person' }),
})

export const Confirmed = Type.Object({ movements: Type.Integer(), amount: money('without signs') })

export const movementStates = ['unconfirmed', 'under_way', 'booked', 'unexplained'] as const
const explainedBy = oneOf(
  [
    ...['payment', 'payment_taken_back', 'payment_returned'],
    ...['bank_fee', 'interest', 'own_transfer', 'correction', 'batch'],
    ...['payout', 'payout_returned', 'never_booked'],
  ],
  'what it was',
)

export const MovementsQuery = Type.Object(
  {
    from: Type.Optional(day('a day such as 2026-11-01')),
    to: Type.Optional(day('a day such as 2026-11-30')),
    state: Type.Optional(oneOf(movementStates, `one of ${movementStates.join(', ')}`)),
    explained_by: Type.Optional(explainedBy),
    amount: Type.Optional(decimal('an amount')),
    text: Type.Optional(text(100, 'a part of its text or of who paid')),
    file: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{32}$', description: 'the id of a file' }),
    ),
    ...paging,
  },
  strict,
)

export const MovementRow = Type.Object({
  id: Type.String(),
  account: Type.String(),
  payment_id: orNull(Type.String({ description: 'where it is a payment' })),
  day: Type.String(),
  booked_at: orNull(isoTime('the time, where the bank tells it')),
  amount: money('negative if it left'),
  deducted: money(
    'what the rail kept of the payment, or charged for it: the payment is the amount and this',
  ),
  currency,
  state: Type.String({ description: "the movement's, or that of its payment" }),
  explained_by: orNull(explainedBy),
  txn_id: orNull(Type.String()),
  why: orNull(Type.String()),
  detail: orNull(Type.String()),
  text: Type.String(),
  payer,
  reported_by: Type.Array(Type.String()),
  recorded: orNull(
    Type.Object({
      by: Type.String(),
      approved_by: orNull(Type.String()),
      at: isoTime('when it was recorded by hand'),
      slip: Type.String({ description: 'the digest of the picture' }),
      reference: orNull(Type.String()),
    }),
  ),
  brought_by: Type.Array(Type.String()),
  /** The files that report it. */
  files: Type.Array(
    Type.Object({
      file_id: Type.String(),
      name: Type.String(),
      via: Type.String(),
      brought_by: Type.String(),
    }),
  ),
  may_explain: Type.Boolean({ description: 'nobody knows yet what it was' }),
})
export const MovementList = page(MovementRow)
export const UnexplainedList = Type.Object({ data: Type.Array(MovementRow), next: Type.Null() })

export const MovementParams = Type.Object({
  name: text(32, 'the name of a bank account'),
  movement_id: text(32, 'the id of a movement'),
})

export const ExplainRequest = Type.Object(
  {
    as: oneOf(
      [
        ...['bank_fee', 'interest', 'own_transfer', 'correction', 'payment_returned', 'batch'],
        ...['payout', 'never_booked'],
      ],
      'what it was; payout: the payout that it names, and the rest is what the bank charged for it; batch: only the sum of payments that are known by now; never_booked: recorded by hand, and the bank never had it',
    ),
    payment: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'for payment_returned: the movement that brought the payment',
      }),
    ),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

const slip = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'the digest of a picture that was brought before',
})

export const SlipPicture = Type.Object(
  {
    content: Type.String({
      maxLength: Math.ceil(maxSlipBytes / 3) * 4,
      pattern: '^[A-Za-z0-9+/]+={0,2}$',
      description: 'a JPEG, PNG or WebP picture in base64, at most 4 MiB',
    }),
  },
  strict,
)
export const KeptSlip = Type.Object({ slip, type: Type.String() })
export const SlipParams = Type.Object({ slip: text(64, 'the digest of a picture') })

export const PaymentByHand = Type.Object(
  {
    day: day('the day on which it was paid, such as 2026-11-16'),
    amount: decimal('what the payer paid, as it is on the slip'),
    payer: Type.Object(
      {
        name: plainText(1, 200, 'whose account it came from'),
        account_no: Type.Optional(plainText(1, 64, 'its number, as far as it is known')),
        bank: Type.Optional(plainText(1, 64, 'the bank of it')),
      },
      strict,
    ),
    slip,
    reference: Type.Optional(
      plainText(4, 64, 'the number that the bank of the payer put on the slip'),
    ),
    text: Type.Optional(plainText(1, 500, 'what the payer wrote')),
    txn_id: Type.Optional(text(64, 'the order that it is for')),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const PaymentRecorded = Type.Object({
  known: Type.Boolean({ description: 'it had been reported before, so nothing counts again' }),
  movement: MovementRow,
})

export const DaysQuery = Type.Object(
  {
    from: Type.Optional(day('the first day, such as 2026-11-01')),
    to: Type.Optional(day('the last day')),
  },
  strict,
)

const SignOffView = Type.Object({
  by: Type.String(),
  at: isoTime('when'),
  state: dayState,
  reason: orNull(Type.String()),
  current: Type.Boolean({ description: 'its movements are still those that were signed off' }),
})

export const DayList = Type.Object({
  account: Type.String(),
  currency,
  today: Type.String({ description: 'the day it is at the bank' }),
  data: Type.Array(
    Type.Object({
      day: Type.String(),
      state: dayState,
      opening: orNull(money('of the statement that ends on it')),
      closing: orNull(money('of the statement that ends on it')),
      movements: Type.Integer(),
      amount: money('its movements, added up'),
      breaks: Type.Array(
        Type.Object({
          name: Type.String(),
          amount: orNull(money('what is missing or too much')),
          movement: orNull(Type.String()),
          payment: orNull(Type.String({ description: 'where one waits for a decision' })),
          detail: Type.String({ description: 'what it means and what to do' }),
        }),
      ),
      digest: Type.String({ description: 'send it with a sign-off' }),
      signed_off: orNull(SignOffView),
    }),
  ),
  next: Type.Null(),
})

export const DayParams = Type.Object({
  name: text(32, 'the name of a bank account'),
  day: text(10, 'a day such as 2026-11-16'),
})

export const SignOffRequest = Type.Object(
  {
    digest: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'digest of the day as read' }),
    reason: Type.Optional(reason),
    code: Type.Optional(code),
  },
  strict,
)
