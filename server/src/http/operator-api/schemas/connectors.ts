import Type from 'typebox'
import { sampleCalls } from '../../../providers/http/try-sample.ts'
import { state } from './providers.ts'
import { code, currency, isoTime, oneOf, orNull, reason, strict } from './shapes.ts'

const name = Type.String({
  pattern: '^[a-z][a-z0-9-]{1,31}$',
  description: '2 to 32 small letters, digits and dashes, beginning with a letter',
})
const version = Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'a version' })
const secretName = Type.String({
  pattern: '^[a-z][A-Za-z0-9_]{0,39}$',
  description: 'the name of a secret in the document',
})

export const ConnectorParams = Type.Object({ name: Type.String({ maxLength: 64 }) })
export const VersionParams = Type.Object({
  name: Type.String({ maxLength: 64 }),
  version: Type.String({ pattern: '^[1-9][0-9]{0,6}$' }),
})

const Figures = Type.Object({
  processes: Type.Integer({ description: 'that have made calls within a day' }),
  calls: Type.Integer({ description: 'of these processes, since each began' }),
  failures: Type.Integer({ description: 'calls without a usable answer' }),
  not_called: Type.Integer({ description: 'calls that were not made, because it failed' }),
  under_way: Type.Integer(),
  state: oneOf(['open', 'paused', 'trying'], 'open; paused while it fails; trying again'),
  last_fault: orNull(Type.String()),
  last_fault_at: orNull(isoTime('when it failed last')),
})

export const ConnectorSummary = Type.Object({
  name: Type.String(),
  company: Type.String(),
  state,
  version: orNull(Type.Integer({ description: 'the version in use; null: none is' })),
  newest_version: Type.Integer(),
  newest_passed: Type.Boolean({ description: 'whether the newest has passed its samples' }),
  currencies: Type.Array(currency),
  deposits: Type.Boolean(),
  payouts: Type.Boolean(),
  account: orNull(Type.String({ description: 'the bank account whose lines it reports' })),
  fault: orNull(
    Type.String({ description: 'why what is to be used cannot be read, so that it is not used' }),
  ),
  figures: orNull(Figures),
})

export const ConnectorList = Type.Object({ data: Type.Array(ConnectorSummary), next: Type.Null() })

const Limits = Type.Object({
  calls_at_once: Type.Integer({ description: 'for each process' }),
  calls_per_second: Type.Number({ description: 'for each process' }),
  timeout_ms: Type.Integer(),
})

const why = orNull(Type.String({ description: 'the reason in the audit log' }))

export const ConnectorDetail = Type.Object({
  ...ConnectorSummary.properties,
  source: orNull(Type.String({ description: 'which documentation was read' })),
  limits: Limits,
  notice_url: Type.String({ description: 'where the company sends its notices' }),
  use: Type.Integer({ description: 'the number of the use; send it with a change' }),
  secrets: Type.Array(
    Type.Object({
      name: Type.String(),
      found: orNull(Type.String({ description: 'where it is found, as the document says' })),
      newest: orNull(Type.Integer({ description: 'the number of the newest; null: not set' })),
      in_use: orNull(Type.Integer()),
      added_at: orNull(isoTime('when the newest was set')),
      added_by: orNull(Type.String()),
    }),
  ),
  versions: Type.Array(
    Type.Object({
      version: Type.Integer(),
      sha256: Type.String(),
      added_at: isoTime('when it was added'),
      added_by: Type.String(),
      reason: why,
      secrets: Type.Array(Type.String(), { description: 'the names of those that it uses' }),
      secrets_of_calls: Type.Array(Type.String(), {
        description: 'of these, those that calls are made with',
      }),
      passed: Type.Boolean({ description: 'whether it has passed its samples' }),
      tried_at: orNull(isoTime('when samples were tried on it last')),
      tried_by: orNull(Type.String()),
    }),
  ),
  uses: Type.Array(
    Type.Object({
      use: Type.Integer(),
      version: Type.Integer(),
      at: isoTime('since when'),
      by: Type.String(),
      reason: why,
    }),
  ),
})

export const ConnectorDocumentView = Type.Object({
  version: Type.Integer(),
  document: Type.String({ description: 'JSON, as it was given' }),
})

const documentText = Type.String({
  minLength: 2,
  maxLength: 262_144,
  description: 'the document, as JSON text',
})

export const CheckBody = Type.Object({ document: documentText }, strict)

