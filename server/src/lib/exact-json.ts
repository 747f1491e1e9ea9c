import { Exact } from './json-text.ts'

/** JSON whose numbers are the text that was written, and whose objects cannot have a member twice. */
export type ExactJson =
  | string
  | boolean
  | null
  | Exact
  | readonly ExactJson[]
  | ReadonlyMap<string, ExactJson>

const maxDepth = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })

class NotJson extends Error {}

/**
 * Reads JSON from the outside world. Undefined if it is not JSON from the first byte to the last, is not UTF-8, has a
 * member twice or is nested too deeply: readers differ in what they make of it.
 */
export function parseExactJson(bytes: Buffer): ExactJson | undefined {
  try {
    return new Reader(utf8.decode(bytes)).whole()
  } catch (error) {
    if (error instanceof NotJson || error instanceof TypeError) return undefined
    throw error
  }
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const space = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y

class Reader {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  whole(): ExactJson {
    const value = this.value(0)
    if (this.at !== this.text.length) throw new NotJson()
    return value
  }

  private value(depth: number): ExactJson {
    if (depth > maxDepth) throw new NotJson()
    this.take(space)
    const value = this.bare(depth)
    this.take(space)
    return value
  }

  private bare(depth: number): ExactJson {
    switch (this.text[this.at]) {
      case '{':
        return this.object(depth)
      case '[':
        return this.list(depth)
      case '"':
        return this.string()
      case 't':
        return this.word('true', true)
      case 'f':
        return this.word('false', false)
      case 'n':
        return this.word('null', null)
      default:
        return new Exact(this.take(number) || this.fail())
    }
  }

  private object(depth: number): ExactJson {
    const members = new Map<string, ExactJson>()
    this.at++
    this.take(space)
    if (this.text[this.at] === '}') return this.past(members)
    for (;;) {
      this.take(space)
      const name = this.string()
      if (members.has(name)) this.fail()
      this.take(space)
      if (this.text[this.at++] !== ':') this.fail()
      members.set(name, this.value(depth + 1))
      const next = this.text[this.at++]
      if (next === '}') return members
      if (next !== ',') this.fail()
    }
  }

  private list(depth: number): ExactJson {
    const items: ExactJson[] = []
    this.at++
    this.take(space)
    if (this.text[this.at] === ']') return this.past(items)
    for (;;) {
      items.push(this.value(depth + 1))
      const next = this.text[this.at++]
      if (next === ']') return items
      if (next !== ',') this.fail()
    }
  }

  private past<T>(value: T): T {
    this.at++
    return value
  }

  private string(): string {
    return JSON.parse(this.take(string) || this.fail())
  }

  private word<T>(text: string, value: T): T {
    if (!this.text.startsWith(text, this.at)) this.fail()
    this.at += text.length
    return value
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found = ''] = pattern.exec(this.text) ?? []
    this.at += found.length
    return found
  }

  private fail(): never {
    throw new NotJson()
  }
}

/** The value at a JSON Pointer; undefined if there is none. */
export function valueAt(json: ExactJson | undefined, pointer: string): ExactJson | undefined {
  let value = json
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (value instanceof Map) value = value.get(name)
    else if (Array.isArray(value))
      value = /^(0|[1-9]\d{0,3})$/.test(name) ? value[Number(name)] : undefined
    else return undefined
  }
  return value
}
