import Type from 'typebox'
import { plainText, printable } from '../../printable-text.ts'
import { code, isoTime, oneOf, orNull, reason, strict } from './shapes.ts'

const about = oneOf(['order', 'user', 'account'], 'the order, its user, or the account it names')
const tag = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,29}$',
  description: '1 to 30 small letters, digits and dashes',
})
const assignee = orNull(Type.String({ maxLength: 254, description: 'an address of a user' }))

export const OrderMarks = Type.Object({
  data: Type.Array(
    Type.Object({
      about,
      subject: Type.String({ description: 'the id of the order or user, or the account number' }),
      tags: Type.Array(tag),
      assignee,
      notes: Type.Array(
        Type.Object({
          at: isoTime('when'),
          by: Type.String({ description: 'the address of who wrote it' }),
          assignee,
          note: orNull(Type.String()),
        }),
        { description: 'oldest first' },
      ),
    }),
  ),
})

export const Assignees = Type.Object({
  data: Type.Array(Type.String(), { description: 'the addresses of those who may be assigned' }),
})

/** One of them at a time. */
export const MarkOrder = Type.Object(
  {
    about,
    tag: Type.Optional(tag),
    untag: Type.Optional(tag),
    note: Type.Optional(printable(1000)),
    assignee: Type.Optional(
      Type.Union([Type.String({ maxLength: 254 }), Type.Null()], {
        description: 'who looks into it from now on; null: nobody',
      }),
    ),
  },
  strict,
)

const txnIds = Type.Array(Type.String({ maxLength: 60 }), {
  minItems: 1,
  maxItems: 100,
  description: '1 to 100 orders',
})
export const ResendTogether = Type.Object({ txn_ids: txnIds, reason }, strict)
export const CancelTogether = Type.Object(
  { txn_ids: txnIds, reason, code: Type.Optional(code) },
  strict,
)
export const MarkTogether = Type.Object(
  {
    txn_ids: txnIds,
    tag: Type.Optional(tag),
    untag: Type.Optional(tag),
    assignee: Type.Optional(Type.Union([Type.String({ maxLength: 254 }), Type.Null()])),
  },
  strict,
)
export const DoneTogether = Type.Object({
  data: Type.Array(
    Type.Object({
      txn_id: Type.String(),
      outcome: oneOf(['done', 'refused'], 'done or refused'),
      detail: orNull(Type.String({ description: 'why it was refused' })),
    }),
  ),
})

const name = plainText(1, 60, '1 to 60 characters')
const filters = Type.String({ maxLength: 2000, description: 'as they stand in the address' })
export const SharedViews = Type.Object({
  data: Type.Array(Type.Object({ name, filters, shared_by: Type.String() })),
})
export const ShareView = Type.Object({ name, filters }, strict)
export const ForgetView = Type.Object({ name }, strict)
