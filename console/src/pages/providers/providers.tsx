import { NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { trendColumn, useTrends } from '../../parts/sparkline.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { ProviderRoutes } from './provider-routes.tsx'
import { providersWords as says } from './providers-words.ts'
import { SwitchDialog } from './switch-dialog.tsx'

type Provider = Row<typeof api.providers>
type Figure = Row<typeof api.providerFigures>

export default function Providers() {
  const whyDisabled = whyNot(useMe(), 'manage_providers')
  const [askedName, setAsked] = useDraft<string | null>('switch', null)
  const found = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => ask(api.providers, { signal }),
  })
  const connectors = useQuery({
    queryKey: ['connectors'],
    queryFn: ({ signal }) => ask(api.connectors, { signal }),
    enabled: whyDisabled === undefined,
  })
  const accounts = useQuery({
    queryKey: ['bank-accounts'],
    queryFn: ({ signal }) => ask(api.bankAccounts, { signal }),
  })
  const trendOf = useTrends('providers')
  const asked = found.data?.data.find(({ name }) => name === askedName)
  const { filters, set } = useFilters()
  const hours = says.overs.some(([value]) => value === filters.hours) ? filters.hours : '24'
  const figures = useQuery({
    queryKey: ['provider-figures', hours],
    queryFn: ({ signal }) => ask(api.providerFigures, { query: { hours }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  const figureOf = ({ name }: Provider) =>
    figures.data?.data.find(({ provider }) => provider === name)
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        <PageLink to={pages.bankAccounts}>{says.bankAccounts}</PageLink>
        <NativeSelect
          aria-label={says.over}
          value={hours}
          data={says.overs.map(([value, label]) => ({ value, label: `${says.over} ${label}` }))}
          onChange={(event) => set({ hours: event.currentTarget.value })}
        />
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      <DataTable
        label={says.title}
        rows={found.data?.data}
        rowKey={(row) => row.name}
        to={(row) => ({ to: pages.orders, search: { provider: row.name } })}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
        columns={[
          {
            key: 'name',
            head: says.columns.name,
            cell: (row) => (
              <Name
                row={row}
                accounts={accounts.data?.data ?? []}
                connectors={connectors.data?.data ?? []}
              />
            ),
          },
          {
            key: 'state',
            head: says.columns.state,
            cell: (row) => <StateBadge state={row.state} />,
          },
          { key: 'can', head: says.columns.can, cell: can },
          {
            key: 'deposits',
            head: says.columns.deposits,
            right: true,
            cell: (row) => rate(figureOf(row)?.deposits),
          },
          {
            key: 'withdrawals',
            head: says.columns.withdrawals,
            right: true,
            cell: (row) => rate(figureOf(row)?.payouts),
          },
          trendColumn<Provider>('providers', (row) => trendOf(row.name)),
          {
            key: 'open',
            head: says.columns.open,
            right: true,
            cell: (row) => (
              <PageLink to={pages.orders} search={{ status: 'WAITING', provider: row.name }}>
                {figureOf(row)?.open ?? '–'}
              </PageLink>
            ),
          },
          {
            key: 'unknown',
            head: says.columns.unknown,
            right: true,
            cell: (row) => (
              <PageLink to={pages.orders} search={{ payout: 'unknown', provider: row.name }}>
                {figureOf(row)?.unknown ?? '–'}
              </PageLink>
            ),
          },
          {
            key: 'act',
            head: says.columns.act,
            cell: (row) => (
              <ActButton size="compact-xs" whyNot={whyDisabled} onClick={() => setAsked(row.name)}>
                {says.switch}
              </ActButton>
            ),
          },
        ]}
      />
      {figures.isError && <ProblemPanel error={figures.error} />}
      {figures.data && (
        <p>
          {figures.data.complete ? says.since : says.newestSince} <When at={figures.data.since} />
        </p>
      )}
      <ProviderRoutes providers={found.data?.data ?? []} whyDisabled={whyDisabled} />
      {asked && <SwitchDialog provider={asked} close={() => setAsked(null)} />}
    </>
  )
}

/** A bank account and a connector have pages of their own. */
function Name(props: {
  row: Provider
  accounts: { name: string }[]
  connectors: { name: string }[]
}) {
  const { name } = props.row
  const isIn = (rows: { name: string }[]) => rows.some((each) => each.name === name)
  const to = isIn(props.accounts)
    ? pages.bankAccount(name)
    : isIn(props.connectors)
      ? pages.connector(name)
      : undefined
  return <strong>{to === undefined ? name : <PageLink to={to}>{name}</PageLink>}</strong>
}

function rate(of: Figure['payouts'] | undefined): string {
  return of && of.success_rate !== null ? says.rate(of.success_rate, of.paid, of.ended) : '–'
}

function can({ deposits, payouts, currencies }: Provider): string {
  const does = [deposits && says.deposits, payouts && says.payouts].filter(Boolean).join(', ')
  return `${does} (${currencies.join(', ')})`
}
