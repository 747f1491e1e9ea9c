import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import { ordersWords as orders } from '../orders/orders-words.ts'
import type { PaymentDetail } from './payment-detail.ts'
import { paymentWords as says } from './payment-words.ts'

/** The orders that the payment may belong to, as found by the service. */
export function Candidates(props: {
  detail: PaymentDetail
  whyDisabled: string | undefined
  credit: (txnId: string) => void
}) {
  return (
    <DataTable
      label={says.candidates}
      rows={props.detail.candidates}
      rowKey={({ order }) => order.txn_id}
      empty={<Empty title={says.noCandidates} teach={says.noCandidatesTeach} />}
      columns={[
        {
          key: 'order',
          head: orders.columns.txnId,
          phone: 'plain',
          cell: ({ order }) => <CopyId id={order.txn_id} to={pages.order(order.txn_id)} short />,
        },
        { key: 'ref', head: orders.columns.refId, cell: ({ order }) => order.ref_id },
        {
          key: 'status',
          head: orders.columns.status,
          phone: 'plain',
          cell: ({ order }) => <StateBadge state={order.status} />,
        },
        {
          key: 'amount',
          head: orders.columns.amount,
          right: true,
          phone: 'plain',
          cell: ({ order }) => <Money amount={order.amount} currency={order.currency} />,
        },
        {
          key: 'name',
          head: orders.columns.accountName,
          phone: 'plain',
          cell: ({ order }) => order.account_name,
        },
        {
          key: 'created',
          head: orders.columns.createdAt,
          phone: 'plain',
          cell: ({ order }) => <When at={order.created_at} />,
        },
        { key: 'because', head: says.because, phone: 'wide', cell: ({ because }) => because },
        {
          key: 'act',
          head: says.decide,
          phone: 'wide',
          cell: ({ order, why_not }) => (
            <ActButton
              size="compact-sm"
              whyNot={props.whyDisabled ?? why_not}
              onClick={() => props.credit(order.txn_id)}
            >
              {says.credit}
            </ActButton>
          ),
        },
      ]}
    />
  )
}
