import { Problem } from '../lib/problem.ts'
import { type Html, html, nothing } from './html.ts'
import {
  exampleOf,
  type FieldRow,
  type Fields,
  type FormRow,
  fieldRows,
  rulesOf,
  typeOf,
} from './reference-schema.ts'

/** How a table shows whether a field is present: the column's name, then the words for yes and no. */
export type Presence = readonly [column: string, yes: string, no: string]
export const inRequest: Presence = ['Required', 'required', 'optional']
export const inAnswer: Presence = ['Present', 'always', 'sometimes']

export interface Content {
  mediaType: string
  schema: Fields
  /** An example that was really sent; undefined if one has to be generated. */
  example?: unknown
}

/** The fields of a body, with an example. */
export function shape({ mediaType, schema, ...given }: Content, presence: Presence): Html {
  const madeUp = () =>
    mediaType === 'application/problem+json' ? problemExample : exampleOf(schema)
  const example = given.example ?? madeUp()
  const rows = fieldRows(schema)
  return html`<div class="shape">
${rows.length === 0 ? html`<p>${typeOf(schema)}</p>` : fieldTable(rows, presence)}
<div class="example"><p>Example, <code>${mediaType}</code></p>
<pre><code>${jsonMarkup(example)}</code></pre></div>
</div>`
}

const problemExample = new Problem('invalid_request', 'Correct the fields named in errors.', {
  errors: [{ field: 'amount', message: 'must be a whole number of at least 1' }],
}).toJSON('req_Zk3v9QbX1a2L')

function jsonMarkup(value: unknown): Html[] {
  return JSON.stringify(value, null, 2)
    .split(/^(\s*"(?:[^"\\]|\\.)*")(?=: )/m)
    .map((text, at) => (at % 2 === 1 ? html`<span class="key">${text}</span>` : html`${text}`))
}

/**
 * The ARIA roles are explicit because on a narrow screen the rows become blocks, and some browsers then no
 * longer treat them as a table.
 */
export function fieldTable(
  rows: readonly (FieldRow | FormRow)[],
  [presence, yes, no]: Presence,
): Html {
  const level = ({ depth }: { depth: number }) => `d${Math.min(depth, 4)}`
  const column = (name: string) => html`<th role="columnheader" scope="col">${name}</th>`
  return html`<table class="fields" role="table">
<thead role="rowgroup"><tr role="row">${['Name', 'Type', presence, 'What it is'].map(column)}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) =>
  'form' in row
    ? html`<tr role="row" class="form ${level(row)}"><td role="cell" colspan="4">${row.form}</td></tr>
`
    : html`<tr role="row" class="${level(row)}"><th role="rowheader" scope="row"><code><span class="hidden">${row.within}</span>${row.name}</code></th><td role="cell" class="type">${typeOf(row.schema)}</td><td role="cell" class="need">${row.isRequired ? yes : no}</td><td role="cell" class="rule">${rule(row.schema)}</td></tr>
`,
)}</tbody>
</table>`
}

function rule(schema: Fields): Html {
  const { text, values, limits, pattern } = rulesOf(schema)
  const told = [
    ...(text === '' ? [] : [html`${text}`]),
    ...(values.length === 0 ? [] : [html`one of ${commaSeparated(values)}`]),
    ...limits.map((limit) => html`${limit}`),
  ].map((part, at) => (at === 0 ? part : html`; ${part}`))
  return html`${told}${pattern === '' ? nothing : html` <code class="pattern">${pattern}</code>`}`
}

export function commaSeparated(words: readonly string[]): Html[] {
  return words.map((word, at) => html`${at === 0 ? '' : ', '}<code>${word}</code>`)
}
