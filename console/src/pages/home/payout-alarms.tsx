import { Box } from '@mantine/core'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { agoText } from '../../parts/when.tsx'
import { pages } from '../../paths.ts'
import classes from './home.module.css'
import type { HomeView } from './home-view.ts'
import { homeWords } from './home-words.ts'

type Alarms = NonNullable<HomeView['payout_alarms']>

const { payoutAlarms: says } = homeWords

/** Money that left bank accounts against the books: what happened, and where to do something about it. */
export function PayoutAlarms({ alarms }: { alarms: Alarms }) {
  if (alarms.length === 0) return null
  return (
    <Box mb="md">
      <Panel title={says.title}>
        <ul className={classes.alarms}>
          {alarms.map((alarm) => (
            <li key={`${alarm.kind} ${alarm.account} ${alarm.place}`}>
              <strong role="alert">{says.kinds[alarm.kind](alarm.count, alarm.account)}</strong>
              <span>{homeWords.oldest(agoText(alarm.oldest_at))}</span>
              <span>{says.remedies[alarm.kind]}</span>
              <Where alarm={alarm} />
            </li>
          ))}
        </ul>
      </Panel>
    </Box>
  )
}

function Where({ alarm: { account, place, kind } }: { alarm: Alarms[number] }) {
  if (place === 'open_item') {
    return (
      <PageLink to={pages.openItems} search={{ kind }}>
        {says.openItems}
      </PageLink>
    )
  }
  return (
    <PageLink to={pages.bankAccount(account)} search={{ view: 'movements', state: 'unexplained' }}>
      {says.movements}
    </PageLink>
  )
}
