import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Brand } from '../../shell/brand.tsx'
import { words } from '../../words.ts'
import classes from './door.module.css'

/** The layout of pages that are shown before sign-in. */
export function Door(props: { title: string; says: ReactNode; children: ReactNode }) {
  return (
    <main className={classes.door}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <Brand size={30} />
          <span>{words.product}</span>
        </div>
        <Title order={1}>{props.title}</Title>
        <p className={classes.says}>{props.says}</p>
        {props.children}
      </div>
    </main>
  )
}
