import Type from 'typebox'
import { bookings, itemKinds } from '../../../ledger/book.ts'
import { printable } from '../../printable-text.ts'
import { OrderSummary } from './orders.ts'
import {
  appId,
  code,
  currency,
  isoTime,
  money,
  oneOf,
  orNull,
  page,
  paging,
  reason,
  strict,
} from './shapes.ts'

const kind = oneOf(itemKinds, 'what contradicts what')
const said = oneOf(['PAID', 'REVERT', 'FAILED', 'CANCEL'], 'the state that its word would lead to')

const booking = oneOf(
  bookings,
  'write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back',
)

export const BookItemRequest = Type.Object(
  { as: booking, reason, code: Type.Optional(code) },
  strict,
)

export const ItemListQuery = Type.Object(
  {
    state: Type.Optional(oneOf(['open', 'closed'], 'open or closed')),
    agent: Type.Optional(appId),
    kind: Type.Optional(kind),
    assignee: Type.Optional(Type.String({ maxLength: 254, description: 'an address of a user' })),
    ...paging,
  },
  strict,
)

export const ItemSummary = Type.Object({
  item_id: Type.String({ description: 'its kind and the reference of the payout' }),
  kind,
  app_id: orNull(appId),
  agent_name: orNull(Type.String()),
  txn_id: Type.String({ description: 'the withdrawal' }),
  provider: Type.String({ description: 'who said it' }),
  reference: Type.String({ description: 'what the provider knows the payout by' }),
  amount: money('what the payout is about'),
  currency,
  provider_said: said,
  order_status: Type.String({ description: 'what the order was when it was said' }),
  order_provider: orNull(Type.String({ description: 'who had the order then' })),
  words: Type.String({ description: 'both sides, in words' }),
  opened_at: isoTime('when it was first said'),
  closed_at: orNull(isoTime('when it was closed')),
  resolution: orNull(
    oneOf(
      ['order_paid', 'looked_into'],
      'order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise',
    ),
  ),
  closed_by: orNull(Type.String({ description: 'the address of who closed it' })),
  evidence: orNull(Type.String({ description: 'what it was closed on' })),
  booked_as: orNull(booking),
  assignee: orNull(Type.String({ description: 'the address of who looks into it' })),
})
/** Oldest first; closed ones latest first. */
export const ItemList = page(ItemSummary)

export const ItemParams = Type.Object({ item_id: Type.String({ maxLength: 200 }) }, strict)

export const ItemDetail = Type.Object({
  item: ItemSummary,
  order: OrderSummary,
  next: Type.String({ description: 'what can be done about it, in words' }),
  bookings: Type.Array(booking, {
    description: 'how what left can be booked; none if it need not be',
  }),
  notes: Type.Array(
    Type.Object({
      at: isoTime('when'),
      by: Type.String({ description: 'the address of who wrote it' }),
      assignee: orNull(Type.String({ description: 'who was to look into it from then on' })),
      note: orNull(Type.String()),
    }),
    { description: 'oldest first' },
  ),
})

export const CloseRequest = Type.Object(
  { evidence: Type.Optional(printable(1000)), reason, code: Type.Optional(code) },
  strict,
)
