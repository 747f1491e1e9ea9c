import { correction, generate } from 'lean-qr'
import { expect, it } from 'vitest'
import { qrPath } from './qr-path.ts'

it.each(['HELLO', 'x'.repeat(200), '00020101021129370016A000000677010111'])(
  'draws exactly the dark modules of %s',
  (text) => {
    const code = generate(text, { minCorrectionLevel: correction.M })
    const { side, path } = qrPath(text)
    const drawn = new Set<string>()
    let [x, y] = [0, 0]
    for (const [, letter, first, second, length] of path.matchAll(/([Mm])(\d+) ([\d.]+)h(\d+)/g)) {
      x = letter === 'M' ? Number(first) : x + Number(first)
      y = letter === 'M' ? Number(second) - 0.5 : y
      for (let end = x + Number(length); x < end; x++) drawn.add(`${x},${y}`)
    }
    const dark: string[] = []
    for (let row = 0; row < code.size; row++) {
      for (let at = 0; at < code.size; at++) if (code.get(at, row)) dark.push(`${at},${row}`)
    }
    expect(side).toBe(code.size)
    expect([...drawn].sort()).toEqual(dark.sort())
    expect(path.replace(/[Mm]\d+ [\d.]+h\d+/g, '')).toBe('')
  },
)
