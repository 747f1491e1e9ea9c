import { type Static, Type } from 'typebox'
import { type Currency, currencies } from '../../lib/money.ts'

/**
 * The document of a connector: how a payment company is spoken to, and what its answers and notices mean. Its JSON
 * Schema is published as docs/connector.schema.json; docs/decisions/0047-connectors.md explains the format.
 */

const strict = { additionalProperties: false }
const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ enum: values })

const Name = Type.String({
  pattern: '^[a-z][A-Za-z0-9_]{0,39}$',
  description: 'a name of letters, digits and _, beginning with a small letter',
})
const HeaderName = Type.String({
  pattern: '^[A-Za-z0-9-]{1,64}$',
  description: 'the name of a header',
})
/** A value in what the company sent, as RFC 6901 names it. */
const Pointer = Type.String({
  pattern: '^(/([^/~]|~[01])*){1,12}$',
  maxLength: 200,
  description: 'a JSON Pointer such as /data/status',
})
const PointerOrWhole = Type.String({
  pattern: '^(/([^/~]|~[01])*){0,12}$',
  maxLength: 200,
  description:
    'a JSON Pointer to the list of events; empty if the body is the list. Without it the body is one event',
})
/** Text with placeholders such as {reference}. */
const Template = Type.String({
  maxLength: 1000,
  description: 'text with placeholders such as {reference}, {amount.decimal} or {setting.shop}',
})
const Text = Type.Object({ text: Type.String({ maxLength: 200 }) }, strict)
const Source = Type.Union([Pointer, Text], {
  description: 'a JSON Pointer, or {"text": "..."} for a constant',
})
const DecimalText = Type.String({
  pattern: '^\\d{1,12}(\\.\\d{1,2})?$',
  description: 'an amount such as 1000.00',
})
const CurrencyCode = Type.Unsafe<Currency>({ enum: currencies })

/** A sealed secret, by name, and how its text becomes the bytes of a key. */
const Key = Type.Object(
  {
    secret: Name,
    decode: Type.Optional(Type.Union([Type.Literal('hex'), Type.Literal('base64')])),
  },
  { ...strict, description: 'a secret by its name' },
)
const KeyOrText = Type.Union([Key, Text])

// What is asked.

/** JSON whose strings may hold placeholders; {"$number": "amount.minor"} becomes a number. */
const Tree = Type.Unknown({
  description:
    'JSON; strings may hold placeholders, and {"$number": "amount.minor"} is written as a number',
})
const Fields = Type.Record(
  Type.String({ minLength: 1, maxLength: 100 }),
  Type.Union([Template, Type.Array(Template, { maxItems: 20 })]),
  strict,
)
const Request = Type.Object(
  {
    method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path: Type.String({ pattern: '^/[^?#\\s]*$', maxLength: 500 }),
    query: Type.Optional(Fields),
    headers: Type.Optional(Type.Record(HeaderName, Template, strict)),
    json: Type.Optional(Tree),
    form: Type.Optional(Fields),
  },
  { ...strict, description: 'a request; json or form, or neither' },
)

// What the answer means.

/** Beyond these JSON.parse would read another number than was written. */
const Whole = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
})

/** Compared with text, whole numbers, true, false and null. */
const Word = Type.Union([
  Type.String({ minLength: 1, maxLength: 100 }),
  Whole,
  Type.Boolean(),
  Type.Null(),
])
export type Word = Static<typeof Word>

/** A list with nothing in it: how many companies say that they have found nothing. */
const Empty = Type.Object(
  { empty: Type.Literal(true) },
  { ...strict, description: 'a list that is empty, for what is not found or not paid yet' },
)
export type Empty = Static<typeof Empty>

/** Which answers a rule is for: `status`, and JSON Pointers with the words that may stand there. */
export type Condition = Readonly<Record<string, readonly (Word | Empty)[]>>

const Status = Type.Array(Type.Integer({ minimum: 200, maximum: 599 }), {
  minItems: 1,
  maxItems: 20,
})
const names = { propertyNames: { pattern: '^(status|(/([^/~]|~[01])*){1,12})$' } }

const If = Type.Unsafe<Condition>(
  Type.Object(
    { status: Type.Optional(Status) },
    {
      ...names,
      minProperties: 1,
      additionalProperties: Type.Array(Word, { minItems: 1, maxItems: 50 }),
      description: 'the status, and pointers with the words that may stand there: all must fit',
    },
  ),
)

