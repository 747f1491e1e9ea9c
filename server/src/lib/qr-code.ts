import { type Bitmap2D, correction, generate, mode } from 'lean-qr'

/** A rectangle of the picture, in modules of the code. */
export interface Patch {
  x: number
  y: number
  width: number
  height: number
  isDark: boolean
}

/** The modules of a QR code, and what is drawn over them. */
export interface QrCode {
  modules: Bitmap2D
  patches: Patch[]
}

/**
 * The QR code of a text. Swiss QR-bills and EPC codes prescribe their bytes, level of correction and largest
 * size, and Swiss ones the cross in the middle; for all others a higher level than M is used where it costs
 * no space.
 */
export function qrCode(text: string): QrCode {
  const bytes = Buffer.from(text)
  const isSwiss = text.startsWith('SPC\n') && bytes.length <= 997
  const isEpc = text.startsWith('BCD\n') && bytes.length <= 331
  if (!isSwiss && !isEpc) {
    return { modules: generate(text, { minCorrectionLevel: correction.M }), patches: [] }
  }
  const modules = generate(mode.bytes(bytes), {
    minCorrectionLevel: correction.M,
    maxCorrectionLevel: correction.M,
    maxVersion: isSwiss ? 25 : 13,
  })
  return { modules, patches: isSwiss ? swissCross(modules.size) : [] }
}

/** A white cross on black with a white edge: 7 mm wide on a code of 46 mm. */
function swissCross(size: number): Patch[] {
  const whole = (size * 7) / 46
  const centred = (width: number, height: number, isDark: boolean): Patch => ({
    x: (size - width) / 2,
    y: (size - height) / 2,
    width,
    height,
    isDark,
  })
  const [black, arm, bar] = [whole * 0.86, whole * 0.56, whole * 0.17]
  return [
    centred(whole, whole, false),
    centred(black, black, true),
    centred(bar, arm, false),
    centred(arm, bar, false),
  ]
}
