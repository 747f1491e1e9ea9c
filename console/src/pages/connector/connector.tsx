import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useDraft } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from '../bank-account/bank-account.module.css'
import { useWaiting } from '../connectors/connector-state.ts'
import { canText } from '../connectors/connectors-words.ts'
import { SwitchDialog } from '../providers/switch-dialog.tsx'
import { ConnectorDocument } from './connector-document.tsx'
import { ConnectorOverview } from './connector-overview.tsx'
import { ConnectorSamples } from './connector-samples.tsx'
import { ConnectorTester } from './connector-tester.tsx'
import { connectorWords as says } from './connector-words.ts'
import { UseDialog } from './use-dialog.tsx'
import { whyNotUse } from './why-not-use.ts'

const views = ['overview', 'document', 'samples', 'try'] as const

/** One connector: how it is doing, its document and secrets, its samples, and what it makes of an answer. */
export default function Connector() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const me = useMe()
  const navigate = useNavigate()
  const { filters } = useFilters()
  const waiting = useWaiting().get(name)
  const [using, setUsing] = useDraft<number | null>('use', null)
  const [isSwitching, setSwitching] = useDraft('switch', false)
  const found = useQuery({
    queryKey: ['connector', name],
    queryFn: ({ signal }) => ask(api.connector, { params: { name }, signal }),
    refetchInterval: 15_000,
  })
  const connector = found.data
  if (!connector) {
    return (
      <>
        <PageHead title={name} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const view = views.find((each) => each === filters.view) ?? 'overview'
  const newest = connector.newest_version
  const whyMayNot = whyNot(me, 'manage_providers')
  const whyNotOf = (version: number) =>
    whyMayNot ?? (waiting === undefined ? whyNotUse(connector, version) : says.use.waits)
  return (
    <>
      <PageHead title={connector.name} says={says.says(connector.company, canText(connector))}>
        <ActButton
          size="sm"
          whyNot={whyMayNot}
          onClick={() => void navigate({ to: pages.newConnectorVersion(name) })}
        >
          {says.newVersion}
        </ActButton>
        <ActButton
          size="sm"
          whyNot={whyMayNot ?? (connector.version === null ? says.switch.notUsed : undefined)}
          onClick={() => setSwitching(true)}
        >
          {says.switch.button}
        </ActButton>
        <ActButton
          size="sm"
          variant="filled"
          whyNot={whyNotOf(newest)}
          onClick={() => setUsing(newest)}
        >
          {says.use.button(newest)}
        </ActButton>
      </PageHead>
      {waiting !== undefined && (
        <div className={classes.waits}>
          <strong>{says.waits.title}</strong>
          <p>
            {says.waits.says} <PageLink to={pages.approval(waiting)}>{says.waits.link}</PageLink>
          </p>
        </div>
      )}
      <nav className={classes.views} aria-label={says.viewsLabel}>
        {views.map((each) => (
          <Link
            key={each}
            to={pages.connector(name)}
            search={each === 'overview' ? {} : { view: each }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={each === view ? 'page' : undefined}
          >
            {says.views[each]}
          </Link>
        ))}
      </nav>
      {view === 'overview' && <ConnectorOverview connector={connector} />}
      {view === 'document' && (
        <ConnectorDocument connector={connector} whyNotUse={whyNotOf} use={setUsing} />
      )}
      {view === 'samples' && <ConnectorSamples connector={connector} />}
      {view === 'try' && <ConnectorTester connector={connector} />}
      {using !== null && (
        <UseDialog connector={connector} version={using} close={() => setUsing(null)} />
      )}
      {isSwitching && <SwitchDialog provider={connector} close={() => setSwitching(false)} />}
    </>
  )
}
