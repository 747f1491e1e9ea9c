import { Stack } from '@mantine/core'
import { addressOf } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Money, moneyText } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { api, pages } from '../../paths.ts'
import { may, whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { bankAccountWords } from './bank-account-words.ts'
import { ExplainDialog, type Movement } from './explain-dialog.tsx'

const { movements: says, explain } = bankAccountWords

/** Movements of bank accounts, each with what it is or a button to say so. */
export function MovementTable(props: {
  label: string
  rows: Movement[] | undefined
  empty: React.ReactNode
  /** More columns before the others. */
  first?: Column<Movement>[]
}) {
  const me = useMe()
  const [asked, setAsked] = useDraft<string | null>('explain', null)
  const movement = props.rows?.find(({ id }) => id === asked)
  const columns: Column<Movement>[] = [
    ...(props.first ?? []),
    { key: 'day', head: says.columns.day, phone: 'plain', cell: (row) => row.day },
    {
      key: 'amount',
      head: says.columns.amount,
      right: true,
      phone: 'first',
      cell: (row) => (
        <>
          <Money amount={row.amount} currency={row.currency} signed />
          {row.deducted > 0 && <div>{says.deducted(moneyText(row.deducted, row.currency))}</div>}
        </>
      ),
    },
    {
      key: 'state',
      head: says.columns.state,
      phone: 'plain',
      cell: (row) => <StateBadge state={row.state} {...(row.detail && { title: row.detail })} />,
    },
    {
      key: 'explained',
      head: says.columns.explained,
      cell: (row) => (row.explained_by === null ? '–' : explain.kinds[row.explained_by]),
    },
    { key: 'text', head: says.columns.text, clip: true, cell: (row) => row.text || '–' },
    {
      key: 'payer',
      head: says.columns.payer,
      clip: true,
      cell: (row) => row.payer.name ?? row.payer.account_no ?? '–',
    },
    {
      key: 'order',
      head: says.columns.order,
      cell: (row) =>
        row.txn_id === null ? '–' : <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
    },
    {
      key: 'reported',
      head: says.columns.reported,
      cell: (row) => (
        <>
          {[...row.reported_by.map((each) => says.sources[each] ?? each), ...row.brought_by].join(
            ', ',
          )}
          {row.recorded && <Recorded recorded={row.recorded} />}
        </>
      ),
    },
    {
      key: 'act',
      head: says.columns.act,
      cell: (row) => (
        <Act row={row} whyNot={whyNot(me, 'decide_payments')} ask={() => setAsked(row.id)} />
      ),
    },
  ]
  return (
    <>
      <DataTable
        label={props.label}
        columns={columns}
        rows={props.rows}
        rowKey={(row) => `${row.account} ${row.id}`}
        to={({ payment_id, txn_id }) =>
          payment_id !== null ? pages.payment(payment_id) : txn_id && pages.order(txn_id)
        }
        empty={props.empty}
      />
      {movement && <ExplainDialog movement={movement} close={() => setAsked(null)} />}
    </>
  )
}

/** Who recorded it by hand, and the slip that they believed. */
function Recorded({ recorded }: { recorded: NonNullable<Movement['recorded']> }) {
  const isShown = may(useMe(), 'decide_payments')
  const who = [recorded.by, recorded.approved_by].filter(Boolean).join(', ')
  return (
    <div>
      {who}
      {isShown && (
        <>
          {' · '}
          <a
            href={addressOf(api.slip, { params: { slip: recorded.slip } })}
            target="_blank"
            rel="noreferrer"
          >
            {says.slip}
          </a>
        </>
      )}
    </div>
  )
}

function Act(props: { row: Movement; whyNot: string | undefined; ask: () => void }) {
  const { row } = props
  if (!row.may_explain) return '–'
  return (
    <Stack gap={4} align="flex-start">
      {row.payment_id !== null && (
        <PageLink to={pages.payment(row.payment_id)}>{says.decide}</PageLink>
      )}
      <ActButton size="compact-xs" whyNot={props.whyNot} onClick={props.ask}>
        {explain.button}
      </ActButton>
    </Stack>
  )
}
