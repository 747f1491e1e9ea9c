import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { type BankAccount, findBankAccount } from '../../bank-accounts/bank-account.ts'
import { fullAccountNo } from '../../bank-accounts/pair-reports.ts'
import { feedSecretOf } from '../../bank-accounts/save-bank-account.ts'
import { addressKey } from '../../lib/address-key.ts'
import { momentsIn, parseIsoTime } from '../../lib/local-time.ts'
import { maxBalanceMinor, parseDecimal } from '../../lib/money.ts'
import { type FieldError, Problem } from '../../lib/problem.ts'
import {
  clockToleranceS,
  matchesAny,
  parseSignatureHeader,
  signRequest,
} from '../../lib/signature.ts'
import { storableOrNull, storableText } from '../../lib/storable-text.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { bookMovements } from '../../payments/book-movement.ts'
import { type BankPush, takePush } from '../../payments/take-push.ts'
import { type FeedProfile, readSentPush } from '../../statements/feed-profile.ts'
import type { Desk } from '../../teller/desk.ts'
import { checker } from '../check.ts'
import { readJsonBody } from '../json-body.ts'

const maxBytes = 64 * 1024
const namePattern = /^[a-z][a-z0-9-]{0,31}$/

const Text = (most: number, description: string) => Type.String({ maxLength: most, description })
const OptionalText = (most: number, description: string) =>
  Type.Optional(Type.Union([Text(most, description), Type.Null()], { description }))

const Push = Type.Object(
  {
    id: OptionalText(200, "the bank's own id for the movement, at most 200 characters"),
    direction: Type.Union(
      ['credit', 'debit', 'in', 'out'].map((each) => Type.Literal(each)),
      { description: 'credit or debit' },
    ),
    amount: Type.String({
      pattern: '^[0-9]{1,16}([.][0-9]{1,5})?$',
      description: 'decimal text such as "100.07"',
    }),
    currency: Type.String({ description: "the account's currency" }),
    booked_at: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'a time such as 2026-11-16T10:01:00+07:00',
      }),
    ),
    text: OptionalText(4_000, 'text of at most 4000 characters'),
    payer: Type.Optional(
      Type.Union(
        [
          Type.Object({
            account_no: OptionalText(64, 'text'),
            name: OptionalText(200, 'text'),
            bank: OptionalText(64, 'text'),
          }),
          Type.Null(),
        ],
        { description: 'an object with account_no, name and bank' },
      ),
    ),
    balance: Type.Optional(
      Type.Union([Type.String({ pattern: '^-?[0-9]{1,16}([.][0-9]{1,5})?$' }), Type.Null()], {
        description: 'decimal text',
      }),
    ),
  },
  { additionalProperties: true },
)
const check = checker(Push)

/** Checking an unknown account against this takes as long as checking a known one. */
const nobodysSecret = `fs_${'0'.repeat(64)}`
const failuresPerS = 5
const failuresAtOnce = 300

/**
 * `POST /bank-feed/{account}`: a bank, or what reads its messages, reports a movement as it happens. A 200
 * means that it is on disk; a repetition gets the same answer.
 */
export function bankFeedRoute(
  app: FastifyInstance,
  desk: Desk,
  { mode, publicPath }: { mode: 'sandbox' | 'live'; publicPath: () => string },
): void {
  const failures = new TokenBuckets()
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) =>
      parsed(null, body),
    )
    scope.post<{ Params: { name: string } }>(
      '/bank-feed/:name',
      { bodyLimit: maxBytes, schema: { hide: true } },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const { name } = request.params
        const account = namePattern.test(name) ? await findBankAccount(desk.pool, name) : undefined
        const secret = account && feedSecretOf(desk.secretKeys, account)
        const isToken = account?.feed === 'token'
        const isItsOwn = isToken
          ? hasToken(request, secret)
          : isSigned(request, publicPath() + request.url, body, secret, desk.now())
        if (!account || secret === undefined || !isItsOwn) {
          const now = desk.now().getTime()
          const { taken, waitS } = failures.take(
            addressKey(request.ip),
            failuresPerS,
            failuresAtOnce,
            now,
          )
          if (!taken) {
            throw new Problem('rate_limited', 'Too many requests with a bad signature.', {
              retryAfterS: waitS,
            })
          }
          throw new Problem('invalid_signature', howToSign)
        }
        if (isToken && mode === 'live' && request.protocol !== 'https') {
          throw new Problem('invalid_signature', 'A token is taken over https only.')
        }
        const push = readPush(body, account, desk.now())
        // A token can be read by whoever sees one request, and one person alone may have made a new secret: in
        // live the statement has to confirm what they report, apart from what the account believes a token.
        const isTrusted = mode === 'sandbox' || (!isToken && account.confirmedAt !== null)
        const trust = isToken && !isTrusted ? 'within limits' : isTrusted
        const movement = await takePush(desk, account, push, trust)
        // It is on disk: whether it can be booked at once changes nothing about the answer.
        const onError = (error: unknown) => request.log.error({ err: error })
        await bookMovements(desk, onError, account.name, movement).catch(onError)
        // Some senders repeat what is not answered with this.
        return reply.send(account.feedProfile === null ? { movement } : { movement, success: true })
      },
    )
    done()
  })
}

