import { execSync, type StdioOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { type CallbackTargets, urlFault } from './agents/callback-url.ts'
import type { AlertSettings } from './alerts/alert-senders.ts'
import { byTransaction, oneAddress } from './db/hosts.ts'
import { isTimeZone } from './lib/local-time.ts'
import type { TraceSettings } from './lib/tracing.ts'
import { type OidcSettings, ssoRoles } from './operators/oidc-issuer.ts'

/** Every setting, read from the environment once and validated. Nothing else reads the environment. */
export interface Config {
  host: string
  port: number
  /** The address that agents and payers see, without a trailing slash; undefined until PORT 0 is bound. */
  publicUrl: string | undefined
  databaseUrl: string | undefined
  databaseOwnerUrl: string | undefined
  /** The server itself, where DATABASE_URL leads to a pooler that gives each transaction another session. */
  databaseDirectUrl: string | undefined
  dataDir: string
  /** Nobody said where the data is: it is in the folder that the program was started in. */
  isDefaultDataDir: boolean
  mode: 'sandbox' | 'live'
  role: 'all' | 'api' | 'worker'
  /** The current key first; empty if one has to be generated. */
  secretKeys: Buffer[]
  timeZone: string
  trustedProxies: string[]
  /** The addresses that the console is open to; empty: every address. */
  consoleAddresses: string[]
  /** The same for the users of agents; where nothing is said, those of the console. */
  portalAddresses: string[]
  /** Where callbacks may go. */
  callbackTargets: CallbackTargets
  metricsToken: string | undefined
  /** Whom to tell about a weakness, and by which rules. */
  securityContact: { contact: string; policy: string | undefined } | undefined
  logLevel: string
  /** Whether the command line may act alone in live, with --break-glass. */
  breakGlass: boolean
  /** How many callbacks of one agent may be in flight at once. */
  callbacksPerAgent: number
  /** How many days attempts to deliver callbacks are kept. */
  attemptsKeptDays: number
  /** How many days the raw notices of providers are kept. */
  noticesKeptDays: number
  /** The most commands in one transaction of the teller. */
  tellerBatch: number
  /** How people are told outside of the console; undefined: not by this channel. */
  alerts: AlertSettings
  /** Where people of the house may sign in to the console; undefined: only here. */
  oidc: OidcSettings | undefined
  /** Where the ways of orders are shown; undefined: nowhere. */
  traces: TraceSettings | undefined
  /** Where the ends of the chains are written, and how often. */
  heads: {
    everyMinutes: number
    file: string | undefined
    log: boolean
    webhook: { url: string; secret: string } | undefined
  }
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** The settings, or a list of everything that is wrong with them. */
export function readConfig(
  env: Record<string, string | undefined> = process.env,
): { config: Config } | { faults: string[] } {
  const faults: string[] = []
  const text = (name: string) => (env[name] === '' ? undefined : env[name])

  const number = (name: string, byDefault: number, min: number, max: number) => {
    const value = text(name)
    if (value === undefined) return byDefault
    if (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) {
      return Number(value)
    }
    faults.push(`${name} must be a whole number from ${min} to ${max}, not "${value}"`)
    return byDefault
  }
  const oneOf = <T extends string>(name: string, byDefault: T, choices: readonly T[]): T => {
    const value = text(name)
    const choice = choices.find((each) => each === value)
    if (value !== undefined && choice === undefined) {
      faults.push(`${name} must be one of ${choices.join(', ')}, not "${value}"`)
    }
    return choice ?? byDefault
  }
  const postgresUrl = (name: string) => {
    const value = text(name)
    const address = value === undefined ? undefined : oneAddress(value)
    if (value !== undefined && address === undefined) {
      faults.push(
        `${name} must be a URL such as postgres://user:password@host:5432/database, or with several hosts: one:5432,two:5432`,
      )
    }
    return address ?? value
  }
  const key = (name: string, value = text(name)) => {
    if (value === undefined) return []
    const bytes = Buffer.from(value, 'base64')
    if (/^[A-Za-z0-9+/]{43}=$/.test(value) && bytes.length === 32) return [bytes]
    faults.push(`${name} must be 32 bytes in base64; make one with: openssl rand -base64 32`)
    return []
  }

  const mode = oneOf('MODE', 'sandbox', ['sandbox', 'live'])
  const role = oneOf('ROLE', 'all', ['all', 'api', 'worker'])
  const port = number('PORT', 8080, 0, 65_535)
  const givenUrl = postgresUrl('DATABASE_URL')
  const databaseOwnerUrl = postgresUrl('DATABASE_OWNER_URL')
  const databaseDirectUrl = postgresUrl('DATABASE_DIRECT_URL')
  const isPooled = oneOf('DATABASE_POOLER', 'none', ['none', 'transaction']) === 'transaction'
  const isUsable = isPooled && givenUrl !== undefined && URL.canParse(givenUrl)
  const databaseUrl = isUsable ? byTransaction(givenUrl) : givenUrl
  const keyText = keyGiven(text, faults)
  const secretKey = key('SECRET_KEY', keyText)
  const previousKey = key('SECRET_KEY_PREVIOUS')
  const timeZone = text('TIME_ZONE') ?? 'UTC'
  const publicUrl = text('PUBLIC_URL') ?? (port === 0 ? undefined : `http://localhost:${port}`)
  const ranges = (name: string) => {
    const given = (text(name) ?? '').split(/[\s,]+/).filter((part) => part !== '')
    for (const range of given) {
      if (!ipaddr.isValid(range) && !ipaddr.isValidCIDR(range)) {
        faults.push(`${name}: "${range}" is not an address or a CIDR range`)
      }
    }
    return given
  }
  const trustedProxies = ranges('TRUSTED_PROXIES')
  const consoleAddresses = ranges('CONSOLE_ADDRESSES')
  const hasPortal = text('PORTAL_ADDRESSES') !== undefined
  const portalAddresses = hasPortal ? ranges('PORTAL_ADDRESSES') : consoleAddresses

  if (publicUrl !== undefined && !isPublicUrl(publicUrl)) {
    faults.push('PUBLIC_URL must be an http or https URL without login, query or fragment')
  }
  if (role !== 'all' && databaseUrl === undefined) {
    faults.push(`ROLE=${role} needs DATABASE_URL: the embedded database serves one process`)
  }
  if (databaseOwnerUrl !== undefined && databaseUrl === undefined) {
    faults.push('DATABASE_OWNER_URL needs DATABASE_URL, the login the service itself uses')
  }
  if (isPooled && (databaseUrl === undefined || databaseDirectUrl === undefined)) {
    faults.push(
      'DATABASE_POOLER=transaction needs DATABASE_URL, which names the pooler, and DATABASE_DIRECT_URL, which names the server itself: wake-ups need a session of their own',
    )
  }
  if (databaseDirectUrl !== undefined && !isPooled) {
    faults.push('DATABASE_DIRECT_URL is for DATABASE_POOLER=transaction: set both or none')
  }
  if (previousKey.length > 0 && keyText === undefined) {
    faults.push('SECRET_KEY_PREVIOUS needs SECRET_KEY')
  }
  if (mode === 'live' && keyText === undefined) {
    faults.push(
      'SECRET_KEY must be set in live mode; make one with: openssl rand -base64 32, and keep it safe: without it no agent can sign',
    )
  }
  if (!isTimeZone(timeZone)) {
    faults.push(`TIME_ZONE must be a zone such as UTC or Asia/Bangkok, not "${timeZone}"`)
  }

  const host = text('HOST') ?? '127.0.0.1'
  const privateCallbacks = oneOf('CALLBACK_PRIVATE_ADDRESSES', 'local', ['local', 'allow'])
  if (mode === 'live' && privateCallbacks === 'allow') {
    faults.push('CALLBACK_PRIVATE_ADDRESSES=allow is for the sandbox only')
  }
  // Whoever reaches a sandbox can make it send requests, so only its own machine may have it send them inwards.
  const isLocal =
    isLoopback(host) &&
    (publicUrl === undefined ||
      (URL.canParse(publicUrl) && isLoopback(new URL(publicUrl).hostname))) &&
    trustedProxies.length === 0
  const sandboxTargets = isLocal || privateCallbacks === 'allow' ? 'near' : 'public'

  const [contact, policy] = [text('SECURITY_CONTACT'), text('SECURITY_POLICY')]
  if (contact !== undefined && !/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(contact)) {
    faults.push('SECURITY_CONTACT must be such as mailto:security@example.com or an https URL')
  }
  if (policy !== undefined && !/^https:\/\/\S+$/.test(policy)) {
    faults.push('SECURITY_POLICY must be an https URL')
  }

  const callbackTargets = mode === 'live' ? 'secure' : sandboxTargets
  const headsFile = text('HEADS_FILE')
  const [headsUrl, headsSecret] = [text('HEADS_WEBHOOK'), text('HEADS_WEBHOOK_SECRET')]
  const headsFault = headsUrl === undefined ? undefined : urlFault(headsUrl, callbackTargets)
  if (headsFault !== undefined) faults.push(`HEADS_WEBHOOK ${headsFault}`)
  if (headsUrl !== undefined && (headsSecret ?? '').length < 32) {
    faults.push('HEADS_WEBHOOK needs HEADS_WEBHOOK_SECRET, of at least 32 characters')
  }

  const alerts = alertSettings(text, faults)

  const config: Config = {
    host,
    port,
    publicUrl: publicUrl?.replace(/\/+$/, ''),
    databaseUrl,
    databaseOwnerUrl,
    databaseDirectUrl,
    dataDir: resolve(text('DATA_DIR') ?? './data'),
    isDefaultDataDir: text('DATA_DIR') === undefined,
    mode,
    role,
    secretKeys: [...secretKey, ...previousKey],
    timeZone,
    trustedProxies,
    consoleAddresses,
    portalAddresses,
    callbackTargets,
    metricsToken: text('METRICS_TOKEN'),
    securityContact: contact === undefined ? undefined : { contact, policy },
    logLevel: oneOf('LOG_LEVEL', 'info', logLevels),
    breakGlass: oneOf('BREAK_GLASS', 'on', ['on', 'off']) === 'on',
    callbacksPerAgent: number('CALLBACKS_PER_AGENT', 64, 1, 1_000),
    attemptsKeptDays: number('CALLBACK_ATTEMPTS_DAYS', 90, 1, 36_500),
    noticesKeptDays: number('NOTICES_KEPT_DAYS', 400, 31, 36_500),
    tellerBatch: number('TELLER_BATCH', 500, 1, 2_000),
    alerts,
    oidc: oidcSettings(text, mode, faults),
    traces: traceSettings(text, faults),
    heads: {
      everyMinutes: number('HEADS_MINUTES', 60, 1, 10_080),
      file: headsFile === undefined ? undefined : resolve(headsFile),
      log: oneOf('HEADS_LOG', 'off', ['on', 'off']) === 'on',
      webhook:
        headsUrl !== undefined && headsSecret !== undefined
          ? { url: headsUrl, secret: headsSecret }
          : undefined,
    },
  }
  return faults.length > 0 ? { faults } : { config }
}

/** Mail, Telegram and LINE, each if it is set up. */
function alertSettings(
  text: (name: string) => string | undefined,
  faults: string[],
): AlertSettings {
  const [mailUrl, from] = [text('SMTP_URL'), text('MAIL_FROM')]
  const isMail = mailUrl !== undefined && URL.canParse(mailUrl) && /^smtps?:/.test(mailUrl)
  if (mailUrl !== undefined && !isMail) {
    faults.push('SMTP_URL must be such as smtps://user:password@mail.example.com')
  }
  if (mailUrl !== undefined && !/^[^@\s<>]+@[^@\s<>]+$/.test(from ?? '')) {
    faults.push('SMTP_URL needs MAIL_FROM, an address such as sluice@example.com')
  }
  const service = (name: string, token: string | undefined, byDefault: string) => {
    const url = text(name) ?? byDefault
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      faults.push(`${name} must be an http or https URL`)
    }
    return token === undefined ? undefined : { url: url.replace(/\/+$/, ''), token }
  }
  return {
    mail: isMail && from !== undefined ? { url: mailUrl, from } : undefined,
    telegram: service('TELEGRAM_URL', text('TELEGRAM_BOT_TOKEN'), 'https://api.telegram.org'),
    line: service('LINE_URL', text('LINE_CHANNEL_TOKEN'), 'https://api.line.me'),
  }
}

/** The collector of traces, by the names that OpenTelemetry gives to these settings. */
function traceSettings(
  text: (name: string) => string | undefined,
  faults: string[],
): TraceSettings | undefined {
  const endpoint = text('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (endpoint === undefined) return undefined
  if (!isPublicUrl(endpoint)) {
    faults.push(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, such as http://host:4318',
    )
  }
  const protocol = text('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/json'
  if (protocol !== 'http/json') {
    faults.push('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, which collectors take at port 4318')
  }
  const share = text('OTEL_TRACES_SAMPLER_ARG') ?? '1'
  if (!/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(share)) {
    faults.push('OTEL_TRACES_SAMPLER_ARG must be a share of traces from 0 to 1, such as 0.05')
  }
  const withinMs = text('OTEL_EXPORTER_OTLP_TIMEOUT') ?? '5000'
  if (!/^[1-9]\d{2,5}$/.test(withinMs)) {
    faults.push('OTEL_EXPORTER_OTLP_TIMEOUT must be milliseconds from 100 to 999999, such as 5000')
  }
  const headers: Record<string, string> = {}
  for (const part of (text('OTEL_EXPORTER_OTLP_HEADERS') ?? '').split(',')) {
    if (part.trim() === '') continue
    const [, name, value] =
      /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e]+)\s*$/.exec(part) ?? []
    if (name === undefined || value === undefined) {
      faults.push('OTEL_EXPORTER_OTLP_HEADERS must be such as name=value,other=value')
      break
    }
    headers[name] = decoded(value)
  }
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers,
    serviceName: text('OTEL_SERVICE_NAME') ?? 'sluice',
    ratio: Number(share),
    withinMs: Number(withinMs),
  }
}

