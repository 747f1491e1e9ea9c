import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../api.ts'
import { PageLink } from '../parts/page-link.tsx'
import { When } from '../parts/when.tsx'
import { api, pages } from '../paths.ts'
import { useMe } from '../session.tsx'
import { words } from '../words.ts'
import classes from './shell.module.css'

const { bankNotice: says } = words
const most = 3

function whatText(changed: string | null, by: string): string {
  if (changed === null) return says.added(by)
  const fields = changed.split(',').map((field) => says.fields[field] ?? field)
  return says.changed(fields.join(', '), by)
}

/**
 * For a day, every page says which bank accounts were added or changed: whoever changes one decides where
 * deposits go, and everybody should have seen it.
 */
export function BankNotice() {
  const isAgent = useMe().user.role === 'agent'
  const { data } = useQuery({
    queryKey: ['bank-account-changes'],
    queryFn: ({ signal }) => ask(api.bankAccountChanges, { signal }),
    enabled: !isAgent,
    refetchInterval: 60_000,
  })
  if (!data || data.data.length === 0) return null
  const shown = data.data.slice(0, most)
  const more = data.data.length - shown.length
  return (
    <aside className={classes.notice} aria-label={says.title}>
      <IconAlertTriangle size={17} aria-hidden className={classes.noticeIcon} />
      <ul>
        {shown.map(({ name, at, by, changed, confirmed_by }) => (
          <li key={name}>
            <PageLink to={pages.bankAccount(name)}>{name}</PageLink> {whatText(changed, by)}{' '}
            <When at={at} ago />. {confirmed_by === null ? says.waits : says.takes}
          </li>
        ))}
        {more > 0 && (
          <li>
            <PageLink to={pages.bankAccounts}>{says.more(more)}</PageLink>
          </li>
        )}
      </ul>
    </aside>
  )
}
