import type { Answer } from '../../api.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { type api, pages } from '../../paths.ts'
import classes from '../bank-account-form/form.module.css'
import { bankImportWords as says } from './bank-import-words.ts'

type Preview = Answer<typeof api.previewBankFile>

/** What importing a file would do: what is new, what is known, what it would pay, or why it is refused. */
export function FilePreview({ preview, currency }: { preview: Preview; currency: string }) {
  const { refused, brought_before: before, movements } = preview
  if (refused) {
    return (
      <div className={classes.refused} role="alert">
        <strong>{says.refused(refused.line)}</strong>
        <p>{refused.message}</p>
        <p>{says.refusedTeach}</p>
      </div>
    )
  }
  const { facts } = says
  return (
    <>
      <Panel>
        <Facts
          facts={[
            [facts.format, preview.format ?? '–'],
            [facts.statements, preview.statements],
            [facts.entries, preview.entries],
            [facts.added, <strong key="a">{preview.added}</strong>],
            [facts.known, preview.known],
            preview.pending > 0 && [facts.pending, preview.pending],
          ]}
        />
        {before && (
          <p>
            {says.before(before.by)} <When at={before.at} />. {says.beforeTeach}
          </p>
        )}
        {preview.waits && <p>{says.waits}</p>}
      </Panel>
      <Panel title={says.shown(movements.length, preview.added)}>
        <DataTable
          label={says.shown(movements.length, preview.added)}
          rows={movements.map((row, at) => ({ ...row, at }))}
          rowKey={({ at }) => String(at)}
          empty={<Empty title={says.noneNew} teach={says.noneNewTeach} />}
          columns={[
            { key: 'line', head: says.columns.line, cell: (row) => row.line ?? '–' },
            { key: 'day', head: says.columns.day, phone: 'plain', cell: (row) => row.day },
            {
              key: 'amount',
              head: says.columns.amount,
              right: true,
              phone: 'plain',
              cell: (row) => <Money amount={row.amount} currency={currency} signed />,
            },
            {
              key: 'would',
              head: says.columns.would,
              phone: 'plain',
              cell: (row) => <StateBadge state={row.would} />,
            },
            {
              key: 'order',
              head: says.columns.order,
              cell: (row) =>
                row.txn_id === null ? (
                  '–'
                ) : (
                  <CopyId id={row.txn_id} to={pages.order(row.txn_id)} short />
                ),
            },
            { key: 'text', head: says.columns.text, clip: true, cell: (row) => row.text || '–' },
            {
              key: 'payer',
              head: says.columns.payer,
              clip: true,
              cell: (row) => row.payer.name ?? row.payer.account_no ?? '–',
            },
            { key: 'detail', head: says.columns.detail, phone: 'wide', cell: (row) => row.detail },
          ]}
        />
      </Panel>
      {preview.notes.length > 0 && (
        <Panel title={says.notes}>
          <ul>
            {preview.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}
