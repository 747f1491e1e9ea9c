/**
 * What `JSON.parse` does not tell: whether a key stands twice in one object, and the very text of a
 * member. Expects text that `JSON.parse` has accepted, so it only has to find its way, not to judge.
 */
export interface JsonMembers {
  /** The first key, at any depth, that stands twice in its object. */
  duplicateKey: string | undefined
  /** The text of each member of the outermost object, as it was sent. */
  textOf: Map<string, string>
  /** How deep objects and arrays are nested below each member: 0 for a plain value. */
  depthOf: Map<string, number>
}

export function jsonMembers(text: string): JsonMembers {
  const found: JsonMembers = { duplicateKey: undefined, textOf: new Map(), depthOf: new Map() }
  // One entry per open object or array; arrays have no keys to remember.
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
