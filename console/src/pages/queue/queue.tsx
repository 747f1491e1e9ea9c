import { Group, SegmentedControl, Skeleton, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { ask } from '../../api.ts'
import { useDraft } from '../../parts/draft.ts'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { Basket, type Chosen, type Results, ResultsPanel } from './basket.tsx'
import classes from './queue.module.css'
import { QueueItem } from './queue-item.tsx'
import { queueWords as says } from './queue-words.ts'
import { placeOf, titleOf, type Waiting } from './waiting.ts'

/** Everything that waits for a person; several payments are decided with one code. */
export default function Queue() {
  const { filters, set } = useFilters()
  const navigate = useNavigate()
  const [current, setCurrent] = useState<string>()
  const [chosen, setChosen] = useDraft<Record<string, Chosen>>('batch', {})
  const [results, setResults] = useState<Results>()
  const found = useQuery({
    queryKey: ['queue'],
    queryFn: ({ signal }) => ask(api.queue, { signal }),
    refetchInterval: 15_000,
  })
  const all = found.data?.data ?? []
  const shown = all.filter(({ kind }) => filters.kind === undefined || kind === filters.kind)
  const at = Math.max(
    0,
    shown.findIndex((each) => keyOf(each) === current),
  )
  const item = shown[at]
  const go = useCallback(
    (step: number) => {
      const next = shown[Math.min(Math.max(at + step, 0), shown.length - 1)]
      if (next) setCurrent(keyOf(next))
    },
    [shown, at],
  )
  useKeys({
    next: () => go(1),
    previous: () => go(-1),
    open: () => item && void navigate(placeOf(item)),
  })
  useEffect(() => {
    document.querySelector('[data-queue-current]')?.scrollIntoView({ block: 'nearest' })
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} says={says.says} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { counts } = found.data
  const kinds = Object.keys(says.kinds).filter((kind) => counts[kind as keyof typeof counts] > 0)
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      {results && <ResultsPanel results={results} close={() => setResults(undefined)} />}
      {kinds.length > 1 && (
        <Group mb="md">
          <SegmentedControl
            aria-label={says.filter}
            size="xs"
            value={filters.kind ?? ''}
            onChange={(kind) => set({ kind: kind || null })}
            data={[
              { value: '', label: `${says.all} ${counts.all}` },
              ...kinds.map((kind) => ({
                value: kind,
                label: `${says.kinds[kind]} ${counts[kind as keyof typeof counts]}`,
              })),
            ]}
          />
        </Group>
      )}
      {!item ? (
        <Empty title={says.none} teach={says.noneTeach} />
      ) : (
        <div className={classes.columns}>
          <ul className={classes.list} aria-label={says.list}>
            {shown.map((each) => (
              <li key={keyOf(each)}>
                <Row
                  item={each}
                  isCurrent={each === item}
                  chosen={chosen[each.id]}
                  choose={() => setCurrent(keyOf(each))}
                />
              </li>
            ))}
          </ul>
          <div className={classes.detail}>
            <QueueItem
              key={keyOf(item)}
              item={item}
              place={says.place(at + 1, shown.length)}
              chosen={chosen[item.id]}
              go={go}
              choose={(choice) => {
                setChosen((now) => {
                  const { [item.id]: _, ...others } = now
                  return choice ? { ...others, [item.id]: choice } : others
                })
                if (choice) go(1)
              }}
            />
          </div>
        </div>
      )}
      <Basket
        chosen={Object.values(chosen).filter(({ id }) => all.some((each) => each.id === id))}
        clear={() => setChosen({})}
        decided={(results, ids) => {
          setResults(results)
          setChosen((now) =>
            Object.fromEntries(Object.entries(now).filter(([id]) => !ids.includes(id))),
          )
        }}
      />
    </>
  )
}

function Row(props: {
  item: Waiting
  isCurrent: boolean
  chosen: Chosen | undefined
  choose: () => void
}) {
  const { item, chosen } = props
  return (
    <UnstyledButton
      className={classes.row}
      aria-current={props.isCurrent || undefined}
      data-queue-current={props.isCurrent || undefined}
      onClick={props.choose}
    >
      <strong>{titleOf(item)}</strong>
      <span className={classes.end}>
        {item.amount !== null && item.currency !== null && (
          <Money amount={item.amount} currency={item.currency} />
        )}
      </span>
      <span className={classes.quiet}>
        {chosen ? (
          <Toned tone="info">{says.decided(chosen.does)}</Toned>
        ) : (
          (says.kinds[item.kind] ?? item.kind)
        )}
      </span>
      <span className={`${classes.quiet} ${classes.end}`}>
        <When at={item.since} ago />
      </span>
    </UnstyledButton>
  )
}

function keyOf({ kind, id }: Waiting): string {
  return `${kind} ${id}`
}

/** J, K and the arrows, unless something is being typed or asked. */
function useKeys(keys: { next: () => void; previous: () => void; open: () => void }) {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isElsewhere = target.closest(
        'input, textarea, select, [role=dialog], [role=radiogroup]',
      )
      if (isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return
      const isOnControl = target.closest('a, button') !== null
      const act =
        event.key === 'j' || event.key === 'ArrowDown'
          ? keys.next
          : event.key === 'k' || event.key === 'ArrowUp'
            ? keys.previous
            : event.key === 'Enter' && !isOnControl
              ? keys.open
              : undefined
      if (!act) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  })
}
