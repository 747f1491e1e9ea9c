import { AppShell, Burger, Group, Kbd, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { spotlight } from '@mantine/spotlight'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ask } from '../api.ts'
import { useOwnDraftsOnly } from '../parts/draft.ts'
import { useOwnLanguage } from '../parts/language-select.tsx'
import { TimeZone } from '../parts/when.tsx'
import { useZone } from '../parts/zone-choice.ts'
import { api, pages } from '../paths.ts'
import { may } from '../permissions.ts'
import { useMe } from '../session.tsx'
import { words } from '../words.ts'
import { Alarms } from './alarms.tsx'
import { BankNotice } from './bank-notice.tsx'
import { Brand } from './brand.tsx'
import { placesFor } from './nav.ts'
import { Palette } from './palette.tsx'
import classes from './shell.module.css'
import { UserMenu } from './user-menu.tsx'
import { ViewBanner } from './view-banner.tsx'

/** The frame around every page: navigation, search, and the user's menu. */
export function Shell() {
  const me = useMe()
  useOwnDraftsOnly(me)
  useOwnLanguage(me)
  const [zone, chooseZone] = useZone(me)
  const [opened, { toggle, close }] = useDisclosure()
  const { pathname } = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu
  useEffect(close, [pathname])
  return (
    <TimeZone value={zone}>
      <a href="#content" className={classes.skip}>
        {words.skip}
      </a>
      <AppShell
        header={{ height: 48 }}
        navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        padding={{ base: 'sm', sm: 'lg' }}
        transitionDuration={0}
      >
        <AppShell.Header className={classes.header}>
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={words.nav.open}
              aria-expanded={opened}
            />
            <Link to="/" className={classes.brand} aria-label={words.product}>
              <Brand />
              <span className={classes.name}>{words.product}</span>
            </Link>
            {me.mode === 'sandbox' && <span className={classes.mode}>{words.sandbox}</span>}
          </Group>
          <UnstyledButton className={classes.find} onClick={spotlight.open}>
            <IconSearch size={15} aria-hidden />
            <span>{words.palette.open}</span>
            <Kbd className={classes.key}>Ctrl K</Kbd>
          </UnstyledButton>
          <Group gap="sm" wrap="nowrap">
            <span className={classes.zone} title={words.timeZone(zone)}>
              {zone}
            </span>
            <UserMenu me={me} zone={zone} chooseZone={chooseZone} />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar
          className={classes.nav}
          aria-label={words.nav.label}
          data-shut={!opened || undefined}
        >
          <Places />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
          <ViewBanner me={me} />
          {may(me, 'manage_policy') && <Alarms />}
          <BankNotice />
          <Outlet />
        </AppShell.Main>
      </AppShell>
      <Palette me={me} />
    </TimeZone>
  )
}

function Places() {
  const places = placesFor(useMe())
  const counts = useCounts()
  const groups = [...new Set(places.map(({ group }) => group))]
  return groups.map((group) => (
    <div key={group} className={classes.group}>
      <div className={classes.groupName}>{group}</div>
      {places
        .filter((place) => place.group === group)
        .map(({ to, label, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            className={classes.place}
            activeOptions={{ exact: to === '/', includeSearch: false }}
            activeProps={{ 'data-active': true }}
          >
            <Icon size={17} stroke={1.6} aria-hidden />
            {label}
            <Count waiting={counts[to] ?? 0} />
          </Link>
        ))}
    </div>
  ))
}

/** How many wait there, beside a place in the menu. */
function Count({ waiting }: { waiting: number }) {
  if (waiting === 0) return null
  return (
    <span className={classes.count}>
      <span aria-hidden>{waiting >= 100 ? '100+' : waiting}</span>
      <VisuallyHidden>{words.nav.waiting(waiting)}</VisuallyHidden>
    </span>
  )
}

/** How many things wait for the user, by the page where they do. */
function useCounts(): Partial<Record<string, number>> {
  const { data } = useQuery({
    queryKey: ['queue', 'counts'],
    queryFn: ({ signal }) => ask(api.queueCounts, { signal }),
    refetchInterval: 15_000,
  })
  if (!data) return {}
  return {
    [pages.queue]: data.all,
    [pages.payments]: data.payment + data.movement,
    [pages.approvals]: data.approval,
    [pages.openItems]: data.open_item,
    [pages.reconciliation]: data.break,
  }
}