/** For what is final: a status alone, or a body alone, may come from something in between. */
const SureIf = Type.Unsafe<Condition>(
  Type.Object(
    { status: Status },
    {
      ...names,
      minProperties: 2,
      additionalProperties: Type.Array(
        Type.Union([Type.String({ minLength: 1, maxLength: 100 }), Whole, Type.Boolean(), Empty]),
        { minItems: 1, maxItems: 50 },
      ),
      description: 'the status and at least one pointer with words: all must fit',
    },
  ),
)

/** In a notice, which has no status. */
const BodyIf = Type.Unsafe<Condition>(
  Type.Object(
    {},
    {
      propertyNames: { pattern: '^(/([^/~]|~[01])*){1,12}$' },
      minProperties: 1,
      additionalProperties: Type.Array(Word, { minItems: 1, maxItems: 50 }),
      description: 'pointers with the words that may stand there: all must fit',
    },
  ),
)

const label = { name: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })) }

const PayoutRule = Type.Union([
  Type.Object({ ...label, if: If, means: Type.Literal('accepted') }, strict),
  Type.Object(
    {
      ...label,
      if: SureIf,
      means: Type.Union([
        Type.Literal('paid'),
        Type.Literal('cancelled'),
        Type.Literal('returned'),
        Type.Literal('not_found'),
      ]),
    },
    strict,
  ),
  Type.Object(
    {
      ...label,
      if: SureIf,
      means: Type.Literal('rejected'),
      reason: Type.Optional(Pointer),
      mayTryAnother: Type.Optional(Type.Boolean()),
    },
    strict,
  ),
])
export type PayoutRule = Static<typeof PayoutRule>

const DepositRule = Type.Union([
  Type.Object({ ...label, if: If, means: Type.Literal('accepted') }, strict),
  Type.Object(
    {
      ...label,
      if: SureIf,
      means: Type.Literal('rejected'),
      reason: Type.Optional(Pointer),
    },
    strict,
  ),
])
export type DepositRule = Static<typeof DepositRule>

const AmountAt = Type.Object(
  {
    at: Pointer,
    as: Type.Union([Type.Literal('decimal'), Type.Literal('minor'), Type.Literal('integer')]),
  },
  {
    ...strict,
    description: 'decimal: 100.07; minor: 10007; integer: whole units, without decimals',
  },
)
export type AmountAt = Static<typeof AmountAt>

const CurrencyAt = Type.Union([
  Type.Object({ at: Pointer }, strict),
  Type.Object({ is: CurrencyCode }, strict),
])
export type CurrencyAt = Static<typeof CurrencyAt>

const TimeAs = Type.Union([
  Type.Literal('iso'),
  Type.Literal('unix'),
  Type.Literal('unixMs'),
  Type.Literal('local'),
])
const TimeAt = Type.Object(
  { at: Pointer, as: TimeAs, zone: Type.Optional(Type.String({ maxLength: 40 })) },
  { ...strict, description: 'local: 2026-01-31 08:30:00 in the given zone' },
)
export type TimeAt = Static<typeof TimeAt>

/** What the answer repeats of the request; if it is missing or differs, the answer is of another request. */
const Echo = Type.Object(
  {
    reference: Type.Optional(Pointer),
    amount: Type.Optional(AmountAt),
    currency: Type.Optional(Pointer),
    theirId: Type.Optional(
      Type.Unsafe<string>({
        ...Pointer,
        description: "of the company's own id, in answers to questions",
      }),
    ),
    payee: Type.Optional(
      Type.Unsafe<string>({ ...Pointer, description: "of the company's id of the payee" }),
    ),
  },
  { ...strict, description: 'where the answer repeats what was asked: it must be the same' },
)
export type Echo = Static<typeof Echo>

/** What the payer gets: pointers into the answer. */
const Gives = Type.Object(
  {
    qrcodeText: Type.Optional(Pointer),
    link: Type.Optional(Pointer),
    transfer: Type.Optional(
      Type.Object({ bankCode: Source, accountNumber: Source, accountName: Source }, strict),
    ),
  },
  { ...strict, minProperties: 1, description: 'where the answer has what the payer needs' },
)
export type Gives = Static<typeof Gives>

/** What the answer says besides its outcome; an id that is not there is no fault. */
const theirId = {
  theirId: Type.Optional(
    Type.Unsafe<string>({ ...Pointer, description: "where the answer has the company's own id" }),
  ),
}

const PayoutCall = Type.Object(
  {
    request: Request,
    echo: Type.Optional(Echo),
    ...theirId,
    answers: Type.Array(PayoutRule, { minItems: 1, maxItems: 50 }),
  },
  strict,
)
export type PayoutCall = Static<typeof PayoutCall>

