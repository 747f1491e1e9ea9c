/** A request cannot be made of a document and an order; nothing was sent. */
export class CannotRender extends Error {}

/** The values of placeholders. Null: it has none, such as an extra parameter that was not sent. */
export type Values = (name: string) => string | null | undefined

const piece = /\{([A-Za-z0-9_.]+)\}/g

/** The names of all placeholders of a text; undefined if it has braces that are none. */
export function placeholdersIn(text: string): string[] | undefined {
  if (/[{}]/.test(text.replace(piece, ''))) return undefined
  return [...text.matchAll(piece)].map(([, name = '']) => name)
}

/**
 * Puts values into a text. Null if it is one placeholder without a value. A value is never read again, so a payee's
 * name cannot hold a placeholder.
 */
export function fill(text: string, values: Values): string | null {
  const [only, ...more] = text.matchAll(piece)
  if (only && more.length === 0 && only[0] === text) return knownValue(only[1] ?? '', values)
  return text.replace(piece, (_whole, name: string) => {
    const value = knownValue(name, values)
    if (value === null) throw new CannotRender(`{${name}} has no value`)
    return value
  })
}

function knownValue(name: string, values: Values): string | null {
  const value = values(name)
  if (value === undefined) throw new CannotRender(`{${name}} has no value`)
  return value
}
