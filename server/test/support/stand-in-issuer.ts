import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { neverIdle } from './receiver.ts'

type Claims = Record<string, unknown>

/** An issuer of OpenID Connect on this machine, for one client. The test says who is at its page. */
export interface StandInIssuer {
  url: string
  clientId: string
  clientSecret: string
  /** What somebody gets at the page that the browser was sent to: the query it comes back with. */
  signInAt(page: string, claims: Claims, faults?: Faults): string
  close(): Promise<void>
}

/** What the issuer does wrong. */
export interface Faults {
  /** Claims as they should not be. */
  claims?: Claims
  /** Signs with a key that is not published. */
  otherKey?: boolean
  /** Answers with so many bytes in the place of tokens. */
  bytes?: number
}

const keys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

export async function standInIssuer(): Promise<StandInIssuer> {
  const [own, other] = [keys(), keys()]
  const [clientId, clientSecret] = ['sluice', 'a secret of the client']
  const codes = new Map<string, { challenge: string; claims: Claims; faults: Faults }>()
  let url = ''

  const tokenFor = (claims: Claims, faults: Faults) => {
    const nowS = Math.floor(Date.now() / 1000)
    const payload = { iss: url, aud: clientId, iat: nowS, exp: nowS + 300, ...claims }
    const encoded = [
      { alg: 'RS256', kid: 'k1' },
      { ...payload, ...faults.claims },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const { privateKey } = faults.otherKey ? other : own
    return `${encoded}.${sign('sha256', Buffer.from(encoded), privateKey).toString('base64url')}`
  }

  const exchange = async (request: IncomingMessage): Promise<[number, object | string]> => {
    const form = new URLSearchParams(await bodyOf(request))
    const login = Buffer.from((request.headers.authorization ?? '').slice(6), 'base64').toString()
    const [id, secret] = login
      .split(':')
      .map((part) => decodeURIComponent(part.replace(/\+/g, ' ')))
    if (id !== clientId || secret !== clientSecret) return [401, { error: 'invalid_client' }]
    const code = form.get('code') ?? ''
    const given = codes.get(code)
    codes.delete(code)
    const verifier = form.get('code_verifier')
    const challenge = createHash('sha256')
      .update(verifier ?? '')
      .digest('base64url')
    if (!given || verifier === null || challenge !== given.challenge) {
      return [400, { error: 'invalid_grant' }]
    }
    if (given.faults.bytes !== undefined) return [200, 'x'.repeat(given.faults.bytes)]
    const idToken = tokenFor(given.claims, given.faults)
    return [200, { access_token: 'none', token_type: 'Bearer', id_token: idToken }]
  }

  const server = createServer(neverIdle, async (request, response) => {
    const answer = async (): Promise<[number, object | string]> => {
      if (request.url === '/.well-known/openid-configuration') {
        return [
          200,
          {
            issuer: url,
            authorization_endpoint: `${url}/page`,
            token_endpoint: `${url}/token`,
            jwks_uri: `${url}/keys`,
            response_types_supported: ['code'],
            id_token_signing_alg_values_supported: ['RS256'],
          },
        ]
      }
      if (request.url === '/keys') {
        const key = own.publicKey.export({ format: 'jwk' })
        return [200, { keys: [{ ...key, kid: 'k1', use: 'sig', alg: 'RS256' }] }]
      }
      return request.url === '/token' ? exchange(request) : [404, {}]
    }
    const [status, body] = await answer()
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    clientId,
    clientSecret,
    signInAt(page, claims, faults = {}) {
      const { searchParams: asked } = new URL(page)
      const code = randomBytes(16).toString('base64url')
      const challenge =
        asked.get('code_challenge_method') === 'S256' ? (asked.get('code_challenge') ?? '') : ''
      const nonce = asked.get('nonce')
      codes.set(code, { challenge, claims: { nonce, ...claims }, faults })
      return String(new URLSearchParams({ code, state: asked.get('state') ?? '' }))
    },
    close: () => new Promise((done) => server.close(() => done())),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