const howToSign =
  'Send x-signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.POST path.body">, keyed with the secret of the feed.'

function isSigned(
  { headers }: FastifyRequest,
  path: string,
  body: Buffer,
  secret: string | undefined,
  now: Date,
): boolean {
  const header = headers['x-signature']
  const parsed = typeof header === 'string' ? parseSignatureHeader(header) : undefined
  if (!parsed) return false
  const expected = signRequest(secret ?? nobodysSecret, parsed.t, 'POST', path, body)
  const isMatch = matchesAny(expected, parsed.signatures)
  const seconds = Math.floor(now.getTime() / 1000)
  return isMatch && Math.abs(seconds - Number(parsed.t)) <= clockToleranceS
}

function hasToken({ headers }: FastifyRequest, secret: string | undefined): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const given = (headers.authorization ?? '').replace(/^(Bearer|Apikey) /i, '')
  return timingSafeEqual(digest(given), digest(secret ?? nobodysSecret))
}

function readPush(body: Buffer, account: BankAccount, now: Date): BankPush {
  const { currency } = account
  const read = readJsonBody(body).value
  const value = account.feedProfile === null ? read : inOurWords(account, read)
  const errors: FieldError[] = check.errors(value)
  if (errors.length > 0) throw invalid(errors)
  const push = value as Static<typeof Push>
  const say = (field: string, message: string) => errors.push({ field, message })
  if (push.currency !== currency) say('currency', `must be ${currency}, as the account is`)
  const amount = parseDecimal(push.amount, currency)
  if (amount === undefined || amount <= 0n || amount > maxBalanceMinor) {
    say('amount', `must be an amount in ${currency}, above zero, with no more decimals than it has`)
  }
  const balance = push.balance == null ? null : parseDecimal(push.balance, currency)
  if (balance === undefined) say('balance', `must be an amount in ${currency}`)
  const bookedAt = push.booked_at == null ? now : parseIsoTime(push.booked_at)
  if (!bookedAt) say('booked_at', 'must be a time with its zone, such as 2026-11-16T10:01:00+07:00')
  else if (bookedAt.getTime() > now.getTime() + 86_400_000) say('booked_at', 'is in the future')
  else if (bookedAt.getUTCFullYear() < 2000) say('booked_at', 'is before the year 2000')
  // Without either, a repetition could not be told from another payment.
  if (!push.id && push.booked_at == null) say('id', 'is required, or booked_at')
  if (errors.length > 0 || amount === undefined || balance === undefined || !bookedAt) {
    throw invalid(errors)
  }
  const isCredit = push.direction === 'credit' || push.direction === 'in'
  return {
    id: push.id ? storableText(push.id) : null,
    amountMinor: isCredit ? amount : -amount,
    bookedAt,
    text: storableText(push.text ?? ''),
    payer: {
      accountNo: storableOrNull(push.payer?.account_no),
      name: storableOrNull(push.payer?.name),
      bank: storableOrNull(push.payer?.bank),
    },
    balanceAfterMinor: balance,
  }
}

/** What a sender wrote in words of its own, as the push that the documentation describes. */
function inOurWords(account: BankAccount, body: unknown): unknown {
  const sent = readSentPush(JSON.parse(account.feedProfile ?? '{}') as FeedProfile, body)
  if (typeof sent === 'string') throw invalid([{ field: '', message: sent }])
  const no = fullAccountNo(sent.accountNo)
  if (no !== null && no !== fullAccountNo(account.accountNo)) {
    throw invalid([{ field: '', message: `This is of the account ${no}, not of ${account.name}.` }])
  }
  const [, day, time] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)$/.exec(sent.time ?? '') ?? []
  const local =
    day === undefined || time === undefined ? undefined : momentsIn(account.zone)(day, time)
  return {
    id: sent.id,
    direction: sent.direction,
    amount: sent.amount,
    currency: account.currency,
    booked_at:
      local === undefined || Number.isNaN(local.getTime()) ? sent.time : local.toISOString(),
    text: sent.text,
    payer: {
      account_no: sent.payer.accountNo,
      name: sent.payer.name,
      bank: sent.payer.bank,
    },
    balance: sent.balance,
  }
}

function invalid(errors: FieldError[]): Problem {
  const names = errors.map(({ field }) => field || 'the body').join(', ')
  return new Problem('invalid_request', `Correct ${names} and send it again.`, { errors })
}
