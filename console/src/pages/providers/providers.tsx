import { NativeSelect } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import { ProviderRoutes } from './provider-routes.tsx'

type Provider = Row<typeof api.providers>

const { providers: says } = words

export default function Providers() {
  const shut = whyNot(useMe(), 'manage_providers')
  const [asked, setAsked] = useState<Provider>()
  const found = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => ask(api.providers, { signal }),
  })
  const home = useQuery({
    queryKey: ['home'],
    queryFn: ({ signal }) => ask(api.home, { signal }),
    refetchInterval: 15_000,
  })
  const today = (name: string) => home.data?.providers?.find((each) => each.name === name)
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      <DataTable
        label={says.title}
        rows={found.data?.data}
        rowKey={(row) => row.name}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
        columns={[
          { key: 'name', head: says.columns.name, cell: (row) => <strong>{row.name}</strong> },
          {
            key: 'state',
            head: says.columns.state,
            cell: (row) => <StateBadge state={row.state} />,
          },
          { key: 'can', head: says.columns.can, cell: can },
          {
            key: 'paid',
            head: says.columns.paid,
            right: true,
            cell: (row) => today(row.name)?.paid ?? '–',
          },
          {
            key: 'failed',
            head: says.columns.failed,
            right: true,
            cell: (row) => today(row.name)?.failed ?? '–',
          },
          {
            key: 'open',
            head: says.columns.open,
            right: true,
            cell: (row) => today(row.name)?.open ?? '–',
          },
          {
            key: 'unknown',
            head: says.columns.unknown,
            right: true,
            cell: (row) => (
              <PageLink
                to={pages.orders}
                search={{ kind: 'withdraw', status: 'WAITING', provider: row.name }}
              >
                {today(row.name)?.unknown ?? '–'}
              </PageLink>
            ),
          },
          {
            key: 'act',
            head: says.columns.act,
            cell: (row) => (
              <ActButton size="compact-xs" whyNot={shut} onClick={() => setAsked(row)}>
                {says.switch}
              </ActButton>
            ),
          },
        ]}
      />
      <ProviderRoutes providers={found.data?.data ?? []} shut={shut} />
      {asked && <SwitchDialog provider={asked} close={() => setAsked(undefined)} />}
    </>
  )
}

function can({ deposits, payouts, currencies }: Provider): string {
  const does = [deposits && says.deposits, payouts && says.payouts].filter(Boolean).join(', ')
  return `${does} (${currencies.join(', ')})`
}

function SwitchDialog({ provider, close }: { provider: Provider; close: () => void }) {
  const queries = useQueryClient()
  const [state, setState] = useState(provider.state)
  const states: Provider['state'][] = ['on', 'draining', 'off']
  return (
    <ActDialog
      title={says.switchTitle(provider.name)}
      explain={says.states[state]}
      confirm={says.switch}
      danger={state === 'off'}
      close={close}
      act={async ({ reason }) => {
        await ask(api.setProvider, { params: { id: provider.name }, body: { state, reason } })
        await queries.invalidateQueries({ queryKey: ['providers'] })
      }}
    >
      <NativeSelect
        label={says.columns.state}
        value={state}
        data={states}
        onChange={({ currentTarget: { value } }) =>
          setState(states.find((each) => each === value) ?? 'on')
        }
      />
    </ActDialog>
  )
}
