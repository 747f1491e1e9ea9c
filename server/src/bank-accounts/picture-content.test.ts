import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { pictureContent } from './picture-content.ts'

const jpegPart = (marker: number, data: Buffer) =>
  Buffer.concat([Buffer.from([0xff, marker, 0, data.length + 2]), data])

function jpeg(pixels: string, note: string): Buffer {
  const start = Buffer.from([0xff, 0xd8])
  const note_ = jpegPart(0xe1, Buffer.from(note))
  const tables = jpegPart(0xdb, Buffer.from('tables'))
  const scan = Buffer.concat([jpegPart(0xda, Buffer.from('scan')), Buffer.from(pixels)])
  return Buffer.concat([start, note_, tables, scan, Buffer.from([0xff, 0xd9])])
}

const riffPart = (name: string, data: string) => {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(name), size, Buffer.from(data), Buffer.alloc(data.length % 2)])
}
const webp = (pixels: string, note: string) =>
  Buffer.concat([
    ...[Buffer.from('RIFF....WEBP'), riffPart('VP8 ', pixels), riffPart('EXIF', note)],
  ])

/** A PNG of three rows of two grey pixels, each row with a filter of its own. */
function png(
  filters: readonly [number, number, number],
  notes: { level?: number; text?: string; grey?: number } = {},
): Buffer {
  const { level = 6, text = '', grey = 200 } = notes
  const pixels = [
    [10, 250],
    [30, 40],
    [grey, 7],
  ]
  const at = (y: number, x: number) => pixels[y]?.[x] ?? 0
  const guesses = [
    () => 0,
    (y: number, x: number) => at(y, x - 1),
    (y: number, x: number) => at(y - 1, x),
    (y: number, x: number) => (at(y, x - 1) + at(y - 1, x)) >> 1,
    (y: number, x: number) => {
      const [a, b, c] = [at(y, x - 1), at(y - 1, x), at(y - 1, x - 1)]
      const sorted = [a, b, c].map((each): [number, number] => [Math.abs(a + b - c - each), each])
      return sorted.reduce((best, each) => (each[0] < best[0] ? each : best))[1]
    },
  ]
  const rows = filters.map((filter, y) =>
    Buffer.from([filter, ...[0, 1].map((x) => (at(y, x) - (guesses[filter]?.(y, x) ?? 0)) & 255)]),
  )
  const chunk = (name: string, data: Buffer) => {
    const size = Buffer.alloc(4)
    size.writeUInt32BE(data.length)
    return Buffer.concat([size, Buffer.from(name), data, Buffer.alloc(4)])
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 0, 0, 0, 0])),
    chunk('tEXt', Buffer.from(text)),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

it.each([
  ['image/png', png([0, 0, 0]), png([1, 2, 4], { level: 0, text: 'saved again' }), png([0, 3, 0])],
  ['image/jpeg', jpeg('pixels', 'one'), jpeg('pixels', 'another'), jpeg('pixels', '')],
  ['image/webp', webp('pixels', 'one'), webp('pixels', 'another'), webp('pixels', '')],
])('%s shows the same when it is saved again', async (type, one, again, third) => {
  const behind = Buffer.concat([one, Buffer.from('behind')])
  const shown = await Promise.all(
    [one, again, third, behind].map((each) => pictureContent(each, type)),
  )
  expect(new Set(shown).size).toBe(1)
})

it('another picture shows something else, and one that cannot be read is its bytes', async () => {
  const broken = () => Buffer.concat([png([0, 0, 0]).subarray(0, 8), randomBytes(40)])
  const shown = await Promise.all([
    ...[png([0, 0, 0]), png([0, 0, 0], { grey: 201 }), broken(), broken()].map((each) =>
      pictureContent(each, 'image/png'),
    ),
    ...[jpeg('pixels', ''), jpeg('others', ''), Buffer.from([0xff, 0xd8, 0xff])].map((each) =>
      pictureContent(each, 'image/jpeg'),
    ),
    ...[webp('pixels', ''), webp('others', '')].map((each) => pictureContent(each, 'image/webp')),
  ])
  expect(new Set(shown).size).toBe(shown.length)
})
