import { Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { bankAccountsWords as says } from './bank-accounts-words.ts'

type Account = Row<typeof api.bankAccounts>

const columns: Column<Account>[] = [
  {
    key: 'name',
    head: says.columns.name,
    phone: 'plain',
    cell: (row) => <PageLink to={pages.bankAccount(row.name)}>{row.name}</PageLink>,
  },
  {
    key: 'state',
    head: says.columns.state,
    phone: 'plain',
    cell: (row) => <StateBadge state={row.state} />,
  },
  { key: 'currency', head: says.columns.currency, cell: (row) => row.currency },
  {
    key: 'account',
    head: says.columns.account,
    cell: (row) => [row.bank, row.account_no].filter(Boolean).join(' '),
  },
  {
    key: 'places',
    head: says.columns.places,
    cell: ({ places }) =>
      places === null ? says.byCode : says.places(places.all - places.used, places.all),
  },
  { key: 'expected', head: says.columns.expected, right: true, cell: (row) => row.expected },
  {
    key: 'report',
    head: says.columns.report,
    cell: (row) => <When at={row.last_report_at} ago />,
  },
  {
    key: 'day',
    head: says.columns.day,
    cell: ({ name, last_day: last }) =>
      last === null ? (
        '–'
      ) : (
        <Group gap={6} wrap="nowrap">
          <StateBadge state={last.state} />
          <PageLink
            to={pages.reconciliation}
            search={{ account: name, month: last.day.slice(0, 7), day: last.day }}
          >
            {last.day}
          </PageLink>
        </Group>
      ),
  },
  {
    key: 'waiting',
    head: says.columns.waiting,
    cell: (row) => <Waiting account={row} />,
  },
]

/** The bank accounts of the operator, and how each is doing. */
export default function BankAccounts() {
  const me = useMe()
  const navigate = useNavigate()
  const found = useQuery({
    queryKey: ['bank-accounts'],
    queryFn: ({ signal }) => ask(api.bankAccounts, { signal }),
    refetchInterval: 30_000,
  })
  const add = (
    <ActButton
      size="sm"
      whyNot={whyNot(me, 'manage_bank_accounts')}
      onClick={() => void navigate({ to: pages.newBankAccount })}
    >
      {says.add}
    </ActButton>
  )
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        {add}
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {!(found.isError && !found.data) && (
        <DataTable
          label={says.title}
          columns={columns}
          rows={found.data?.data}
          rowKey={(row) => row.name}
          to={(row) => pages.bankAccount(row.name)}
          empty={<Empty title={says.none} teach={says.noneTeach} />}
        />
      )}
    </>
  )
}

function Waiting({ account }: { account: Account }) {
  const { name, unconfirmed, unexplained } = account
  if (unconfirmed === 0 && unexplained === 0) return '–'
  return (
    <Group gap={10}>
      {unconfirmed > 0 && (
        <PageLink to={pages.bankAccount(name)} search={{ view: 'movements', state: 'unconfirmed' }}>
          {says.unconfirmed(unconfirmed)}
        </PageLink>
      )}
      {unexplained > 0 && (
        <PageLink to={pages.bankAccount(name)} search={{ view: 'movements', state: 'unexplained' }}>
          {says.unexplained(unexplained)}
        </PageLink>
      )}
    </Group>
  )
}
