import { type Column, DataTable } from '../../parts/data-table.tsx'
import classes from './approval.module.css'
import { approvalWords as says } from './approval-words.ts'

interface Change {
  field: string
  now: string
  later: string
}

const columns: Column<Change>[] = [
  { key: 'field', head: says.field, phone: 'wide', cell: (row) => row.field },
  { key: 'now', head: says.now, cell: (row) => <Shown value={row.now} /> },
  {
    key: 'later',
    head: says.later,
    cell: (row) => (
      <strong>
        <Shown value={row.later} />
      </strong>
    ),
  },
]

/** A value, or the picture that it is. */
function Shown({ value }: { value: string }) {
  return value.startsWith('data:image/') ? (
    <img className={classes.picture} src={value} alt={says.picture} />
  ) : (
    value
  )
}

interface Sides {
  before: unknown
  after: unknown
}

/** What would change, field by field, side by side, with what helps to decide. */
export function Changes({ beside, ...change }: Sides & { beside: Sides | null }) {
  const before = new Map([...fieldsOf(beside?.before), ...fieldsOf(change.before)])
  const after = new Map([...fieldsOf(beside?.after), ...fieldsOf(change.after)])
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
