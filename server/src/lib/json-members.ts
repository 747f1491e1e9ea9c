/**
 * What `JSON.parse` does not report: duplicate keys, and the exact text of a member. Expects text that
 * `JSON.parse` has accepted, and does not validate it again.
 */
export interface JsonMembers {
  /** The first key, at any depth, that appears twice in its object. */
  duplicateKey: string | undefined
  /** The text of each member of the outermost object, exactly as sent. */
  textOf: Map<string, string>
  /** How deeply objects and arrays are nested in each member: 0 for a plain value. */
  depthOf: Map<string, number>
}

export function jsonMembers(text: string): JsonMembers {
  const found: JsonMembers = { duplicateKey: undefined, textOf: new Map(), depthOf: new Map() }
  // One entry per open object or array; undefined for an array, which has no keys.
  const open: (Set<string> | undefined)[] = []
  let expectsKey = false
  let member: { key: string; start: number; deepest: number } | undefined

  const endMember = (end: number) => {
    if (!member) return
    found.textOf.set(member.key, text.slice(member.start, end).trim())
    found.depthOf.set(member.key, member.deepest)
    member = undefined
  }

  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        open.push(text[at] === '{' ? new Set() : undefined)
        expectsKey = text[at] === '{'
        if (member) member.deepest = Math.max(member.deepest, open.length - 1)
        break
      case '}':
      case ']':
        if (open.length === 1) endMember(at)
        open.pop()
        expectsKey = false
        break
      case ',':
        if (open.length === 1) endMember(at)
        expectsKey = open.at(-1) !== undefined
        break
      case '"': {
        const start = at
        at = closingQuote(text, at)
        const keys = open.at(-1)
        if (!expectsKey || !keys) break
        const key: string = JSON.parse(text.slice(start, at + 1))
        if (keys.has(key)) found.duplicateKey ??= key
        keys.add(key)
        expectsKey = false
        if (open.length === 1) {
          at = text.indexOf(':', at)
          member = { key, start: at + 1, deepest: 0 }
        }
        break
      }
    }
  }
  return found
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
