import { crc32 } from 'node:zlib'
import { type Patch, type QrCode, qrCode } from './qr-code.ts'

/**
 * A QR code as a PNG with one bit per pixel, quickly: 15 µs for a PromptPay code, where pixels and a general deflate took
 * 210 in the same minute. A module is 8 pixels wide and high, so that it is a byte of a line, and each line is there eight
 * times. That is written as deflate without looking for it: white takes one bit, black two, seven lines two or three
 * matches, by codes that are made once for each size. It has a tenth more bytes than zlib needed for 6 pixels a module, and
 * they are the same whatever zlib the machine has.
 *
 * What this writes must never change: see qr-encoders.ts.
 */
const scale = 8
const quietZone = 4
const white = 0xff

export function qrDataUrl(text: string): string {
  return `data:image/png;base64,${write(qrCode(text)).toString('base64')}`
}

export function qrPng(text: string): Buffer {
  return Buffer.from(write(qrCode(text)))
}

/** The largest code takes some 20 KB, and with a cross over it twice as much. Used by one picture at a time. */
const out = Buffer.alloc(262_144)

function write(code: QrCode): Buffer {
  const { head, pending, pendingBits, side, copies, codes, codeBits } = frameOf(code.size)
  const lineBytes = 1 + side
  const { lines, times } = linesOf(code, side)
  head.copy(out)
  let at = head.length
  let bits = pending
  let count = pendingBits
  // The checksum of all pixels (Adler-32).
  let [sum, sums] = [1, 0]
  for (let line = 0, from = 0; line < times.length; line++, from += lineBytes) {
    let [own, weighted] = [0, 0]
    for (let x = 0; x < lineBytes; x++) {
      const byte = lines[from + x] as number
      own += byte
      weighted += byte * (lineBytes - x)
      bits |= (codes[byte] as number) << count
      count += codeBits[byte] as number
      if (count >= 16) {
        out[at++] = bits & 0xff
        out[at++] = (bits >> 8) & 0xff
        bits >>>= 16
        count -= 16
      }
    }
    const repeats = times[line] as number
    const earlier = (repeats * (repeats - 1)) / 2
    sums = (sums + repeats * (lineBytes * sum + weighted) + earlier * lineBytes * own) % 65_521
    sum = (sum + repeats * own) % 65_521
    if (repeats === 1) continue
    for (let copy = 0; copy < copies.length; copy += 2) {
      bits |= (copies[copy] as number) << count
      count += copies[copy + 1] as number
      if (count >= 16) {
        out[at++] = bits & 0xff
        out[at++] = (bits >> 8) & 0xff
        bits >>>= 16
        count -= 16
      }
    }
  }
  bits |= (codes[endOfBlock] as number) << count
  count += codeBits[endOfBlock] as number
  for (; count > 0; count -= 8, bits >>>= 8) out[at++] = bits & 0xff
  at = out.writeUInt16BE(sums, at)
  at = out.writeUInt16BE(sum, at)
  out.writeUInt32BE(at - dataStart, dataStart - 8)
  at = out.writeUInt32BE(crc32(out.subarray(dataStart - 4, at)), at)
  at += end.copy(out, at)
  return out.subarray(0, at)
}

/** The lines of pixels and how often each is there: 8 times, or once where a patch crosses it. */
function linesOf(
  { size, modules, patches }: QrCode,
  side: number,
): { lines: Uint8Array; times: number[] } {
  const lineBytes = 1 + side
  const plain = new Uint8Array(lineBytes * side).fill(white)
  // The first byte of a line is its filter: 0, none.
  for (let y = 0; y < side; y++) plain[y * lineBytes] = 0
  for (let y = 0, from = 0; y < size; y++) {
    const to = (y + quietZone) * lineBytes + 1 + quietZone
    for (let x = 0; x < size; x++, from++) plain[to + x] = (modules[from] as number) - 1
  }
  if (patches.length === 0) return { lines: plain, times: Array(side).fill(scale) }
  const lines: Uint8Array[] = []
  const times: number[] = []
  for (let y = 0; y < side; y++) {
    const line = plain.subarray(y * lineBytes, (y + 1) * lineBytes)
    const crossing = patches.filter((patch) => touches(patch, y))
    for (let row = y * scale; row < (y + 1) * scale; row++) {
      const covered = line.slice()
      for (const patch of crossing) cover(covered, patch, row)
      lines.push(covered)
      times.push(crossing.length === 0 ? scale : 1)
      if (crossing.length === 0) break
    }
  }
  return { lines: Buffer.concat(lines), times }
}

