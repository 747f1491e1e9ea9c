import type { Static } from 'typebox'
import type { BankAccount } from '../../bank-accounts/bank-account.ts'
import { type BankMovement, paymentIdOf } from '../../bank-accounts/bank-movement.ts'
import { type explanations, findMovement } from '../../bank-accounts/movement-states.ts'
import { movementView } from '../../bank-accounts/movement-view.ts'
import {
  type FoundMovement,
  listUnexplained,
  type MovementFilter,
  searchMovements,
} from '../../bank-accounts/read-movements.ts'
import type { Pool } from '../../db/pool.ts'
import { findNamedPayouts } from '../../ledger/payout-references.ts'
import { txnId } from '../../lib/ids.ts'
import { jsonText } from '../../lib/json-text.ts'
import { parseDecimal } from '../../lib/money.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import {
  explainBatch,
  explainMovement,
  explainNeverBooked,
  explainPayout,
  explainReturn,
  payoutsIn,
  refuseExplanation,
} from '../../payments/explain-movement.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { bankAccountNamed, checkDays, checkId } from './bank-account-named.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { exact } from './order-summary.ts'
import { maskedName, maskedNumber, notShown, seesPersons } from './personal-data.ts'
import {
  BankAccountParams,
  ExplainRequest,
  MovementList,
  MovementParams,
  MovementRow,
  MovementsQuery,
  UnexplainedList,
} from './schemas/bank-accounts.ts'
import { badCursor } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** How many movements that nobody can explain are listed. */
const mostUnexplained = 100

