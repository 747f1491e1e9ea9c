import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { accentFor, accentStyle, contrast, surfaces } from './accent.ts'

const colours = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`)

it.each(['light', 'dark'] as const)('any colour can be read in the %s scheme', (scheme) => {
  fc.assert(
    fc.property(colours, (colour) => {
      const { accent, onAccent } = accentFor(colour, scheme)
      expect(contrast(accent, surfaces[scheme])).toBeGreaterThanOrEqual(4.5)
      expect(contrast(accent, onAccent)).toBeGreaterThanOrEqual(4.5)
    }),
    { numRuns: 2_000 },
  )
})

it('a colour that can be read stays as it is', () => {
  expect(accentFor('#0a5c36', 'light').accent).toBe('#0a5c36')
  expect(accentFor('#ffe08a', 'dark').accent).toBe('#ffe08a')
  expect(accentFor('#ffe08a', 'light').accent).not.toBe('#ffe08a')
})

it('contrast is as WCAG has it', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  expect(contrast('#123456', '#123456')).toBe(1)
})

it('the surfaces are those of the style sheet', () => {
  const style = readFileSync(new URL('./style.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = style.split('prefers-color-scheme: dark')
  expect(light).toContain(`--ground: ${surfaces.light}`)
  expect(dark).toContain(`--card: ${surfaces.dark}`)
})

it('both schemes are told to the page', () => {
  expect(accentStyle('#0a5c36')).toMatch(
    /^:root\{--accent:#0a5c36;--on-accent:#ffffff\}@media\(prefers-color-scheme:dark\)\{:root\{--accent:#[0-9a-f]{6};--on-accent:#000000\}\}$/,
  )
})
