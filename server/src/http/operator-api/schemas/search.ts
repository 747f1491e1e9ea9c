import Type from 'typebox'
import { isoTime, orNull, strict } from './shapes.ts'

export const SearchQuery = Type.Object(
  {
    q: Type.String({
      minLength: 2,
      maxLength: 200,
      description: 'an id, a reference, a user, a name, an account number or an amount',
    }),
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
      title: Type.String({ description: 'what it is, in words' }),
      says: Type.String({ description: 'more about it' }),
      at: orNull(isoTime('when it was created')),
    }),
    { description: 'what fits, of each kind the few that fit best' },
  ),
})
