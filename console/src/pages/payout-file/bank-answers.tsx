import type { Answer } from '../../api.ts'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/when.tsx'
import { type api, pages } from '../../paths.ts'
import classes from './payout-file.module.css'
import type { PayoutFileDetail } from './payout-file-detail.ts'
import { payoutFileWords } from './payout-file-words.ts'

/** What the service made of an answer of the bank that was just brought. */
export type Taken = Pick<
  Answer<typeof api.answerPayoutFile>,
  'accepted' | 'paid' | 'refused' | 'unknown' | 'proposal' | 'repeated'
>

const { taken: says } = payoutFileWords

/** The answers of the bank that were brought, and what the last one of this visit did. */
export function BankAnswers({ file, taken }: { file: PayoutFileDetail; taken: Taken | undefined }) {
  return (
    <Panel title={says.title}>
      {taken && <Outcome taken={taken} />}
      {file.reports.length === 0 && says.none}
      {file.reports.map(({ id, at, by, breaks }) => (
        <div key={id}>
          <When at={at} /> {says.brought(by)}
          {breaks.length > 0 && <Breaks breaks={breaks} />}
        </div>
      ))}
    </Panel>
  )
}

function Outcome({ taken }: { taken: Taken }) {
  const { accepted, paid, refused, unknown, proposal } = taken
  return (
    <div role="status">
      <ul className={classes.taken}>
        {taken.repeated && <li>{says.repeated}</li>}
        {accepted > 0 && <li>{says.accepted(accepted)}</li>}
        {paid > 0 && <li>{says.paid(paid)}</li>}
        {refused > 0 && (
          <li>
            {says.refused(refused)}
            {proposal !== null && (
              <>
                . <PageLink to={pages.approval(proposal)}>{says.proposal}</PageLink>
              </>
            )}
          </li>
        )}
        {unknown > 0 && <li>{says.unknown(unknown)}</li>}
      </ul>
    </div>
  )
}

/** What of an answer changed nothing: it may be a refusal that somebody has to know of. */
function Breaks({ breaks }: { breaks: PayoutFileDetail['reports'][number]['breaks'] }) {
  return (
    <div role="alert">
      {says.breaks}:
      <ul>
        {breaks.map(({ what, found, code }) => (
          <li key={`${what} ${found} ${code}`}>
            {[says.kinds[what] ?? what, found, code].filter(Boolean).join(' · ')}
          </li>
        ))}
      </ul>
    </div>
  )
}
