import { createHash } from 'node:crypto'
import { parseExactJson, valueAt } from '../../lib/exact-json.ts'
import { Exact } from '../../lib/json-text.ts'
import { type CompanyClient, CompanySilent } from './company-client.ts'
import type { Auth } from './connector-document.ts'
import { keyBytes, keyOrText, type Secrets } from './signed-bytes.ts'

type Oauth = Auth & { kind: 'oauth' }

/** A token is not used any more this long before it ends. */
const marginMs = 60_000
const shortestMs = 30_000
/** How long a token may take. It is got for everybody who waits, so nobody's own limit ends it. */
const fetchLimitMs = 10_000

/** Gets access tokens with a client's credentials, and keeps each until shortly before it ends. */
export class AccessTokens {
  private readonly client: Pick<CompanyClient, 'send'>
  private readonly kept = new Map<string, { token: Promise<string>; untilMs: number }>()

  constructor(client: Pick<CompanyClient, 'send'>) {
    this.client = client
  }

  /** Throws CompanySilent if there is none by the time the signal says. */
  async get(auth: Oauth, secrets: Secrets, signal: AbortSignal): Promise<string> {
    const key = keyOf(auth, secrets)
    const known = this.kept.get(key)
    if (known && performance.now() < known.untilMs) return unlessLate(known.token, signal)
    const entry = { token: Promise.resolve(''), untilMs: Number.POSITIVE_INFINITY }
    entry.token = this.fetch(auth, secrets, AbortSignal.timeout(fetchLimitMs)).then(
      ({ token, forMs }) => {
        entry.untilMs = performance.now() + Math.max(shortestMs, forMs - marginMs)
        return token
      },
      (error) => {
        if (this.kept.get(key) === entry) this.kept.delete(key)
        throw error
      },
    )
    this.kept.set(key, entry)
    return unlessLate(entry.token, signal)
  }

  /** The company refused a token: the next call gets another. */
  forget(auth: Oauth, secrets: Secrets): void {
    this.kept.delete(keyOf(auth, secrets))
  }

  private async fetch(
    auth: Oauth,
    secrets: Secrets,
    signal: AbortSignal,
  ): Promise<{ token: string; forMs: number }> {
    const id = keyOrText(auth.clientId, secrets)
    const secret = keyBytes(auth.clientSecret, secrets).toString()
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    if (auth.scope !== undefined) form.set('scope', auth.scope)
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
    if (auth.credentials === 'form') {
      form.set('client_id', id)
      form.set('client_secret', secret)
    } else {
      headers.authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    }
    const asked = { method: 'POST', url: auth.tokenUrl, headers, body: form.toString() } as const
    const { status, body } = await this.client.send(asked, signal)
    const json = parseExactJson(body)
    const token = valueAt(json, '/access_token')
    const isToken = typeof token === 'string' && /^[\x21-\x7e]{1,4000}$/.test(token)
    if (status !== 200 || !isToken) {
      throw new CompanySilent(`gave no access token: it answered ${status}`)
    }
    const lasts = valueAt(json, '/expires_in')
    const text = lasts instanceof Exact ? lasts.text : lasts
    const forS = typeof text === 'string' && /^\d{1,8}$/.test(text) ? Number(text) : 300
    return { token, forMs: forS * 1_000 }
  }
}

function unlessLate(token: Promise<string>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new CompanySilent('gave no access token in time'))
    if (signal.aborted) late()
    signal.addEventListener('abort', late, { once: true })
    token.then(resolve, reject).finally(() => signal.removeEventListener('abort', late))
  })
}

/** Another secret, another token. */
function keyOf({ tokenUrl, clientId, clientSecret, scope }: Oauth, secrets: Secrets): string {
  const parts = [tokenUrl, keyOrText(clientId, secrets), keyOrText(clientSecret, secrets), scope]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
