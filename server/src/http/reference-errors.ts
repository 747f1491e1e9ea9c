import { type ProblemCode, problemCatalogue } from '../lib/problem.ts'
import { problemAdvice } from '../lib/problem-advice.ts'
import { type Html, html } from './html.ts'

/** Lists every error code, with what to do about it. */
export function referenceErrors(): Html {
  const codes = Object.keys(problemCatalogue) as ProblemCode[]
  const rows = codes
    .map((code) => [code, problemCatalogue[code]] as const)
    .sort(([, [one]], [, [other]]) => one - other)
  return html`<section id="errors">
<h2>Errors</h2>
<p>A refusal is <code>application/problem+json</code> (RFC 9457). <code>code</code> is stable and made
for programs; <code>errors</code> names every bad field at once. With 429 and 503 comes
<code>retry-after</code>.</p>
<table class="errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title, and what to do</th></tr></thead>
<tbody>
${rows.map(
  ([code, [status, title]]) =>
    html`<tr id="error-${code}"><td><code>${status}</code></td><th scope="row"><code>${code}</code></th><td>${title}<br><span class="muted">${withCode(problemAdvice[code])}</span></td></tr>
`,
)}</tbody>
</table>
</section>`
}

/** Formats text between backticks as code. */
function withCode(text: string): Html[] {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}
