import { useMantineColorScheme } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  spotlight,
} from '@mantine/spotlight'
import { IconFileSearch, IconMoon, IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { pages } from '../paths.ts'
import type { Me } from '../session.tsx'
import { words } from '../words.ts'
import { placesFor } from './nav.ts'

/** The Ctrl K palette: jumps to a page, or finds an order by any id. */
export function Palette({ me }: { me: Me }) {
  const navigate = useNavigate()
  const { toggleColorScheme } = useMantineColorScheme()
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  // Works in input fields too, where a slash is ordinary text.
  useHotkeys([['mod+K', spotlight.open]], [])
  const found: SpotlightActionData[] =
    text === ''
      ? []
      : [
          {
            id: 'search',
            label: words.palette.search(text),
            // Makes this entry match whatever the user typed.
            keywords: text,
            leftSection: <IconSearch size={18} stroke={1.5} />,
            onClick: () => void navigate({ to: pages.orders, search: { q: text } }),
          },
        ]
  if (/^txn_?\w{8,}$|^[0-9a-z_-]{20,}$/i.test(text)) {
    found.unshift({
      id: 'open',
      label: words.palette.openOrder(text),
      keywords: text,
      leftSection: <IconFileSearch size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pages.order(text) }),
    })
  }
  const places: SpotlightActionGroupData[] = [
    {
      group: words.palette.pages,
      actions: placesFor(me).map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={18} stroke={1.5} />,
        onClick: () => void navigate({ to }),
      })),
    },
    { group: words.palette.find, actions: found },
    {
      group: words.palette.look,
      actions: [
        {
          id: 'scheme',
          label: words.palette.lightOrDark,
          leftSection: <IconMoon size={18} stroke={1.5} />,
          onClick: () => toggleColorScheme(),
        },
      ],
    },
  ]
  return (
    <Spotlight
      actions={places.filter(({ actions }) => actions.length > 0)}
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
