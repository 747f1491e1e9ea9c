import { ActionIcon, Box } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconCircle, IconCircleCheck, IconX } from '@tabler/icons-react'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { pages } from '../../paths.ts'
import classes from './home.module.css'
import type { HomeView } from './home-view.ts'
import { homeWords } from './home-words.ts'

type Steps = NonNullable<HomeView['set_up']>

const { setUp: says } = homeWords

const pageOf: Record<Steps[number]['step'], string> = {
  agent: pages.agents,
  provider: pages.providers,
  order: pages.orders,
  callback: pages.callbacks,
  second_admin: pages.users,
  backup: pages.settings,
}

/** What is left to set up; each step leads to where it is done. Gone once all is done, or when it is put away. */
export function SetUp({ steps }: { steps: Steps }) {
  const [isAway, setAway] = useLocalStorage({
    key: 'sluice.set-up.away',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  if (isAway || steps.every(({ done }) => done)) return null
  return (
    <Box mb="md">
      <Panel
        title={says.title(steps.filter(({ done }) => done).length, steps.length)}
        tools={
          <ActionIcon aria-label={says.away} title={says.away} onClick={() => setAway(true)}>
            <IconX size={16} />
          </ActionIcon>
        }
      >
        <ul className={classes.setUp}>
          {steps.map(({ step, done }) => (
            <li key={step} data-done={done || undefined}>
              {done ? (
                <IconCircleCheck size={18} aria-label={says.done} />
              ) : (
                <IconCircle size={18} aria-label={says.open} />
              )}
              <PageLink to={pageOf[step]}>{says.steps[step]}</PageLink>
              {!done && <span>{says.teach[step]}</span>}
            </li>
          ))}
        </ul>
      </Panel>
    </Box>
  )
}
