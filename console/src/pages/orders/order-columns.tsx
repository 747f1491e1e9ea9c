import type { Row } from '../../api.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Tags } from '../../parts/tags.tsx'
import { When } from '../../parts/when.tsx'
import { type api, pages } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import { ordersWords } from './orders-words.ts'

export type OrderRow = Row<typeof api.orders>

const { columns } = ordersWords

export const orderColumns: Column<OrderRow>[] = [
  {
    key: 'txn_id',
    head: columns.txnId,
    phone: 'plain',
    cell: (row) => <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
  },
  {
    key: 'created_at',
    head: columns.createdAt,
    phone: 'plain',
    cell: (row) => <When at={row.created_at} />,
  },
  {
    key: 'agent',
    head: columns.agent,
    phone: 'plain',
    clip: true,
    cell: (row) => <PageLink to={pages.agent(row.app_id)}>{row.agent_name}</PageLink>,
  },
  { key: 'kind', head: columns.kind, phone: 'plain', cell: (row) => stateWords[row.kind] },
  {
    key: 'status',
    head: columns.status,
    phone: 'beside',
    cell: (row) => <StateBadge state={row.status} />,
  },
  {
    key: 'amount',
    head: columns.amount,
    right: true,
    phone: 'first',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
  },
  {
    key: 'fee',
    head: columns.fee,
    right: true,
    extra: true,
    cell: (row) => <Money amount={row.fee} currency={row.currency} bare />,
  },
  {
    key: 'paid_amount',
    head: columns.paidAmount,
    right: true,
    extra: true,
    cell: (row) => <Money amount={row.paid_amount} currency={row.currency} bare />,
  },
  {
    key: 'ref_id',
    head: columns.refId,
    cell: (row) => <CopyId id={row.ref_id} to={pages.order(row.txn_id)} short />,
  },
  {
    key: 'user_id',
    head: columns.userId,
    clip: true,
    cell: (row) => (
      <PageLink to={pages.orders} search={{ agent: row.app_id, user: row.user_id }}>
        {row.user_id}
      </PageLink>
    ),
  },
  {
    key: 'tags',
    head: columns.tags,
    cell: (row) => (row.tags.length === 0 ? null : <Tags tags={row.tags} />),
  },
  { key: 'assignee', head: columns.assignee, extra: true, cell: (row) => row.assignee ?? '–' },
  {
    key: 'account',
    head: columns.account,
    extra: true,
    cell: (row) => (
      <PageLink to={pages.orders} search={{ agent: row.app_id, account: row.account_no }}>
        {row.bank_code} {row.account_no}
      </PageLink>
    ),
  },
  { key: 'account_name', head: columns.accountName, extra: true, cell: (row) => row.account_name },
  {
    key: 'provider',
    head: columns.provider,
    extra: true,
    cell: (row) =>
      row.provider === null ? '–' : <PageLink to={pages.providers}>{row.provider}</PageLink>,
  },
  {
    key: 'completed_at',
    head: columns.completedAt,
    extra: true,
    cell: (row) => <When at={row.completed_at} />,
  },
]
