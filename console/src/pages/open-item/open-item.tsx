import { Group, Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { Money, moneyText } from '../../parts/money.tsx'
import { Notes } from '../../parts/notes.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { openItemWords as says } from './open-item-words.ts'

type ItemDetail = Answer<typeof api.openItem>
type Booking = ItemDetail['bookings'][number]

export default function OpenItem() {
  const { itemId = '' }: { itemId?: string } = useParams({ strict: false })
  const [closing, setClosing] = useDraft('closing', false)
  const [booking, setBooking] = useDraft<Booking | null>('booking', null)
  const me = useMe()
  const queries = useQueryClient()
  const queryKey = ['open-item', itemId]
  const params = { item_id: itemId }
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(api.openItem, { params, signal }),
    refetchInterval: 8000,
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { item, notes } = found.data
  const whyDisabled = whyNot(me, 'act_on_orders')
  const changed = () => queries.invalidateQueries({ queryKey })
  return (
    <>
      <PageHead
        title={says.heading(`${moneyText(item.amount, item.currency)} ${item.currency}`)}
        says={item.words}
      >
        <ActButton
          size="sm"
          whyNot={whyDisabled ?? (item.closed_at === null ? undefined : says.isClosed)}
          onClick={() => setClosing(true)}
        >
          {says.close}
        </ActButton>
      </PageHead>
      <Stack gap="md">
        <Panel title={says.next}>
          {found.data.next} <PageLink to={pages.order(item.txn_id)}>{says.toOrder}</PageLink>
          {found.data.bookings.length > 0 && (
            <Group gap="xs" mt="sm">
              {found.data.bookings.map((way) => (
                <ActButton
                  key={way}
                  size="sm"
                  whyNot={whyNot(me, 'adjust_wallets')}
                  onClick={() => setBooking(way)}
                >
                  {says.bookings[way]?.button ?? way}
                </ActButton>
              ))}
            </Group>
          )}
        </Panel>
        <Group grow align="stretch" preventGrowOverflow={false} gap="md">
          <About detail={found.data} />
          <Notes
            assignee={item.assignee}
            notes={notes}
            whyDisabled={whyDisabled}
            assign={(assignee, insteadOf) =>
              ask(api.assignOpenItem, { params, body: { assignee, instead_of: insteadOf } })
            }
            add={(note) => ask(api.noteOpenItem, { params, body: { note } })}
            changed={changed}
          />
        </Group>
      </Stack>
      {closing && <CloseDialog itemId={itemId} changed={changed} close={() => setClosing(false)} />}
      {booking !== null && (
        <BookDialog
          itemId={itemId}
          way={booking}
          changed={changed}
          close={() => setBooking(null)}
        />
      )}
    </>
  )
}

function About({ detail: { item, order } }: { detail: ItemDetail }) {
  const { facts } = says
  return (
    <Panel>
      <Facts
        facts={[
          [facts.kind, <StateBadge key="k" state={item.kind} />],
          [facts.amount, <Money key="m" amount={item.amount} currency={item.currency} />],
          [facts.provider, item.provider],
          [facts.reference, <CopyId key="r" id={item.reference} />],
          [facts.agent, <AgentLink key="agent" {...item} />],
          [facts.order, <CopyId key="o" id={item.txn_id} to={pages.order(item.txn_id)} />],
          [facts.orderNow, <StateBadge key="s" state={order.status} />],
          [facts.openedAt, <When key="w" at={item.opened_at} />],
          item.closed_at !== null && [facts.closedAt, <When key="c" at={item.closed_at} />],
          item.closed_by !== null && [facts.closedBy, item.closed_by],
          item.evidence !== null && [facts.evidence, item.evidence],
          item.booked_as !== null && [facts.bookedAs, says.bookings[item.booked_as]?.button],
        ]}
      />
    </Panel>
  )
}

/** Books what left, or that it is back, which closes the item. Policy may ask for a second person. */
function BookDialog(props: {
  itemId: string
  way: Booking
  changed: () => Promise<unknown>
  close: () => void
}) {
  const queries = useQueryClient()
  const words = says.bookings[props.way]
  return (
    <ActDialog
      draft="booking"
      title={words?.button ?? props.way}
      explain={words?.explain}
      confirm={words?.button ?? props.way}
      danger
      reasonHint={says.evidenceHint}
      close={props.close}
      act={async ({ reason, code }) => {
        const params = { item_id: props.itemId }
        await ask(api.bookOpenItem, { params, body: { as: props.way, reason, code } })
        await props.changed()
        void queries.invalidateQueries({ queryKey: ['open-items'] })
        notifications.show({ message: says.bookedNow })
      }}
    />
  )
}

/** Closes the item with the findings. This moves no money; orders and wallets have actions for that. */
function CloseDialog(props: {
  itemId: string
  changed: () => Promise<unknown>
  close: () => void
}) {
  const queries = useQueryClient()
  return (
    <ActDialog
      draft="closing"
      title={says.closeTitle}
      explain={says.closeExplain}
      confirm={says.close}
      danger
      reasonHint={says.evidenceHint}
      close={props.close}
      act={async ({ reason, code }) => {
        const params = { item_id: props.itemId }
        await ask(api.closeOpenItem, { params, body: { reason, code } })
        await props.changed()
        void queries.invalidateQueries({ queryKey: ['open-items'] })
        notifications.show({ message: says.closedNow })
      }}
    />
  )
}
