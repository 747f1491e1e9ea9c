import { anyOrigin, mayFrame } from './frame-origins.ts'

const mostLetters = 2_000

interface Allows {
  returnUrl: string | null
  frameOrigins: readonly string[]
}

/** A link of the web that hides nothing: http or https, without a user's name in front of the host. */
export function isReturnUrl(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > mostLetters || !/^https?:\/\//.test(text))
    return false
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/**
 * Where the payer of an order goes back to: the order's own `extraParams.returnUrl` if it leads to an origin that the
 * agent has named, else the agent's address. Anybody who can create an order could otherwise send payers anywhere, from
 * a page that they trust.
 */
export function returnUrlOf(
  { extraParams }: { extraParams: string | null },
  agent: Allows,
  mode: 'sandbox' | 'live',
): string | undefined {
  const isFit = (url: unknown): url is string =>
    isReturnUrl(url) && (mode === 'sandbox' || url.startsWith('https://'))
  const asked = askedIn(extraParams)
  if (isFit(asked) && isNamed(new URL(asked).origin, agent, mode)) return new URL(asked).href
  return isFit(agent.returnUrl) ? new URL(agent.returnUrl).href : undefined
}

function isNamed(origin: string, { returnUrl, frameOrigins }: Allows, mode: string): boolean {
  if (isReturnUrl(returnUrl) && new URL(returnUrl).origin === origin) return true
  // Who may show a page in a frame is another question than whom payers are sent to.
  if (frameOrigins.includes(anyOrigin) && mode === 'live') return false
  return mayFrame(frameOrigins, origin)
}

function askedIn(extraParams: string | null): unknown {
  if (extraParams === null) return undefined
  try {
    return Object(JSON.parse(extraParams)).returnUrl
  } catch {
    return undefined
  }
}