const pixel = (module: number) => Math.round((module + quietZone) * scale)

function touches({ y, height }: Patch, moduleRow: number): boolean {
  return pixel(y) < (moduleRow + 1) * scale && pixel(y + height) > moduleRow * scale
}

/** Draws a patch over a line of pixels. */
function cover(line: Uint8Array, { x, y, width, height, isDark }: Patch, row: number): void {
  if (row < pixel(y) || row >= pixel(y + height)) return
  for (let column = pixel(x); column < pixel(x + width); column++) {
    const at = 1 + (column >> 3)
    const bit = 0x80 >> (column & 7)
    line[at] = isDark ? (line[at] as number) & ~bit : (line[at] as number) | bit
  }
}

/** All that pictures of codes of one size have in common. */
interface Frame {
  /** The width and height, in modules. */
  side: number
  /** Everything up to the first line, but for the bits that do not fill a byte. */
  head: Buffer
  pending: number
  pendingBits: number
  /** The matches that repeat a line seven times: bits and how many they are, by turns. */
  copies: number[]
  /** For each literal, and for the end, its bits and how many they are. */
  codes: Uint16Array
  codeBits: Uint8Array
}

const frames = new Map<number, Frame>()

function frameOf(size: number): Frame {
  const known = frames.get(size)
  if (known) return known
  const frame = makeFrame(size)
  frames.set(size, frame)
  return frame
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const end = chunk('IEND', Buffer.alloc(0))
/** Signature, header, and length and type of the data. */
const dataStart = 8 + 25 + 8
const endOfBlock = 256
const longestMatch = 258

function makeFrame(size: number): Frame {
  const side = size + 2 * quietZone
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side * scale, 0)
  header.writeUInt32BE(side * scale, 4)
  header.writeUInt8(1, 8)
  const lineBytes = 1 + side
  const lengths = matchesOf((scale - 1) * lineBytes).map(lengthCode)
  const distance = distanceCode(lineBytes)
  const codeBits = literalBits(new Set(lengths.map(({ symbol }) => symbol)))
  const codes = canonical(codeBits)
  const bits = new BitWriter()
  // The last block, with codes of its own.
  bits.put(0b101, 3)
  // All lengths of matches, distances up to the one there is, and 18 lengths of the codes for all of these.
  bits.put(286 - 257, 5)
  bits.put(distance.symbol, 5)
  bits.put(18 - 4, 4)
  for (const symbol of [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]) {
    bits.put(bitsOfLength[symbol] ?? 0, 3)
  }
  const distances = Array.from({ length: distance.symbol + 1 }, (_, at) =>
    Number(at === distance.symbol),
  )
  writeLengths(bits, [...codeBits, ...distances])
  return {
    side,
    head: Buffer.concat([
      signature,
      chunk('IHDR', header),
      Buffer.from('\0\0\0\0IDAT'),
      // A window of 32 KB, no dictionary.
      Buffer.from([0x78, 0x01]),
      Buffer.from(bits.bytes),
    ]),
    pending: bits.pending,
    pendingBits: bits.pendingBits,
    copies: lengths.flatMap(({ symbol, extra, extraBits }) => [
      ...[codes[symbol] as number, codeBits[symbol] as number],
      ...[extra, extraBits],
      // The only distance has the code 0, and its extra bits after it.
      ...[distance.extra << 1, 1 + distance.extraBits],
    ]),
    codes,
    codeBits,
  }
}

