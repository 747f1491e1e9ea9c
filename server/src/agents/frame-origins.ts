/** Must be the only entry of an agent's list: every origin may show its payment page in a frame. */
export const anyOrigin = 'any'

/** The message for live mode, where nothing is allowed by default. */
export const frameOriginMissing =
  'say who may show the payment page in a frame: origins such as https://shop.example, "any" or "none"'

/** The stored list: `none` on its own becomes an empty list. */
export function readFrameOrigins(said: readonly string[]): string[] {
  const named = said.filter((origin) => origin !== '')
  return named.length === 1 && named[0] === 'none' ? [] : named
}

/** Describes what is wrong with a list, one message per entry. */
export function frameOriginFaults(origins: readonly string[]): string[] {
  return origins.flatMap((origin) => {
    if (origin === anyOrigin || origin === 'none') {
      return origins.length === 1 ? [] : [`${origin} stands alone, without any other origin`]
    }
    return isOrigin(origin) ? [] : [`"${origin}" is not an origin such as https://shop.example`]
  })
}

/** Whether a page of this origin may frame the payment page and receive its messages. */
export function mayFrame(origins: readonly string[], origin: string): boolean {
  return isOrigin(origin) && (origins.includes(anyOrigin) || origins.includes(origin))
}

function isOrigin(text: string): boolean {
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
  )
}
