import { Button } from '@mantine/core'
import { IconEye } from '@tabler/icons-react'
import { When } from '../parts/when.tsx'
import type { Me } from '../session.tsx'
import { leaveView } from './agent-view.ts'
import classes from './shell.module.css'
import { viewWords as says } from './view-words.ts'

/** On every page while an operator sees the console as an agent's users do, with the way out. */
export function ViewBanner({ me }: { me: Me }) {
  if (!me.view) return null
  return (
    <aside className={classes.view} aria-label={says.label}>
      <IconEye size={20} aria-hidden className={classes.viewIcon} />
      <p>
        <strong>{says.says(me.user.agent_name ?? '')}</strong> {says.only} {says.until}{' '}
        <When at={me.view.until} />.
      </p>
      <Button color="dark" size="sm" onClick={() => void leaveView()}>
        {says.leave}
      </Button>
    </aside>
  )
}
