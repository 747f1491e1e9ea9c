import Type from 'typebox'
import { currency, isoTime, money, oneOf, orNull } from './shapes.ts'

export type QueueKind = 'payment' | 'approval' | 'movement' | 'payout' | 'break' | 'open_item'

const count = (of: string) => Type.Integer({ description: `${of}, up to 100` })

export const QueueCounts = Type.Object({
  payment: count('payments to decide'),
  approval: count(
    'proposals, bank accounts, files and payout files that you can approve or confirm',
  ),
  movement: count('movements that nothing explains'),
  payout: count('payouts whose outcome is not known'),
  break: count('days on which books and bank differ'),
  open_item: count('contradictions'),
  all: Type.Integer({ description: 'all of them' }),
})

export const QueueView = Type.Object({
  counts: QueueCounts,
  data: Type.Array(
    Type.Object({
      kind: oneOf(
        ['payment', 'approval', 'movement', 'payout', 'break', 'open_item'],
        'what it is',
      ),
      id: Type.String({ description: 'of the payment, proposal, order, item, or account and day' }),
      at: Type.String({
        description:
          'the bank account of a movement, the page of what is approved on its own, else the id',
      }),
      title: Type.String({ description: 'why it waits, or what it is about' }),
      amount: orNull(money('where it is about an amount')),
      currency: orNull(currency),
      app_id: orNull(Type.String({ description: 'the agent concerned' })),
      agent_name: orNull(Type.String()),
      since: isoTime('since when it waits'),
      assignee: orNull(Type.String({ description: 'the address of who looks into it' })),
    }),
  ),
})
