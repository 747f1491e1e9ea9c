import { type Column, DataTable } from '../../parts/data-table.tsx'
import { approvalWords as says } from './approval-words.ts'

interface Change {
  field: string
  now: string
  later: string
}

const columns: Column<Change>[] = [
  { key: 'field', head: says.field, phone: 'wide', cell: (row) => row.field },
  { key: 'now', head: says.now, cell: (row) => row.now },
  { key: 'later', head: says.later, cell: (row) => <strong>{row.later}</strong> },
]

/** What would change, field by field, side by side. */
export function Changes(props: { before: unknown; after: unknown }) {
  const [before, after] = [fieldsOf(props.before), fieldsOf(props.after)]
  const names = [...new Set([...before.keys(), ...after.keys()])]
  const rows = names.map((field) => ({
    field: field.replaceAll('_', ' '),
    now: before.get(field) ?? says.nothing,
    later: after.get(field) ?? says.nothing,
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