const DepositCall = Type.Object(
  {
    request: Request,
    echo: Type.Optional(Echo),
    ...theirId,
    answers: Type.Array(DepositRule, { minItems: 1, maxItems: 50 }),
    gives: Gives,
  },
  strict,
)
export type DepositCall = Static<typeof DepositCall>

// What the company tells by itself, or when it is asked about a deposit.

/** Several parts are joined: a company that reports two states of one thing under one id. */
const Id = Type.Array(Source, { minItems: 1, maxItems: 5, description: 'the parts of an id' })
const Payer = Type.Object(
  {
    accountNo: Type.Optional(Pointer),
    accountName: Type.Optional(Pointer),
    bankCode: Type.Optional(Pointer),
  },
  strict,
)
const EventAt = Type.Union([
  Type.Object(
    {
      type: Type.Literal('payment'),
      id: Id,
      paymentId: Id,
      reference: Pointer,
      amount: AmountAt,
      currency: CurrencyAt,
      paidAt: Type.Optional(TimeAt),
      payer: Type.Optional(Payer),
    },
    strict,
  ),
  Type.Object(
    { type: Type.Literal('payment_taken_back'), id: Id, paymentId: Id, reference: Pointer },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal('deposit_ended'),
      id: Id,
      reference: Pointer,
      status: Type.Union([Type.Literal('FAILED'), Type.Literal('VOID'), Type.Literal('EXPIRED')]),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal('payout'),
      id: Id,
      reference: Pointer,
      outcome: Type.Union([
        Type.Literal('accepted'),
        Type.Literal('paid'),
        Type.Literal('cancelled'),
        Type.Literal('returned'),
        Type.Literal('rejected'),
      ]),
      amount: Type.Optional(AmountAt),
      currency: Type.Optional(CurrencyAt),
      reason: Type.Optional(Pointer),
      mayTryAnother: Type.Optional(Type.Boolean()),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal('cost'),
      id: Id,
      costId: Id,
      reference: Pointer,
      amount: AmountAt,
      currency: CurrencyAt,
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal('line'),
      id: Id,
      direction: Type.Union([Type.Literal('credit'), Type.Literal('debit')]),
      amount: AmountAt,
      currency: CurrencyAt,
      bookedAt: TimeAt,
      texts: Type.Array(Pointer, { maxItems: 5 }),
      accountNo: Type.Optional(Pointer),
      payer: Type.Optional(Payer),
    },
    { ...strict, description: 'a line of the bank account that the connector is bound to' },
  ),
])
export type EventAt = Static<typeof EventAt>

const NoticeRule = Type.Object(
  {
    ...label,
    if: BodyIf,
    events: Type.Array(EventAt, { maxItems: 5, description: 'none: it is of no interest' }),
  },
  strict,
)
export type NoticeRule = Static<typeof NoticeRule>

const AskRule = Type.Object(
  {
    ...label,
    if: SureIf,
    events: Type.Array(EventAt, { maxItems: 5, description: 'none: it is not paid yet' }),
  },
  strict,
)
export type AskRule = Static<typeof AskRule>

const AskDepositCall = Type.Object(
  {
    request: Request,
    echo: Type.Optional(Echo),
    rules: Type.Array(AskRule, { minItems: 1, maxItems: 50 }),
    everyS: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: 3600,
        description: 'seconds between two questions while the payer may pay; 15 if left out',
      }),
    ),
  },
  strict,
)
export type AskDepositCall = Static<typeof AskDepositCall>

// Who says so.

const Hash = Type.Union([Type.Literal('sha256'), Type.Literal('sha512')])
const Encoding = Type.Union([
  Type.Literal('hex'),
  Type.Literal('HEX'),
  Type.Literal('base64'),
  Type.Literal('base64url'),
])
export type Encoding = Static<typeof Encoding>

/** What a signature is over, in this order. */
const Part = Type.Union([
  oneOf(['timestamp', 'nonce', 'method', 'path', 'query', 'url', 'body', 'bodySha256']),
  Text,
  Type.Object({ header: HeaderName }, strict),
])
const Over = Type.Array(Part, {
  minItems: 1,
  maxItems: 20,
  description:
    'what is signed, in this order: timestamp, nonce, method, path, query, url, body, bodySha256, {"text"} or {"header"}',
})
export type Part = Static<typeof Part>

const ClockForm = Type.Union([Type.Literal('unix'), Type.Literal('unixMs'), Type.Literal('iso')])
export type ClockForm = Static<typeof ClockForm>

