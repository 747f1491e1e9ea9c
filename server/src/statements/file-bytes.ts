import { isAscii } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import { BankFileFault, maxFileBytes, maxTextLength } from './statement.ts'

export type FileBytes = AsyncIterable<Uint8Array> | Uint8Array

const chunkBytes = 64 * 1024

/**
 * The bytes in chunks of at most 64 KiB. Between chunks every other task gets its turn, so a large file
 * does not hold up requests.
 */
export async function* chunksOf(bytes: FileBytes): AsyncGenerator<Uint8Array> {
  if (bytes instanceof Uint8Array && bytes.length > maxFileBytes) throw tooLarge()
  let total = 0
  let sinceTurn = 0
  for await (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
    for (let at = 0; at < part.length; at += chunkBytes) {
      const chunk = part.subarray(at, at + chunkBytes)
      total += chunk.length
      if (total > maxFileBytes) throw tooLarge()
      yield chunk
      sinceTurn += chunk.length
      if (sinceTurn >= chunkBytes) {
        sinceTurn = 0
        await nextTurn()
      }
    }
  }
}

export function tooLarge() {
  return new BankFileFault(1, `The file is larger than ${maxFileBytes / 1024 / 1024} MiB.`)
}

/** The start of a file and the whole of it: enough bytes to tell the format, without reading them twice. */
export async function peek(
  chunks: AsyncGenerator<Uint8Array>,
  wanted: number,
): Promise<{ head: Uint8Array; chunks: AsyncGenerator<Uint8Array> }> {
  const taken: Uint8Array[] = []
  for (let length = 0; length < wanted; ) {
    const next = await chunks.next()
    if (next.done) break
    taken.push(next.value)
    length += next.value.length
  }
  async function* whole() {
    yield* taken
    yield* chunks
  }
  return { head: Buffer.concat(taken).subarray(0, wanted), chunks: whole() }
}

/**
 * Takes away a byte order mark. UTF-16 becomes UTF-8, so that all readers work on bytes in which ASCII
 * characters stand for themselves. `encoding` is what the mark says, null if there is none.
 */
export async function withoutMark(
  chunks: AsyncGenerator<Uint8Array>,
): Promise<{ encoding: 'utf-8' | null; chunks: AsyncGenerator<Uint8Array> }> {
  const { head, chunks: whole } = await peek(chunks, 3)
  const [first, second, third] = head
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return { encoding: 'utf-8', chunks: after(whole, 3) }
  }
  if (first === 0xff && second === 0xfe) {
    return { encoding: 'utf-8', chunks: utf8Of(after(whole, 2), 'utf-16le') }
  }
  if (first === 0xfe && second === 0xff) {
    return { encoding: 'utf-8', chunks: utf8Of(after(whole, 2), 'utf-16be') }
  }
  return { encoding: null, chunks: whole }
}

async function* after(chunks: AsyncGenerator<Uint8Array>, skipped: number) {
  let left = skipped
  for await (const chunk of chunks) {
    const taken = Math.min(left, chunk.length)
    left -= taken
    if (taken < chunk.length) yield chunk.subarray(taken)
  }
}

async function* utf8Of(chunks: AsyncGenerator<Uint8Array>, encoding: string) {
  for await (const text of textOf(chunks, encoding)) yield Buffer.from(text)
}

/** The text of the file; the whole file is refused if any byte is no text in this encoding. */
export async function* textOf(
  chunks: AsyncGenerator<Uint8Array>,
  encoding: string,
): AsyncGenerator<string> {
  const decode = decoderOf(encoding)
  let line = 1
  for await (const chunk of chunks) {
    const text = decode(chunk, true)
    if (text === undefined) throw wrongEncoding(lineOfFault(chunk, line, encoding), encoding)
    line += countOf(text, '\n')
    yield text
  }
  if (decode(new Uint8Array(), false) === undefined) throw wrongEncoding(line, encoding)
}

