import { Button, Modal, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Row } from '../../api.ts'
import { locale } from '../../languages/language.ts'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable, useColumns } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Facts } from '../../parts/facts.tsx'
import { type Field, FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import { apiLogWords as says } from './api-log-words.ts'

type Request = Row<typeof api.apiLog>

/** What agents asked lately, and what they were answered. */
export default function ApiLog() {
  const { filters } = useFilters()
  const isAgent = useMe().user.role === 'agent'
  const [shownRequest, setShown] = useState<Request | undefined>()
  const found = useQuery({
    queryKey: ['api-log', filters],
    queryFn: ({ signal }) => ask(api.apiLog, { query: filters, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.cursor === undefined ? 5_000 : false,
  })
  const { shown, picker } = useColumns(
    'api-log',
    columnsFor(setShown).filter(({ key }) => !isAgent || key !== 'agent'),
  )
  return (
    <>
      <PageHead title={says.title} says={isAgent ? says.saysOwn : says.says}>
        {picker}
      </PageHead>
      <FilterBar fields={useFields(isAgent)} />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={shown}
          rows={found.data?.data}
          rowKey={(row) => row.request_id}
          open={setShown}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
      <Modal
        opened={shownRequest !== undefined}
        onClose={() => setShown(undefined)}
        title={says.details}
        size="lg"
        closeButtonProps={{ 'aria-label': words.close }}
      >
        {shownRequest && <Details request={shownRequest} />}
      </Modal>
    </>
  )
}

function useFields(isAgent: boolean): Field[] {
  const choices = useAgentChoices()
  return [
    {
      kind: 'choice',
      name: 'answered',
      label: says.answered,
      choices: [['refused', says.refused]],
    },
    ...(isAgent
      ? []
      : [{ kind: 'choice' as const, name: 'agent', label: says.columns.agent, choices }]),
  ]
}

function columnsFor(show: (request: Request) => void): Column<Request>[] {
  return [
    { key: 'at', head: says.columns.at, phone: 'plain', cell: (row) => <When at={row.at} /> },
    {
      key: 'status',
      head: says.columns.status,
      phone: 'plain',
      cell: (row) => <AnswerBadge request={row} />,
    },
    {
      key: 'agent',
      head: says.columns.agent,
      cell: (row) => <PageLink to={pages.agent(row.app_id)}>{row.agent_name}</PageLink>,
    },
    {
      key: 'request',
      head: says.columns.request,
      phone: 'wide',
      clip: true,
      cell: (row) => `${row.method} ${row.path}`,
    },
    {
      key: 'took',
      head: says.columns.took,
      right: true,
      cell: (row) => says.ms(row.duration_ms),
    },
    { key: 'ip', head: says.columns.ip, extra: true, cell: (row) => row.ip },
    {
      key: 'left_out',
      head: says.columns.leftOut,
      right: true,
      extra: true,
      cell: (row) => row.left_out.toLocaleString(locale),
    },
    {
      key: 'more',
      head: says.columns.more,
      phone: 'plain',
      cell: (row) => (
        <Button
          variant="default"
          aria-label={says.showWhat(`${row.method} ${row.path}`)}
          onClick={() => show(row)}
        >
          {says.show}
        </Button>
      ),
    },
  ]
}

function AnswerBadge({ request: { status, code } }: { request: Request }) {
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
  return <Toned tone={tone}>{code === null ? String(status) : `${status} ${code}`}</Toned>
}

function Details({ request }: { request: Request }) {
  const { app_id, method, path, body, request_id } = request
  return (
    <Stack gap="sm">
      <Facts
        facts={[
          [says.columns.request, `${method} ${path}`],
          [says.columns.status, <AnswerBadge key="answer" request={request} />],
          request.detail !== null && [says.detail, request.detail],
          [says.columns.at, <When key="at" at={request.at} />],
          [says.columns.took, says.ms(request.duration_ms)],
          [says.columns.ip, request.ip],
          [says.requestId, request_id],
        ]}
      />
      {body === null ? <p>{says.noBody}</p> : <RawView raw={body} label={says.body} />}
      <PageLink
        to={pages.debugger}
        search={{ request: request_id, agent: app_id, method, path, body: body ?? '' }}
      >
        {says.debug}
      </PageLink>
      <span>{says.debugHint}</span>
    </Stack>
  )
}
