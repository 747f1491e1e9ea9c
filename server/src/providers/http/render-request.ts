import { quoted } from '../../lib/json-text.ts'
import type { ConnectorDocument, Sign } from './connector-document.ts'
import { numberIn } from './document-faults.ts'
import {
  bytesOver,
  keyBytes,
  keyOrText,
  type Secrets,
  signatureOver,
  sortedSignature,
} from './signed-bytes.ts'
import { CannotRender, fill, type Values } from './template.ts'

type Call = NonNullable<ConnectorDocument['submitPayout']>['request']

/** A request as it is sent. */
export interface RenderedRequest {
  method: Call['method']
  url: string
  headers: Record<string, string>
  body: string | null
}

/** What signing needs to know. */
export interface Signing {
  secrets: Secrets
  now: Date
  nonce: string
  /** Of OAuth, if the connector uses it. */
  accessToken?: string | undefined
}

/** Makes the request of a call. Throws CannotRender or NoSecret; nothing was sent then. */
export function renderRequest(
  document: ConnectorDocument,
  call: Call,
  values: Values,
  signing: Signing,
): RenderedRequest {
  const base = (document.base ?? '').replace(/\/+$/, '')
  const path = filledPath(call.path, values)
  const query = filledFields(call.query ?? {}, values)
  const headers: Record<string, string> = {}
  const texts = { ...document.headers, ...call.headers }
  for (const [name, text] of Object.entries(texts)) {
    const value = fill(text, values)
    if (value !== null) headers[name.toLowerCase()] = headerValue(value)
  }
  authorise(document, signing, headers)
  const body = new Body(call, values)
  const request = { method: call.method, url: urlOf(base + path, query), headers }
  const field = document.sign && sign(document.sign, request, query, body, signing)
  if (field) body.add(...field, query)
  const text = body.text()
  if (text !== null) headers['content-type'] = body.type
  return { ...request, url: urlOf(base + path, query), body: text }
}

function urlOf(address: string, query: readonly [string, string][]): string {
  return query.length === 0 ? address : `${address}?${encodedFields(query)}`
}

/** A value is one segment of a path or part of one: it adds no slash, and cannot climb. */
function filledPath(path: string, values: Values): string {
  return path
    .split('/')
    .map((segment) => {
      const text = fill(segment, (name) => {
        const value = values(name)
        return typeof value === 'string' ? encoded(value) : value
      })
      if (text === null || (segment !== '' && /^(\.|%2e){0,2}$/i.test(text))) {
        throw new CannotRender('a part of the path would be empty or climb')
      }
      return text
    })
    .join('/')
}

/** Every value, and every name once for each of its values. */
function filledFields(
  fields: Record<string, string | readonly string[]>,
  values: Values,
): [string, string][] {
  return Object.entries(fields).flatMap(([name, texts]) =>
    [texts].flat().flatMap((text): [string, string][] => {
      const value = fill(text, values)
      return value === null ? [] : [[name, value]]
    }),
  )
}

function encodedFields(fields: readonly [string, string][]): string {
  return fields.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&')
}

/** As RFC 3986: encodeURIComponent leaves some reserved characters as they are, and refuses half a character. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function headerValue(value: string): string {
  if (/^[\x20-\x7e]{0,2000}$/.test(value)) return value
  throw new CannotRender('a header can hold only plain letters')
}

function authorise(
  { auth }: ConnectorDocument,
  { secrets, accessToken }: Signing,
  headers: Record<string, string>,
): void {
  switch (auth?.kind) {
    case 'bearer':
      headers.authorization = headerValue(`Bearer ${keyBytes(auth.token, secrets)}`)
      break
    case 'basic': {
      const both = `${keyOrText(auth.user, secrets)}:${keyOrText(auth.password, secrets)}`
      headers.authorization = `Basic ${Buffer.from(both).toString('base64')}`
      break
    }
    case 'header':
      headers[auth.header.toLowerCase()] = headerValue(keyBytes(auth.value, secrets).toString())
      break
    case 'oauth':
      if (accessToken === undefined) throw new CannotRender('there is no access token')
      headers.authorization = headerValue(`Bearer ${accessToken}`)
      break
    case undefined:
  }
}

/** A request's body: its fields are known to who signs, and a signature may be one more. Without one they are the query's. */
class Body {
  readonly type: string
  private readonly form: [string, string][] | undefined
  /** Names and JSON of the outermost object, or one JSON that is no object. */
  private readonly members: [string, string][] | undefined
  private readonly other: string | undefined

