import { Link } from '@tanstack/react-router'
import type { CSSProperties, ReactNode } from 'react'
import classes from './figures.module.css'

/** Key figures, with the given number side by side if there is room. */
export function Figures(props: { columns: number; rowsOnPhone?: boolean; children: ReactNode }) {
  const { columns, children } = props
  return (
    <div
      className={classes.figures}
      data-rows={props.rowsOnPhone || undefined}
      style={{ '--columns': columns } as CSSProperties}
    >
      {children}
    </div>
  )
}

/** One figure; if it counts a list, it links to that list. */
export function Figure(props: {
  label: string
  note?: ReactNode
  to?: string
  search?: Record<string, string>
  tone?: 'good' | 'warn' | 'bad' | undefined
  children: ReactNode
}) {
  const inside = (
    <>
      <span className={classes.label}>{props.label}</span>
      <span className={classes.value}>{props.children}</span>
      {props.note && <span className={classes.note}>{props.note}</span>}
    </>
  )
  if (props.to === undefined) {
    return (
      <div className={classes.figure} data-tone={props.tone}>
        {inside}
      </div>
    )
  }
  return (
    <Link
      to={props.to}
      {...(props.search && { search: props.search })}
      className={classes.figure}
      data-tone={props.tone}
    >
      {inside}
    </Link>
  )
}
