import { Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type Answer, ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CursorPages } from '../../parts/cursor-pages.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { HeldBack, type Waiting } from './held-back.tsx'
import { payoutFilesWords as says } from './payout-files-words.ts'

type File = Row<typeof api.payoutFiles>

/** What waits for the next file of each account, and the files there are. */
export default function PayoutFiles() {
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <Stack gap="md">
        <WhatWaits />
        <Files />
      </Stack>
    </>
  )
}

function WhatWaits() {
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { waiting: words } = says
  const found = useQuery({
    queryKey: ['payouts-waiting'],
    queryFn: ({ signal }) => ask(api.payoutsWaiting, { signal }),
    refetchInterval: 30_000,
  })
  const making = useMutation({
    mutationFn: (account: string) => ask(api.draftPayoutFile, { body: { account } }),
    onSuccess: async ({ id }) => {
      notifications.show({ message: words.made })
      await navigate({ to: pages.payoutFile(id) })
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['payouts-waiting'] })
      void queries.invalidateQueries({ queryKey: ['payout-files'] })
    },
  })
  const columns: Column<Waiting>[] = [
    {
      key: 'account',
      head: words.columns.account,
      phone: 'plain',
      cell: (row) => <PageLink to={pages.bankAccount(row.account)}>{row.account}</PageLink>,
    },
    { key: 'count', head: words.columns.count, right: true, cell: (row) => row.count },
    {
      key: 'sum',
      head: words.columns.sum,
      right: true,
      phone: 'first',
      cell: (row) => <Money amount={row.sum} currency={row.currency} />,
    },
    {
      key: 'cutoff',
      head: words.columns.cutoff,
      cell: (row) =>
        row.next_cutoff === null ? (
          words.noCutoff
        ) : (
          <span title={words.cutoff(row.cutoffs.join(', '), row.zone)}>
            <When at={row.next_cutoff} /> (<When at={row.next_cutoff} due />)
          </span>
        ),
    },
    { key: 'execution', head: words.columns.execution, cell: (row) => row.execution_date },
    {
      key: 'act',
      head: words.columns.act,
      cell: (row) => (
        <ActButton
          whyNot={whyNot(me, 'make_payout_files') ?? (row.count === 0 ? words.nothing : undefined)}
          loading={making.isPending && making.variables === row.account}
          aria-label={words.makeFor(row.account)}
          onClick={() => making.mutate(row.account)}
        >
          {words.make}
        </ActButton>
      ),
    },
  ]
  const held = found.data?.data.filter(({ locked }) => locked.length > 0) ?? []
  return (
    <>
      {held.map((waiting) => (
        <HeldBack key={waiting.account} waiting={waiting} />
      ))}
      {found.data && found.data.stuck.length > 0 && (
        <Panel title={words.stuck(found.data.stuck_count)}>
          <DataTable
            label={words.stuck(found.data.stuck_count)}
            columns={stuckColumns}
            rows={found.data.stuck}
            rowKey={(row) => row.txn_id}
            to={(row) => pages.order(row.txn_id)}
            empty={words.nothing}
          />
        </Panel>
      )}
      <Panel title={words.title}>
        {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
        {making.isError && <ProblemPanel error={making.error} />}
        {!(found.isError && !found.data) && (
          <DataTable
            label={words.title}
            columns={columns}
            rows={found.data?.data}
            rowKey={(row) => row.account}
            empty={
              <Empty title={words.none} teach={words.noneTeach}>
                <PageLink to={pages.bankAccounts}>{words.accounts}</PageLink>
              </Empty>
            }
          />
        )}
      </Panel>
    </>
  )
}

type Stuck = Answer<typeof api.payoutsWaiting>['stuck'][number]

const stuckColumns: Column<Stuck>[] = [
  {
    key: 'order',
    head: says.waiting.columns.count,
    phone: 'plain',
    cell: (row) => <PageLink to={pages.order(row.txn_id)}>{row.txn_id}</PageLink>,
  },
  {
    key: 'amount',
    head: says.waiting.columns.sum,
    right: true,
    phone: 'first',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
  },
  { key: 'why', head: says.waiting.why, phone: 'wide', cell: (row) => row.why },
]

const { columns: heads, next } = says.files

const columns: Column<File>[] = [
  {
    key: 'made',
    head: heads.made,
    phone: 'plain',
    cell: (row) => (
      <PageLink to={pages.payoutFile(row.id)}>
        <When at={row.made_at} />
      </PageLink>
    ),
  },
  {
    key: 'account',
    head: heads.account,
    phone: 'plain',
    cell: (row) => <PageLink to={pages.bankAccount(row.account)}>{row.account}</PageLink>,
  },
  {
    key: 'state',
    head: heads.state,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.state} />,
  },
  { key: 'next', head: heads.next, cell: (row) => next[row.state] },
  { key: 'count', head: heads.count, right: true, cell: (row) => row.count },
  {
    key: 'sum',
    head: heads.sum,
    right: true,
    phone: 'first',
    cell: (row) => <Money amount={row.sum} currency={row.currency} />,
  },
  { key: 'by', head: heads.by, cell: (row) => row.made_by },
]

function Files() {
  const { filters } = useFilters()
  const { account, cursor } = filters
  const query = { account, cursor, limit: '50' }
  const found = useQuery({
    queryKey: ['payout-files', query],
    queryFn: ({ signal }) => ask(api.payoutFiles, { query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  return (
    <Panel title={says.files.title}>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.files.title}
          columns={columns}
          rows={found.data?.data}
          rowKey={(row) => row.id}
          to={(row) => pages.payoutFile(row.id)}
          empty={<Empty title={says.files.none} teach={says.files.noneTeach} />}
        />
      )}
      <CursorPages next={found.data?.next} />
    </Panel>
  )
}
