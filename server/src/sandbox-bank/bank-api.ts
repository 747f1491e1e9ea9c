import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type { TSchema } from 'typebox'
import { inTransaction, type Tx } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { compiled } from '../lib/compiled.ts'
import { type Currency, decimalText, maxBalanceMinor, parseDecimal } from '../lib/money.ts'
import { matchesAny } from '../lib/signature.ts'
import * as schemas from './bank-schemas.ts'
import { endDeposit, makeDepositBooker } from './deposits.ts'
import type { NoticeSender } from './notice-sender.ts'
import { receiveTransfer, takeBack } from './payments.ts'
import { answerAbout, findPayout, makePayoutBooker, setPayout } from './payouts.ts'
import { payoutStory } from './play-acts.ts'
import { Refusal } from './refusal.ts'
import { depositStories } from './stories.ts'

/** How long a call that is never answered stays open if the caller does not give up first. */
const heldForMs = 30_000

export interface BankApiOptions {
  pool: Pool
  key: Buffer
  now: () => Date
  teller: NoticeSender
  onError: (error: unknown) => void
}

/** Builds the bank's HTTP interface, for callers that have the key. */
export function buildBankApi({ pool, key, now, teller, onError }: BankApiOptions): FastifyInstance {
  const app = fastify({
    bodyLimit: 16 * 1024,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 2_000 },
  })
  const bookDeposit = makeDepositBooker(pool)
  const bookPayout = makePayoutBooker(pool)
  const pass = createHmac('sha256', key).update('requests to the sandbox bank').digest('hex')

  app.setValidatorCompiler<TSchema>(({ schema }) => {
    const check = compiled(schema)
    return (value) => check.Check(value) || { error: new Refusal(400, 'The shape is wrong.') }
  })
  app.addHook('onRequest', async (request) => {
    const given = /^Bearer ([0-9a-f]{64})$/.exec(request.headers.authorization ?? '')?.[1]
    if (given === undefined || !matchesAny(pass, [given])) {
      throw new Refusal(401, 'The bank does not know you.')
    }
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error instanceof Refusal ? error.status : (error.statusCode ?? 500)
    if (status >= 500) onError(error)
    const reason = status >= 500 ? 'Something went wrong at the bank.' : error.message
    return reply.code(status).send({ reason })
  })

  /** Changes the book, sends the notice at once, and answers with the result that the service returned. */
  const tell = async (change: (tx: Tx) => Promise<bigint>) => {
    const noticeNo = await inTransaction(pool, change)
    return { events: [await teller.tellNow(noticeNo)] }
  }

  app.put<{ Params: schemas.ReferenceParams; Body: schemas.DepositBody }>(
    '/deposits/:reference',
    { schema: { params: schemas.ReferenceParams, body: schemas.DepositBody } },
    async ({ params: { reference }, body }) => {
      const { currency, payer, story } = body
      const told = depositStories[story]
      if (!told) throw new Refusal(400, 'There is no such story.')
      const amountMinor = amountOf(body)
      const expiresAt = timeOf(body.expiresAt)
      const deposit = { reference, amountMinor, currency, expiresAt, payer, story }
      await bookDeposit(deposit, told, now())
      return {
        qrcodeText:
          `SLUICE SANDBOX - NOT A PAYMENT ${reference} ${decimalText(amountMinor, currency)} ${currency}`.toUpperCase(),
        transfer: {
          bankCode: 'SANDBOX',
          accountNumber: `TEST${reference.slice(-8).toUpperCase()}`,
          accountName: 'SANDBOX NOT A REAL ACCOUNT',
        },
      }
    },
  )

  app.put<{ Params: schemas.ReferenceParams; Body: schemas.PayoutBody }>(
    '/payouts/:reference',
    { schema: { params: schemas.ReferenceParams, body: schemas.PayoutBody } },
    async ({ params: { reference }, body, raw }, reply) => {
      const { currency, payee, story } = body
      const told = payoutStory(story)
      if (!told) throw new Refusal(400, 'There is no such story.')
      const payout = { reference, amountMinor: amountOf(body), currency, payee, story }
      const state = await bookPayout(payout, told, now())
      if (told.answers) return answerAbout({ ...payout, state })
      hold(raw.socket)
      return reply.hijack()
    },
  )

  app.get<{ Params: schemas.ReferenceParams }>(
    '/payouts/:reference',
    { schema: { params: schemas.ReferenceParams } },
    async ({ params: { reference } }) => {
      const payout = await findPayout(pool, reference)
      if (!payout) throw new Refusal(404, 'There is no such payout.')
      return answerAbout({ ...payout, reference })
    },
  )

  app.post<{ Body: schemas.TransferBody }>(
    '/transfers',
    { schema: { body: schemas.TransferBody } },
    async ({ body }) => {
      const { reference, currency, payer, paidAt, once = null } = body
      const amountMinor = amountOf(body)
      const at = paidAt === undefined ? now() : timeOf(paidAt)
      const transfer = { reference, amountMinor, currency, payer, paidAt: at, once }
      return tell((tx) => receiveTransfer(tx, transfer, now()))
    },
  )

  app.post<{ Params: schemas.ReferenceParams; Body: schemas.EndBody }>(
    '/deposits/:reference/end',
    { schema: { params: schemas.ReferenceParams, body: schemas.EndBody } },
    async ({ params: { reference }, body: { status } }) =>
      tell((tx) => endDeposit(tx, reference, status, now())),
  )

  app.post<{ Params: schemas.ReferenceParams }>(
    '/deposits/:reference/take-back',
    { schema: { params: schemas.ReferenceParams } },
    async ({ params: { reference } }) => tell((tx) => takeBack(tx, { reference }, now())),
  )

  app.post<{ Params: schemas.PaymentParams }>(
    '/payments/:paymentId/take-back',
    { schema: { params: schemas.PaymentParams } },
    async ({ params: { paymentId } }) => tell((tx) => takeBack(tx, { paymentId }, now())),
  )

  app.post<{ Params: schemas.ReferenceParams; Body: schemas.OutcomeBody }>(
    '/payouts/:reference/outcome',
    { schema: { params: schemas.ReferenceParams, body: schemas.OutcomeBody } },
    async ({ params: { reference }, body: { state } }) =>
      tell((tx) => setPayout(tx, reference, state, now())),
  )

  return app
}

/** Leaves the caller without an answer until it gives up or the time limit passes. */
function hold(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), heldForMs)
  socket.once('close', () => clearTimeout(timer))
}

function amountOf({ amount, currency }: { amount: string; currency: Currency }): bigint {
  const minor = parseDecimal(amount, currency)
  if (minor === undefined || minor <= 0n || minor > maxBalanceMinor) {
    throw new Refusal(400, 'The amount is not one of this currency.')
  }
  return minor
}

function timeOf(text: string): Date {
  const at = new Date(text)
  if (Number.isNaN(at.getTime())) throw new Refusal(400, 'The time is not one.')
  return at
}
