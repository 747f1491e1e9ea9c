import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import jsQR from 'jsqr'
import { expect, test } from 'vitest'
import { qrCode } from './qr-code.ts'
import { qrEncoder, qrPicture } from './qr-encoders.ts'

const letters = (length: number) =>
  Array.from({ length }, (_, at) => 'abcdefghijklmnopqrstuvwxyz'[(at * at + 7 * at) % 26]).join('')
const digits = (length: number) =>
  Array.from({ length }, (_, at) => String((at * at + 3 * at) % 10)).join('')

const swiss = `SPC
0200
1
CH5800791123000889012
S
Muster Krankenkasse
Musterstrasse
12
8000
Seldwyla
CH







1949.75
CHF
S
Pia Rutschmann
Marktgasse
28
9400
Rorschach
CH
QRR
210000000003139471430009017
Order of 15 June 2020
EPD
`

/** A text for each version of QR codes, the largest that it takes in bytes with medium correction, and others. */
const capacity = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
  711, 779, 857, 911, 997, 1059, 1125, 1190, 1264, 1370, 1452, 1538, 1628, 1722, 1809, 1911, 1989,
  2099, 2213, 2331,
]
const texts = [
  ...capacity.map(letters),
  // Higher correction where there is room: Q and H in some versions.
  ...[5, 9, 15, 18, 25, 40, 60, 90, 130, 300, 700, 1500].map(letters),
  ...[1, 2, 3, 100, 1000].map(digits),
  'HTTPS://PAY.EXAMPLE/ABC-123',
  '00020101021229370016A000000677010111011300660000000005802TH530376454041.006304ABCD',
  'SLUICE SANDBOX - NOT A PAYMENT 12-0190a1b2c3d4700080000123456789ab 1000.5 THB',
  'otpauth://totp/Sluice:ann%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Sluice',
  'สมชาย ใจดี',
  'BCD\n002\n1\nSCT\n\nMüller GmbH\nDE89370400440532013000\nEUR12.50\n\nRF18539007547034\n',
  swiss,
]

/** Every picture that an encoder has ever drawn must be drawn again: these never change. */
const digests: Record<number, string> = {
  1: '78290380cedb1538832b2e5576bb1669eca08dd6ee8835c02d287693a3aabd06',
}

test('every released encoder draws the same bytes as ever', () => {
  for (const [encoder, digest] of Object.entries(digests)) {
    const hash = createHash('sha256')
    for (const text of texts) hash.update(`${qrPicture(Number(encoder), text)}\n`)
    expect([encoder, hash.digest('hex')]).toEqual([encoder, digest])
  }
  expect(digests).toHaveProperty(String(qrEncoder))
  expect(qrPicture(qrEncoder + 1, 'sluice')).toBeUndefined()
})

test('a reader reads every version and level from its picture', () => {
  const versions = new Set<number>()
  const levels = new Set<string>()
  for (const text of texts) {
    const { pixels, side } = pixelsOf(qrPicture(qrEncoder, text) ?? '')
    const read = jsQR.default(pixels, side, side)
    if (read === null) throw new Error(`unreadable: ${text.slice(0, 40)}`)
    expect(Buffer.from(read.binaryData).toString()).toBe(text)
    const { size, modules } = qrCode(text)
    expect(read.version).toBe((size - 17) / 4)
    versions.add(read.version)
    const [high, low] = modules.subarray(8 * size)
    levels.add('MLHQ'.charAt((Number(high) * 2 + Number(low)) ^ 0b10))
  }
  expect(versions.size).toBe(40)
  expect([...levels].sort()).toEqual(['H', 'M', 'Q'])
})

test('a text that no code can hold is refused', () => {
  expect(() => qrCode(letters(2332))).toThrow('too long')
  expect(qrCode(letters(2331)).size).toBe(177)
})

/** The pixels of a picture as a reader wants them. */
function pixelsOf(dataUrl: string): { pixels: Uint8ClampedArray; side: number } {
  const png = Buffer.from(dataUrl.split(',')[1] ?? '', 'base64')
  const side = png.readUInt32BE(16)
  const lines = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))
  const lineBytes = 1 + side / 8
  const pixels = new Uint32Array(side * side).fill(0xffffffff)
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const isWhite = (lines.readUInt8(y * lineBytes + 1 + (x >> 3)) >> (7 - (x & 7))) & 1
      if (!isWhite) pixels[y * side + x] = 0xff000000
    }
  }
  return { pixels: new Uint8ClampedArray(pixels.buffer), side }
}
