import type { Accounts } from './accounts.ts'
import { noChange } from './accounts.ts'
import type { Order, OrderEvent, OrderKind, OrderStatus } from './book.ts'

/** Every status change an order may make, and the event it is recorded as. Any other change is refused. */
export const transitions: readonly {
  kind: OrderKind
  from: OrderStatus
  to: OrderStatus
  event: OrderEvent
}[] = [
  { kind: 'deposit', from: 'WAITING', to: 'PAID', event: 'deposit_paid' },
  { kind: 'deposit', from: 'WAITING', to: 'FAILED', event: 'deposit_failed' },
  { kind: 'deposit', from: 'WAITING', to: 'EXPIRED', event: 'deposit_expired' },
  { kind: 'deposit', from: 'WAITING', to: 'VOID', event: 'deposit_void' },
  { kind: 'deposit', from: 'EXPIRED', to: 'PAID', event: 'deposit_paid' },
  { kind: 'deposit', from: 'FAILED', to: 'PAID', event: 'deposit_paid' },
  { kind: 'deposit', from: 'VOID', to: 'PAID', event: 'deposit_paid' },
  { kind: 'deposit', from: 'PAID', to: 'VOID', event: 'deposit_taken_back' },
  { kind: 'withdraw', from: 'WAITING', to: 'PAID', event: 'withdraw_paid' },
  { kind: 'withdraw', from: 'WAITING', to: 'FAILED', event: 'withdraw_failed' },
  { kind: 'withdraw', from: 'WAITING', to: 'CANCEL', event: 'withdraw_cancelled' },
  { kind: 'withdraw', from: 'FAILED', to: 'PAID', event: 'withdraw_paid_after_failed' },
  { kind: 'withdraw', from: 'PAID', to: 'REVERT', event: 'withdraw_reverted' },
]

export function eventOf(order: Order, to: OrderStatus): OrderEvent | undefined {
  return transitions.find(
    (step) => step.kind === order.kind && step.from === order.status && step.to === to,
  )?.event
}

/** The money that an event moves. `order` is the order after the event. */
export function changeOf(event: OrderEvent, order: Order): Accounts {
  const total = order.amountMinor + order.feeMinor
  const paid = order.paidAmountMinor ?? 0n
  const paidFee = order.paidFeeMinor ?? 0n
  switch (event) {
    case 'deposit_paid':
      return { ...noChange, available: paid - paidFee, fees: paidFee, clearing: -paid }
    case 'deposit_taken_back':
      return { ...noChange, available: paidFee - paid, fees: -paidFee, clearing: paid }
    case 'deposit_failed':
    case 'deposit_expired':
    case 'deposit_void':
      return noChange
    case 'withdraw_held':
      return { ...noChange, available: -total, held: total }
    case 'withdraw_paid':
      return { ...noChange, held: -total, clearing: order.amountMinor, fees: order.feeMinor }
    case 'withdraw_paid_after_failed':
      return { ...noChange, available: -total, clearing: order.amountMinor, fees: order.feeMinor }
    case 'withdraw_failed':
    case 'withdraw_cancelled':
      return { ...noChange, available: total, held: -total }
    case 'withdraw_reverted': {
      const fee = order.revertFee === 'return' ? order.feeMinor : 0n
      return {
        ...noChange,
        available: order.amountMinor + fee,
        clearing: -order.amountMinor,
        fees: -fee,
      }
    }
  }
}