/** Where a signed request's own time, nonce and signature go. */
const Put = Type.Object(
  {
    header: Type.Optional(HeaderName),
    field: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    as: Type.Optional(Type.String({ maxLength: 200 })),
  },
  {
    ...strict,
    minProperties: 1,
    description:
      'a header, or a field of the form or the JSON, of the query if there is no body; as: text with {signature}, {timestamp}, {nonce}',
  },
)
const requestSigned = {
  put: Put,
  timestamp: Type.Optional(
    Type.Object({ as: ClockForm, header: Type.Optional(HeaderName) }, strict),
  ),
  nonce: Type.Optional(Type.Object({ header: Type.Optional(HeaderName) }, strict)),
}

/** Names and values in order of the names, as `a=1&b=2`, and the key: after them unless it is said otherwise. */
const sorted = {
  kind: Type.Literal('sorted'),
  with: Type.Union([
    Type.Literal('hmac-sha256'),
    Type.Literal('hmac-sha512'),
    Type.Literal('sha256'),
    Type.Literal('sha512'),
    Type.Literal('md5'),
  ]),
  key: Key,
  keyAfter: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'what stands between the fields and the key after them, such as &key=',
    }),
  ),
  keyBefore: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'what stands between the key and the fields after it, often nothing',
    }),
  ),
  except: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 20,
      description: 'names that are not signed',
    }),
  ),
  skipEmpty: Type.Optional(
    Type.Boolean({ description: 'whether names without a value are left out' }),
  ),
  encode: Encoding,
  weak: Type.Optional(
    Type.Literal(true, {
      description:
        'md5, or a key at the beginning alone, can be forged: notices only with a list of addresses',
    }),
  ),
}
const Sign = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('hmac'),
      hash: Hash,
      key: Key,
      over: Over,
      encode: Encoding,
      ...requestSigned,
    },
    strict,
  ),
  Type.Object({ ...sorted, ...requestSigned }, strict),
  Type.Object(
    { kind: Type.Literal('rsa'), key: Key, over: Over, encode: Encoding, ...requestSigned },
    strict,
  ),
  Type.Object(
    { kind: Type.Literal('ed25519'), key: Key, over: Over, encode: Encoding, ...requestSigned },
    strict,
  ),
])
export type Sign = Static<typeof Sign>

const Auth = Type.Union([
  Type.Object({ kind: Type.Literal('bearer'), token: Key }, strict),
  Type.Object({ kind: Type.Literal('basic'), user: KeyOrText, password: KeyOrText }, strict),
  Type.Object({ kind: Type.Literal('header'), header: HeaderName, value: Key }, strict),
  Type.Object(
    {
      kind: Type.Literal('oauth'),
      tokenUrl: Type.String({ pattern: '^https?://', maxLength: 300 }),
      clientId: KeyOrText,
      clientSecret: Key,
      credentials: Type.Union([Type.Literal('basic'), Type.Literal('form')]),
      scope: Type.Optional(Type.String({ maxLength: 300 })),
    },
    { ...strict, description: 'OAuth 2.0 client credentials' },
  ),
])
export type Auth = Static<typeof Auth>

/** Where a notice has a signature or a time. */
const Where = Type.Union([
  Type.Object(
    {
      header: HeaderName,
      field: Type.Optional(
        Type.String({ maxLength: 32, description: 'of a header such as t=1,v1=ab' }),
      ),
      prefix: Type.Optional(Type.String({ maxLength: 32 })),
    },
    strict,
  ),
  Type.Object({ at: Pointer }, strict),
])
export type Where = Static<typeof Where>

const noticeSigned = {
  signature: Where,
  timestamp: Type.Optional(
    Type.Object(
      {
        in: Where,
        as: ClockForm,
        toleranceS: Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400 })),
      },
      strict,
    ),
  ),
}

const Verify = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('hmac'),
      hash: Hash,
      key: Key,
      over: Over,
      encode: Encoding,
      ...noticeSigned,
    },
    strict,
  ),
  Type.Object({ ...sorted, ...noticeSigned }, strict),
  Type.Object(
    { kind: Type.Literal('rsa'), key: Key, over: Over, encode: Encoding, ...noticeSigned },
    strict,
  ),
  Type.Object(
    { kind: Type.Literal('ed25519'), key: Key, over: Over, encode: Encoding, ...noticeSigned },
    strict,
  ),
  Type.Object(
    {
      kind: Type.Literal('token'),
      header: HeaderName,
      prefix: Type.Optional(Type.String({ maxLength: 32 })),
      key: Key,
    },
    strict,
  ),
  Type.Object({ kind: Type.Literal('basic'), user: KeyOrText, password: Key }, strict),
])
export type Verify = Static<typeof Verify>

