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
import { locale, plainNumber } from '../languages/language.ts'
import { chooseOwnLanguage, languageChoices } from '../parts/language-select.tsx'
import { moneyText } from '../parts/money.tsx'
import { TimeZone, timeText } from '../parts/when.tsx'
import { api, pages } from '../paths.ts'
import type { Me } from '../session.tsx'
import { stateWords, words } from '../words.ts'
import { placesFor } from './nav.ts'

const says = words.palette

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

function titleOf({ kind, agent_name, order_kind, ref_id, amount, currency, seq }: Hit): string {
  const money =
    amount === null || currency === null ? '' : `${moneyText(amount, currency)} ${currency}`
  switch (kind) {
    case 'agent':
      return agent_name ?? ''
    case 'order':
      return `${stateWords[order_kind ?? ''] ?? ''} ${ref_id}, ${money}`
    case 'payment':
      return says.payment(money)
    case 'callback':
      return says.callback(seq ?? 0)
  }
}

function moreOf({ kind, agent_name, person, user_id, currency, status, state }: Hit) {
  const inWords = (code: string | null) => code && (stateWords[code] ?? code)
  if (kind === 'agent') return [says.agent, currency, inWords(state)]
  return [
    inWords(status),
    inWords(state),
    person,
    user_id && says.user(user_id),
    agent_name ?? says.nobodys,
  ]
}

/** The text as the service reads amounts, if it may be one. */
function amountIn(text: string): { amount?: string } {
  const amount = plainNumber(text)
  return /^\d{1,12}(\.\d{1,3})?$/.test(amount) ? { amount } : {}
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
    queryFn: ({ signal }) => ask(api.search, { query: { q: asked, ...amountIn(asked) }, signal }),
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
      label: titleOf(hit),
      description: [...moreOf(hit), hit.at && timeText(hit.at, zone)].filter(Boolean).join(', '),
      // The service has chosen what fits.
      keywords: text,
      leftSection: <Icon size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pageOf(hit) }),
    }
  })
  const { amount } = amountIn(text)
  const searchedTo = found.data?.searched_to
  if (searchedTo && amount !== undefined) {
    // The list goes on where this search ended.
    const search = {
      min_amount: String(Math.floor(Number(amount))),
      max_amount: String(Math.ceil(Number(amount))),
    }
    actions.push({
      id: 'amounts',
      label: says.amounts(text),
      description: says.searchedTo(timeText(searchedTo, zone)),
      keywords: text,
      leftSection: <IconSearch size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pages.orders, search }),
    })
  }
  if (text !== '') {
    actions.push({
      id: 'search',
      label: says.search(text),
      keywords: text,
      leftSection: <IconSearch size={18} stroke={1.5} />,
      onClick: () => void navigate({ to: pages.orders, search: { q: text } }),
    })
  }
  const groups: SpotlightActionGroupData[] = [
    {
      group: says.pages,
      actions: placesFor(me).map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={18} stroke={1.5} />,
        onClick: () => void navigate({ to }),
      })),
    },
    { group: says.find, actions },
    {
      group: says.look,
      actions: [
        {
          id: 'scheme',
          label: says.lightOrDark,
          leftSection: <IconMoon size={18} stroke={1.5} />,
          onClick: () => toggleColorScheme(),
        },
        ...languageChoices
          .filter(({ value }) => value !== locale)
          .map(({ value, label }) => ({
            id: value,
            label: says.language(label),
            leftSection: <IconLanguage size={18} stroke={1.5} />,
            onClick: () => void chooseOwnLanguage(me, value),
          })),
      ],
    },
  ]
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={typed}
      onQueryChange={setTyped}
      nothingFound={says.nothing}
      centered={false}
      // Keyboard users must be able to scroll the list too.
      scrollable
      maxHeight="60vh"
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      attributes={{ content: { 'aria-label': says.open } }}
      shortcut="/"
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.5} />,
        placeholder: says.hint,
        'aria-label': says.hint,
      }}
    />
  )
}
