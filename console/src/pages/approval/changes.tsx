import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { pages } from '../../paths.ts'
import classes from './approval.module.css'
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

/** What would change, field by field, side by side, with what helps to decide. In a list of payments each is a field. */
export function Changes(props: Sides & { beside: Sides | null; isOfPayments: boolean }) {
  const { beside } = props
  const before = new Map([...fieldsOf(beside?.before), ...fieldsOf(props.before)])
  const after = new Map([...fieldsOf(beside?.after), ...fieldsOf(props.after)])
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
