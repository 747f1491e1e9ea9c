import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** WCAG 2.2 AA and below, as far as a program can tell. */
const standard = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What axe finds wrong with a page by the standard, or by the rules that are named. */
export async function axeFaults(
  page: Page,
  rules: readonly string[] = standard,
): Promise<string[]> {
  // Once for a document, however often it is looked at.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source)
  const options = {
    runOnly: rules,
    // Describing in full what passes would take longer than finding what does not.
    resultTypes: ['violations'],
  }
  const { violations }: Results = await page.evaluate(`axe.run(${JSON.stringify(options)})`)
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 240)).join(' ')}`,
  )
}

interface Results {
  violations: { id: string; nodes: { html: string }[] }[]
}
