import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask, type Body } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { may } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from './order.module.css'
import { orderWords } from './order-words.ts'

type Mark = Answer<typeof api.orderMarks>['data'][number]
type Said = Omit<Body<typeof api.markOrder>, 'about'>

const { marks: says } = orderWords

/** What people know of the order, of its user and of the account, or of one of them: tags and notes. */
export function OrderMarks(props: { txnId: string; only?: Mark['about']; title?: string }) {
  const { txnId, only } = props
  const queries = useQueryClient()
  const params = { txn_id: txnId }
  const queryKey = ['order-marks', txnId]
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask(api.orderMarks, { params, signal }),
  })
  const marking = useMutation({
    mutationFn: (body: Body<typeof api.markOrder>) => ask(api.markOrder, { params, body }),
    onSuccess: (now) => queries.setQueryData(queryKey, now),
  })
  if (!found.data) return null
  return (
    <Panel title={props.title ?? says.title}>
      <Stack gap="md">
        {found.data.data
          .filter(({ about }) => only === undefined || about === only)
          .map((mark) => (
            <About
              key={mark.about}
              mark={mark}
              say={(said) => marking.mutate({ about: mark.about, ...said })}
            />
          ))}
        {marking.isError && <ProblemPanel error={marking.error} />}
      </Stack>
    </Panel>
  )
}

function About({ mark, say }: { mark: Mark; say: (said: Said) => void }) {
  const me = useMe()
  const [text, setText] = useState('')
  const mayWrite = may(me, 'act_on_orders')
  const isTag = /^[a-z0-9][a-z0-9-]{0,29}$/.test(text.trim())
  const add = (said: Said) => {
    say(said)
    setText('')
  }
  return (
    <div>
      <Group gap={6} mb={4}>
        <strong>{says.about[mark.about]}</strong>
        {mark.tags.map((tag) => (
          <Toned key={tag} tone="info">
            <PageLink to={pages.orders} search={{ tag }}>
              {tag}
            </PageLink>
            {mayWrite && (
              <ActionIcon
                size={14}
                variant="transparent"
                color="gray"
                aria-label={says.untag(tag)}
                onClick={() => say({ untag: tag })}
              >
                <IconX size={11} />
              </ActionIcon>
            )}
          </Toned>
        ))}
        {mark.about === 'order' && (
          <ActButton
            size="compact-xs"
            whyNot={mayWrite ? undefined : says.mayNot}
            onClick={() =>
              say({ assignee: mark.assignee === me.user.email ? null : me.user.email })
            }
          >
            {mark.assignee === me.user.email ? says.letGo : says.take(mark.assignee)}
          </ActButton>
        )}
      </Group>
      {mark.notes
        .filter(({ note }) => note !== null)
        .map(({ at, by, note }) => (
          <p key={`${at} ${note}`} className={classes.next}>
            {note}{' '}
            <small>
              {by} <When at={at} />
            </small>
          </p>
        ))}
      {mayWrite && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim() !== '') add({ note: text.trim() })
          }}
        >
          <Group gap={6} wrap="nowrap">
            <TextInput
              flex={1}
              size="xs"
              aria-label={says.write(says.about[mark.about] ?? mark.about)}
              placeholder={says.placeholder}
              maxLength={1000}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
            <Button type="submit" size="xs" variant="default" disabled={text.trim() === ''}>
              {says.note}
            </Button>
            <Button
              size="xs"
              variant="default"
              disabled={!isTag}
              onClick={() => add({ tag: text.trim() })}
            >
              {says.tag}
            </Button>
          </Group>
        </form>
      )}
    </div>
  )
}
