import { expect, it } from 'vitest'
import { qrCode } from './qr-code.ts'
import { qrPath } from './qr-path.ts'

it.each(['HELLO', 'x'.repeat(200), '00020101021129370016A000000677010111'])(
  'draws exactly the dark modules of %s',
  (text) => {
    const { size, modules } = qrCode(text)
    const { side, path } = qrPath(text)
    const drawn = new Set<string>()
    let [x, y] = [0, 0]
    for (const [, letter, first, second, length] of path.matchAll(/([Mm])(\d+) ([\d.]+)h(\d+)/g)) {
      x = letter === 'M' ? Number(first) : x + Number(first)
      y = letter === 'M' ? Number(second) - 0.5 : y
      for (let end = x + Number(length); x < end; x++) drawn.add(`${x},${y}`)
    }
    const dark = [...modules.entries()]
      .filter(([, isDark]) => isDark === 1)
      .map(([at]) => `${at % size},${Math.floor(at / size)}`)
    expect(side).toBe(size)
    expect([...drawn].sort()).toEqual(dark.sort())
    expect(path.replace(/[Mm]\d+ [\d.]+h\d+/g, '')).toBe('')
  },
)
