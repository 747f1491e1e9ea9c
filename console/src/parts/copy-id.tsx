import { CopyButton, Tooltip, UnstyledButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { words } from '../words.ts'
import classes from './parts.module.css'

/** A full id with a copy button; it links to its page if it has one. */
export function CopyId(props: {
  id: string
  to?: string
  search?: Record<string, string>
  short?: boolean
}) {
  const { id, to, search, short } = props
  const isShort = short && id.length > 16
  const shown = isShort ? `${id.slice(0, 6)}…${id.slice(-5)}` : id
  return (
    <span className={classes.id} data-short={short || undefined}>
      {to === undefined ? (
        <span title={id}>{shown}</span>
      ) : (
        <Link to={to} {...(search && { search })} className={classes.idLink} title={id}>
          {shown}
        </Link>
      )}
      <CopyIcon value={id} what={id} />
    </span>
  )
}

export function CopyIcon({ value, what }: { value: string; what: string }) {
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? words.copied : words.copy}>
          <UnstyledButton
            className={classes.copy}
            aria-label={copied ? words.copied : words.copyWhat(what)}
            onClick={(event) => {
              event.stopPropagation()
              copy()
            }}
          >
            {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          </UnstyledButton>
        </Tooltip>
      )}
    </CopyButton>
  )
}
