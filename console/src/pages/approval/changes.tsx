import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { pages } from '../../paths.ts'
import { approvalWords as says } from './approval-words.ts'

interface Change {
  field: string
  now: string
  later: string
  /** The page of what the field names. */
  to: string | undefined
}

const columns: Column<Change>[] = [
  {
    key: 'field',
    head: says.field,
    phone: 'wide',
    cell: ({ field, to }) =>
      to === undefined ? field.replaceAll('_', ' ') : <CopyId id={field} to={to} short />,
  },
  { key: 'now', head: says.now, cell: (row) => row.now },
  { key: 'later', head: says.later, cell: (row) => <strong>{row.later}</strong> },
]

/** What would change, field by field, side by side. In a list of payments each is a field. */
export function Changes(props: { before: unknown; after: unknown; isOfPayments: boolean }) {
  const [before, after] = [fieldsOf(props.before), fieldsOf(props.after)]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const rows = names.map((field) => ({
    field,
    now: before.get(field) ?? says.nothing,
    later: after.get(field) ?? says.nothing,
    to: props.isOfPayments && after.has(field) ? pages.payment(field) : undefined,
  }))
  return (
    <DataTable
      label={says.changes}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.field}
      empty={says.nothing}
    />
  )
}

function fieldsOf(value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map()
  return new Map(Object.entries(value).map(([name, each]) => [name, textOf(each)]))
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return says.nothing
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value)
}