/** What moved on the bank accounts, and saying what it was. */
export function bankMovementRoutes(api: OperatorApi, desk: Desk): void {
  const { pool } = desk
  const look = { tag: 'Bank accounts', permission: 'view', agents: 'none', method: 'GET' } as const

  operatorRoute(api, {
    ...look,
    url: '/bank-accounts/:name/movements',
    summary: 'What moved on an account, newest first',
    schema: { params: BankAccountParams, querystring: MovementsQuery, response: MovementList },
    handler: async ({ operator, params, query }) => {
      const { name, currency } = await bankAccountNamed(pool, params.name)
      checkDays({ from: query.from, to: query.to })
      // Searching would tell, letter by letter, what is not shown.
      if (query.text !== undefined && !seesPersons(operator)) {
        throw new Problem(
          'not_permitted',
          `The role ${operator.role} may not search what names persons.`,
        )
      }
      const { limit = 50 } = query
      const found = await searchMovements(pool, {
        ...anything,
        account: name,
        from: query.from ?? null,
        to: query.to ?? null,
        states: statesOf(query.state),
        explainedBy: query.explained_by ?? null,
        amountMinor:
          query.amount === undefined ? null : (parseDecimal(query.amount, currency) ?? 0n),
        text: query.text ?? null,
        fileId: query.file ?? null,
        before: query.cursor === undefined ? null : placeIn(query.cursor),
        limit: limit + 1,
      })
      const shown = found.slice(0, limit)
      const last = shown.at(-1)
      return jsonText({
        data: shown.map((movement) => rowOf(movement, operator)),
        next: found.length > limit && last ? `${last.bookedOn} ${last.movementId}` : null,
      })
    },
  })

  operatorRoute(api, {
    ...look,
    url: '/unexplained-movements',
    summary: 'Movements of all accounts that wait for an explanation, newest first',
    schema: { response: UnexplainedList },
    handler: async ({ operator }) => {
      const found = await listUnexplained(pool, mostUnexplained)
      return jsonText({ data: found.map((movement) => rowOf(movement, operator)), next: null })
    },
  })

  twoPersonRoute(api, {
    tag: 'Bank accounts',
    agents: 'none',
    permission: 'decide_payments',
    method: 'POST',
    url: '/bank-accounts/:name/movements/:movement_id/explain',
    summary: 'Say what a movement was that is nobody’s payment',
    schema: { params: MovementParams, body: ExplainRequest, response: MovementRow },
    approval: {
      action: 'explain_movement',
      repeats: 'checked',
      view: async ({ params, body }) => {
        const account = await bankAccountNamed(pool, params.name)
        const { movement_id: id } = params
        checkId(id)
        namesPayment(body)
        const movement = await findMovement(pool, account.name, id)
        if (!movement) throw new Problem('not_found', `${account.name} has no movement ${id}.`)
        await refuseExplanation(desk, movement, body.as)
        const { state, explainedBy, amountMinor: minor, bookedOn } = movement
        const { currency } = account
        return {
          subject: { kind: 'provider', id: account.name },
          agentId: null,
          amount: { minor, currency },
          before: { movement: id, day: bookedOn, state, explained_by: explainedBy },
          after: {
            explained_by: body.as,
            ...(body.payment && { payment: body.payment }),
            ...(body.as === 'payout' && (await payoutShown(pool, account, movement))),
          },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const account = await bankAccountNamed(pool, params.name)
      const { movement_id: id } = params
      checkId(id)
      const payment = namesPayment(body)
      const { reason } = body
      await audited(
        pool,
        desk.now,
        {
          operator,
          action: 'explain_movement',
          subject: { kind: 'provider', id: account.name },
          agentId: null,
          before: { movement: id },
          reason,
        },
        () => {
          if (body.as === 'batch') return explainBatch(desk, account, id, reason)
          if (body.as === 'payout') return explainPayout(desk, account, id, reason)
          if (body.as === 'never_booked') return explainNeverBooked(desk, account, id, reason)
          if (payment !== null) return explainReturn(desk, account, id, payment, reason)
          // The schema allows only known explanations.
          const as = body.as as (typeof explanations)[number]
          return explainMovement(desk, account, id, as, reason)
        },
        () => ({ movement: id, explained_by: body.as }),
      )
      const filter = { ...anything, account: account.name, movementId: id, limit: 1 }
      const [movement] = await searchMovements(pool, filter)
      return jsonText(movement && rowOf(movement, operator))
    },
  })
}

/** Which payouts a debit is said to be, of which orders, and what the bank would have charged for them. */
async function payoutShown(pool: Pool, account: BankAccount, debit: BankMovement) {
  const { references, chargesMinor } = await payoutsIn(pool, account, debit)
  const named = await findNamedPayouts(pool, references)
  return {
    payout: references.join(', '),
    txn_id: references
      .map((each) => named.get(each))
      .map((each) => (each ? txnId(each.agentId, each.orderId) : '-'))
      .join(', '),
    charge: exact(chargesMinor, account.currency),
  }
}

/** The payment that went back, which only that explanation names; null for the others. */
function namesPayment({ as, payment }: Static<typeof ExplainRequest>): string | null {
  if (as !== 'payment_returned') return null
  if (payment !== undefined) return payment
  const message = 'must name the movement that brought the payment'
  throw invalidRequest([{ field: 'payment', message }])
}

export const anything: Omit<MovementFilter, 'limit'> = {
  account: null,
  movementId: null,
  from: null,
  to: null,
  states: null,
  explainedBy: null,
  amountMinor: null,
  text: null,
  fileId: null,
  before: null,
}

function statesOf(asked: string | undefined): MovementFilter['states'] {
  switch (asked) {
    case 'unconfirmed':
    case 'booked':
    case 'unexplained':
      return [asked]
    case 'under_way':
      return ['new', 'matched']
    default:
      return null
  }
}

export function rowOf(movement: FoundMovement, operator: Operator) {
  const { state, amountMinor, deductedMinor, currency, explainedBy, orderId, paymentState } =
    movement
  const isByHand = movement.sources.every((source) => source === 'hand')
  const isPayment = explainedBy === 'payment' && state === 'booked'
  const view = movementView(movement)
  const { payer } = view
  return {
    ...view,
    amount: exact(amountMinor, currency),
    deducted: exact(deductedMinor, currency),
    payment_id: isPayment ? paymentIdOf(movement) : null,
    may_explain:
      state === 'unexplained' ||
      (isPayment && orderId === null && paymentState === 'waiting') ||
      // What the bank never had is no money, once nobody has it any more.
      (isPayment && isByHand && paymentState !== 'credited'),
    ...(!seesPersons(operator) && {
      text: view.text === '' ? '' : notShown,
      payer: {
        account_no: payer.account_no && maskedNumber(payer.account_no),
        name: payer.name && maskedName(payer.name),
        bank: payer.bank,
      },
    }),
  }
}

function placeIn(cursor: string): { bookedOn: string; movementId: string } {
  const [bookedOn = '', movementId = ''] = cursor.split(' ')
  if (!/^\d{4}-\d\d-\d\d$/.test(bookedOn) || !/^[0-9a-f]{32}$/.test(movementId)) throw badCursor()
  return { bookedOn, movementId }
}
