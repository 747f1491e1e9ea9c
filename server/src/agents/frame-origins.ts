/** Stands alone in an agent's list: every origin may show its payment page in a frame. */
export const anyOrigin = 'any'

/** What is to be said in live, where nothing is allowed unasked. */
export const frameOriginMissing =
  'say who may show the payment page in a frame: origins such as https://shop.example, "any" or "none"'

/** The list that is kept: `none`, alone, is nobody. */
export function readFrameOrigins(said: readonly string[]): string[] {
  const named = said.filter((origin) => origin !== '')
  return named.length === 1 && named[0] === 'none' ? [] : named
}

/** What is wrong with a list, one message for each part of it. */
export function frameOriginFaults(origins: readonly string[]): string[] {
  return origins.flatMap((origin) => {
    if (origin === anyOrigin || origin === 'none') {
      return origins.length === 1 ? [] : [`${origin} stands alone, without any other origin`]
    }
    return isOrigin(origin) ? [] : [`"${origin}" is not an origin such as https://shop.example`]
  })
}

/** Whether a page of this origin may show the payment page, and hear of it. */
export function mayFrame(origins: readonly string[], origin: string): boolean {
  return isOrigin(origin) && (origins.includes(anyOrigin) || origins.includes(origin))
}

function isOrigin(text: string): boolean {
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text
  )
}