  constructor(call: Call, values: Values) {
    this.type = call.form ? 'application/x-www-form-urlencoded' : 'application/json'
    if (call.form) this.form = filledFields(call.form, values)
    const { json } = call
    const isObject =
      typeof json === 'object' && json !== null && !Array.isArray(json) && !numberIn(json)
    if (isObject) {
      this.members = Object.entries(json).map(([name, node]) => [name, treeText(node, values)])
    } else if (json !== undefined) this.other = treeText(json, values)
  }

  /** Names and values; undefined in the place of a value that is not plain. */
  fields(query: readonly [string, string][]): (readonly [string, string | undefined])[] {
    const ofMembers = this.members?.map(([name, text]) => [name, plain(text)] as const)
    return this.form ?? ofMembers ?? (this.other === undefined ? [...query] : [['', undefined]])
  }

  add(name: string, value: string, query: [string, string][]): void {
    if (this.form) this.form.push([name, value])
    else if (this.members) this.members.push([name, quoted(value)])
    else if (this.other === undefined) query.push([name, value])
    else throw new CannotRender('a signature has no body to be a field of')
  }

  text(): string | null {
    if (this.form) return encodedFields(this.form)
    if (!this.members) return this.other ?? null
    return `{${this.members.map(([name, text]) => `${quoted(name)}:${text}`).join(',')}}`
  }
}

/** The value of a plain member as text. */
function plain(json: string): string | undefined {
  if (json.startsWith('{') || json.startsWith('[')) return undefined
  if (json === 'null') return ''
  return json.startsWith('"') ? JSON.parse(json) : json
}

/** JSON of a tree with all values put in. */
function treeText(node: unknown, values: Values): string {
  if (typeof node === 'string') return quoted(fill(node, values))
  if (Array.isArray(node)) return `[${node.map((each) => treeText(each, values)).join(',')}]`
  if (typeof node !== 'object' || node === null) return JSON.stringify(node)
  const number = numberIn(node)
  if (number !== undefined) return numberText(number, values)
  const members = Object.entries(node).map(
    ([name, each]) => `${quoted(name)}:${treeText(each, values)}`,
  )
  return `{${members.join(',')}}`
}

function numberText(name: string, values: Values): string {
  const text = fill(`{${name}}`, values)
  if (text === null) return 'null'
  if (/^-?(0|[1-9]\d{0,20})(\.\d{1,10})?$/.test(text)) return text
  throw new CannotRender(`{${name}} is not a number`)
}

/** Signs a request. Returns the field that the signature is to be, unless it is a header. */
function sign(
  scheme: Sign,
  request: Pick<RenderedRequest, 'method' | 'url' | 'headers'>,
  query: readonly [string, string][],
  body: Body,
  { secrets, now, nonce }: Signing,
): [name: string, value: string] | undefined {
  const { headers, method, url } = request
  const timestamp = clockText(scheme.timestamp?.as ?? 'unix', now)
  if (scheme.timestamp?.header) headers[scheme.timestamp.header.toLowerCase()] = timestamp
  if (scheme.nonce?.header) headers[scheme.nonce.header.toLowerCase()] = nonce
  const { pathname, search } = new URL(url)
  const signed = {
    timestamp,
    nonce,
    method,
    path: pathname,
    query: search.slice(1),
    url,
    body: Buffer.from(body.text() ?? ''),
    header: (name: string) => headers[name.toLowerCase()],
  }
  const bytes = scheme.kind === 'sorted' ? undefined : bytesOver(scheme.over, signed)
  const signature =
    scheme.kind === 'sorted'
      ? sortedSignature(scheme, body.fields(query), secrets)
      : bytes && signatureOver(scheme, bytes, secrets)
  if (signature === undefined) {
    throw new CannotRender('a part that is to be signed is missing')
  }
  const put = fill(scheme.put.as ?? '{signature}', (name) =>
    new Map([
      ['signature', signature],
      ['timestamp', timestamp],
      ['nonce', nonce],
    ]).get(name),
  )
  if (scheme.put.field !== undefined) return [scheme.put.field, put ?? '']
  headers[(scheme.put.header ?? '').toLowerCase()] = headerValue(put ?? '')
  return undefined
}

/** A moment as a company writes it. */
export function clockText(as: 'unix' | 'unixMs' | 'iso', at: Date): string {
  if (as === 'iso') return at.toISOString()
  return String(as === 'unix' ? Math.floor(at.getTime() / 1000) : at.getTime())
}