function lineOfFault(chunk: Uint8Array, firstLine: number, encoding: string): number {
  const decode = decoderOf(encoding)
  let line = firstLine
  for (let at = 0; at < chunk.length; line++) {
    const end = chunk.indexOf(lineFeed, at)
    const stop = end === -1 ? chunk.length : end + 1
    if (decode(chunk.subarray(at, stop), true) === undefined) break
    at = stop
  }
  return line
}

const lineFeed = 0x0a

export function wrongEncoding(line: number, encoding: string) {
  return new BankFileFault(
    line,
    `Some bytes are no text in ${encoding}: the file has another encoding.`,
  )
}

type Decode = (bytes: Uint8Array, more: boolean) => string | undefined

function decoderOf(encoding: string): Decode {
  const page = codePages[encoding.toLowerCase()]
  if (page) return (bytes) => textInPage(bytes, page)
  const decoder = textDecoder(encoding)
  return (bytes, more) => {
    try {
      return decoder.decode(bytes, { stream: more })
    } catch {
      return undefined
    }
  }
}

function textDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding, { fatal: true })
  } catch {
    throw new BankFileFault(1, `The encoding ${encoding.slice(0, 40)} is not known.`)
  }
}

/** Whether `textOf` and `piecesOf` can read this encoding. */
export function isEncoding(encoding: string): boolean {
  if (codePages[encoding.toLowerCase()]) return true
  try {
    new TextDecoder(encoding, { fatal: true })
    return true
  } catch {
    return false
  }
}

/** Code pages of DOS, in which German banks still write MT940 and which TextDecoder does not know: 128 to 255. */
const codePages: Record<string, string | undefined> = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
}

function textInPage(bytes: Uint8Array, page: string): string {
  let text = ''
  for (const byte of bytes) text += byte < 128 ? String.fromCharCode(byte) : page[byte - 128]
  return text
}

/** A part of the file between two separators. */
export interface Piece {
  text: string
  /** The line on which it starts. */
  line: number
  /** Whether a separator follows: the last piece of a file that was cut off has none. */
  ended: boolean
}

/**
 * Splits a file at a separator, chunk by chunk. Without an encoding each piece is read as UTF-8 if it is
 * that, else as Windows-1252: banks declare one and write the other, and mix both in one file.
 */
export async function* piecesOf(
  chunks: AsyncGenerator<Uint8Array>,
  separator: '\n' | '<',
  encoding: string | null,
): AsyncGenerator<Piece[]> {
  const code = separator.charCodeAt(0)
  const decode = encoding === null ? eitherText : decoderOf(encoding)
  let line = 1
  let count = 0
  let rest: Uint8Array = new Uint8Array()
  const piece = (text: string | undefined, ended: boolean): Piece => {
    if (text === undefined || text.includes('\0')) throw wrongEncoding(line, encoding ?? 'UTF-8')
    if (text.length > maxTextLength) throw tooLong(line)
    count++
    if (count > maxPieces)
      throw new BankFileFault(line, `The file has more than ${maxPieces} parts.`)
    const startsOn = line
    line += separator === '\n' ? Number(ended) : countOf(text, '\n')
    return { text, line: startsOn, ended }
  }
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(code) + 1
    const whole = bytes.subarray(0, end)
    rest = bytes.subarray(end)
    if (rest.length > maxTextLength) throw tooLong(line)
    const pieces: Piece[] = []
    // Most of a file is plain ASCII, which every encoding here has in common.
    if (isAscii(whole)) {
      for (const text of Buffer.from(whole).toString('latin1').split(separator).slice(0, -1)) {
        pieces.push(piece(text, true))
      }
    } else {
      for (let start = 0, next = 0; start < end; start = next + 1) {
        next = whole.indexOf(code, start)
        pieces.push(piece(decode(whole.subarray(start, next), false), true))
      }
    }
    yield pieces
  }
  yield [piece(decode(rest, false), false)]
}

/** More than the largest number of entries takes. */
const maxPieces = 5_000_000

function tooLong(line: number) {
  return new BankFileFault(line, `A text is longer than ${maxTextLength} characters.`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const windows1252 = new TextDecoder('windows-1252')

function eitherText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return windows1252.decode(bytes)
  }
}

function countOf(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count++
  return count
}
