import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'

/**
 * Writes down every statement that the service sends while tests run, once, for the check of what a cluster would
 * refuse.
 */
const file = join(inject('statements'), `${process.pid}.jsonl`)
const seen = new Set<string>()

interface Wrapped {
  isCollecting?: true
  query(...given: unknown[]): unknown
}
const client = pg.Client.prototype as unknown as Wrapped
if (!client.isCollecting) {
  const { query } = client
  client.isCollecting = true
  client.query = function (
    this: { connectionParameters?: { application_name?: string } },
    ...given
  ) {
    const [first] = given
    const text = typeof first === 'string' ? first : (first as { text?: string } | null)?.text
    const isService = this.connectionParameters?.application_name?.startsWith('sluice ')
    if (isService && text !== undefined && !seen.has(text)) {
      seen.add(text)
      appendFileSync(file, `${JSON.stringify(text)}\n`)
    }
    return query.apply(this, given)
  }
}
