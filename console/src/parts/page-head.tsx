import { Group, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { words } from '../words.ts'
import classes from './page-head.module.css'

export function PageHead(props: { title: string; says?: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${props.title} · ${words.product}`
  }, [props.title])
  return (
    <div className={classes.head}>
      <div>
        <Title order={1}>{props.title}</Title>
        {props.says && <p className={classes.says}>{props.says}</p>}
      </div>
      <Group gap="xs">{props.children}</Group>
    </div>
  )
}
