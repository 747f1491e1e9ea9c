import { Button, Group, Menu, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconBookmark, IconPencil, IconTrash } from '@tabler/icons-react'
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
  const [renamed, setRenamed] = useState<View>()
  const { cursor: _, ...kept } = filters
  const label = renamed ? says.newName(renamed.name) : says.name
  const startRenaming = (view: View) => {
    setRenamed(view)
    setName(view.name)
  }
  const save = () => {
    const view = { name: name.trim(), filters: renamed?.filters ?? kept }
    setOwn((now) => [
      ...now.filter((each) => each.name !== view.name && each.name !== renamed?.name),
      view,
    ])
    setName('')
    setRenamed(undefined)
  }
  return (
    <Menu width={280} position="bottom-end">
      <Menu.Target>
        <Button variant="default" size="sm" leftSection={<IconBookmark size={15} />}>
          {says.title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {given.map((view) => (
          <Menu.Item key={view.name} onClick={() => replaceAll(view.filters)}>
            {view.name}
          </Menu.Item>
        ))}
        {own.map((view) => (
          <OwnView
            key={`own ${view.name}`}
            name={view.name}
            open={() => replaceAll(view.filters)}
            rename={() => startRenaming(view)}
            forget={() => setOwn((now) => now.filter(({ name }) => name !== view.name))}
          />
        ))}
        <Menu.Divider />
        <form
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <Group gap={6} p={6} wrap="nowrap">
            <TextInput
              aria-label={label}
              placeholder={label}
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

/** One's own view: opened, given another name, or forgotten. */
function OwnView(props: {
  name: string
  open: () => void
  rename: () => void
  forget: () => void
}) {
  return (
    <Group gap={2} wrap="nowrap">
      <Menu.Item flex={1} onClick={props.open}>
        {props.name}
      </Menu.Item>
      <Menu.Item
        w="auto"
        aria-label={says.rename(props.name)}
        title={says.rename(props.name)}
        closeMenuOnClick={false}
        onClick={props.rename}
      >
        <IconPencil size={14} />
      </Menu.Item>
      <Menu.Item
        w="auto"
        aria-label={says.forget(props.name)}
        title={says.forget(props.name)}
        closeMenuOnClick={false}
        onClick={props.forget}
      >
        <IconTrash size={14} />
      </Menu.Item>
    </Group>
  )
}
