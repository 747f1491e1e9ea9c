import Type, { type TSchema } from 'typebox'
import {
  terms as agentTerms,
  type Term,
  type TermName,
  termNames,
  termOf,
} from '../../../agents/terms.ts'
import { maxAmount } from '../../../lib/money.ts'
import { printable } from '../../printable-text.ts'
import { Code, Reason } from '../operator-route.ts'
import { currency, isoTime, oneOf, orNull, strict } from './shapes.ts'

/** The shapes of agents, as operators and the agents' own users see them. */

const feeRule = Type.String({ maxLength: 40, description: agentTerms.depositFee.must })

/** The schema of a term in requests and answers, by its kind. */
function schemaOf({ kind, must, choices = [], least, most = 0 }: Term): TSchema {
  switch (kind) {
    case 'text':
      return printable(most)
    case 'optional':
      return orNull(printable(most))
    case 'address':
      return orNull(Type.String({ maxLength: 2000, description: must }))
    case 'fee':
      return Type.String({ maxLength: 40, description: must })
    case 'choice':
      return oneOf(choices, must)
    case 'units':
      return Type.Integer({ minimum: least ?? 1, maximum: Number(maxAmount), description: must })
    case 'whole':
      return Type.Integer({ minimum: least ?? 0, maximum: most, description: must })
    case 'list':
      return Type.Array(Type.String({ maxLength: 300 }), { maxItems: 50, description: must })
  }
}

const schemaFor = (name: TermName) => schemaOf(termOf(name))

/** All terms except the name, which a new agent must have. */
const terms = Object.fromEntries(
  termNames.filter((name) => name !== 'name').map((name) => [termOf(name).field, schemaFor(name)]),
)

const brand = {
  colour: orNull(Type.String({ maxLength: 7, description: 'a colour such as #0a7d4f, or null' })),
  logo: orNull(
    Type.String({
      maxLength: 48_000,
      description: 'a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null',
    }),
  ),
}

const optional = (fields: Record<string, TSchema>) =>
  Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, Type.Optional(each)]))

const status = oneOf(['active', 'suspended'], 'active or suspended')

export const AgentView = Type.Object({
  app_id: Type.String(),
  name: Type.String(),
  currency,
  status,
  ...terms,
  created_at: isoTime('when it was made'),
  updated_at: isoTime('when it was last changed; send it with a change'),
})

const keys = Type.Array(
  Type.Object({
    slot: Type.Integer({ description: '1 or 2' }),
    created_at: isoTime('when it was made'),
    expires_at: orNull(isoTime('until when it is valid; null: until it is rotated')),
    last_used_at: orNull(isoTime('when it last signed a request')),
  }),
)

export const AgentDetail = Type.Object({ ...AgentView.properties, ...brand, keys })

export const AgentKeys = Type.Object({ keys })

export const NewAgentBody = Type.Object(
  {
    name: schemaFor('name'),
    currency,
    ...optional(terms),
    ...optional(brand),
    code: Type.Optional(Code),
  },
  strict,
)

export const ChangeAgentBody = Type.Object(
  {
    name: Type.Optional(schemaFor('name')),
    ...optional(terms),
    ...optional(brand),
    updated_at: isoTime('updated_at of the agent as it was read'),
    reason: Reason,
    code: Type.Optional(Code),
  },
  strict,
)

export const AddressesBody = Type.Object(
  {
    deposit_callback: Type.Optional(schemaFor('depositCallbackUrl')),
    withdraw_callback: Type.Optional(schemaFor('withdrawCallbackUrl')),
    updated_at: isoTime('updated_at of the agent as it was read'),
    reason: Reason,
    code: Type.Optional(Code),
  },
  strict,
)

export const SecretAnswer = Type.Object({
  app_id: Type.String(),
  secret: Type.String({ description: 'shown this once' }),
})

export const RotateBody = Type.Object(
  {
    overlap_s: Type.Integer({
      minimum: 0,
      maximum: 30 * 86_400,
      description: '0 to 2592000 seconds for which the old secret stays valid',
    }),
    reason: Reason,
    code: Type.Optional(Code),
  },
  strict,
)

export const KeyParams = Type.Object({
  app_id: Type.String({ maxLength: 64, description: "an agent's app id" }),
  slot: Type.String({ pattern: '^[12]$', description: 'the slot of the secret' }),
})

export const CheckAddressBody = Type.Object(
  { url: Type.String({ maxLength: 2000, description: 'an http or https URL' }) },
  strict,
)

export const AddressSteps = Type.Object({
  ok: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      step: oneOf(['address', 'name', 'connection', 'tls', 'answer'], 'what was looked at'),
      ok: Type.Boolean(),
      says: Type.String({ description: 'in words' }),
    }),
  ),
})

export const FeePreviewBody = Type.Object({ deposit_fee: feeRule, withdraw_fee: feeRule }, strict)

const side = Type.Object({
  orders: Type.Integer({ description: 'how many were looked at' }),
  amount: Type.Number({ description: 'what was paid in all' }),
  fees_now: Type.Number({ description: 'what they were charged' }),
  fees_then: Type.Number({ description: 'what they would have been charged' }),
})

export const FeePreview = Type.Object({
  currency,
  from: isoTime('the oldest moment looked at'),
  complete: Type.Boolean({ description: 'false: only the newest orders of the month' }),
  deposit: side,
  withdraw: side,
})

export const SignatureCheckBody = Type.Object(
  {
    app_id: Type.String({ maxLength: 64, description: "an agent's app id" }),
    kind: oneOf(['request', 'callback'], 'request: what you send; callback: what you are sent'),
    method: Type.Optional(Type.String({ maxLength: 10, description: 'GET, POST' })),
    path: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'the path with its query, such as /payment/orders',
      }),
    ),
    body: Type.String({ maxLength: 16_384, description: 'the body, byte by byte as it was sent' }),
    signature: Type.String({ maxLength: 512, description: 'the header x-signature' }),
  },
  strict,
)

export const SignatureVerdict = Type.Object({
  matches: Type.Boolean(),
  says: Type.String({ description: 'what is wrong, and what to do' }),
  signed_text: Type.String({
    description: 'the text to be signed, as the service puts it together',
  }),
  got: Type.Array(Type.String(), { description: 'the signatures sent' }),
  expected: Type.Array(Type.String(), {
    description: 'how the right ones begin, one for each live secret',
  }),
  age_s: orNull(Type.Integer({ description: 'how old t is; negative: from the future' })),
})

export const AgentLooks = Type.Object(brand)
export const SetLooks = Type.Object({ ...brand, code: Type.Optional(Code) }, strict)

export const PagePreviewQuery = Type.Object(
  {
    colour: Type.Optional(Type.String({ maxLength: 16, description: 'instead of the saved one' })),
    lang: Type.Optional(Type.String({ maxLength: 16, description: 'such as th' })),
  },
  strict,
)
