import type { Answer } from '../../api.ts'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import type { api } from '../../paths.ts'
import classes from '../bank-account-form/form.module.css'
import { connectorWords } from '../connector/connector-words.ts'
import { canText } from '../connectors/connectors-words.ts'
import { connectorFormWords as says } from './connector-form-words.ts'

export type Checked = Answer<typeof api.checkConnector>

/** What is wrong with a document, beside where; or what it does. */
export function DocumentCheck({ checked }: { checked: Checked | undefined }) {
  return (
    <Panel title={says.checked}>
      <div aria-live="polite">
        {checked?.found ? (
          <Found found={checked.found} />
        ) : checked ? (
          <Faults faults={checked.faults} />
        ) : (
          <p>{says.wait}</p>
        )}
      </div>
    </Panel>
  )
}

function Faults({ faults }: { faults: Checked['faults'] }) {
  return (
    <div className={classes.refused}>
      <strong>{says.faults(faults.length)}</strong>
      <ul className={classes.changes}>
        {faults.map(({ at, says: told }) => (
          <li key={`${at} ${told}`}>
            {at === '' ? says.whole : <code>{at}</code>} {told}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Found({ found }: { found: NonNullable<Checked['found']> }) {
  const { limits, secrets, source } = found
  return (
    <>
      <p>{says.right}</p>
      <Facts
        facts={[
          [says.company, found.company],
          source !== null && [says.source, source],
          [says.can, canText(found)],
          [says.notices, found.notices ? says.hasNotices : says.noNotices],
          [
            says.limits,
            connectorWords.facts.limitsSay(
              limits.calls_at_once,
              limits.calls_per_second,
              limits.timeout_ms,
            ),
          ],
          [
            says.secrets,
            secrets.length === 0
              ? says.noSecrets
              : secrets.map(({ name, found: where }) => `${name}: ${where}`).join('; '),
          ],
        ]}
      />
    </>
  )
}
