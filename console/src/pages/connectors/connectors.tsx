import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { locale } from '../../languages/language.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { type ConnectorSummary, stateOf, useWaiting } from './connector-state.ts'
import { canText, connectorsWords as says } from './connectors-words.ts'

/** The payment companies that are connected by a document, and how each is doing. */
export default function Connectors() {
  const me = useMe()
  const navigate = useNavigate()
  const waiting = useWaiting()
  const found = useQuery({
    queryKey: ['connectors'],
    queryFn: ({ signal }) => ask(api.connectors, { signal }),
    refetchInterval: 15_000,
  })
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'manage_providers')}
          onClick={() => void navigate({ to: pages.newConnector })}
        >
          {says.add}
        </ActButton>
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={columnsWith(waiting)}
          rows={found.data?.data}
          rowKey={(row) => row.name}
          to={(row) => pages.connector(row.name)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
    </>
  )
}

function columnsWith(waiting: ReadonlyMap<string, string>): Column<ConnectorSummary>[] {
  const { columns } = says
  return [
    {
      key: 'name',
      head: columns.name,
      phone: 'plain',
      cell: (row) => <PageLink to={pages.connector(row.name)}>{row.name}</PageLink>,
    },
    {
      key: 'state',
      head: columns.state,
      phone: 'plain',
      cell: (row) => (
        <Group gap={6}>
          <StateBadge state={stateOf(row)} />
          {waiting.has(row.name) && <StateBadge state="waits_for_another" />}
        </Group>
      ),
    },
    { key: 'company', head: columns.company, clip: true, cell: (row) => row.company },
    { key: 'can', head: columns.can, cell: canText },
    { key: 'version', head: columns.version, cell: versionText },
    {
      key: 'calls',
      head: columns.calls,
      right: true,
      cell: ({ figures }) => figures?.calls.toLocaleString(locale) ?? '–',
    },
    {
      key: 'failures',
      head: columns.failures,
      right: true,
      cell: ({ figures }) => figures?.failures.toLocaleString(locale) ?? '–',
    },
    {
      key: 'fault',
      head: columns.fault,
      clip: true,
      cell: ({ figures }) => figures?.last_fault ?? '–',
    },
  ]
}

function versionText({ version, newest_version }: ConnectorSummary): string {
  const isOld = version !== null && newest_version > version
  return isOld ? `${version} (${says.newer(newest_version)})` : String(version ?? '–')
}
