import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { clockToleranceS, signRequest } from '../lib/signature.ts'
import { Html, html, nothing } from './html.ts'
import { languageExamples } from './language-examples.ts'
import { inlineSchemas } from './name-schemas.ts'
import { referenceErrors } from './reference-errors.ts'
import {
  type Content,
  commaSeparated,
  fieldTable,
  inAnswer,
  inRequest,
  shape,
} from './reference-fields.ts'
import { type Fields, fieldsOf, listOf, textOf } from './reference-schema.ts'
import { referenceScript } from './reference-script.ts'
import { referenceStyle } from './reference-style.ts'

/** The parts of an OpenAPI 3.1 document that the page uses; deeper parts are checked when read. */
export interface OpenApiDocument {
  info: { title: string; version: string; description?: string }
  paths?: object
  /** The requests that the service itself sends. */
  webhooks?: object
  servers?: unknown
  components?: unknown
}

interface Operation {
  id: string
  method: string
  path: string
  tag: string
  described: Fields
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64')

/** Renders an OpenAPI document as one page that is whole without its script and loads nothing. */
export function referencePage(named: OpenApiDocument): {
  html: string
  contentSecurityPolicy: string
} {
  const document = inlineSchemas(named)
  const { title, version, description } = document.info
  const base = baseUrl(document)
  const tags = groupBy(operationsOf(document), ({ tag }) => tag)
  const schemes = fieldsOf(fieldsOf(document.components).securitySchemes)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API reference</title>
<style>${new Html(referenceStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>${title} API reference <span class="version">${version}</span></h1>
${description === undefined ? nothing : html`<p>${description}</p>`}
<ul class="facts">
<li>Base address <code>${base.origin}${base.path}</code></li>
<li><a href="${base.path}/openapi.json">OpenAPI document</a></li>
</ul>
</header>
${navigation([...tags])}
<main id="content" tabindex="-1">
${signing(base)}
${inLanguages()}
${referenceErrors()}
${[...tags].map(
  ([tag, operations]) => html`<section id="${slug('tag', tag)}">
<h2>${tag}</h2>
${operations.map((operation) => article(operation, schemes, base.path))}
</section>
`,
)}</main>
<footer><p>${title} ${version}</p></footer>
<script>${new Html(referenceScript)}</script>
</body>
</html>
`
  return {
    html: page.text,
    contentSecurityPolicy: `default-src 'none'; script-src 'sha256-${hashOf(referenceScript)}'; style-src 'sha256-${hashOf(referenceStyle)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}

function operationsOf({ paths, webhooks }: OpenApiDocument): Operation[] {
  return Object.entries({ ...paths, ...webhooks }).flatMap(([path, methods]) =>
    Object.entries(fieldsOf(methods))
      .filter(([method]) => /^(get|put|post|delete|options|head|patch|trace)$/.test(method))
      .map(([method, operation]) => {
        const described = fieldsOf(operation)
        const tag = textOf(listOf(described.tags)[0]) || 'Other'
        return { id: slug(method, path), method, path, tag, described }
      }),
  )
}

/** The service's address. The path, without a trailing slash, is part of what is signed. */
function baseUrl({ servers }: OpenApiDocument): { origin: string; path: string } {
  const url = textOf(fieldsOf(listOf(servers)[0]).url)
  if (!/^https?:/.test(url) || !URL.canParse(url)) return { origin: '', path: '' }
  const { origin, pathname } = new URL(url)
  return { origin, path: pathname.replace(/^\/+/, '/').replace(/\/+$/, '') }
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

function slug(...words: string[]): string {
  return words
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
}

function navigation(tags: readonly [string, Operation[]][]): Html {
  return html`<nav aria-label="Contents">
<ul>
<li><a href="#signing">Sign a request</a></li>
<li><a href="#languages">In your language</a></li>
<li><a href="#errors">Errors</a></li>
</ul>
${tags.map(
  ([tag, operations]) => html`<p>${tag}</p>
<ul>
${operations.map(
  ({ id, method, path }) =>
    html`<li><a href="#${id}">${methodBadge(method)} <code>${path}</code></a></li>
`,
)}</ul>
`,
)}</nav>`
}

/** The values that the examples are signed with, so that readers can check their own code. */
const vector = {
  secret: 'sk_test_5f1c7a0b9d3e4c2f8a6b1d0e7c9f3a5b',
  t: '1767225600',
  body: '{"orderId":"A-1001","status":"PAID","amount":"100.50","currency":"USD","timestamp":"2026-01-01T00:00:00.000Z"}',
}

function signing({ origin, path }: { origin: string; path: string }): Html {
  const expected = signRequest(vector.secret, vector.t, 'POST', '/v1/orders', vector.body)
  return html`<section id="signing">
<h2>Sign a request</h2>
<p>Every request names its agent and carries a signature, an HMAC-SHA256 keyed with the secret
exactly as it was shown:</p>
<pre><code>x-appid: &lt;app id&gt;
x-signature: t=&lt;unix seconds&gt;,v1=&lt;64 lower-case hex digits&gt;</code></pre>
<p>The signed bytes are</p>
<pre><code>t + "." + METHOD + " " + path with query, as sent + "." + raw body</code></pre>
<p><code>t</code> may be off by ${clockToleranceS} seconds either way. Where there is no body, nothing
follows the last dot.</p>
<p>In bash:</p>
<pre><code>APP_ID='...' SECRET='...'
body='{
  "refId": "order-1001",
  "userId": "user-42",
  "amount": 500,
  "accountName": "Somchai Jaidee",
  "accountNo": "1234567890",
  "bankCode": "KBANK",
  "timestamp": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"
}'
t=$(date +%s)
sig=$(printf '%s' "$t.POST ${path}/payment/deposit.$body" |
  openssl dgst -sha256 -hmac "$SECRET" | sed 's/.* //')
curl '${origin}${path}/payment/deposit' \\
  -H 'content-type: application/json' \\
  -H "x-appid: $APP_ID" \\
  -H "x-signature: t=$t,v1=$sig" \\
  --data-binary "$body"</code></pre>
<p>A callback carries the same two headers; its signed bytes are <code>t + "." + raw body</code>.
While a secret is being replaced it has more than one <code>v1</code>: one that matches is enough.</p>
<details>
<summary>A signature to check your code against</summary>
<div class="inside"><pre><code>secret     ${vector.secret}
t          ${vector.t}
request    POST /v1/orders
body       ${vector.body}
signature  ${expected}</code></pre></div>
</details>
</section>`
}

/** A whole agent in each language, one at a time: the choice needs no script. */
function inLanguages(): Html {
  return html`<section id="languages">
<h2>In your language</h2>
<p>A whole agent: it makes an order, takes its callback and checks the signature.</p>
<fieldset class="tabs">
<legend class="hidden">Language</legend>
${languageExamples.map(
  (
    { language, text },
    at,
  ) => html`<input type="radio" name="language" id="language-${at}"${at === 0 ? html` checked` : nothing}>
<label for="language-${at}">${language}</label>
<div class="tab"><pre><code>${text}</code></pre></div>
`,
)}</fieldset>
</section>`
}

function article(
  { id, method, path, described }: Operation,
  schemes: Fields,
  basePath: string,
): Html {
  const summary = textOf(described.summary)
  const body = contentOf(fieldsOf(described.requestBody))
  const headers = listOf(described.security)
    .flatMap((needed) => Object.keys(fieldsOf(needed)))
    .map((name) => textOf(fieldsOf(schemes[name]).name) || name)
  return html`<article id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title">${summary || `${method.toUpperCase()} ${path}`}</h3>
<p class="route">${methodBadge(method)} <code>${path}</code></p>
${described.description === undefined ? nothing : html`<p>${textOf(described.description)}</p>`}
${
  headers.length === 0
    ? nothing
    : html`<p class="muted"><a href="#signing">Signed</a>: ${commaSeparated(headers)}</p>`
}
${parameters(described, 'header', 'Header')}${parameters(described, 'path', 'Path')}${parameters(described, 'query', 'Query')}${exampleRequest(method, described, basePath)}${
  body ? html`<h4>Request body</h4>${shape(body, inRequest)}` : nothing
}
<h4>Answers</h4>
${answers(described)}
</article>
`
}

/** A request that was sent to a real service, signed with the vector's secret. */
function exampleRequest(method: string, described: Fields, basePath: string): Html {
  const example = fieldsOf(described['x-example-request'])
  if (example.path === undefined) return nothing
  const path = basePath + textOf(example.path)
  const body = textOf(example.body)
  const signature = signRequest(vector.secret, vector.t, method.toUpperCase(), path, body)
  return html`<h4>Example request</h4>
<pre><code>${method.toUpperCase()} ${path}
x-appid: app_7d1f0c2b9a3e4d5f
x-signature: t=${vector.t},v1=${signature}${body === '' ? nothing : html`\ncontent-type: application/json\n\n${body}`}</code></pre>`
}

function parameters({ parameters }: Fields, place: string, title: string): Html {
  const given = listOf(parameters)
    .map(fieldsOf)
    .filter((given) => given.in === place)
  if (given.length === 0) return nothing
  const rows = given.map(({ name, required, schema, description }) => ({
    within: '',
    name: textOf(name),
    depth: 0,
    isRequired: required === true,
    schema: { ...fieldsOf(schema), ...(description !== undefined && { description }) },
  }))
  return html`<h4>${title} parameters</h4>
${fieldTable(rows, inRequest)}`
}

function contentOf({ content }: Fields): Content | undefined {
  const [first] = Object.entries(fieldsOf(content))
  if (!first) return undefined
  const { schema, example } = fieldsOf(first[1])
  return { mediaType: first[0], schema: fieldsOf(schema), example }
}

/** Statuses with the same answer share one entry; the first success is expanded. */
function answers({ responses }: Fields): Html[] {
  const alike = groupBy(Object.entries(fieldsOf(responses)), ([, answer]) => JSON.stringify(answer))
  const groups = [...alike.values()].map((group) => ({
    statuses: group.map(([status]) => status),
    answer: fieldsOf(group[0]?.[1]),
  }))
  const success = groups.find(({ statuses }) => statuses[0]?.startsWith('2'))
  return groups.map((group) => {
    const content = contentOf(group.answer)
    return html`<details${group === success ? html` open` : nothing}>
<summary>${group.statuses.map((status) => html`${statusBadge(status)} `)}<span class="muted">${textOf(group.answer.description)}</span></summary>
<div class="inside">${
      content ? shape(content, inAnswer) : html`<p class="muted">No body.</p>`
    }</div>
</details>
`
  })
}

function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`
}

function statusBadge(status: string): Html {
  const isGood = status.startsWith('2')
  const name = status === 'default' ? 'Otherwise' : `${status} ${STATUS_CODES[status] ?? ''}`.trim()
  return html`<span class="status ${isGood ? 'good' : 'bad'}">${name}</span>`
}
