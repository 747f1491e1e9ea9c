import { SaxesParser } from 'saxes'
import { peek, textOf } from './file-bytes.ts'
import { shown } from './reading.ts'
import { BankFileFault, maxTextLength } from './statement.ts'

/** An element of the file; its name without the prefix. */
export interface XmlElement {
  name: string
  line: number
  text: string
  attributes: Record<string, string> | null
  children: XmlElement[]
}

/** Takes a document element by element, so that no more than one entry of it is in memory. */
export interface XmlHandler {
  /** An element outside of collected ones opens. True collects it and all that is in it. */
  opens: (name: string, namespace: string, line: number) => boolean
  /** A collected element is complete. */
  collected: (element: XmlElement) => void
  /** Elements of this name inside a collected one are handed over by themselves, not as its children. */
  detached: string
  takeDetached: (element: XmlElement) => void
  /** An element that was not collected closes. */
  closes: (name: string) => void
}

const maxDepth = 64
const maxAttributes = 64
/** More than any entry has, apart from its single payments. */
const maxElementsAtOnce = 20_000

/**
 * Reads XML strictly: what is cut off, unclosed or followed by anything else is refused, and so are document
 * type declarations and whatever would make the parser slow.
 */
export async function readXml(
  bytes: AsyncGenerator<Uint8Array>,
  encoding: string | null,
  handler: XmlHandler,
): Promise<void> {
  const { head, chunks } = await peek(bytes, 512)
  const guard = guardedParser(handler)
  for await (const text of textOf(chunks, encoding ?? declaredEncoding(head))) guard.write(text)
  guard.close()
}

function declaredEncoding(head: Uint8Array): string {
  const start = Buffer.from(head).toString('latin1')
  const [, encoding] = /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"']{1,40})["']/.exec(start) ?? []
  if (encoding === undefined) return 'utf-8'
  if (/^(utf-?16|ucs-?2|iso-10646)/i.test(encoding)) {
    throw new BankFileFault(1, `The file says that it is in ${encoding}, but it is not.`)
  }
  return encoding
}

function guardedParser(handler: XmlHandler) {
  const parser = new SaxesParser({ xmlns: true })
  let lastEvent = 0
  let depth = 0
  let attributes = 0
  const collecting: XmlElement[] = []
  let elements = 0
  let isClosing = false

  const fault = (sentence: string) => new BankFileFault(parser.line, sentence)
  const addText = (text: string) => {
    lastEvent = parser.position
    if (text.length > maxTextLength) {
      throw fault(`A text is longer than ${maxTextLength} characters.`)
    }
    const element = collecting.at(-1)
    if (!element) return
    element.text += text
    if (element.text.length > maxTextLength) {
      throw fault(`A text is longer than ${maxTextLength} characters.`)
    }
  }

  parser.on('error', (error) => {
    const why = error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')
    throw fault(
      isClosing
        ? `The file ends too early, as if it were cut off (${why}).`
        : `This is no well-formed XML (${shown(why)}).`,
    )
  })
  parser.on('doctype', () => {
    throw fault('The file has a document type declaration (DOCTYPE), which bank files never have.')
  })
  parser.on('opentagstart', () => {
    lastEvent = parser.position
    attributes = 0
    depth++
    if (depth > maxDepth) throw fault(`Elements are nested more than ${maxDepth} deep.`)
  })
  parser.on('attribute', () => {
    attributes++
    if (attributes > maxAttributes) {
      throw fault(`An element has more than ${maxAttributes} attributes.`)
    }
  })
  parser.on('opentag', (tag) => {
    if (collecting.length === 0 && !handler.opens(tag.local, tag.uri, parser.line)) return
    elements++
    if (elements > maxElementsAtOnce) {
      throw fault(`One entry has more than ${maxElementsAtOnce} elements.`)
    }
    collecting.push({
      name: tag.local,
      line: parser.line,
      text: '',
      attributes: attributes === 0 ? null : plainAttributes(tag.attributes),
      children: [],
    })
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('comment', () => {
    lastEvent = parser.position
  })
  parser.on('closetag', (tag) => {
    lastEvent = parser.position
    depth--
    const element = collecting.pop()
    const parent = collecting.at(-1)
    if (!element) handler.closes(tag.local)
    else if (!parent) {
      elements = 0
      handler.collected(element)
    } else if (element.name === handler.detached) {
      elements -= sizeOf(element)
      handler.takeDetached(element)
    } else parent.children.push(element)
  })

  return {
    write: (text: string) => {
      parser.write(text)
      if (parser.position - lastEvent > 2 * maxTextLength) {
        throw fault(`A text is longer than ${maxTextLength} characters.`)
      }
    },
    close: () => {
      isClosing = true
      parser.close()
    },
  }
}

function plainAttributes(attributes: Record<string, { local: string; value: string }>) {
  return Object.fromEntries(
    Object.values(attributes).map((attribute) => [attribute.local, attribute.value]),
  )
}

function sizeOf(element: XmlElement): number {
  return element.children.reduce((sum, child) => sum + sizeOf(child), 1)
}

/** The first element at a path below this one. */
export function elementAt(
  element: XmlElement | undefined,
  ...path: string[]
): XmlElement | undefined {
  let found = element
  for (const name of path) found = found?.children.find((child) => child.name === name)
  return found
}

/** All elements at a path below this one. */
export function elementsAt(element: XmlElement | undefined, ...path: string[]): XmlElement[] {
  let found = element ? [element] : []
  for (const name of path) {
    found = found.flatMap((one) => one.children.filter((child) => child.name === name))
  }
  return found
}

/** The text at the first of these paths that has one. */
export function textAt(element: XmlElement | undefined, ...paths: string[]): string | null {
  if (!element) return null
  for (const path of paths) {
    const text = elementAt(element, ...namesIn(path))?.text.trim()
    if (text) return text
  }
  return null
}

/** Paths are literals of the readers, so there are few of them, asked for again and again. */
const namesByPath = new Map<string, string[]>()

function namesIn(path: string): string[] {
  const known = namesByPath.get(path)
  if (known) return known
  const names = path.split('/')
  namesByPath.set(path, names)
  return names
}
