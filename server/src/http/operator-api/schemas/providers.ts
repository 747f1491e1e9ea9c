import Type from 'typebox'
import { orderKinds } from '../../../ledger/book.ts'
import { maxAmount } from '../../../lib/money.ts'
import type { ProviderState } from '../../../routing/route-order.ts'
import { code, currency, isoTime, oneOf, orNull, reason, strict } from './shapes.ts'

export const state = Type.Unsafe<ProviderState>({
  type: 'string',
  enum: ['on', 'draining', 'off'],
  description: 'on, draining (takes nothing new) or off',
})

const units = Type.Integer({
  minimum: 1,
  maximum: Number(maxAmount),
  description: `a whole number from 1 to ${maxAmount}`,
})
const share = Type.Integer({
  minimum: 1,
  maximum: 1000,
  description: 'a whole number from 1 to 1000',
})
const direction = oneOf(orderKinds, 'deposit or withdraw')
const bankCode = Type.String({ maxLength: 16, description: 'a bank code' })

export const RouteView = Type.Object(
  {
    provider: Type.String({ maxLength: 64, description: 'the name of a provider' }),
    route: Type.String({ maxLength: 32, description: 'its name, of at most 32 characters' }),
    direction,
    currency,
    banks: Type.Union([Type.Array(bankCode, { maxItems: 200 }), Type.Null()], {
      description: 'a list of at most 200 bank codes, or null for all',
    }),
    min_amount: units,
    max_amount: units,
    preference: share,
    weight: share,
  },
  strict,
)

const RouteList = Type.Array(RouteView, {
  maxItems: 500,
  description: 'a list of at most 500 routes, each with all its fields',
})

export const ProviderView = Type.Object({
  name: Type.String(),
  state,
  currencies: Type.Array(currency),
  deposits: Type.Boolean(),
  payouts: Type.Boolean(),
})

export const Routes = Type.Object({
  version: Type.String({ description: 'send it with a change' }),
  routes: Type.Array(RouteView),
})

export const SetRoutesBody = Type.Object(
  {
    version: Type.String({ maxLength: 16, description: 'version of the routes as read' }),
    routes: RouteList,
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const TryRoutesBody = Type.Object(
  { routes: RouteList, direction, currency, bank_code: bankCode, amount: units },
  strict,
)

export const TriedRoutes = Type.Object({
  data: Type.Array(
    Type.Object({
      provider: Type.String(),
      route: orNull(Type.String({ description: 'null where the provider has no routes' })),
      preference: Type.Integer(),
      share: Type.Number({ description: 'how often it is the first of its preference, 0 to 1' }),
    }),
  ),
  next: Type.Null(),
})

export const BankList = Type.Object({
  data: Type.Array(
    Type.Object({
      currency,
      code: Type.String(),
      name: Type.String(),
      closed: Type.Boolean(),
    }),
  ),
  next: Type.Null(),
})

export const FiguresQuery = Type.Object(
  {
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 168, description: 'a whole number from 1 to 168' }),
    ),
  },
  strict,
)

const success = Type.Object({
  paid: Type.Integer({ description: 'orders that were paid' }),
  ended: Type.Integer({ description: 'orders that no longer wait and were not cancelled' }),
  success_rate: orNull(Type.Number({ description: 'paid of those that ended, 0 to 1' })),
})

export const ProviderFigures = Type.Object({
  since: isoTime('orders created since then are looked at'),
  complete: Type.Boolean({ description: 'false where there were too many to go back all the way' }),
  data: Type.Array(
    Type.Object({
      provider: Type.String(),
      deposits: success,
      payouts: success,
      open: Type.Integer({ description: 'payouts under way' }),
      unknown: Type.Integer({
        description: 'of those, payouts whose outcome the provider has not said',
      }),
    }),
  ),
  next: Type.Null(),
})
