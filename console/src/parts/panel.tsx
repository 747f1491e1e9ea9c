import { Group, Paper, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './panel.module.css'

export function Panel(props: { title?: string; tools?: ReactNode; children: ReactNode }) {
  return (
    <Paper component="section" className={classes.panel} aria-label={props.title}>
      {props.title && (
        <Group justify="space-between" mb={8} gap="xs">
          <Title order={2}>{props.title}</Title>
          {props.tools}
        </Group>
      )}
      {props.children}
    </Paper>
  )
}
