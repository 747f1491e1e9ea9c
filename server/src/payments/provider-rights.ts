import type { Order } from '../ledger/book.ts'
import type { Provider, ProviderEvent } from '../providers/provider.ts'

/** What a provider may say with a kind of event. */
export interface Right {
  /**
   * What the event must be about, which must be the provider's own: a deposit or an order that it has, a payment that
   * it reported (its id begins with the provider's name), a payout that was handed to it.
   */
  about: 'deposit' | 'payment' | 'payout' | 'order'
  /** Whether only a provider that takes deposits may say it. What ends earlier business needs no present ability. */
  takesDeposits: boolean
  /** Whether the provider must have an account in the event's currency. */
  inItsCurrencies: boolean
  /** What becomes of it otherwise: money waits for a person, the rest is refused or stays open as an alarm. */
  otherwise: 'waiting' | 'refused' | 'open'
}

/** Every provider's rights, by event. What is not here no provider can say. */
export const providerRights: Record<ProviderEvent['type'], Right> = {
  payment: {
    about: 'deposit',
    takesDeposits: true,
    inItsCurrencies: true,
    // Money that came in is kept, whoever reports it; it is only not credited.
    otherwise: 'waiting',
  },
  payment_taken_back: {
    about: 'payment',
    takesDeposits: false,
    inItsCurrencies: false,
    otherwise: 'open',
  },
  deposit_ended: {
    about: 'deposit',
    takesDeposits: true,
    inItsCurrencies: false,
    otherwise: 'refused',
  },
  payout: { about: 'payout', takesDeposits: false, inItsCurrencies: false, otherwise: 'open' },
  cost: { about: 'order', takesDeposits: false, inItsCurrencies: true, otherwise: 'refused' },
  // It changes nothing, whatever it is about.
  unread: { about: 'order', takesDeposits: false, inItsCurrencies: false, otherwise: 'open' },
}

type Teller = Pick<Provider, 'name' | 'can'>

/** Why a provider may not say this at all, whatever it is about; undefined if it may. */
export function rightsFault(provider: Teller, event: ProviderEvent): string | undefined {
  const { takesDeposits, inItsCurrencies } = providerRights[event.type]
  if (takesDeposits && !provider.can.deposits) return 'The provider takes no deposits.'
  if (inItsCurrencies && 'currency' in event && !provider.can.currencies.includes(event.currency)) {
    return `The provider has no account in ${event.currency}.`
  }
  return undefined
}

/** Whether an order is the provider's own, and of the kind that the event is about. */
export function isItsOrder(
  { name }: Teller,
  event: ProviderEvent,
  order: Pick<Order, 'kind' | 'provider'> | undefined,
): boolean {
  const isOfKind = providerRights[event.type].about !== 'deposit' || order?.kind === 'deposit'
  return order?.provider === name && isOfKind
}
