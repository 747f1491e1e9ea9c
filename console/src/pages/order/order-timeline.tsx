import { Button, UnstyledButton } from '@mantine/core'
import {
  IconArrowsExchange,
  IconBuildingBank,
  IconChevronRight,
  IconCoin,
  IconFileInvoice,
  IconInbox,
  IconNotebook,
  IconSend,
  IconUser,
  type TablerIcon,
} from '@tabler/icons-react'
import { useState } from 'react'
import { Panel } from '../../parts/panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { When } from '../../parts/when.tsx'
import { stateWords, words } from '../../words.ts'
import { actionText } from '../audit/action-text.ts'
import classes from './order.module.css'
import type { OrderDetail } from './order-detail.ts'
import { orderWords as says } from './order-words.ts'

type Event = OrderDetail['timeline'][number]
type Kind = Event['kind']

/** What happened, in the language that is spoken. */
function titleOf({ event, title, raw }: Event): string {
  const told = Object(raw) as Record<string, unknown>
  const say = (code: string, given: unknown) => {
    const text = says.events[code]
    return typeof text === 'function' ? text(String(given)) : (text ?? title)
  }
  if (event === 'acted') {
    const { email, action, outcome } = told as Record<string, string>
    return says.acted(
      email ?? '',
      actionText({ action: action ?? '' }),
      stateWords[outcome ?? ''] ?? '',
    )
  }
  if (event === 'callback_sent') {
    const { status, error } = told
    return say(event, status === null ? (error ?? say('no_answer', '')) : say('answered', status))
  }
  return say(event, told.provider ?? told.status)
}

const icons: Record<Kind, TablerIcon> = {
  request: IconFileInvoice,
  provider: IconBuildingBank,
  notice: IconInbox,
  payment: IconCoin,
  journal: IconNotebook,
  callback: IconArrowsExchange,
  attempt: IconSend,
  operator: IconUser,
}

/** Everything that happened to an order, oldest first; each line expands to the recorded data. */
export function OrderTimeline({ timeline }: Pick<OrderDetail, 'timeline'>) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const toggle = (at: number) => {
    const next = new Set(opened)
    if (!next.delete(at)) next.add(at)
    setOpened(next)
  }
  const all = timeline.map((_, at) => at)
  return (
    <Panel
      title={says.timeline}
      tools={
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={() => setOpened(new Set(opened.size === all.length ? [] : all))}
        >
          {opened.size === all.length ? says.closeAll : says.openAll}
        </Button>
      }
    >
      <ol className={classes.timeline}>
        {timeline.map((event, at) => {
          const Icon = icons[event.kind]
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are only ever added at the end
            <li key={at} className={classes.event}>
              <span className={classes.mark} data-kind={event.kind}>
                <Icon size={13} stroke={1.8} aria-hidden />
              </span>
              <UnstyledButton
                className={classes.summary}
                aria-expanded={opened.has(at)}
                onClick={() => toggle(at)}
              >
                <span>
                  <span className={classes.kind}>{says.kinds[event.kind]}</span>
                  {titleOf(event)}
                </span>
                <span className={classes.at}>
                  <When at={event.at} />
                  <IconChevronRight size={14} className={classes.chevron} aria-hidden />
                </span>
              </UnstyledButton>
              {opened.has(at) && (
                <div className={classes.raw}>
                  <RawView raw={event.raw} label={`${words.raw}: ${titleOf(event)}`} />
                </div>
              )}
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}
