import { ActionIcon, Group, NativeSelect, Stack, TextInput } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { AccountCalendar } from './account-calendar.tsx'
import { DayPanel } from './day-panel.tsx'
import { monthAfter } from './days.ts'
import classes from './reconciliation.module.css'
import { reconciliationWords as says } from './reconciliation-words.ts'

/** A calendar for each bank account; a day that is chosen shows its breaks and its sign-off. */
export default function Reconciliation() {
  const me = useMe()
  const { filters, set } = useFilters()
  const found = useQuery({
    queryKey: ['bank-accounts'],
    queryFn: ({ signal }) => ask(api.bankAccounts, { signal }),
  })
  const month = /^\d{4}-\d{2}$/.test(filters.month ?? '')
    ? String(filters.month)
    : me.now.slice(0, 7)
  const names = found.data?.data.map(({ name }) => name) ?? []
  const shown =
    filters.account === undefined ? names : names.filter((each) => each === filters.account)
  const go = (by: number) => set({ month: monthAfter(month, by), day: null })
  return (
    <>
      <PageHead title={says.title} says={says.says}>
        <NativeSelect
          aria-label={says.account}
          value={filters.account ?? ''}
          data={[{ value: '', label: says.allAccounts }, ...names]}
          onChange={(event) => set({ account: event.currentTarget.value, day: null })}
        />
        <Group gap={4} wrap="nowrap">
          <ActionIcon variant="default" size="lg" aria-label={says.before} onClick={() => go(-1)}>
            <IconChevronLeft size={16} />
          </ActionIcon>
          <TextInput
            type="month"
            aria-label={says.month}
            className={classes.month}
            value={month}
            onChange={(event) => set({ month: event.currentTarget.value, day: null })}
          />
          <ActionIcon variant="default" size="lg" aria-label={says.after} onClick={() => go(1)}>
            <IconChevronRight size={16} />
          </ActionIcon>
        </Group>
      </PageHead>
      {found.isError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      {found.data && names.length === 0 && <Empty title={says.none} teach={says.noneTeach} />}
      <div className={classes.accounts} data-one={shown.length === 1 || undefined}>
        {shown.map((name) => (
          <Stack key={name} gap="md">
            <Panel>
              <AccountCalendar
                account={name}
                month={month}
                chosen={filters.account === name ? filters.day : undefined}
              />
            </Panel>
          </Stack>
        ))}
        {filters.account !== undefined &&
          names.includes(filters.account) &&
          (filters.day === undefined ? (
            <p>{says.choose}</p>
          ) : (
            <DayPanel account={filters.account} date={filters.day} />
          ))}
      </div>
    </>
  )
}
