import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A long file that starts last leaves the other cores idle; a fresh clone has no times to go by. */
const longest = [
  'processes',
  'embedded',
  'callback-crash',
  'payment-page-chromium',
  'console-work',
  'console-everybody',
  'console-forms',
  'console-access',
  'callback-fairness',
  'payment-claims',
  'chaos',
  'teller',
  'notices',
  'payouts',
  'databases',
  'payout-places',
  'verify-every-column',
  'crash',
  'archive',
  'payments',
  'callback-cli',
  'verify',
  'cli',
  'demo-chromium',
  'console-together',
  'readme',
  'callback-receivers',
  'repeat-order',
  'payout-crash',
  'archive-size',
  'teller-isolation',
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
