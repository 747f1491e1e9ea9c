import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ActButton } from '../../parts/act-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import type { ConnectorDetail, ConnectorVersion } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'
import { documentQuery } from './document-query.ts'
import { VersionSelect, versionIn } from './version-select.tsx'

const { versions: says, document: documentWords, use: useWords } = connectorWords

/** The versions of the document, one of them to read, and which was used when. */
export function ConnectorDocument(props: {
  connector: ConnectorDetail
  whyNotUse: (version: number) => string | undefined
  use: (version: number) => void
}) {
  const { connector } = props
  const { filters, set } = useFilters()
  const version = versionIn(connector, filters.version)
  const found = useQuery(documentQuery(connector.name, version))
  return (
    <Stack gap="md">
      <Panel title={says.title}>
        <Versions {...props} />
      </Panel>
      <Panel title={documentWords.label(version)}>
        <Stack gap="sm">
          <VersionSelect
            connector={connector}
            value={version}
            choose={(chosen) => set({ version: chosen })}
          />
          {found.isError && <ProblemPanel error={found.error} />}
          {found.data ? (
            <RawView raw={found.data.document} label={documentWords.label(version)} />
          ) : (
            !found.isError && <Skeleton height={240} />
          )}
        </Stack>
      </Panel>
      <Panel title={says.uses}>
        <DataTable
          label={says.uses}
          rows={connector.uses}
          rowKey={({ use }) => String(use)}
          empty={<p>{says.noUses}</p>}
          columns={[
            { key: 'at', head: says.since, phone: 'plain', cell: (row) => <When at={row.at} /> },
            { key: 'version', head: says.version, cell: (row) => row.version },
            { key: 'by', head: says.by, cell: (row) => row.by },
            { key: 'why', head: says.why, phone: 'wide', cell: (row) => row.reason ?? '–' },
          ]}
        />
      </Panel>
    </Stack>
  )
}

function Versions(props: Parameters<typeof ConnectorDocument>[0]) {
  const { connector } = props
  return (
    <DataTable
      label={says.title}
      rows={[...connector.versions].reverse()}
      rowKey={({ version }) => String(version)}
      isChosen={({ version }) => version === connector.version}
      empty={<p>{says.none}</p>}
      columns={[
        {
          key: 'version',
          head: says.version,
          phone: 'plain',
          cell: ({ version }) => (
            <PageLink
              to={pages.connector(connector.name)}
              search={{ view: 'document', version: String(version) }}
            >
              {connectorWords.versionOf(version, version === connector.version)}
            </PageLink>
          ),
        },
        { key: 'samples', head: says.samples, phone: 'plain', cell: Samples },
        { key: 'added', head: says.added, cell: (row) => <When at={row.added_at} /> },
        { key: 'by', head: says.by, cell: (row) => row.added_by },
        { key: 'why', head: says.why, phone: 'wide', cell: (row) => row.reason ?? '–' },
        {
          key: 'act',
          head: says.act,
          phone: 'plain',
          cell: ({ version }) => (
            <ActButton
              size="compact-xs"
              whyNot={props.whyNotUse(version)}
              aria-label={`${useWords.short} ${version}`}
              onClick={() => props.use(version)}
            >
              {useWords.short}
            </ActButton>
          ),
        },
      ]}
    />
  )
}

function Samples({ passed, tried_at, tried_by }: ConnectorVersion) {
  if (passed) return <Toned tone="good">{says.passed}</Toned>
  if (tried_at === null) return <Toned tone="calm">{says.notTried}</Toned>
  return (
    <Toned tone="bad" title={tried_by ?? undefined}>
      {says.notPassed}
    </Toned>
  )
}
