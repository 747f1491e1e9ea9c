import {
  clockToleranceS,
  matchesAny,
  parseSignatureHeader,
  signCallback,
  signRequest,
} from '../lib/signature.ts'

/** What was sent, and its header x-signature. */
export interface SignedThing {
  kind: 'request' | 'callback'
  method: string
  path: string
  body: string
  signature: string
}

export interface Verdict {
  matches: boolean
  says: string
  signedText: string
  got: string[]
  /** Only how they begin: whoever could read them whole could sign with them. */
  expected: string[]
  ageS: number | null
}

const shownDigits = 8

/** Looks for what is wrong with a signature: tries the mistakes that are made most. */
export function explainSignature(
  thing: SignedThing,
  secrets: readonly string[],
  publicPath: string,
  now: Date,
): Verdict {
  const header = parseSignatureHeader(thing.signature)
  const t = header?.t ?? 't'
  const got = header?.signatures ?? []
  const expected = secrets.map((secret) => sign(thing, secret, t).slice(0, shownDigits))
  const ageS = header ? Math.floor(now.getTime() / 1000) - Number(header.t) : null
  const base = { signedText: signedText(thing, t), got, expected, ageS }
  if (!header) {
    const says = 'The header must be t=<unix seconds>,v1=<64 small hex digits>, without spaces.'
    return { ...base, matches: false, says }
  }
  const isRight = (other: SignedThing, secret: string, time = header.t) =>
    matchesAny(sign(other, secret, time), got)
  if (secrets.some((secret) => isRight(thing, secret))) {
    const isStale = Math.abs(ageS ?? 0) > clockToleranceS
    const says = isStale
      ? `The signature is right, but t is more than ${clockToleranceS} seconds off: look at the clock, and sign each request anew.`
      : 'The signature is right.'
    return { ...base, matches: true, says }
  }
  const mistake = mistakesOf(thing, publicPath).find(({ made }) =>
    secrets.some((secret) => isRight({ ...thing, ...made }, secret)),
  )
  const says =
    mistake?.says ??
    'No mistake that is often made explains it. Compare the text that is signed byte by byte, and whether the secret is this agent’s and live.'
  return { ...base, matches: false, says }
}

/** What is signed instead of the right text, and what to do about it. */
function mistakesOf(
  { method, path, body }: SignedThing,
  publicPath: string,
): { made: Partial<SignedThing>; says: string }[] {
  const [bare = path] = path.split('?')
  const mistakes: { made: Partial<SignedThing>; says: string }[] = [
    { made: { method: method.toLowerCase() }, says: 'The method was signed in small letters.' },
    { made: { path: bare }, says: 'The path was signed without its query.' },
    { made: { path: `${bare}/` }, says: 'The path was signed with a slash at its end.' },
    { made: { path: publicPath + path }, says: `The path to send begins with ${publicPath}.` },
    {
      made: { body: body.trimEnd() },
      says: 'The body has white space at its end that was not signed.',
    },
    { made: { body: `${body}\n` }, says: 'A line break after the body was signed, but not sent.' },
    { made: { body: '' }, says: 'The body was not signed.' },
    { made: { kind: 'callback' }, says: 'Method and path were not signed: a request needs them.' },
    { made: { kind: 'request' }, says: 'A callback is signed without method and path.' },
  ]
  if (publicPath !== '' && path.startsWith(publicPath)) {
    const made = { path: path.slice(publicPath.length) }
    mistakes.push({ made, says: `The path was signed without ${publicPath}.` })
  }
  try {
    const value: unknown = JSON.parse(body)
    const says = 'Other bytes were signed than sent: sign the very text that is sent.'
    for (const indent of [undefined, 2, 4]) {
      mistakes.push({ made: { body: JSON.stringify(value, null, indent) }, says })
    }
  } catch {
    // Not JSON: then it was not written anew either.
  }
  return mistakes
}

function sign(thing: SignedThing, secret: string, t: string): string {
  return thing.kind === 'callback'
    ? signCallback(secret, t, thing.body)
    : signRequest(secret, t, thing.method, thing.path, thing.body)
}

function signedText({ kind, method, path, body }: SignedThing, t: string): string {
  return kind === 'callback' ? `${t}.${body}` : `${t}.${method} ${path}.${body}`
}
