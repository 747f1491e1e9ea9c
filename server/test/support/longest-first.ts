import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A long file that starts last leaves the other cores idle; a fresh clone has no times to go by. */
const longest = [
  'console-forms',
  'callback-crash',
  'payment-page-chromium',
  'console-everybody',
  'callback-fairness',
  'console-work',
  'processes',
  'databases',
  'verify-every-column',
  'verify',
  'demo-chromium',
  'console-together',
  'chaos',
  'console-access',
  'payment-claims',
  'cli',
  'payout-places',
  'payouts',
  'callback-cli',
  'readme',
  'teller',
  'archive',
  'notices',
  'embedded',
  'order-outcomes',
  'repeat-order',
  'payments',
  'expiry',
  'crash',
  'batch-property',
  'examples',
  'stories',
  'order-callbacks',
  'callback-receivers',
  'payouts-that-wait',
  'teller-isolation',
  'proof-under-load',
  'payout-crash',
  'listen',
  'archive-size',
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
