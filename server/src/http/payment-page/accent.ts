/** The background of the accent in each scheme: the surface with the least contrast to it. */
export const surfaces = { light: '#f3f5f8', dark: '#1c222b' }

export const defaultColour = '#1d4ed8'

/** The WCAG contrast for text of normal size. */
const leastContrast = 4.5

type Rgb = readonly [number, number, number]

export interface Accent {
  /** Readable as text on the scheme's surfaces. */
  accent: string
  /** The text colour that is readable on the accent. */
  onAccent: string
}

/** The agent's colour, darkened or lightened as far as necessary to be readable. */
export function accentFor(colour: string, scheme: 'light' | 'dark'): Accent {
  const surface = surfaces[scheme]
  const towards: Rgb = scheme === 'light' ? [0, 0, 0] : [255, 255, 255]
  let accent = colour
  for (let step = 1; step <= 20 && contrast(accent, surface) < leastContrast; step++) {
    accent = mixed(parse(colour), towards, step / 20)
  }
  const onAccent =
    contrast(accent, '#ffffff') >= contrast(accent, '#000000') ? '#ffffff' : '#000000'
  return { accent, onAccent }
}

/** The colours as custom properties of the style sheet. */
export function accentStyle(colour: string | null): string {
  const properties = (scheme: 'light' | 'dark') => {
    const { accent, onAccent } = accentFor(colour ?? defaultColour, scheme)
    return `:root{--accent:${accent};--on-accent:${onAccent}}`
  }
  return `${properties('light')}@media(prefers-color-scheme:dark){${properties('dark')}}`
}

/** WCAG 2 contrast of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(parse(a)), luminance(parse(b))].sort((x, y) => x - y)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

function mixed(from: Rgb, to: Rgb, share: number): string {
  const channels = from.map((channel, at) => {
    const mixed = Math.round(channel + ((to[at] ?? 0) - channel) * share)
    return mixed.toString(16).padStart(2, '0')
  })
  return `#${channels.join('')}`
}

function parse(colour: string): Rgb {
  const channel = (at: number) => Number.parseInt(colour.slice(at, at + 2), 16)
  return [channel(1), channel(3), channel(5)]
}
