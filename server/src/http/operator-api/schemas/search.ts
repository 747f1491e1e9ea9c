import Type from 'typebox'
import { currency, isoTime, money, oneOf, orNull, strict } from './shapes.ts'

export const SearchQuery = Type.Object(
  {
    q: Type.String({
      minLength: 2,
      maxLength: 200,
      description: 'an id, a reference, a user, a name, an account number or an amount',
    }),
    amount: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,12}([.][0-9]{1,3})?$',
        description: 'the same as a plain number, if it may be an amount',
      }),
    ),
  },
  strict,
)

export const hitKinds = ['agent', 'order', 'payment', 'callback'] as const

export const SearchView = Type.Object({
  hits: Type.Array(
    Type.Object({
      kind: Type.Unsafe<(typeof hitKinds)[number]>({
        type: 'string',
        enum: [...hitKinds],
        description: 'what was found',
      }),
      id: Type.String({ description: 'its id; of a callback, the app id of its agent' }),
      seq: orNull(Type.Integer({ description: "a callback's number" })),
      agent_name: orNull(Type.String({ description: 'whose it is; null: nobody’s yet' })),
      order_kind: orNull(oneOf(['deposit', 'withdraw'], 'deposit or withdraw')),
      ref_id: orNull(Type.String({ description: "the agent's reference of an order" })),
      user_id: orNull(Type.String({ description: "the agent's user of an order" })),
      person: orNull(Type.String({ description: 'who is paid, or paid' })),
      amount: orNull(money('of an order or a payment')),
      currency: orNull(currency),
      status: orNull(Type.String({ description: 'of an order, or of what a callback tells' })),
      state: orNull(Type.String({ description: 'of an agent, a payment or a callback' })),
      at: orNull(isoTime('when it was created')),
    }),
    { description: 'what fits, of each kind the few that fit best' },
  ),
  searched_to: orNull(isoTime('orders before this were not looked at for the amount')),
})
