import { crc32, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { qrDataUrl } from './qr-png.ts'

const pixelsPerModule = 8
const quietModules = 4

interface Png {
  chunks: string[]
  width: number
  height: number
  /** Bit depth, colour type, compression, filter, interlace. */
  format: number[]
  lines: Buffer[]
}

/** Reads a PNG of one bit per pixel strictly: signature, lengths, checksums, filters. */
function readPng(dataUrl: string): Png {
  const [head, base64 = ''] = dataUrl.split(',')
  expect(head).toBe('data:image/png;base64')
  const png = Buffer.from(base64, 'base64')
  expect(png.toString('base64')).toBe(base64)
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < png.length; ) {
    const dataEnd = at + 8 + png.readUInt32BE(at)
    expect(png.readUInt32BE(dataEnd)).toBe(crc32(png.subarray(at + 4, dataEnd)))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, dataEnd))
    at = dataEnd + 4
  }
  const header = chunks.get('IHDR') ?? Buffer.alloc(0)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const pixels = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  const lineBytes = 1 + Math.ceil(width / 8)
  expect(pixels).toHaveLength(lineBytes * height)
  const lines = Array.from({ length: height }, (_, y) =>
    pixels.subarray(y * lineBytes, (y + 1) * lineBytes),
  )
  expect(lines.every((line) => line[0] === 0)).toBe(true)
  return {
    chunks: [...chunks.keys()],
    width,
    height,
    format: [...header.subarray(8)],
    lines: lines.map((line) => line.subarray(1)),
  }
}

/** The dark modules of the code within its quiet zone; fails where a module is not one square. */
function readModules({ width, lines }: Png): boolean[][] {
  const isDark = (x: number, y: number) => (((lines[y]?.[x >> 3] ?? 0) >> (7 - (x & 7))) & 1) === 0
  const count = width / pixelsPerModule
  const modules = Array.from({ length: count }, (_, my) =>
    Array.from({ length: count }, (_, mx) => isDark(mx * pixelsPerModule, my * pixelsPerModule)),
  )
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      const [my, mx] = [Math.floor(y / pixelsPerModule), Math.floor(x / pixelsPerModule)]
      if (isDark(x, y) !== modules[my]?.[mx]) throw new Error(`a stray pixel at ${x}, ${y}`)
    }
  }
  const isQuiet = (at: number) => at < quietModules || at >= count - quietModules
  const dirty = modules.some((row, y) => row.some((dark, x) => dark && (isQuiet(x) || isQuiet(y))))
  expect(dirty).toBe(false)
  return modules
    .slice(quietModules, -quietModules)
    .map((row) => row.slice(quietModules, -quietModules))
}

/** ISO/IEC 18004, versions 1 to 10, by the two bits of the correction level: M, L, H, Q. */
const eccPerBlock = [
  [10, 16, 26, 18, 24, 16, 18, 22, 22, 26],
  [7, 10, 15, 20, 26, 18, 20, 24, 30, 18],
  [17, 28, 22, 16, 22, 28, 26, 26, 24, 28],
  [13, 22, 18, 26, 18, 24, 18, 22, 20, 24],
]
const blockCount = [
  [1, 1, 1, 2, 2, 4, 4, 4, 5, 5],
  [1, 1, 1, 1, 1, 2, 2, 2, 2, 4],
  [1, 1, 2, 4, 4, 4, 5, 6, 8, 8],
  [1, 1, 2, 2, 4, 4, 6, 6, 8, 8],
]
const alignment = [[], [18], [22], [26], [30], [34], [22, 38], [24, 42], [26, 46], [28, 50]]
const masks: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** Reads a QR code as a scanner would that sees every module right. */
function readQr(modules: boolean[][]): string {
  const size = modules.length
  const version = (size - 17) / 4
  const at = (x: number, y: number) => modules[y]?.[x] === true
  const format = [0, 1, 2, 3, 4, 5, 7, 8].map((x) => at(x, 8)).slice(0, 5)
  const formatBits = format.reduce((bits, dark) => bits * 2 + Number(dark), 0) ^ 0b10101
  const [level, mask] = [formatBits >> 3, masks[formatBits & 7]]
  const words = readCodewords(modules, version, (x, y) => at(x, y) !== mask?.(x, y))
  const blocks = blockCount[level]?.[version - 1] ?? 0
  const ecc = eccPerBlock[level]?.[version - 1] ?? 0
  const shortData = Math.floor(words.length / blocks) - ecc
  const shortBlocks = blocks - (words.length % blocks)
  const data: number[][] = Array.from({ length: blocks }, () => [])
  let next = 0
  for (let i = 0; i <= shortData; i++) {
    data.forEach((block, b) => {
      if (i < shortData || b >= shortBlocks) block.push(words[next++] ?? 0)
    })
  }
  return readSegments(data.flat(), version)
}

