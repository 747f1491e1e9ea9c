import { ActionIcon, Button, Group, Popover, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import {
  IconBookmark,
  IconPencil,
  IconTrash,
  IconUsersMinus,
  IconUsersPlus,
} from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ask } from '../../api.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { type Filters, useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import { ordersWords } from './orders-words.ts'

interface View {
  name: string
  filters: Filters
}

const { views: says } = ordersWords

/** Built-in views for everyday use; the user's own views are listed next to them. */
const given: View[] = [
  { name: says.waitingWithdrawals, filters: { kind: 'withdraw', status: 'WAITING' } },
  { name: says.failed, filters: { status: 'FAILED' } },
  { name: says.reverted, filters: { status: 'REVERT' } },
]

/** Named filters: a user's own are stored in the browser, shared ones by the service. */
export function SavedViews() {
  const { filters, replaceAll } = useFilters()
  const [own, setOwn] = useLocalStorage<View[]>({
    key: 'sluice.views.orders',
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  const me = useMe()
  const isAgent = me.user.role === 'agent'
  const mayShare = may(me, 'act_on_orders')
  const queries = useQueryClient()
  const shared = useQuery({
    queryKey: ['shared-views'],
    queryFn: ({ signal }) => ask(api.sharedViews, { signal }),
    enabled: !isAgent,
  })
  const sharing = useMutation({
    mutationFn: (what: { share: View } | { forget: string }) =>
      'share' in what
        ? ask(api.shareView, {
            body: {
              name: what.share.name,
              filters: new URLSearchParams(what.share.filters as Record<string, string>).toString(),
            },
          })
        : ask(api.forgetView, { body: { name: what.forget } }),
    onSuccess: (now) => queries.setQueryData(['shared-views'], now),
  })
  const [isOpen, setOpen] = useState(false)
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
  const show = (view: View) => {
    replaceAll(view.filters)
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          size="sm"
          leftSection={<IconBookmark size={15} />}
          onClick={() => setOpen(!isOpen)}
        >
          {says.title}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={says.title} p={6} w={320}>
        {given.map((view) => (
          <Choice key={view.name} name={view.name} open={() => show(view)} />
        ))}
        {shared.data?.data.map((view) => (
          <Choice
            key={`shared ${view.name}`}
            name={view.name}
            title={says.by(view.shared_by)}
            open={() => show({ name: view.name, filters: filtersIn(view.filters) })}
          >
            {mayShare && (
              <ActionIcon
                aria-label={says.unshare(view.name)}
                title={says.unshare(view.name)}
                onClick={() => sharing.mutate({ forget: view.name })}
              >
                <IconUsersMinus size={14} />
              </ActionIcon>
            )}
          </Choice>
        ))}
        {sharing.isError && <ProblemPanel error={sharing.error} />}
        {own.map((view) => (
          <Choice key={`own ${view.name}`} name={view.name} open={() => show(view)}>
            {mayShare && (
              <ActionIcon
                aria-label={says.share(view.name)}
                title={says.share(view.name)}
                onClick={() => sharing.mutate({ share: view })}
              >
                <IconUsersPlus size={14} />
              </ActionIcon>
            )}
            <ActionIcon
              aria-label={says.rename(view.name)}
              title={says.rename(view.name)}
              onClick={() => startRenaming(view)}
            >
              <IconPencil size={14} />
            </ActionIcon>
            <ActionIcon
              aria-label={says.forget(view.name)}
              title={says.forget(view.name)}
              onClick={() => setOwn((now) => now.filter(({ name }) => name !== view.name))}
            >
              <IconTrash size={14} />
            </ActionIcon>
          </Choice>
        ))}
        <form
          onSubmit={(event) => {
            event.preventDefault()
            save()
          }}
        >
          <Group gap={6} mt={6} wrap="nowrap">
            <TextInput
              flex={1}
              aria-label={label}
              placeholder={label}
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button type="submit" size="sm" flex="none" disabled={name.trim() === ''}>
              {words.save}
            </Button>
          </Group>
        </form>
      </Popover.Dropdown>
    </Popover>
  )
}

function filtersIn(text: string): Filters {
  return Object.fromEntries(new URLSearchParams(text))
}

function Choice(props: { name: string; title?: string; open: () => void; children?: ReactNode }) {
  return (
    <Group gap={2} wrap="nowrap">
      <Button
        flex={1}
        variant="subtle"
        color="gray"
        size="sm"
        justify="flex-start"
        title={props.title}
        onClick={props.open}
      >
        {props.name}
      </Button>
      {props.children}
    </Group>
  )
}
