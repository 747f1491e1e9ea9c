import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { ConnectorDocument, NoticeAt, Sign, Verify } from './connector-document.ts'
import { type KeyOf, keyFault } from './signed-bytes.ts'

type Say = (at: string, says: string) => void

/** Made by the service itself. */
const ownHeaders = [
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'expect',
  'upgrade',
]

export function isOwnHeader(name: string): boolean {
  return ownHeaders.includes(name.toLowerCase())
}

/** What is wrong with keys, and with where signatures go and what they are over. */
export function signingFaults(document: ConnectorDocument, say: Say): void {
  const { auth, sign, notice } = document
  for (const { at, key, signs } of keysOf(document)) {
    if (key.decode !== undefined && !signs) say(`${at}/decode`, 'is for keys that sign')
  }
  if (auth?.kind === 'basic' && 'text' in auth.password) {
    if (auth.password.text !== '') say('/auth/password', 'is a secret, whose name stands here')
    if ('text' in auth.user) say('/auth/user', 'is a secret: there is no password')
  }
  const headers = {
    '/auth/header': auth?.kind === 'header' ? auth.header : undefined,
    '/sign/put/header': sign?.put.header,
    '/sign/timestamp/header': sign?.timestamp?.header,
    '/sign/nonce/header': sign?.nonce?.header,
  }
  for (const [at, name] of Object.entries(headers)) {
    if (name === undefined) continue
    if (isOwnHeader(name)) say(at, 'is made by the service')
    if (isIdempotency(name)) say(at, 'differs each time: a repetition would be another payment')
  }
  if (auth && sign?.put.header?.toLowerCase() === 'authorization' && auth.kind !== 'header') {
    say('/sign/put/header', 'is made of auth')
  }
  if (notice) verifyFaults(notice, say)
}

/** Whether a name is that of what tells repetitions of a request, such as Idempotency-Key. */
export function isIdempotency(name: string): boolean {
  return /idempot/i.test(name)
}

function verifyFaults(notice: NoticeAt, say: Say): void {
  const { verify } = notice
  if (verify.kind === 'token' || verify.kind === 'basic') return
  if (verify.timestamp && !isTimeSigned(verify, verify.timestamp.in)) {
    say('/notice/verify/timestamp', 'must be signed: over has to hold it')
  }
  if (verify.kind !== 'sorted') {
    const isInside = 'at' in verify.signature
    if (isInside) say('/notice/verify/signature', 'is in the body, which cannot be signed with it')
    return
  }
  const except = new Set(verify.except ?? [])
  const read = pointersRead(notice).map((pointer) => pointer.slice(1).split('/')[0] ?? '')
  for (const name of new Set(read)) {
    if (except.has(name)) say('/notice/verify/except', `"${name}" is read, and could be forged`)
  }
}

type Signed = Exclude<Verify, { kind: 'token' | 'basic' }>

/** A time that is not signed can be written anew for an old notice. */
function isTimeSigned(verify: Signed, where: { header: string } | { at: string }): boolean {
  if (verify.kind === 'sorted') {
    return 'at' in where && !(verify.except ?? []).includes(where.at.slice(1))
  }
  // Who signs with over signs the whole body.
  if ('at' in where) return true
  return verify.over.some(
    (part) =>
      part === 'timestamp' ||
      (typeof part === 'object' &&
        'header' in part &&
        part.header.toLowerCase() === where.header.toLowerCase()),
  )
}

/** Everything of a notice's body that is read: pointers from its outermost value, with 0 for the first of its events. */
export function pointersRead({ events, rules }: NoticeAt): string[] {
  const first = events === undefined ? '' : `${events}/0`
  const found = rules.flatMap((rule) => [...Object.keys(rule.if), ...pointersIn(rule.events)])
  return [...new Set(found)].map((pointer) => first + pointer)
}

function pointersIn(node: unknown): string[] {
  if (typeof node === 'string') return node.startsWith('/') ? [node] : []
  if (typeof node !== 'object' || node === null || 'text' in node) return []
  return Object.values(node).flatMap(pointersIn)
}

interface FoundKey {
  at: string
  key: KeyOf
  /** It is the key of a signature, not a word that is sent. */
  signs: boolean
  scheme: Sign | Verify | undefined
}

/** All keys of a document. */
export function keysOf({ auth, sign, notice }: ConnectorDocument): FoundKey[] {
  const found: FoundKey[] = []
  const walk = (at: string, node: unknown, scheme: Sign | Verify | undefined) => {
    if (typeof node !== 'object' || node === null) return
    if (isKey(node)) {
      const signs = scheme !== undefined && scheme.kind !== 'token' && scheme.kind !== 'basic'
      found.push({ at, key: node, signs, scheme })
    }
    for (const [name, each] of Object.entries(node)) walk(`${at}/${name}`, each, scheme)
  }
  walk('/auth', auth, undefined)
  walk('/sign', sign, sign)
  walk('/notice/verify', notice?.verify, notice?.verify)
  return found
}

function isKey(node: object): node is KeyOf {
  return 'secret' in node && typeof node.secret === 'string'
}

/** Why a text cannot be the secret of this name; undefined if it can. To be asked before a secret is used. */
export function secretFault(
  document: ConnectorDocument,
  name: string,
  text: string,
): string | undefined {
  for (const { at, key, scheme } of keysOf(document)) {
    if (key.secret !== name) continue
    const fault = keyFault(key, text) ?? pemFault(at, key, scheme, text)
    if (fault !== undefined) return fault
  }
  return undefined
}

function pemFault(
  at: string,
  { decode }: KeyOf,
  scheme: Sign | Verify | undefined,
  text: string,
): string | undefined {
  if (scheme?.kind !== 'rsa' && scheme?.kind !== 'ed25519') return undefined
  const pem = Buffer.from(text, decode ?? 'utf8').toString()
  try {
    const { asymmetricKeyType } = at.startsWith('/sign')
      ? createPrivateKey(pem)
      : createPublicKey(pem)
    return asymmetricKeyType === scheme.kind ? undefined : `is not a key of ${scheme.kind}`
  } catch {
    return 'is not a key in PEM'
  }
}
