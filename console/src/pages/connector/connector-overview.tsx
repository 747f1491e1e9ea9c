import { Stack } from '@mantine/core'
import { locale } from '../../languages/language.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import classes from '../bank-account/bank-account.module.css'
import { stateOf } from '../connectors/connector-state.ts'
import { canText } from '../connectors/connectors-words.ts'
import type { ConnectorDetail } from './connector-detail.ts'
import { ConnectorSecrets } from './connector-secrets.tsx'
import { connectorWords } from './connector-words.ts'

const { facts, figures: says } = connectorWords

/** What the connector is, how its calls go, and which secrets it has. */
export function ConnectorOverview({ connector }: { connector: ConnectorDetail }) {
  const { limits, account, source, uses } = connector
  const [use] = uses
  return (
    <Stack gap="md">
      <div className={classes.columns}>
        <Panel title={facts.title}>
          <Facts
            facts={[
              [facts.state, <StateBadge key="s" state={stateOf(connector)} />],
              connector.fault !== null && [facts.fault, connector.fault],
              [facts.company, connector.company],
              source !== null && [facts.source, source],
              [facts.can, canText(connector)],
              account !== null && [
                facts.account,
                <PageLink key="a" to={pages.bankAccount(account)}>
                  {account}
                </PageLink>,
              ],
              [
                facts.version,
                use ? (
                  <span key="v">
                    {use.version}, <When at={use.at} /> {facts.by(use.by)}
                  </span>
                ) : (
                  facts.noVersion
                ),
              ],
              [facts.newest, connector.newest_version],
              [facts.noticeUrl, <CopyId key="n" id={connector.notice_url} />],
              [
                facts.limits,
                facts.limitsSay(limits.calls_at_once, limits.calls_per_second, limits.timeout_ms),
              ],
            ]}
          />
        </Panel>
        <Calls connector={connector} />
      </div>
      <ConnectorSecrets connector={connector} />
    </Stack>
  )
}

function Calls({ connector: { figures } }: { connector: ConnectorDetail }) {
  return (
    <Panel title={says.title}>
      {figures ? (
        <>
          <Facts
            facts={[
              [says.state, says.states[figures.state]],
              [says.calls, figures.calls.toLocaleString(locale)],
              [says.failures, figures.failures.toLocaleString(locale)],
              [says.notCalled, figures.not_called.toLocaleString(locale)],
              [says.underWay, figures.under_way],
              [
                says.lastFault,
                figures.last_fault === null ? (
                  says.noFault
                ) : (
                  <span key="f">
                    <When at={figures.last_fault_at} ago /> {figures.last_fault}
                  </span>
                ),
              ],
            ]}
          />
          <p>{says.says(figures.processes)}</p>
        </>
      ) : (
        <p>{says.none}</p>
      )}
    </Panel>
  )
}