/** Values of these headers may be percent-encoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** The issuer that people of the house sign in at, if there is one. */
function oidcSettings(
  text: (name: string) => string | undefined,
  mode: Config['mode'],
  faults: string[],
): OidcSettings | undefined {
  const issuer = text('OIDC_ISSUER')
  const [clientId, clientSecret] = [text('OIDC_CLIENT_ID'), text('OIDC_CLIENT_SECRET')]
  const given = text('OIDC_ROLES')
  if (issuer === undefined) {
    if (clientId !== undefined || clientSecret !== undefined || given !== undefined) {
      faults.push('OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_ROLES need OIDC_ISSUER')
    }
    return undefined
  }
  const url = isPublicUrl(issuer) ? new URL(issuer) : undefined
  const isInsecure = mode === 'sandbox' && url?.protocol === 'http:' && isLoopback(url.hostname)
  if (url === undefined || (url.protocol !== 'https:' && !isInsecure)) {
    faults.push('OIDC_ISSUER must be an https URL; in the sandbox, http on this machine will do')
  }
  if (clientId === undefined || clientSecret === undefined || given === undefined) {
    faults.push('OIDC_ISSUER needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and OIDC_ROLES')
    return undefined
  }
  const roles = new Map<string, (typeof ssoRoles)[number]>()
  for (const part of given.split(',')) {
    const at = part.lastIndexOf('=')
    const [value, name] = [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()]
    const role = ssoRoles.find((each) => each === name)
    if (value === '' || role === undefined || roles.has(value)) {
      faults.push(
        `OIDC_ROLES must be such as sluice-admins=admin,sluice-ops=operator, each once, with the roles ${ssoRoles.join(', ')}`,
      )
      break
    }
    roles.set(value, role)
  }
  const secondFactor = (text('OIDC_SECOND_FACTOR') ?? '').split(',').map((each) => each.trim())
  const verified = text('OIDC_EMAIL_VERIFIED') ?? (mode === 'live' ? 'required' : 'assumed')
  if (verified !== 'required' && verified !== 'assumed') {
    faults.push('OIDC_EMAIL_VERIFIED must be required or assumed')
  }
  return {
    issuer,
    clientId,
    clientSecret,
    roleClaim: text('OIDC_ROLE_CLAIM') ?? 'groups',
    roles,
    secondFactor: secondFactor.filter((each) => each !== ''),
    isInsecure,
    assumesVerified: verified === 'assumed',
  }
}

