import * as client from 'openid-client'
import { Problem } from '../lib/problem.ts'
import type { Role } from './operator.ts'

/** The roles that an issuer can give; users of an agent's portal are never among them. */
export const ssoRoles = ['admin', 'operator', 'viewer'] as const satisfies Role[]

export type SsoRole = (typeof ssoRoles)[number]

/** Where people of the house sign in, and what its words mean here. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** The claim of the ID token that lists what a person is. */
  roleClaim: string
  /** What each value of the claim is here. */
  roles: ReadonlyMap<string, SsoRole>
  /** Values of acr or amr that count as a second factor; empty: none does. */
  secondFactor: readonly string[]
  /** An issuer on this machine may do without TLS, in the sandbox. */
  isInsecure: boolean
  /** Whether an address counts that the issuer says nothing about, not only one that it says it has verified. */
  assumesVerified: boolean
}

/** Whom the issuer has named. */
export interface Identity {
  issuer: string
  subject: string
  /** Undefined if the issuer gives none, or says that it has not verified it. */
  email: string | undefined
  /** Undefined if the claim has no value that is a role here. */
  role: SsoRole | undefined
  usedSecondFactor: boolean
}

/** What binds an answer of the issuer to the browser that asked. */
export interface Bound {
  state: string
  nonce: string
  verifier: string
}

const timeoutS = 10
const mostBytes = 512 * 1024
/** How long what the issuer says about itself is believed. */
const discoveredForMs = 3_600_000

/** The issuer: where to send a browser, and who came back. */
export class OidcIssuer {
  readonly settings: OidcSettings
  private readonly warn: (message: string) => void
  private discovered: { at: number; config: Promise<client.Configuration> } | undefined

  constructor(settings: OidcSettings, warn: (message: string) => void) {
    this.settings = settings
    this.warn = warn
  }

  /** The issuer's page that a browser goes to. */
  async signInPage(redirectUri: string, { state, nonce, verifier }: Bound): Promise<string> {
    const config = await this.configuration()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.settings.isInsecure)) {
      throw this.unavailable('its sign-in page is not at https')
    }
    return url.href
  }

  /** Whom the issuer named in its answer. It checks signature, issuer, audience, times, state and nonce. */
  async identityOf(redirectUri: string, query: string, bound: Bound): Promise<Identity> {
    const config = await this.configuration()
    const url = new URL(redirectUri)
    url.search = query
    try {
      const tokens = await client.authorizationCodeGrant(config, url, {
        expectedState: bound.state,
        expectedNonce: bound.nonce,
        pkceCodeVerifier: bound.verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (!claims) throw new Error('there is no ID token')
      if (claims.sub.length > 255) throw new Error('the subject is too long')
      return identityIn(claims, this.settings)
    } catch (error) {
      const problem = problemWithin(error)
      if (problem) throw problem
      this.warn(`sign-in at the issuer was refused: ${wordsOf(error)}`)
      throw new Problem('sso_refused', 'The answer of the issuer is not valid: begin again.', {
        cause: error,
      })
    }
  }

  private async configuration(): Promise<client.Configuration> {
    const now = Date.now()
    if (!this.discovered || now - this.discovered.at > discoveredForMs) {
      this.discovered = { at: now, config: this.discover() }
    }
    const { config } = this.discovered
    try {
      return await config
    } catch (error) {
      if (this.discovered?.config === config) this.discovered = undefined
      throw problemWithin(error) ?? this.unavailable(wordsOf(error))
    }
  }

  private async discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret, isInsecure } = this.settings
    const config = await client.discovery(
      new URL(issuer),
      clientId,
      undefined,
      (server, ...rest) => {
        const isPost =
          server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true
        const authenticate = isPost ? client.ClientSecretPost : client.ClientSecretBasic
        authenticate(clientSecret)(server, ...rest)
      },
      {
        timeout: timeoutS,
        [client.customFetch]: (url, options) => this.fetchBounded(url, options),
        // Otherwise TLS alone would vouch for an ID token, and its signature would not be looked at.
        execute: [
          client.enableNonRepudiationChecks,
          ...(isInsecure ? [client.allowInsecureRequests] : []),
        ],
      },
    )
    config[client.customFetch] = (url, options) => this.fetchBounded(url, options)
    config.timeout = timeoutS
    return config
  }

  private async fetchBounded(
    url: string,
    { method, headers, body, signal, redirect }: client.CustomFetchOptions,
  ): Promise<Response> {
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect,
        ...(body !== undefined && body !== null && { body: String(body) }),
        ...(signal && { signal }),
      })
      const chunks: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length
        if (bytes > mostBytes) throw new Error(`it answers with more than ${mostBytes} bytes`)
        chunks.push(chunk)
      }
      const { status } = response
      return new Response(bytes === 0 ? null : Buffer.concat(chunks), {
        status,
        headers: response.headers,
      })
    } catch (error) {
      throw this.unavailable(wordsOf(error))
    }
  }

  private unavailable(why: string): Problem {
    this.warn(`the issuer ${this.settings.issuer} cannot be used: ${why}`)
    return new Problem(
      'sso_unavailable',
      'The issuer does not answer as it should. Try again, or sign in with a password if you have one here.',
    )
  }
}

function identityIn(
  claims: Record<string, unknown> & { iss: string; sub: string },
  { roleClaim, roles, secondFactor, assumesVerified }: OidcSettings,
): Identity {
  const has = texts(claims[roleClaim]).map((each) => roles.get(each))
  const used = [...texts(claims.acr), ...texts(claims.amr)]
  const said = claims.email_verified
  const isVerified = String(said) === 'true' || (said === undefined && assumesVerified)
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: isVerified && typeof claims.email === 'string' ? claims.email : undefined,
    // Where several are given, the one that may do most.
    role: ssoRoles.find((role) => has.includes(role)),
    usedSecondFactor: used.some((each) => secondFactor.includes(each)),
  }
}

function texts(claim: unknown): string[] {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((each) => typeof each === 'string')
}

function problemWithin(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error
  return error instanceof Error && error.cause !== undefined
    ? problemWithin(error.cause)
    : undefined
}

/** For the log: what an ID token holds about a person stays out of it. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed'
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  return `${error.message}${code}`
}
