import Type from 'typebox'
import {
  appId,
  code,
  currency,
  isoTime,
  oneOf,
  orNull,
  page,
  paging,
  reason,
  strict,
} from './shapes.ts'

/** The answer to a request that a second person has to approve. */
export const Proposed = Type.Object({
  proposal: Type.String({ description: 'the id of the proposal' }),
  detail: Type.String({ description: 'who can approve it, in words' }),
})

const states = ['open', 'approved', 'done', 'refused', 'declined', 'withdrawn', 'expired']

export const ProposalView = Type.Object({
  id: Type.String(),
  action: Type.String({ description: 'as in the audit log' }),
  title: Type.String({ description: 'the action in words' }),
  subject: Type.Object({ kind: Type.String(), id: Type.String() }),
  app_id: orNull(Type.String({ description: 'the agent concerned' })),
  agent_name: orNull(Type.String()),
  amount: orNull(Type.Number({ description: 'the amount that moves' })),
  currency: orNull(Type.String()),
  before: Type.Unknown({ description: 'what would change, as it was when it was proposed' }),
  after: Type.Unknown({ description: 'what it would be' }),
  beside: orNull(
    Type.Object(
      { before: Type.Unknown(), after: Type.Unknown() },
      {
        description:
          'of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture',
      },
    ),
  ),
  reason: orNull(Type.String()),
  proposed_by: Type.String({ description: 'an address, or the command line' }),
  proposed_at: isoTime('when it was proposed'),
  expires_at: isoTime('until when somebody can approve it'),
  state: oneOf(states, 'approved: its action is under way, or was interrupted'),
  digest: Type.String({ description: 'of what is approved; send it to approve' }),
  own: Type.Boolean({ description: 'I proposed it' }),
  may_approve: Type.Boolean(),
  why_not: orNull(Type.String({ description: 'why I may not approve it' })),
  decided_by: orNull(Type.String()),
  decided_at: orNull(isoTime('when it was decided on')),
  decision_reason: orNull(Type.String()),
  problem: orNull(Type.Object({ code: Type.String(), detail: Type.String() })),
  has_answer: Type.Boolean({ description: 'a secret waits for me, to be shown once' }),
})

const OtherView = Type.Object({
  kind: oneOf(['bank_account', 'bank_file', 'payout_file'], 'what it is'),
  id: Type.String(),
  at: Type.String({ description: 'the page of the console where it is confirmed or approved' }),
  title: Type.String({ description: 'what it is, in words' }),
  account: Type.String({ description: 'the bank account' }),
  amount: orNull(Type.Number()),
  currency: Type.String(),
  proposed_by: Type.String(),
  proposed_at: isoTime('since when it waits'),
  expires_at: orNull(isoTime('until when somebody can confirm or approve it')),
  may_approve: Type.Boolean(),
  why_not: orNull(Type.String()),
})

export const ProposalParams = Type.Object({
  id: Type.String({ maxLength: 64, description: 'an id' }),
})

export const ProposalListQuery = Type.Object(
  {
    state: Type.Optional(oneOf(['open', 'ended'], 'open if left out')),
    by: Type.Optional(oneOf(['me'], 'only my own')),
    ...paging,
  },
  strict,
)
export const ProposalList = Type.Object({
  ...page(ProposalView).properties,
  others: Type.Array(OtherView, {
    description: 'what waits for a second person on a page of its own; with the first page only',
  }),
  to_decide: Type.Integer({ description: 'how many wait that I may approve' }),
})

export const ApproveRequest = Type.Object(
  {
    digest: Type.String({ maxLength: 64, description: 'the digest as it was shown' }),
    code: Type.Optional(code),
  },
  strict,
)
export const DeclineRequest = Type.Object({ reason, code: Type.Optional(code) }, strict)
export const AnswerRequest = Type.Object({ code: Type.Optional(code) }, strict)
export const ProposalAnswer = Type.Object({
  answer: Type.Unknown({ description: 'what the action answered; it is not kept' }),
})

export const RuleView = Type.Object(
  {
    action: Type.String({ maxLength: 64, description: 'one of actions' }),
    app_id: orNull(appId),
    currency: orNull(currency),
    needs_two: Type.Boolean({ description: 'whether a second person approves' }),
    above: orNull(
      Type.String({
        pattern: '^[0-9]{1,13}([.][0-9]{1,3})?$',
        description: 'only above this amount, of the currency',
      }),
    ),
    admin_only: Type.Boolean({ description: 'only an admin approves' }),
  },
  strict,
)
export const Rules = Type.Object({
  version: Type.String({ description: 'send it with a change' }),
  by_default: Type.Boolean({ description: 'whether two people are needed where no rule says' }),
  together: Type.Array(
    Type.Object({ currency, most: Type.String({ description: 'an amount of the currency' }) }),
    { description: 'the most that one code confirms of payments together, where no rule says it' },
  ),
  actions: Type.Array(
    Type.Object({
      action: Type.String(),
      title: Type.String(),
      has_amount: Type.Boolean(),
    }),
  ),
  rules: Type.Array(RuleView, { description: 'the most special one counts' }),
})
export const SetRulesBody = Type.Object(
  {
    rules: Type.Array(RuleView, { maxItems: 500 }),
    version: Type.String({ maxLength: 64, description: 'as it was read' }),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const AlarmList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      at: isoTime('when it was raised'),
      by: Type.String(),
      words: Type.String(),
    }),
    { description: 'which I have not acknowledged' },
  ),
})