/** White takes one bit, black two, lengths of matches five; what only a cross has shares what is left. */
function literalBits(lengthSymbols: Set<number>): Uint8Array {
  const codeBits = new Uint8Array(286)
  codeBits[white] = 1
  codeBits[0] = 2
  for (const symbol of lengthSymbols) codeBits[symbol] = 5
  // 255 others, in codes of 10 and 11 bits, so that every sequence of bits means something.
  const left = 512 - lengthSymbols.size * 64
  let short = left - 255
  for (let symbol = 1; symbol <= endOfBlock; symbol++) {
    if (symbol !== white) codeBits[symbol] = short-- > 0 ? 10 : 11
  }
  return codeBits
}

/** The codes for given lengths by RFC 1951, reversed: they are written from their highest bit on. */
function canonical(codeBits: ArrayLike<number>): Uint16Array {
  const codes = new Uint16Array(codeBits.length)
  let next = 0
  for (let bits = 1; bits <= 15; bits++, next <<= 1) {
    for (let symbol = 0; symbol < codeBits.length; symbol++) {
      if (codeBits[symbol] !== bits) continue
      for (let at = 0; at < bits; at++) {
        codes[symbol] = (codes[symbol] as number) | (((next >> at) & 1) << (bits - 1 - at))
      }
      next++
    }
  }
  return codes
}

/** The lengths of codes that occur, and 16, which repeats the one before. */
const bitsOfLength: Record<number, number> = { 0: 3, 1: 3, 2: 3, 5: 3, 10: 3, 11: 3, 16: 2 }

function writeLengths(bits: BitWriter, lengths: number[]): void {
  const codeBits = Array.from({ length: 19 }, (_, symbol) => bitsOfLength[symbol] ?? 0)
  const codes = canonical(codeBits)
  const put = (symbol: number) => bits.put(codes[symbol] as number, codeBits[symbol] as number)
  for (let at = 0; at < lengths.length; ) {
    put(lengths[at] as number)
    let run = 1
    while (at + run < lengths.length && lengths[at + run] === lengths[at]) run++
    at += run
    for (run--; run >= 3; ) {
      const taken = Math.min(6, run)
      put(16)
      bits.put(taken - 3, 2)
      run -= taken
    }
    at -= run
  }
}

/** Matches have 3 to 258 bytes. */
function matchesOf(total: number): number[] {
  const matches: number[] = []
  for (let left = total; left > 0; ) {
    const isRestTooShort = left > longestMatch && left - longestMatch < 3
    const taken = Math.min(left, isRestTooShort ? longestMatch - 3 : longestMatch)
    matches.push(taken)
    left -= taken
  }
  return matches
}

interface Coded {
  symbol: number
  extra: number
  extraBits: number
}

function lengthCode(length: number): Coded {
  if (length === longestMatch) return { symbol: 285, extra: 0, extraBits: 0 }
  return inSteps(length - 3, 4, 257)
}

function distanceCode(distance: number): Coded {
  return inSteps(distance - 1, 2, 0)
}

/** Deflate's codes for numbers: so many for each number of extra bits, which grows with the number. */
function inSteps(value: number, perStep: 2 | 4, firstSymbol: number): Coded {
  const stepBits = perStep === 4 ? 2 : 1
  const extraBits = Math.max(0, 31 - Math.clz32(value) - stepBits)
  const symbol = firstSymbol + extraBits * perStep + (value >> extraBits)
  return { symbol, extra: value & ((1 << extraBits) - 1), extraBits }
}

class BitWriter {
  readonly bytes: number[] = []
  pending = 0
  pendingBits = 0

  put(value: number, count: number): void {
    this.pending |= value << this.pendingBits
    this.pendingBits += count
    for (; this.pendingBits >= 8; this.pendingBits -= 8, this.pending >>>= 8) {
      this.bytes.push(this.pending & 0xff)
    }
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const framed = Buffer.alloc(typed.length + 8)
  framed.writeUInt32BE(data.length, 0)
  typed.copy(framed, 4)
  framed.writeUInt32BE(crc32(typed), typed.length + 4)
  return framed
}
