import { Command } from 'commander'
import { resealSecrets } from '../agents/reseal-secrets.ts'
import { resealChannels } from '../alerts/alert-channels.ts'
import { resealFeeds, resealSftpKeys } from '../bank-accounts/reseal-feeds.ts'
import { resealSlips } from '../bank-accounts/slips.ts'
import { resealConnectors } from '../connectors/reseal-connectors.ts'
import { resealAnswers } from '../operators/proposal-answers.ts'
import { resealAuthenticators } from '../operators/reseal-authenticators.ts'
import { resealBankFiles } from '../payments/reseal-bank-files.ts'
import { resealReportKeys } from '../reports/report-schedule.ts'
import { plainFault, withOwner } from './command.ts'
import { print, printJson, table } from './output.ts'
import { UsageError } from './usage-error.ts'

const parts = {
  "agents' secrets": resealSecrets,
  "users' authenticators": resealAuthenticators,
  "proposals' answers": resealAnswers,
  "alerts' webhooks": resealChannels,
  "banks' feeds": resealFeeds,
  "banks' servers": resealSftpKeys,
  "reports' servers": resealReportKeys,
  "connectors' secrets": resealConnectors,
  "banks' files": resealBankFiles,
  "payers' slips": resealSlips,
}

/** Seals everything with SECRET_KEY that SECRET_KEY_PREVIOUS sealed, as the owner of the database. */
export function rekeyCommand(): Command {
  return new Command('rekey').option('--json', 'as JSON').action(async (options) => {
    await withOwner('rekey', async (owner, { secretKeys }) => {
      try {
        const done: { what: string; moved: number; current: number; shut: number }[] = []
        for (const [what, part] of Object.entries(parts)) {
          done.push({ what, ...(await part(owner, secretKeys)) })
        }
        if (options.json) printJson(done)
        else {
          const rows = done.map((each) =>
            [each.what, each.moved, each.current, each.shut].map(String),
          )
          print(table(['what', 'moved', 'current', 'shut'], rows))
        }
        if (done.some(({ shut }) => shut > 0)) {
          throw new UsageError(
            'some are shut: neither SECRET_KEY nor SECRET_KEY_PREVIOUS is the key they were sealed with',
          )
        }
      } catch (error) {
        throw plainFault(error)
      }
    })
  })
}
