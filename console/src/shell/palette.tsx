import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  spotlight,
} from '@mantine/spotlight'
import {
  IconCash,
  IconClipboardList,
  IconLanguage,
  IconMoon,
  IconSearch,
  IconSend,
  IconUsersGroup,
  type TablerIcon,
} from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { use, useState } from 'react'
import { type Answer, ask } from '../api.ts'
import { locale } from '../languages/language.ts'
import { languageChoices, switchLanguage } from '../parts/language-select.tsx'
import { TimeZone, timeText } from '../parts/when.tsx'
import { api, pages } from '../paths.ts'
import type { Me } from '../session.tsx'
import { words } from '../words.ts'
import { placesFor } from './nav.ts'

type Hit = Answer<typeof api.search>['hits'][number]

const icons: Record<Hit['kind'], TablerIcon> = {
  agent: IconUsersGroup,
  order: IconClipboardList,
  payment: IconCash,
  callback: IconSend,
}

function pageOf({ kind, id, seq }: Hit): string {
  switch (kind) {
    case 'agent':
      return pages.agent(id)
    case 'order':
      return pages.order(id)
    case 'payment':
      return pages.payment(id)
    case 'callback':
      return pages.callback(id, seq ?? 0)
  }
}

/** The Ctrl K palette: jumps to a page, or finds anything while it is typed. */
export function Palette({ me }: { me: Me }) {
  const navigate = useNavigate()
  const zone = use(TimeZone)
  const { toggleColorScheme } = useMantineColorScheme()
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const [asked] = useDebouncedValue(text, 150)
  const found = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => ask(api.search, { query: { q: asked }, signal }),
    enabled: asked.length >= 2,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
  // Works in input fields too, where a slash is ordinary text.
  useHotkeys([['mod+K', spotlight.open]], [])
  const hits = text.length < 2 ? [] : (found.data?.hits ?? [])
  const actions: SpotlightActionData[] = hits.map((hit) => {
    const Icon = icons[hit.kind]
    return {
      id: `${hit.kind} ${hit.id} ${hit.seq}`,
      label: hit.title,
      description: hit.at === null ? hit.says : `${hit.says}, ${timeText(hit.at, zone)}`,
      // The service has chosen what fits.
      keywords: text,
      leftSection: <Icon size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pageOf(hit) }),
    }
  })
  if (text !== '') {
    actions.push({
      id: 'search',
      label: words.palette.search(text),
      keywords: text,
      leftSection: <IconSearch size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pages.orders, search: { q: text } }),
    })
  }
  const groups: SpotlightActionGroupData[] = [
    {
      group: words.palette.pages,
      actions: placesFor(me).map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={18} stroke={1.5} />,
        onClick: () => void navigate({ to }),
      })),
    },
    { group: words.palette.find, actions },
    {
      group: words.palette.look,
      actions: [
        {
          id: 'scheme',
          label: words.palette.lightOrDark,
          leftSection: <IconMoon size={18} stroke={1.5} />,
          onClick: () => toggleColorScheme(),
        },
        ...languageChoices
          .filter(({ value }) => value !== locale)
          .map(({ value, label }) => ({
            id: value,
            label: words.palette.language(label),
            leftSection: <IconLanguage size={18} stroke={1.5} />,
            onClick: () => switchLanguage(value),
          })),
      ],
    },
  ]
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={typed}
      onQueryChange={setTyped}
      nothingFound={words.palette.nothing}
      centered={false}
      // Keyboard users must be able to scroll the list too.
      scrollable
      maxHeight="60vh"
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      attributes={{ content: { 'aria-label': words.palette.open } }}
      shortcut="/"
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.5} />,
        placeholder: words.palette.hint,
        'aria-label': words.palette.hint,
      }}
    />
  )
}
