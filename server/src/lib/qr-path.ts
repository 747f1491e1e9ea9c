import { type Patch, qrCode } from './qr-code.ts'

/**
 * A QR code as an SVG path, one unit per module, without the quiet zone. It strokes the rows instead of
 * filling them, which takes half the bytes. The patches are drawn over it.
 */
export function qrPath(text: string): { side: number; path: string; patches: Patch[] } {
  const { size, modules, patches } = qrCode(text)
  const isDark = (x: number, y: number) => modules[y * size + x] === 1
  let path = ''
  for (let y = 0; y < size; y++) {
    let at = 0
    let isFirst = true
    for (let x = 0; x < size; x++) {
      if (!isDark(x, y)) continue
      let end = x + 1
      while (end < size && isDark(end, y)) end++
      path += isFirst ? `M${x} ${y}.5h${end - x}` : `m${x - at} 0h${end - x}`
      isFirst = false
      at = end
      x = end
    }
  }
  return { side: size, path, patches }
}