export const CheckedDocument = Type.Object({
  faults: Type.Array(
    Type.Object({
      at: Type.String({ description: 'a JSON Pointer; empty: the document as a whole' }),
      says: Type.String(),
    }),
  ),
  found: orNull(
    Type.Object(
      {
        company: Type.String(),
        source: orNull(Type.String()),
        currencies: Type.Array(currency),
        deposits: Type.Boolean(),
        payouts: Type.Boolean(),
        notices: Type.Boolean(),
        account: orNull(Type.String()),
        limits: Limits,
        secrets: Type.Array(Type.Object({ name: Type.String(), found: Type.String() })),
      },
      { description: 'what a document without faults does' },
    ),
  ),
})

export const NewConnector = Type.Object(
  { name, document: documentText, reason, code: Type.Optional(code) },
  strict,
)

export const AddedVersion = Type.Object({
  name: Type.String(),
  version: Type.Integer(),
  is_new: Type.Boolean({ description: 'false: this document was added before' }),
})

export const NewConnectorSecret = Type.Object(
  {
    secret: secretName,
    value: Type.String({ minLength: 1, maxLength: 8192, description: 'the secret itself' }),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const AddedSecret = Type.Object({ secret: Type.String(), n: Type.Integer() })

const samplesText = Type.String({
  minLength: 2,
  maxLength: 1_048_576,
  description: 'samples, as JSON text',
})

export const SamplesBody = Type.Object(
  { version: Type.Optional(version), samples: samplesText },
  strict,
)

const Tried = Type.Object({
  rule: orNull(Type.String({ description: 'where the rule stands that fits' })),
  rule_name: orNull(Type.String()),
  got: Type.Array(Type.String(), { description: 'what would happen' }),
  fault: orNull(Type.String({ description: 'why nothing would' })),
})

export const SamplesResult = Type.Object({
  version: Type.Integer(),
  passed: Type.Boolean(),
  missing: Type.Array(Type.String(), { description: 'what the samples do not show' }),
  results: Type.Array(
    Type.Object({
      name: Type.String(),
      call: Type.String(),
      ok: Type.Boolean(),
      expected: Type.Array(Type.String()),
      tried: Type.Array(Tried),
    }),
  ),
})

export const TryBody = Type.Object(
  {
    version: Type.Optional(version),
    call: oneOf(sampleCalls, sampleCalls.join(', ')),
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 599, description: 'a status from 200 to 599' }),
    ),
    body: Type.String({ maxLength: 65_536, description: 'an answer or a notice, as it came' }),
    headers: Type.Optional(
      Type.String({
        maxLength: 16_384,
        description: "a notice's headers, one on a line: its signature is checked then",
      }),
    ),
    address: Type.Optional(
      Type.String({ maxLength: 64, description: 'the IP address that a notice came from' }),
    ),
    their_id: Type.Optional(
      Type.String({ maxLength: 128, description: "the company's own id of what was asked about" }),
    ),
    reference: Type.Optional(Type.String({ maxLength: 100, description: 'what was asked about' })),
    amount: Type.Optional(Type.String({ maxLength: 30, description: 'decimal text' })),
    currency: Type.Optional(currency),
  },
  strict,
)

export const TriedView = Type.Object({
  version: Type.Integer(),
  assumed: Type.Array(Type.String(), {
    description: 'what was not given, so that what the answer repeats of it was taken for right',
  }),
  signature: orNull(
    Type.String({ description: 'genuine, or why it is not; null: it was not checked' }),
  ),
  tried: Type.Array(Tried),
})

export const UseBody = Type.Object(
  {
    version,
    use: Type.Integer({ minimum: 0, description: 'the number of the use as read' }),
    secrets: Type.Record(
      Type.String({ pattern: '^[a-z][A-Za-z0-9_]{0,39}$' }),
      Type.Integer({ minimum: 1, maximum: 1_000_000 }),
      { description: 'the number of each secret that the version uses' },
    ),
    same_account: Type.Optional(
      Type.Boolean({
        description:
          'whether the secrets are of the same account at the company as those before; required if a secret of calls changes',
      }),
    ),
    former_void: Type.Optional(
      Type.Boolean({ description: 'no notice is taken any more that is signed with one before' }),
    ),
    reason,
    code: Type.Optional(code),
  },
  strict,
)

export const UsedVersion = Type.Object({
  name: Type.String(),
  version: Type.Integer(),
  use: Type.Integer(),
})