/** The codewords in the order they are laid: pairs of columns from the right, up and down in turn. */
function readCodewords(
  modules: boolean[][],
  version: number,
  unmasked: (x: number, y: number) => boolean,
): number[] {
  const size = modules.length
  const centres = [6, ...(alignment[version - 1] ?? [])]
  const isFunction = (x: number, y: number) => {
    if (x === 6 || y === 6) return true
    if ((x < 9 && y < 9) || (x >= size - 8 && y < 9) || (x < 9 && y >= size - 8)) return true
    if (version >= 7 && ((x >= size - 11 && y < 6) || (x < 6 && y >= size - 11))) return true
    const isFinder = (cx: number, cy: number) =>
      (cx === 6 && cy === 6) || (cx === 6 && cy === size - 7) || (cx === size - 7 && cy === 6)
    return centres.some((cy) =>
      centres.some((cx) => !isFinder(cx, cy) && Math.abs(x - cx) <= 2 && Math.abs(y - cy) <= 2),
    )
  }
  const bits: boolean[] = []
  let upward = true
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2, upward = !upward) {
    for (let step = 0; step < size; step++) {
      const y = upward ? size - 1 - step : step
      for (const x of [right, right - 1]) if (!isFunction(x, y)) bits.push(unmasked(x, y))
    }
  }
  return Array.from({ length: Math.floor(bits.length / 8) }, (_, i) =>
    bits.slice(i * 8, i * 8 + 8).reduce((byte, bit) => byte * 2 + Number(bit), 0),
  )
}

const alphanumeric = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'

function readSegments(data: number[], version: number): string {
  const bits = data.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let at = 0
  const take = (count: number) => {
    at += count
    return Number.parseInt(bits.slice(at - count, at), 2)
  }
  const bytes: number[] = []
  const put = (text: string) => bytes.push(...Buffer.from(text))
  while (at + 4 <= bits.length) {
    const mode = take(4)
    if (mode === 0) break
    if (mode === 7) {
      take(8)
    } else if (mode === 4) {
      for (let left = take(version < 10 ? 8 : 16); left > 0; left--) bytes.push(take(8))
    } else if (mode === 2) {
      let left = take(version < 10 ? 9 : 11)
      for (; left > 1; left -= 2) {
        const pair = take(11)
        put(`${alphanumeric[Math.floor(pair / 45)]}${alphanumeric[pair % 45]}`)
      }
      if (left === 1) put(`${alphanumeric[take(6)]}`)
    } else if (mode === 1) {
      let left = take(version < 10 ? 10 : 12)
      for (; left > 2; left -= 3) put(String(take(10)).padStart(3, '0'))
      if (left > 0) put(String(take(left === 2 ? 7 : 4)).padStart(left, '0'))
    } else throw new Error(`a segment of mode ${mode}`)
  }
  return Buffer.from(bytes).toString('utf8')
}

const texts = [
  ['a word', 'sluice'],
  ['digits', '0123456789'],
  ['upper case', 'HTTPS://PAY.EXAMPLE/ABC-123'],
  [
    'what the sandbox hands out',
    'SLUICE SANDBOX - NOT A PAYMENT 12-0190a1b2c3d4700080000123456789ab 1000.5 THB',
  ],
  ['Thai', 'สมชาย ใจดี'],
  [
    'a payment string as banks use it',
    '00020101021229370016A000000677010111011300660000000005802TH530376454041.006304ABCD',
  ],
] as const

test.each(texts)('the QR code of %s is read back from the PNG', (_what, text) => {
  expect(readQr(readModules(readPng(qrDataUrl(text))))).toBe(text)
})

test('the PNG is one square of black and white with nothing but the picture in it', () => {
  const png = readPng(qrDataUrl('sluice'))
  expect(png.chunks).toEqual(['IHDR', 'IDAT', 'IEND'])
  expect(png.format).toEqual([1, 0, 0, 0, 0])
  expect(png.width).toBe(png.height)
  expect(png.width).toBe((21 + 2 * quietModules) * pixelsPerModule)
})
