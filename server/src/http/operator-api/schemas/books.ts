import Type from 'typebox'
import { printable } from '../../printable-text.ts'
import { code, currency, isoTime, money, orNull, reason, strict } from './shapes.ts'

const lines = {
  currency,
  balanced: Type.Boolean({ description: 'false: faults says what does not add up' }),
  owed_to_agents: money('what agents may use'),
  receivable: money('what agents owe the house; negative'),
  held: money('held for waiting withdrawals'),
  reserve: money('held back of paid deposits'),
  suspense_of_agents: money('reported for agents and not yet decided on'),
  suspense_of_house: money('reported for nobody and not yet decided on'),
  unexplained: money('left bank accounts, and nobody can say yet for what; negative'),
  clearing: money('money at providers; negative'),
  fees: money('charged to agents'),
  costs: money('charged by providers; negative'),
  adjustments: money('the other side of adjustments'),
  differences: money('differences that the house has taken on itself; negative: losses'),
  transfers: money('moves between books; 0 if they balance'),
  total: money('all of it; 0 if the books balance'),
}

const providers = Type.Array(
  Type.Object({ provider: Type.String(), clearing: money('money there; negative') }),
  { description: 'clearing by provider' },
)

const BookOfTrial = Type.Object({
  app_id: orNull(Type.String({ description: 'null: a book of the house' })),
  name: Type.String(),
  seq: Type.Integer({ description: 'the journal row these balances are after' }),
  available: money('may be below zero: then the agent owes it'),
  receivable: money('what the agent owes: what is below zero of available'),
  held: money('held for waiting withdrawals'),
  reserve: money('held back of paid deposits'),
  suspense: money('waits for a decision'),
  unexplained: money(
    'left bank accounts, and nobody can say yet for what; only in a book of the house',
  ),
  clearing: money('money at providers; negative'),
  fees: money('not yet moved to the house, or moved to it'),
  costs: money('the same of what providers charge; negative'),
  adjustments: money('the other side of adjustments'),
  differences: money('only in a book of the house'),
  transfers: money('moved to another book'),
  providers,
})

const asOf = Type.Optional(isoTime('an ISO 8601 time with zone; as it was then'))

export const BooksQuery = Type.Object({ as_of: asOf, currency: Type.Optional(currency) }, strict)
export const TrialBalanceView = Type.Object({
  as_of: orNull(isoTime('as it was then; null: now')),
  balanced: Type.Boolean(),
  currencies: Type.Array(
    Type.Object({
      ...lines,
      faults: Type.Array(Type.String(), { description: 'what does not add up, in words' }),
      providers,
      books: Type.Array(BookOfTrial, { description: 'without books that are empty' }),
    }),
  ),
})

export const BooksHistoryQuery = Type.Object(
  {
    currency,
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, description: '1 to 90' })),
  },
  strict,
)
/** Newest first. It ends early where the journal was archived. */
export const BooksHistory = Type.Object({
  data: Type.Array(
    Type.Object({
      day: Type.String({ description: "a day in the service's time zone" }),
      at: isoTime('its end'),
      ...lines,
    }),
  ),
})

/** The amount as text, so that it is exact. */
export const WriteOffRequest = Type.Object(
  {
    amount: Type.String({
      pattern: '^-?[0-9]{1,13}([.][0-9]{1,3})?$',
      description: 'positive if the provider has less than the books say',
    }),
    currency,
    provider: printable(200),
    ref: printable(128),
    reason,
    code: Type.Optional(code),
  },
  strict,
)
export const WriteOffAnswer = Type.Object({
  changed: Type.Boolean({ description: 'false: this reference was used before' }),
})
