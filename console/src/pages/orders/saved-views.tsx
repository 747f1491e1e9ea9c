import { Button, Group, Menu, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { type Filters, useFilters } from '../../parts/url-filters.ts'
import { words } from '../../words.ts'

interface View {
  name: string
  filters: Filters
}

const { views: says } = words.orders

/** What everybody asks for every day; one's own are kept beside them. */
const given: View[] = [
  { name: says.waitingWithdrawals, filters: { kind: 'withdraw', status: 'WAITING' } },
  { name: says.failed, filters: { status: 'FAILED' } },
  { name: says.reverted, filters: { status: 'REVERT' } },
]

/** Filters by name, kept in the browser. */
export function SavedViews() {
  const { filters, replaceAll } = useFilters()
  const [own, setOwn] = useLocalStorage<View[]>({
    key: 'sluice.views.orders',
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const [name, setName] = useState('')
  const { cursor: _, ...kept } = filters
  const save = () => {
    setOwn((now) => [
      ...now.filter((view) => view.name !== name.trim()),
      { name: name.trim(), filters: kept },
    ])
    setName('')
  }
  return (
    <Menu width={280} position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="sm" leftSection={<IconBookmark size={15} />}>
          {says.title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {[...given, ...own].map((view) => (
          <Menu.Item
            key={view.name}
            onClick={() => replaceAll(view.filters)}
            onKeyDown={(event) => {
              if (event.key === 'Delete') setOwn(own.filter(({ name }) => name !== view.name))
            }}
          >
            {view.name}
          </Menu.Item>
        ))}
        {own.length > 0 && (
          <Menu.Item leftSection={<IconTrash size={14} />} onClick={() => setOwn([])}>
            {says.forget}
          </Menu.Item>
        )}
        <Menu.Divider />
        <form
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <Group gap={6} p={6} wrap="nowrap">
            <TextInput
              aria-label={says.name}
              placeholder={says.name}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              onKeyDown={(event) => event.stopPropagation()}
            />
            <Button type="submit" size="sm" disabled={name.trim() === ''}>
              {words.save}
            </Button>
          </Group>
        </form>
      </Menu.Dropdown>
    </Menu>
  )
}
