import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './parts.module.css'

export function PageLink(props: {
  to: string
  search?: Record<string, string>
  children: ReactNode
}) {
  return (
    <Link
      to={props.to}
      {...(props.search && { search: props.search })}
      className={classes.pageLink}
    >
      {props.children}
    </Link>
  )
}
