import { Command } from 'commander'
import {
  explainSignature,
  firstDifference,
  type SignatureExplanation,
  type SignedMessage,
} from '../lib/explain-signature.ts'
import { parseIsoTime } from '../lib/local-time.ts'
import { signCallback, signRequest } from '../lib/signature.ts'
import { byteDump, escapedText, hexOf } from './byte-text.ts'
import { parseHeaders, parseHttpMessage } from './http-message.ts'
import { note, print, printJson } from './output.ts'
import { readInput, readSecrets, type SecretOptions, withSecret } from './read-secret.ts'
import { UsageError } from './usage-error.ts'

interface SignOptions extends SecretOptions {
  callback?: boolean
  method?: string
  path?: string
  body?: string
  bodyFile?: string
  time?: string
  check?: boolean
  header?: string[]
  message?: string
  at?: string
  bytes?: boolean
  json?: boolean
}

export function signCommand(): Command {
  const sign = new Command('sign')
    .option('--check', 'check a signature that was made, and say what is wrong with it')
    .option('--callback', 'it is a callback; otherwise a request')
    .option('--method <method>', 'of the request (default: POST, or what --message says)')
    .option('--path <path>', 'of the request, with its query, as it is sent')
    .option('--body <text>', 'the body')
    .option('--body-file <file>', 'the body is in this file; - for stdin')
    .option('--time <seconds>', 'sign for this time, in unix seconds (default: now)')
    .option('--header <line...>', 'to check: a header, such as "x-signature: t=...,v1=..."')
    .option('--message <file>', 'to check: first line, headers, empty line and body; - for stdin')
    .option('--at <time>', 'to check: when it came, an ISO time (default: now)')
    .option('--bytes', 'show every byte of what is signed')
  return withSecret(sign)
    .option('--json', 'as JSON')
    .addHelpText('after', examples)
    .action(async (options: SignOptions) => {
      refuseStrange(options)
      const message = await readMessage(options)
      const secrets = await readSecrets(options)
      if (options.check) return check(message, secrets, options)
      makeSignature(message, secrets, options)
    })
}

const examples = `
The secret is asked for without showing it, unless one of its options names it.

  sluice sign --path /payment/deposit --body-file order.json
  sluice sign --check --message request.txt --secret-file secret.txt
  sluice sign --check --callback --body-file body.json --header "x-signature: t=...,v1=..."`

function refuseStrange({ check, header, message, at, time, ...options }: SignOptions): void {
  const toCheck = [header, message, at].some((each) => each !== undefined)
  if (!check && toCheck) throw new UsageError('--header, --message and --at go with --check')
  if (check && header === undefined && message === undefined) {
    throw new UsageError('--check needs the headers that came: --header or --message')
  }
  if (check && time !== undefined) throw new UsageError('--time is for signing, --at for checking')
  if (time !== undefined && !/^[1-9]\d{0,11}$/.test(time)) {
    throw new UsageError('--time must be unix seconds, such as 1767225600')
  }
  const bodies = [options.body, options.bodyFile, message].filter((each) => each !== undefined)
  if (bodies.length > 1)
    throw new UsageError('name the body once: --body, --body-file or --message')
  const stdin = [options.bodyFile, message, options.secretFile].filter((each) => each === '-')
  if (stdin.length > 1) throw new UsageError('only one thing can come from stdin')
  if (options.callback && (options.method ?? options.path) !== undefined) {
    throw new UsageError('a callback is signed without method and path')
  }
}

async function readMessage(options: SignOptions): Promise<SignedMessage> {
  const pasted =
    options.message === undefined ? undefined : parseHttpMessage(await readInput(options.message))
  const body =
    options.bodyFile !== undefined
      ? await readInput(options.bodyFile)
      : (pasted?.body ?? Buffer.from(options.body ?? ''))
  const headers = { ...pasted?.headers, ...parseHeaders(options.header ?? []) }
  if (options.callback) return { headers, body }
  const method = options.method ?? pasted?.request?.method ?? 'POST'
  const path = options.path ?? pasted?.request?.path
  if (path === undefined) throw new UsageError('--path is missing; for a callback say --callback')
  if (!path.startsWith('/')) {
    throw new UsageError('--path begins with a slash: it is signed without the host')
  }
  return { request: { method: method.toUpperCase(), path }, headers, body }
}

function makeSignature(
  { request, body }: SignedMessage,
  secrets: string[],
  { time, bytes, json }: SignOptions,
): void {
  for (const secret of secrets) {
    if (secret !== secret.trim()) note('The secret begins or ends with white space: is that right?')
  }
  const t = time ?? String(Math.floor(Date.now() / 1000))
  const signatures = secrets.map((secret) =>
    request
      ? signRequest(secret, t, request.method, request.path, body)
      : signCallback(secret, t, body),
  )
  const prefix = request ? `${t}.${request.method} ${request.path}.` : `${t}.`
  const signed = Buffer.concat([Buffer.from(prefix), body])
  const header = [`t=${t}`, ...signatures.map((v1) => `v1=${v1}`)].join(',')
  if (json) printJson({ signed: signed.toString(), signed_hex: signed.toString('hex'), header })
  else print(`${signedText(signed, bytes)}\nx-signature  ${header}`)
}

function check(message: SignedMessage, secrets: string[], options: SignOptions): void {
  const at = options.at === undefined ? new Date() : parseIsoTime(options.at)
  if (!at) throw new UsageError(`--at "${options.at}" is not a time such as 2026-01-31T08:00:00Z`)
  const explained = explainSignature(message, secrets, at)
  if (!explained.ok) process.exitCode = 1
  if (options.json) printJson(view(explained))
  else print(explanationText(explained, options.bytes))
}

function signedText(signed: Buffer, everyByte = false): string {
  const text = `signed       ${escapedText(signed)}\n             ${signed.length} bytes`
  return everyByte ? `${text}\n${byteDump(signed)}` : text
}

function explanationText(explained: SignatureExplanation, everyByte?: boolean): string {
  const { ok, signed, expected, got, causes } = explained
  const lines = [
    signedText(signed, everyByte),
    `expected     ${expected}`,
    `got          ${got ?? '-'}`,
  ]
  if (ok) return [...lines, '', 'The signature holds.'].join('\n')
  const reasons = causes.map(({ code, message }) => `- ${message} (${code})`)
  return [
    ...lines,
    '',
    'The signature does not hold.',
    ...reasons,
    ...differenceLines(explained),
  ].join('\n')
}

function differenceLines({ signed, signedInstead }: SignatureExplanation): string[] {
  const difference = signedInstead && firstDifference(signed, signedInstead)
  if (!difference) return []
  const shown = (bytes: Buffer) =>
    bytes.length === 0 ? '(its end)' : `${hexOf(bytes).padEnd(47)}  ${escapedText(bytes)}`
  return [
    '',
    `What was signed instead has ${signedInstead.length} bytes and differs from byte ${difference.at} on:`,
    `  expected   ${shown(difference.one)}`,
    `  got        ${shown(difference.other)}`,
  ]
}

function view({ ok, signed, expected, got, causes, signedInstead }: SignatureExplanation) {
  const difference = signedInstead && firstDifference(signed, signedInstead)
  return {
    ok,
    signed: signed.toString(),
    signed_hex: signed.toString('hex'),
    expected,
    got: got ?? null,
    causes,
    signed_instead: signedInstead?.toString() ?? null,
    first_difference: difference?.at ?? null,
  }
}
