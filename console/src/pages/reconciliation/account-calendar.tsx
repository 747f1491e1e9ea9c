import { Skeleton } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { pages } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import { type BankDay, daysQuery, weeksOf } from './days.ts'
import classes from './reconciliation.module.css'
import { reconciliationWords as says } from './reconciliation-words.ts'

/** A month of an account: each day that something moved on leads to what is on it. */
export function AccountCalendar(props: {
  account: string
  month: string
  chosen?: string | undefined
}) {
  const { account, month, chosen } = props
  const found = useQuery(daysQuery(account, month))
  if (!found.data) {
    return found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={240} />
  }
  const days = new Map(found.data.data.map((day) => [day.day, day]))
  return (
    <>
      <table className={classes.calendar}>
        <caption>{says.calendar(account, month)}</caption>
        <thead>
          <tr>
            {says.weekdays.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(month).map((week) => (
            <tr key={week.find((day) => day !== null)}>
              {week.map((day, at) => (
                <td
                  // biome-ignore lint/suspicious/noArrayIndexKey: the days of other months are all alike
                  key={at}
                  data-today={day === found.data.today || undefined}
                >
                  {day !== null && (
                    <Day
                      date={day}
                      day={days.get(day)}
                      account={account}
                      isChosen={day === chosen}
                    />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {days.size === 0 && <p className={classes.quiet}>{says.quiet}</p>}
    </>
  )
}

function Day(props: {
  date: string
  day: BankDay | undefined
  account: string
  isChosen: boolean
}) {
  const { date, day, account } = props
  const number = Number(date.slice(8))
  if (!day) return <span className={classes.plain}>{number}</span>
  const state = stateWords[day.state] ?? day.state
  const isSigned = day.signed_off?.current ?? false
  return (
    <Link
      to={pages.reconciliation}
      search={{ account, month: date.slice(0, 7), day: date }}
      className={classes.day}
      data-state={day.state}
      aria-current={props.isChosen ? 'date' : undefined}
      aria-label={says.dayLabel(date, state, day.breaks.length, isSigned)}
    >
      <span>
        {number}
        {isSigned && <IconCheck size={12} aria-hidden />}
      </span>
      <span className={classes.state}>{state}</span>
    </Link>
  )
}