/** The key itself, or what a file or a command says it is: such a command asks a key service. */
function keyGiven(
  text: (name: string) => string | undefined,
  faults: string[],
): string | undefined {
  const sources = ['SECRET_KEY', 'SECRET_KEY_FILE', 'SECRET_KEY_COMMAND']
  const given = sources.filter((name) => text(name) !== undefined)
  if (given.length > 1) faults.push(`${given.join(' and ')}: set one of them`)
  const [file, command] = [text('SECRET_KEY_FILE'), text('SECRET_KEY_COMMAND')]
  try {
    if (file !== undefined) return readFileSync(file, 'utf8').trim()
    if (command !== undefined) {
      const stdio: StdioOptions = ['ignore', 'pipe', 'inherit']
      return execSync(command, { encoding: 'utf8', timeout: 30_000, stdio }).trim()
    }
  } catch (error) {
    const fault = error instanceof Error && 'code' in error ? String(error.code) : 'it failed'
    faults.push(
      file === undefined
        ? 'SECRET_KEY_COMMAND did not end well within 30 s'
        : `SECRET_KEY_FILE cannot be read: ${fault}`,
    )
    // Anything but nothing: what is missing is not a key.
    return Buffer.alloc(32).toString('base64')
  }
  return text('SECRET_KEY')
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '')
  return (
    name === 'localhost' || (ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback')
  )
}

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  const extras = url.username + url.password + url.search + url.hash
  return /^https?:$/.test(url.protocol) && extras === ''
}
