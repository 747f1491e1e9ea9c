import { ActionIcon, Menu, Skeleton } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconColumns3 } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { base } from '../root.ts'
import { words } from '../words.ts'
import classes from './table.module.css'

/** A page of the console, with what is chosen there. */
export type Place = string | { to: string; search: Record<string, string> }

export interface Column<T> {
  key: string
  head: string
  cell: (row: T) => ReactNode
  right?: boolean
  /** For text of any length: it is truncated, and hovering shows the rest. */
  clip?: boolean
  /**
   * On a phone: all of these show the value without the column's name, `wide` on a separate line. `first` is the amount,
   * which begins the card in large type, with what is `beside` it; `corner` is at its upper right.
   */
  phone?: 'plain' | 'wide' | 'first' | 'beside' | 'corner'
  /** Hidden until the user selects it. */
  extra?: boolean
}

/** The columns of a table that the user has selected; stored in the browser. */
export function useColumns<T>(table: string, columns: Column<T>[]) {
  const [hidden, setHidden] = useLocalStorage<string[]>({
    key: `sluice.columns.${table}`,
    defaultValue: columns.filter(({ extra }) => extra).map(({ key }) => key),
    getInitialValueInEffect: false,
  })
  return {
    shown: columns.filter(({ key }) => !hidden.includes(key)),
    picker: (
      <Menu closeOnItemClick={false} position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={words.columns} title={words.columns} size="lg" variant="default">
            <IconColumns3 size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {columns.map(({ key, head }) => (
            <Menu.CheckboxItem
              key={key}
              checked={!hidden.includes(key)}
              onChange={() =>
                setHidden((now) =>
                  now.includes(key) ? now.filter((each) => each !== key) : [...now, key],
                )
              }
            >
              {head}
            </Menu.CheckboxItem>
          ))}
        </Menu.Dropdown>
      </Menu>
    ),
  }
}

/** A table; on a phone every row becomes a card that names its columns. */
export function DataTable<T>(props: {
  label: string
  columns: Column<T>[]
  rows: T[] | undefined
  rowKey: (row: T) => string
  /** Marks rows that came in while the page was open. */
  isNew?: (row: T) => boolean
  isChosen?: (row: T) => boolean
  /** The page of a row: a click anywhere in the row leads there, as the link in it does. */
  to?: (row: T) => Place | null
  /** What a click anywhere in the row opens on this page, as the button in it does. */
  open?: (row: T) => void
  empty: ReactNode
}) {
  const { label, columns, rows, rowKey, empty } = props
  const opening = useOpening()
  if (rows?.length === 0) return empty
  return (
    // biome-ignore lint/a11y: no landmark, but what scrolls must have a name and be reachable by keyboard
    <div role="group" className={classes.scroll} aria-label={label} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map(({ key, head, right }) => (
              <th key={key} scope="col" data-right={right || undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: 8 }, (_, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have nothing else
                <tr key={at}>
                  {columns.map(({ key }) => (
                    <td key={key}>
                      <Skeleton height={12} my={4} radius="xl" />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => (
                <tr
                  key={rowKey(row)}
                  data-new={props.isNew?.(row) || undefined}
                  data-chosen={props.isChosen?.(row) || undefined}
                  {...opening(props.open ? () => props.open?.(row) : props.to?.(row))}
                >
                  {columns.map((column) => (
                    <Cell key={column.key} column={column} row={row} />
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
    </div>
  )
}

/** What makes a row lead to its page; what is in it that takes clicks itself keeps them. */
function useOpening() {
  const navigate = useNavigate()
  return (to: Place | (() => void) | null | undefined) =>
    to !== null &&
    to !== undefined && {
      'data-leads': true,
      onClick: (event: MouseEvent<HTMLElement>) => {
        const isOther =
          event.target instanceof Element &&
          event.target.closest('a, button, input, label, select, summary')
        // Whoever marks text to copy it does not want to leave.
        if (isOther || getSelection()?.type === 'Range') return
        if (typeof to === 'function') return to()
        const place = typeof to === 'string' ? { to, search: {} } : to
        if (!event.ctrlKey && !event.metaKey) return void navigate(place)
        const query = new URLSearchParams(place.search)
        window.open(`${base}${place.to}${query.size > 0 ? `?${query}` : ''}`, '_blank', 'noopener')
      },
    }
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const { head, right, phone, clip } = column
  const content = column.cell(row)
  return (
    <td
      data-right={right || undefined}
      data-head={head}
      data-phone={phone}
      data-clip={clip || undefined}
      title={clip && typeof content === 'string' ? content : undefined}
    >
      {content}
    </td>
  )
}
