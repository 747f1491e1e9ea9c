import { findProposal } from '../../approvals/proposal.ts'
import { searchMovements } from '../../bank-accounts/read-movements.ts'
import {
  keepSlip,
  maxSlipBytes,
  pictureType,
  readSlip,
  sameShown,
} from '../../bank-accounts/slips.ts'
import { parseTxnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { decimalText } from '../../lib/money.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { bookMovements } from '../../payments/book-movement.ts'
import {
  previewPayment,
  type Recorder,
  recordPayment,
  seenPayment,
} from '../../payments/record-payment.ts'
import type { Desk } from '../../teller/desk.ts'
import { bankAccountNamed } from './bank-account-named.ts'
import { anything, rowOf } from './bank-movements.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  BankAccountParams,
  KeptSlip,
  PaymentByHand,
  PaymentRecorded,
  SlipParams,
  SlipPicture,
} from './schemas/bank-accounts.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** How many pictures a user may bring: they are large, and need no code. */
const slipsOfUser = { perS: 60 / 3_600, burst: 60 }

/** Payments that people record by hand, with a picture of the slip. */
export function handPaymentRoutes(api: OperatorApi, desk: Desk): void {
  const { pool, secretKeys, now } = desk
  const common = { tag: 'Bank accounts', agents: 'none' } as const
  const brought = new TokenBuckets()

  operatorRoute(api, {
    ...common,
    permission: 'decide_payments',
    method: 'POST',
    url: '/slips',
    summary: 'Bring the picture of a slip; a payment that is recorded names it',
    withoutCode: 'a picture changes nothing until a payment is recorded with it',
    bodyLimit: Math.ceil(maxSlipBytes / 3) * 4 + 1024,
    schema: { body: SlipPicture, response: { status: 201, schema: KeptSlip } },
    handler: async ({ operator, body }) => {
      const bytes = Buffer.from(body.content, 'base64')
      const type = pictureType(bytes)
      if (!type) throw fieldProblem('content', 'is no JPEG, PNG or WebP picture')
      const { perS, burst } = slipsOfUser
      const { taken, waitS } = brought.take(`${operator.userId}`, perS, burst, now().getTime())
      if (!taken) throw new Problem('rate_limited', 'Too many pictures.', { retryAfterS: waitS })
      const slip = await keepSlip(pool, secretKeys, { bytes, type, by: operator.email, at: now() })
      return { slip, type }
    },
  })

  operatorRoute(api, {
    ...common,
    permission: 'decide_payments',
    method: 'GET',
    url: '/slips/:slip',
    summary: 'The picture of a slip',
    schema: { params: SlipParams, response: { status: 200, type: 'image/*' } },
    handler: async ({ params, reply }) => {
      const picture = await readSlip(pool, secretKeys, params.slip)
      if (!picture) throw new Problem('not_found', 'There is no such picture.')
      return reply
        .type(picture.type)
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('cache-control', 'private, no-store')
        .send(picture.bytes)
    },
  })

  twoPersonRoute(api, {
    ...common,
    permission: 'decide_payments',
    method: 'POST',
    url: '/bank-accounts/:name/payments',
    summary: 'Record a payment by hand: one more report, which credits once',
    schema: { params: BankAccountParams, body: PaymentByHand, response: PaymentRecorded },
    approval: {
      action: 'record_payment',
      repeats: 'effect',
      view: async ({ params, body }) => {
        const account = await bankAccountNamed(pool, params.name)
        const payment = await seenPayment(pool, account, body)
        const { known, bankSays, arrivesMinor, txnId } = await previewPayment(
          desk,
          account,
          payment,
        )
        const { day, slip, payer, text, reference } = body
        return {
          subject: { kind: 'provider', id: account.name },
          // The rules of the agent that gets it count, although nobody named its order.
          agentId: parseTxnId(txnId ?? '')?.agentId ?? payment.order?.agentId ?? null,
          amount: { minor: payment.amountMinor, currency: account.currency },
          // If the bank reports it meanwhile, or another order would get it, that is something else.
          before: { movement: known?.movementId ?? null, order: txnId },
          after: {
            day,
            amount: body.amount,
            slip,
            // Named as persons are, so that viewers do not see who it is.
            payer: { account_name: payer.name, account_no: payer.account_no, bank: payer.bank },
            payer_text: text,
            payer_reference: reference,
            txn_id: body.txn_id,
            arrives: decimalText(arrivesMinor, account.currency),
            goes_to: txnId ?? 'payments to decide',
            // Whether it is the same payer's money, the second person sees by this.
            ...(bankSays && {
              bank_says: { account_no: bankSays.accountNo, payer_text: bankSays.text },
            }),
          },
        }
      },
      // These move with each statement that comes, and the payment stays the same.
      beside: async ({ params, body }) => {
        const account = await bankAccountNamed(pool, params.name)
        const payment = await seenPayment(pool, account, body)
        const { detail, missingTo } = await previewPayment(desk, account, payment)
        const shown = await sameShown(pool, payment.slip)
        const beware = [
          shown &&
            `Another file with the same picture was used on ${shown.recordedAt.toISOString()} for a payment to ${shown.account}, which ${shown.recordedBy} recorded.`,
          missingTo !== null && `Statements up to ${missingTo} are in, and do not have it.`,
        ].filter((each) => typeof each === 'string')
        return {
          before: {},
          after: {
            why: detail,
            ...(beware.length > 0 && { beware: beware.join(' ') }),
          },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const account = await bankAccountNamed(pool, params.name)
      const payment = await seenPayment(pool, account, body)
      const recorder = await recorderOf(desk, operator)
      const { movementId, isKnown } = await recordPayment(desk, account, payment, {
        ...recorder,
        also: async (tx, recorded) => {
          const at = now()
          await takeEffect(tx, operator, at)
          await writeAudit(tx, {
            at,
            operator,
            action: 'record_payment',
            subject: { kind: 'provider', id: account.name },
            agentId: payment.order?.agentId ?? null,
            after: {
              movement: recorded.movementId,
              day: body.day,
              amount: body.amount,
              slip: body.slip,
              known: recorded.isKnown,
            },
            reason: body.reason,
          })
        },
      })
      // It is on record: what cannot be booked now is booked by the workers.
      await bookMovements(desk, api.approvals.onError, account.name, movementId).catch(
        api.approvals.onError,
      )
      const filter = { ...anything, account: account.name, movementId, limit: 1 }
      const [movement] = await searchMovements(pool, filter)
      return jsonText({ known: isKnown, movement: movement && rowOf(movement, operator) })
    },
  })
}

/** Whose word it is: the proposer's and the approver's, or that of one person who may record it alone. */
async function recorderOf({ pool }: Pick<Desk, 'pool'>, operator: Operator): Promise<Recorder> {
  const proposal = operator.proposal && (await findProposal(pool, operator.proposal.id))
  if (!proposal) return { recordedBy: operator.email, proposalId: null, approvedBy: null }
  const { proposer, proposalId, decider } = proposal
  return { recordedBy: proposer, proposalId, approvedBy: decider }
}
