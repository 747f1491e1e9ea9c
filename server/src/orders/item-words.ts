import type { OpenItem } from '../ledger/book.ts'

type Sides = Pick<
  OpenItem,
  'itemId' | 'provider' | 'providerSaid' | 'orderStatus' | 'orderProvider'
>

/** What each side says, for whoever told it. */
export function itemWords({ itemId, ...sides }: Sides): string {
  return `${sidesOf(sides)} A person has to find out who is right: open item ${itemId}.`
}

/** What the provider says and what the order says, in two sentences. */
export function sidesOf(sides: Omit<Sides, 'itemId'>): string {
  const { provider, providerSaid, orderStatus, orderProvider } = sides
  const says = { PAID: 'it paid', REVERT: 'it paid and got the money back' }[providerSaid as 'PAID']
  const isElsewhere = orderProvider !== null && orderProvider !== provider
  const where = isElsewhere ? `, and with ${orderProvider}` : ''
  return `${provider} says that ${says ?? 'it did not pay'}. The order is ${orderStatus}${where}.`
}
