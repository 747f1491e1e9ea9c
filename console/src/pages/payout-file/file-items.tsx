import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { ActButton } from '../../parts/act-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { pages } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import type { PayoutFileDetail } from './payout-file-detail.ts'
import { payoutFileWords } from './payout-file-words.ts'

export type Item = PayoutFileDetail['items'][number]

const { items: says } = payoutFileWords
/** A file may have ten thousand: a browser draws so many at once. */
const step = 200

/** The payouts of a file, each with its state and what the bank said of it. */
export function FileItems(props: {
  file: PayoutFileDetail
  /** Asks to take a payout out; undefined while none can be. */
  takeOut: ((item: Item) => void) | undefined
  /** Why the user may not. */
  whyNot: string | undefined
}) {
  const { file } = props
  const [state, setState] = useState('')
  const [most, setMost] = useState(step)
  const counts = new Map<string, number>()
  for (const item of file.items) counts.set(stateOf(item), (counts.get(stateOf(item)) ?? 0) + 1)
  const found = file.items.filter((item) => state === '' || stateOf(item) === state)
  const left = found.length - most
  return (
    <Panel
      title={says.title}
      tools={
        counts.size > 1 && (
          <NativeSelect
            aria-label={says.state}
            value={state}
            data={[
              { value: '', label: says.all(file.items.length) },
              ...[...counts].map(([value, count]) => ({
                value,
                label: says.ofState(stateWords[value] ?? value, count),
              })),
            ]}
            onChange={(event) => setState(event.currentTarget.value)}
          />
        )
      }
    >
      <DataTable
        label={says.title}
        columns={[...columnsOf(file.currency), ...takeOutColumn(props)]}
        rows={found.slice(0, most)}
        rowKey={(row) => row.txn_id}
        to={(row) => pages.order(row.txn_id)}
        empty={<Empty title={says.none} teach={says.noneTeach} />}
      />
      {left > 0 && (
        <Button variant="default" mt="sm" onClick={() => setMost(most + step)}>
          {says.more(Math.min(left, step))}
        </Button>
      )}
    </Panel>
  )
}

/** What people did with it says more than that it is refused. */
function stateOf({ state, ended }: Item): string {
  return ended !== null && state !== 'paid' && state !== 'returned' ? ended : state
}

function takeOutColumn({ takeOut, whyNot }: Parameters<typeof FileItems>[0]): Column<Item>[] {
  if (!takeOut) return []
  return [
    {
      key: 'act',
      head: says.columns.act,
      cell: (row) =>
        row.ended === null &&
        row.code !== null && (
          <ActButton
            size="xs"
            whyNot={whyNot}
            aria-label={says.takeOutOf(row.code)}
            onClick={() => takeOut(row)}
          >
            {says.takeOut}
          </ActButton>
        ),
    },
  ]
}

function columnsOf(currency: string): Column<Item>[] {
  const { columns: heads } = says
  return [
    {
      key: 'order',
      head: heads.order,
      phone: 'plain',
      cell: (row) => <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />,
    },
    {
      key: 'amount',
      head: heads.amount,
      right: true,
      phone: 'first',
      cell: (row) => <Money amount={row.amount} currency={currency} />,
    },
    {
      key: 'state',
      head: heads.state,
      phone: 'plain',
      cell: (row) => <StateBadge state={stateOf(row)} />,
    },
    { key: 'payee', head: heads.payee, clip: true, cell: (row) => row.payee.name },
    { key: 'account', head: heads.account, cell: (row) => row.payee.account_no },
    { key: 'bank', head: heads.bank, cell: (row) => row.payee.bank },
    { key: 'code', head: heads.code, cell: (row) => row.code ?? '–' },
    { key: 'said', head: heads.said, clip: true, cell: (row) => row.said ?? '–' },
  ]
}
