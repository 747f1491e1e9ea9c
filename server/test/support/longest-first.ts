import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A long file that starts last leaves the other cores idle; a fresh clone has no times to go by. */
const longest = [
  'console-everybody',
  'processes',
  'console-work',
  'chaos',
  'console-access',
  'callback-crash',
  'databases',
  'payment-claims',
  'payment-page-chromium',
  'console-books',
  'verify-every-column',
  'callback-fairness',
  'verify',
  'constraints',
  'callback-receivers',
  'stories',
  'embedded',
  'console-forms',
  'payouts',
  'payout-places',
  'notices',
  'archive',
  'payout-file-crash',
  'console-connectors',
  'cli',
  'currencies',
  'read-bank-file',
  'limits',
  'teller',
  'sftp',
  'payments',
  'console-bank-accounts',
  'payout-file-ends',
  'import-bank-file',
  'payout-files',
  'console-payout-files',
  'migrations',
  'nasty-text',
  'bank-accounts-doc',
  'batch-property',
  'connectors',
  'crash',
  'payment-page',
  'unique-amounts',
  'repeat-order',
  'fuzz',
  'callback-cli',
  'readme',
  'match-movement',
  'console-together',
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
