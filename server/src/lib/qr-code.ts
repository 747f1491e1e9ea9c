/**
 * The QR code of a text (ISO/IEC 18004, model 2, levels M to H), quickly: 20 µs for a PromptPay code, where
 * lean-qr took 430 in the same minute. Everything that depends only on version and level is made once: the fixed patterns, the mask, and
 * the order in which bits are laid. The mask is always the same: every reader reads the one that the code names, and
 * the search for the prettiest of eight costs more than all the rest.
 *
 * What this draws must never change: orders are answered again with the same picture, byte for byte. See
 * qr-encoders.ts.
 */

/** A rectangle of the picture, in modules of the code. */
export interface Patch {
  x: number
  y: number
  width: number
  height: number
  isDark: boolean
}

/** The modules of a QR code, line by line, 1 for a dark one; and what is drawn over them. */
export interface QrCode {
  size: number
  modules: Uint8Array
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
  if (isSwiss || isEpc) {
    const whole = { mode: byteMode, bytes, from: 0, to: bytes.length }
    const code = draw([whole], false, 'M', isSwiss ? 25 : 13)
    return isSwiss ? { ...code, patches: swissCross(code.size) } : code
  }
  const isAscii = bytes.length === text.length
  // Readers guess the characters of bytes unless they are told: 26 is UTF-8.
  if (!isAscii) {
    return draw([{ mode: byteMode, bytes, from: 0, to: bytes.length }], true, undefined, 40)
  }
  return draw(bytes, false, undefined, 40)
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

type Level = 'M' | 'Q' | 'H'

/** Correction words in a block, and blocks, by version. */
const levels: Record<Level, { bits: number; words: number[]; blocks: number[] }> = {
  M: {
    bits: 0,
    words: [
      10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28,
      28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    ],
    blocks: [
      1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25,
      26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
    ],
  },
  Q: {
    bits: 3,
    words: [
      13, 22, 18, 26, 18, 24, 18, 22, 20, 24, 28, 26, 24, 20, 30, 24, 28, 28, 26, 30, 28, 30, 30,
      30, 30, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
    blocks: [
      1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 8, 10, 12, 16, 12, 17, 16, 18, 21, 20, 23, 23, 25, 27, 29, 34,
      34, 35, 38, 40, 43, 45, 48, 51, 53, 56, 59, 62, 65, 68,
    ],
  },
  H: {
    bits: 2,
    words: [
      17, 28, 22, 16, 22, 28, 26, 26, 24, 28, 24, 28, 22, 24, 24, 30, 28, 28, 26, 28, 30, 24, 30,
      30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
    ],
    blocks: [
      1, 1, 2, 4, 4, 4, 5, 6, 8, 8, 11, 11, 16, 16, 18, 16, 19, 21, 25, 25, 25, 34, 30, 32, 35, 37,
      40, 42, 45, 48, 51, 54, 57, 60, 63, 66, 70, 74, 77, 81,
    ],
  },
}

interface Mode {
  indicator: number
  /** The bits of the count of characters, for versions up to 9, 26 and 40. */
  countBits: readonly [number, number, number]
}

const digitMode: Mode = { indicator: 1, countBits: [10, 12, 14] }
const capitalMode: Mode = { indicator: 2, countBits: [9, 11, 13] }
const byteMode: Mode = { indicator: 4, countBits: [8, 16, 16] }
const modes = [digitMode, capitalMode, byteMode] as const

interface Segment {
  mode: Mode
  bytes: Uint8Array
  from: number
  to: number
}

/** The value of a character in the mode of capitals, or 255. */
const capitals = new Uint8Array(256).fill(255)
for (const [value, letter] of [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'].entries()) {
  capitals[letter.charCodeAt(0)] = value
}

/** Draws segments, or ASCII text that is cut into the segments that take the least space. */
function draw(
  given: Segment[] | Uint8Array,
  isUtf8: boolean,
  level: Level | undefined,
  maxVersion: number,
): QrCode {
  for (const [group, last] of [9, 26, 40].entries()) {
    const segments = Array.isArray(given) ? given : shortest(given, group)
    const bits = bitsOf(segments, group) + (isUtf8 ? 12 : 0)
    for (let version = group === 0 ? 1 : group === 1 ? 10 : 27; version <= last; version++) {
      if (version > maxVersion) break
      if (bits > shapeOf(version, 'M').dataWords * 8) continue
      const best =
        level ?? (['H', 'Q'] as const).find((each) => bits <= shapeOf(version, each).dataWords * 8)
      const shape = shapeOf(version, best ?? 'M')
      const data = dataWords(segments, isUtf8, group, shape.dataWords)
      return { size: shape.size, modules: lay(shape, corrected(shape, data)), patches: [] }
    }
  }
  throw new Error('the text is too long for a QR code')
}

function bitsOf(segments: Segment[], group: number): number {
  let bits = 0
  for (const { mode, from, to } of segments) {
    bits += 4 + (mode.countBits[group] as number) + payloadBits(mode, to - from)
  }
  return bits
}

function payloadBits(mode: Mode, count: number): number {
  if (mode === digitMode) return Math.ceil((count * 10) / 3)
  return mode === capitalMode ? Math.ceil((count * 11) / 2) : count * 8
}

/**
 * Cuts text into segments of the fewest bits: for each character and mode, the least that all before it take if it is
 * in this mode, and the mode before. In sixths of bits, since three digits take ten bits and two capitals eleven.
 */
function shortest(bytes: Uint8Array, group: number): Segment[] {
  const never = 1e9
  const head = modes.map((mode) => (4 + (mode.countBits[group] as number)) * 6)
  const costs = head.slice()
  const own = [0, 0, 0]
  const before = new Uint8Array(bytes.length * 3)
  for (let at = 0; at < bytes.length; at++) {
    const value = capitals[bytes[at] as number] as number
    own[0] = value < 10 ? (costs[0] as number) + 20 : never
    own[1] = value < 255 ? (costs[1] as number) + 33 : never
    own[2] = (costs[2] as number) + 48
    for (let to = 0; to < 3; to++) {
      costs[to] = own[to] as number
      before[at * 3 + to] = to
      for (let from = 0; from < 3; from++) {
        if (from === to || (own[from] as number) >= never) continue
        const switched = Math.ceil((own[from] as number) / 6) * 6 + (head[to] as number)
        if (switched < (costs[to] as number)) {
          costs[to] = switched
          before[at * 3 + to] = from
        }
      }
    }
  }
  let mode = costs.indexOf(Math.min(...costs))
  const segments: Segment[] = []
  for (let at = bytes.length - 1; at >= 0; at--) {
    mode = before[at * 3 + mode] as number
    const [first] = segments
    if (first && first.mode === modes[mode]) first.from = at
    else segments.unshift({ mode: modes[mode] as Mode, bytes, from: at, to: at + 1 })
  }
  return segments
}

function dataWords(segments: Segment[], isUtf8: boolean, group: number, count: number): Uint8Array {
  const words = new Uint8Array(count)
  let at = 0
  const put = (value: number, bits: number) => {
    for (let left = bits; left > 0; ) {
      const free = 8 - (at & 7)
      const taken = Math.min(free, left)
      const part = (value >> (left - taken)) & ((1 << taken) - 1)
      words[at >> 3] = (words[at >> 3] as number) | (part << (free - taken))
      at += taken
      left -= taken
    }
  }
  if (isUtf8) put((7 << 8) | 26, 12)
  for (const { mode, bytes, from, to } of segments) {
    put(mode.indicator, 4)
    put(to - from, mode.countBits[group] as number)
    const value = (index: number) => capitals[bytes[index] as number] as number
    let next = from
    if (mode === digitMode) {
      for (; next + 3 <= to; next += 3) {
        put(value(next) * 100 + value(next + 1) * 10 + value(next + 2), 10)
      }
      if (to - next === 2) put(value(next) * 10 + value(next + 1), 7)
      else if (to - next === 1) put(value(next), 4)
    } else if (mode === capitalMode) {
      for (; next + 2 <= to; next += 2) put(value(next) * 45 + value(next + 1), 11)
      if (next < to) put(value(next), 6)
    } else for (; next < to; next++) put(bytes[next] as number, 8)
  }
  // The end is four zeros, as far as there is room; what is left of the space is filled as prescribed.
  at += Math.min(4, count * 8 - at)
  for (let word = (at + 7) >> 3, fill = 0xec; word < count; word++, fill ^= 0xec ^ 0x11) {
    words[word] = fill
  }
  return words
}

/** Powers of 2 in the field of 256 elements, twice over, and their logarithms. */
const power = new Uint8Array(512)
const logarithm = new Uint8Array(256)
for (let exponent = 0, value = 1; exponent < 255; exponent++) {
  power[exponent] = value
  power[exponent + 255] = value
  logarithm[value] = exponent
  value = value < 128 ? value * 2 : (value * 2) ^ 0x11d
}

/** The logarithms of the coefficients of the generator polynomial, without the first. */
function generator(degree: number): Uint8Array {
  let coefficients = [1]
  for (let root = 0; root < degree; root++) {
    const next = [...coefficients, 0]
    for (const [at, value] of coefficients.entries()) {
      if (value === 0) continue
      next[at + 1] = (next[at + 1] ?? 0) ^ (power[(logarithm[value] as number) + root] as number)
    }
    coefficients = next
  }
  return Uint8Array.from(coefficients.slice(1), (value) => logarithm[value] as number)
}

/** The words of all blocks with their correction, in the order in which they are laid. */
function corrected(shape: Shape, data: Uint8Array): Uint8Array {
  const { blocks, correctionWords, generator: factors } = shape
  const words = new Uint8Array(shape.words)
  const shortData = Math.floor(shape.dataWords / blocks)
  const shortBlocks = blocks - (shape.dataWords % blocks)
  const work = new Uint8Array(shortData + 1 + correctionWords)
  let from = 0
  for (let block = 0; block < blocks; block++) {
    const length = block < shortBlocks ? shortData : shortData + 1
    work.fill(0)
    for (let at = 0; at < length; at++) {
      const word = data[from + at] as number
      work[at] = word
      // The word that only long blocks have comes after all others of the data.
      const place = at < shortData ? at * blocks + block : shortData * blocks + block - shortBlocks
      words[place] = word
    }
    for (let at = 0; at < length; at++) {
      const lead = work[at] as number
      if (lead === 0) continue
      const log = logarithm[lead] as number
      for (let next = 0; next < correctionWords; next++) {
        const to = at + 1 + next
        work[to] = (work[to] as number) ^ (power[log + (factors[next] as number)] as number)
      }
    }
    for (let at = 0; at < correctionWords; at++) {
      words[shape.dataWords + at * blocks + block] = work[length + at] as number
    }
    from += length
  }
  return words
}

/** All that codes of one version and level have in common. */
interface Shape {
  size: number
  words: number
  dataWords: number
  blocks: number
  correctionWords: number
  generator: Uint8Array
  /** The fixed patterns; where data goes, the mask. */
  ground: Uint8Array
  /** Where each bit of the words is laid. */
  places: Uint16Array
}

const shapes: Record<Level, Shape[]> = { M: [], Q: [], H: [] }

function shapeOf(version: number, level: Level): Shape {
  const known = shapes[level][version]
  if (known) return known
  const shape = makeShape(version, level)
  shapes[level][version] = shape
  return shape
}

function lay({ ground, places }: Shape, words: Uint8Array): Uint8Array {
  const modules = ground.slice()
  let bit = 0
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number
    for (let shift = 7; shift >= 0; shift--, bit++) {
      const place = places[bit] as number
      modules[place] = (modules[place] as number) ^ ((word >> shift) & 1)
    }
  }
  return modules
}

/** Of the eight masks, the one that on average gave the fewest patterns that readers dislike. */
const mask = 4
const isMasked = (x: number, y: number) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0

function makeShape(version: number, level: Level): Shape {
  const size = version * 4 + 17
  const ground = new Uint8Array(size * size)
  const isFixed = new Uint8Array(size * size)
  const set = (x: number, y: number, isDark: boolean | number) => {
    ground[y * size + x] = Number(isDark)
    isFixed[y * size + x] = 1
  }
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  for (const [cx, cy] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    for (let dy = -4; dy <= 4; dy++) {
      for (let dx = -4; dx <= 4; dx++) {
        const [x, y] = [cx + dx, cy + dy]
        if (x < 0 || y < 0 || x >= size || y >= size) continue
        const ring = Math.max(Math.abs(dx), Math.abs(dy))
        set(x, y, ring !== 2 && ring !== 4)
      }
    }
  }
  const centres = alignmentCentres(version, size)
  for (const cy of centres) {
    for (const cx of centres) {
      const isFinder = (cx === 6 && (cy === 6 || cy === size - 7)) || (cy === 6 && cx === size - 7)
      if (isFinder) continue
      for (let dy = -2; dy <= 2; dy++) {
        for (let dx = -2; dx <= 2; dx++) {
          set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1)
        }
      }
    }
  }
  drawFormat(size, levels[level].bits, set)
  if (version >= 7) drawVersion(size, version, set)
  const places = placesOf(size, isFixed)
  for (const place of places) {
    ground[place] = Number(isMasked(place % size, Math.floor(place / size)))
  }
  const words = places.length >> 3
  const correctionWords = levels[level].words[version - 1] as number
  const blocks = levels[level].blocks[version - 1] as number
  return {
    size,
    words,
    dataWords: words - correctionWords * blocks,
    blocks,
    correctionWords,
    generator: generator(correctionWords),
    ground,
    places,
  }
}

function alignmentCentres(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2
  const later = Array.from({ length: count - 1 }, (_, at) => size - 7 - at * step)
  return [6, ...later.reverse()]
}

type SetModule = (x: number, y: number, isDark: number | boolean) => void

function drawFormat(size: number, levelBits: number, set: SetModule): void {
  const data = (levelBits << 3) | mask
  let rest = data
  for (let at = 0; at < 10; at++) rest = (rest << 1) ^ ((rest >> 9) * 0x537)
  const bits = ((data << 10) | rest) ^ 0x5412
  const bit = (at: number) => (bits >> at) & 1
  for (let at = 0; at < 15; at++) {
    // Around the finder at the top left, leaving out the lines of timing.
    if (at < 8) set(8, at < 6 ? at : at + 1, bit(at))
    else set(at === 8 ? 7 : 14 - at, 8, bit(at))
    // And once more, half at each of the others.
    if (at < 8) set(size - 1 - at, 8, bit(at))
    else set(8, size - 15 + at, bit(at))
  }
  set(8, size - 8, true)
}

function drawVersion(size: number, version: number, set: SetModule): void {
  let rest = version
  for (let at = 0; at < 12; at++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25)
  const bits = (version << 12) | rest
  for (let at = 0; at < 18; at++) {
    const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)]
    set(far, near, (bits >> at) & 1)
    set(near, far, (bits >> at) & 1)
  }
}

/** Pairs of columns from the right, up and down by turns. */
function placesOf(size: number, isFixed: Uint8Array): Uint16Array {
  const places: number[] = []
  let isUpward = true
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step++) {
      const y = isUpward ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        if (!isFixed[y * size + x]) places.push(y * size + x)
      }
    }
    isUpward = !isUpward
  }
  return Uint16Array.from(places)
}
