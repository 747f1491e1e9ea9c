import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconSearch, IconX } from '@tabler/icons-react'
import { type ReactNode, use, useEffect, useState } from 'react'
import { plainNumber } from '../languages/language.ts'
import { words } from '../words.ts'
import classes from './filter-bar.module.css'
import { useFilters } from './url-filters.ts'
import { TimeZone } from './when.tsx'
import { fromLocal, toLocal } from './zoned-time.ts'

export type Choice = readonly [value: string, label: string]

/** `more`: hidden until it is in use or the user opens "More filters". */
export type Field = { name: string; label: string; more?: boolean } & (
  | { kind: 'search'; hint: string }
  | { kind: 'text'; hint?: string; numeric?: boolean }
  | { kind: 'choice'; choices: readonly Choice[]; any?: string }
  | { kind: 'time' }
  | { kind: 'day' }
)

/** Filters that are part of the address. Text input goes there once the user stops typing. */
export function FilterBar(props: {
  fields: Field[]
  /** Parts of the address that are no filters: clearing the filters keeps them. */
  keep?: string[]
  children?: ReactNode
}) {
  const { fields, keep = [], children } = props
  const { filters, set, replaceAll } = useFilters()
  const used = fields.some(({ name }) => filters[name] !== undefined)
  const hasMore = fields.some(({ more }) => more)
  const [wantsMore, setWantsMore] = useState(false)
  // Also where a link sets one on the page that is shown.
  const isOpen = wantsMore || fields.some(({ name, more }) => more && filters[name] !== undefined)
  return (
    <search className={classes.bar} aria-label={words.filters} data-open={isOpen || undefined}>
      {fields.map((field) => (
        <div
          key={field.name}
          className={classes[field.kind]}
          data-fold={field.more ? 'always' : field.kind === 'search' ? undefined : 'phone'}
        >
          <FilterField
            field={field}
            value={filters[field.name] ?? ''}
            change={(value) => set({ [field.name]: value })}
          />
        </div>
      ))}
      <div className={classes.tools}>
        <Button
          className={hasMore ? undefined : classes.phoneOnly}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconAdjustmentsHorizontal size={14} />}
          aria-expanded={isOpen}
          onClick={() => setWantsMore(!isOpen)}
        >
          {isOpen ? words.fewerFilters : words.moreFilters}
        </Button>
        {used && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<IconX size={13} />}
            onClick={() =>
              replaceAll(
                Object.fromEntries(Object.entries(filters).filter(([name]) => keep.includes(name))),
              )
            }
          >
            {words.clearFilters}
          </Button>
        )}
        {children}
      </div>
    </search>
  )
}

function FilterField(props: { field: Field; value: string; change: (value: string) => void }) {
  const { field, value, change } = props
  switch (field.kind) {
    case 'choice':
      return (
        <NativeSelect
          aria-label={field.label}
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
          data-used={value !== '' || undefined}
        >
          <option value="">{field.any ?? field.label}</option>
          {field.choices.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </NativeSelect>
      )
    case 'day':
      return (
        <TextInput
          aria-label={field.label}
          leftSection={<span className={classes.timeLabel}>{field.label}</span>}
          leftSectionWidth={46}
          type="date"
          value={value}
          onChange={(event) => change(event.currentTarget.value)}
        />
      )
    case 'time':
      return <TimeField label={field.label} value={value} change={change} />
    case 'search':
    case 'text':
      return <Typed {...props} field={field} />
  }
}

function Typed(props: {
  field: Extract<Field, { kind: 'search' | 'text' }>
  value: string
  change: (value: string) => void
}) {
  const { field, value, change } = props
  const [typed, setTyped] = useState(value)
  const changeSoon = useDebouncedCallback(change, 350)
  useEffect(() => setTyped(value), [value])
  const isSearch = field.kind === 'search'
  const isNumeric = field.kind === 'text' && field.numeric === true
  const meant = (text: string) => (isNumeric ? plainNumber(text) : text.trim())
  return (
    <TextInput
      aria-label={field.label}
      type={isSearch ? 'search' : 'text'}
      inputMode={isNumeric ? 'decimal' : 'text'}
      placeholder={field.hint ?? field.label}
      leftSection={isSearch ? <IconSearch size={15} /> : undefined}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        changeSoon(meant(event.currentTarget.value))
      }}
      onKeyDown={(event) => event.key === 'Enter' && change(meant(typed))}
    />
  )
}

/** A time in the service's zone; the address holds it with its zone. */
function TimeField(props: { label: string; value: string; change: (value: string) => void }) {
  const zone = use(TimeZone)
  return (
    <TextInput
      aria-label={props.label}
      leftSection={<span className={classes.timeLabel}>{props.label}</span>}
      leftSectionWidth={46}
      type="datetime-local"
      value={props.value === '' ? '' : toLocal(props.value, zone)}
      onChange={(event) => {
        const typed = event.currentTarget.value
        props.change(typed === '' ? '' : fromLocal(typed, zone))
      }}
    />
  )
}
