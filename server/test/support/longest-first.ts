import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A long file that starts last leaves the other cores idle; a fresh clone has no times to go by. */
const longest = [
  'processes',
  'console-work',
  'console-everybody',
  'callback-crash',
  'payment-page-chromium',
  'databases',
  'embedded',
  'callback-fairness',
  'payment-claims',
  'console-forms',
  'console-access',
  'payouts',
  'migrations',
  'cli',
  'payments',
  'callback-cli',
  'chaos',
  'crash',
  'payout-crash',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(basename(moduleId, '.test.ts'))
      return at === -1 ? longest.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