const TokenLimit = Type.Object(
  { payment: DecimalText, day: DecimalText },
  { ...strict, description: 'of one payment, and in a day (UTC)' },
)
const Notice = Type.Object(
  {
    format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('form')])),
    verify: Verify,
    from: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description: 'addresses and networks that notices come from',
      }),
    ),
    tokenLimits: Type.Optional(
      Type.Unsafe<Partial<Record<Currency, { payment: string; day: string }>>>(
        Type.Object(
          Object.fromEntries(currencies.map((each) => [each, Type.Optional(TokenLimit)])),
          {
            ...strict,
            description:
              'how much is believed of what comes with a token, by currency; beyond that the company is asked',
          },
        ),
      ),
    ),
    events: Type.Optional(PointerOrWhole),
    rules: Type.Array(NoticeRule, { minItems: 1, maxItems: 50 }),
    answer: Type.Optional(
      Type.Object(
        {
          type: Type.String({ pattern: '^[a-z]+/[a-z0-9.+-]+(; ?charset=[a-zA-Z0-9-]+)?$' }),
          body: Type.String({ maxLength: 1000 }),
        },
        { ...strict, description: 'what the company wants to read; otherwise our own words' },
      ),
    ),
  },
  strict,
)
export type NoticeAt = Static<typeof Notice>

export const ConnectorDocument = Type.Object(
  {
    $schema: Type.Optional(Type.String({ maxLength: 300 })),
    format: Type.Literal(1, { description: 'of this document' }),
    company: Type.String({ minLength: 1, maxLength: 100 }),
    source: Type.Optional(
      Type.String({ maxLength: 1000, description: 'which documentation of the company was read' }),
    ),
    base: Type.Optional(
      Type.String({
        pattern: '^https?://[^?#\\s]+$',
        maxLength: 300,
        description: 'where all paths begin',
      }),
    ),
    currencies: Type.Array(CurrencyCode, { minItems: 1, maxItems: 20, uniqueItems: true }),
    account: Type.Optional(
      Type.String({
        pattern: '^[a-z][a-z0-9-]{1,31}$',
        description: 'the bank account here whose lines it reports; it then does nothing else',
      }),
    ),
    secrets: Type.Record(Name, Type.String({ maxLength: 300 }), {
      ...strict,
      description: 'the names of the secrets, and where each is found at the company',
    }),
    settings: Type.Optional(
      Type.Record(Name, Type.String({ maxLength: 500 }), {
        ...strict,
        description: 'values that differ from one account at the company to another',
      }),
    ),
    banks: Type.Optional(
      Type.Record(Type.String({ maxLength: 16 }), Type.String({ maxLength: 40 }), {
        ...strict,
        description: "our bank codes and the company's; a bank that is not here is not paid",
      }),
    ),
    payees: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Z0-9]{2,16}:[A-Za-z0-9]{1,34}$' }),
        Type.String({ pattern: '^[A-Za-z0-9_.:-]{1,100}$' }),
        {
          ...strict,
          description:
            "accounts such as SCB:1234567890 and the company's id of each, for {payee.id}; one that is not here is not paid",
        },
      ),
    ),
    limits: Type.Optional(
      Type.Object(
        {
          callsAtOnce: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
          callsPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
          timeoutMs: Type.Optional(
            Type.Integer({ minimum: 100, maximum: 10_000, description: 'of one call' }),
          ),
        },
        strict,
      ),
    ),
    headers: Type.Optional(Type.Record(HeaderName, Template, strict)),
    auth: Type.Optional(Auth),
    sign: Type.Optional(Sign),
    expectDeposit: Type.Optional(DepositCall),
    askDeposit: Type.Optional(AskDepositCall),
    submitPayout: Type.Optional(PayoutCall),
    askPayout: Type.Optional(PayoutCall),
    idempotentByReference: Type.Optional(
      Type.Boolean({ description: 'the company pays a reference once, however often it is sent' }),
    ),
    notice: Type.Optional(Notice),
  },
  {
    ...strict,
    title: 'Connector of a payment company',
  },
)
export type ConnectorDocument = Static<typeof ConnectorDocument>

/** Parts of the schema by the names that they are published under. */
export const schemaParts = {
  Name,
  HeaderName,
  Pointer,
  Template,
  Source,
  Key,
  KeyOrText,
  Fields,
  Request,
  If,
  SureIf,
  BodyIf,
  PayoutRule,
  DepositRule,
  AmountAt,
  CurrencyAt,
  TimeAt,
  Echo,
  PayoutCall,
  DepositCall,
  AskDepositCall,
  Id,
  Payer,
  EventAt,
  NoticeRule,
  AskRule,
  Over,
  Put,
  Where,
  Sign,
  Auth,
  Verify,
  Notice,
}
