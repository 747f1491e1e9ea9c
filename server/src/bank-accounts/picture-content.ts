import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'

/** As many as the screens of most phones have; a larger picture counts as its bytes are. */
const maxPixelBytes = 12 * 1024 * 1024
/** Orders are taken meanwhile: after so many bytes they have their turn. No screen's row is longer. */
const bytesAtOnce = 64 * 1024

/**
 * A digest of what a picture shows, without notes in it (EXIF, texts), bytes behind it and, for PNG, how it is
 * compressed: these change when it is saved again. A picture that cannot be read counts as its bytes are.
 */
export async function pictureContent(bytes: Buffer, type: string): Promise<string> {
  const parts = await contentOf(bytes, type).catch(() => undefined)
  const hash = createHash('sha256')
  for (const part of parts && parts.length > 0 ? parts : [bytes]) hash.update(part)
  return hash.digest('hex')
}

async function contentOf(bytes: Buffer, type: string): Promise<Buffer[] | undefined> {
  if (type === 'image/png') return pngContent(bytes)
  return type === 'image/jpeg' ? jpegContent(bytes) : webpContent(bytes)
}

/** Its header, its colours and its pixels. */
async function pngContent(bytes: Buffer): Promise<Buffer[] | undefined> {
  const chunks: [name: string, data: Buffer][] = []
  for (let at = 8; at + 12 <= bytes.length && chunks.at(-1)?.[0] !== 'IEND'; ) {
    const length = bytes.readUInt32BE(at)
    const data = bytes.subarray(at + 8, at + 8 + length)
    if (data.length < length) return undefined
    chunks.push([bytes.toString('latin1', at + 4, at + 8), data])
    at += 12 + length
  }
  const named = (...names: string[]) =>
    chunks.filter(([name]) => names.includes(name)).map(([, data]) => data)
  const [header] = named('IHDR')
  const packed = Buffer.concat(named('IDAT'))
  if (header?.length !== 13 || packed.length === 0) return undefined
  const pixels = await promisify<Buffer, object, Buffer>(inflate)(packed, {
    maxOutputLength: maxPixelBytes,
  })
  const shown = isInterlaced(header) ? pixels : await plain(pixels, header)
  return shown && [header, ...named('PLTE', 'tRNS'), shown]
}

function isInterlaced(header: Buffer): boolean {
  return header[12] !== 0
}

/** How many values a pixel has, by the colour type of a PNG. */
const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** The pixels, row by row, without the filters that a program chose for each row (RFC 2083, 6). */
async function plain(filtered: Buffer, header: Buffer): Promise<Buffer | undefined> {
  const bits = (channels[header[9] ?? 0] ?? 1) * (header[8] ?? 8)
  const step = Math.max(1, bits >> 3)
  const row = Math.ceil((header.readUInt32BE(0) * bits) / 8)
  if (row > bytesAtOnce) return undefined
  const rows = Math.floor(filtered.length / (row + 1))
  const rowsAtOnce = Math.ceil(bytesAtOnce / (row + 1))
  const pixels = Buffer.alloc(row * rows)
  for (let y = 0; y < rows; y++) {
    if (y % rowsAtOnce === 0) await setImmediate()
    const filter = filtered[y * (row + 1)] ?? 0
    for (let x = 0; x < row; x++) {
      const at = y * row + x
      const left = x < step ? 0 : (pixels[at - step] ?? 0)
      const up = y === 0 ? 0 : (pixels[at - row] ?? 0)
      const corner = x < step || y === 0 ? 0 : (pixels[at - row - step] ?? 0)
      pixels[at] = (filtered[y * (row + 1) + 1 + x] ?? 0) + guess(filter, left, up, corner)
    }
  }
  return pixels
}

function guess(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const near = left + up - corner
  const byLeft = Math.abs(near - left)
  const byUp = Math.abs(near - up)
  const byCorner = Math.abs(near - corner)
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}

/** Everything but notes, to where the picture ends. */
function jpegContent(bytes: Buffer): Buffer[] | undefined {
  const parts: Buffer[] = []
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xda) {
      const end = bytes.indexOf(Buffer.from([0xff, 0xd9]), at)
      return [...parts, bytes.subarray(at, end === -1 ? bytes.length : end)]
    }
    const next = at + 2 + bytes.readUInt16BE(at + 2)
    const isNote = (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe
    if (!isNote) parts.push(bytes.subarray(at, next))
    at = next
  }
  return undefined
}

/** The chunks that have pixels. */
function webpContent(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32LE(at + 4)
    const name = bytes.toString('latin1', at, at + 4)
    if (['VP8 ', 'VP8L', 'ALPH', 'ANMF'].includes(name))
      parts.push(bytes.subarray(at, at + 8 + length))
    at += 8 + length + (length % 2)
  }
  return parts
}
