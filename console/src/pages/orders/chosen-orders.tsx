import { Button, Group, NativeSelect, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, addressOf, ask, problemOf } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { saveStream } from '../../parts/save-stream.ts'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from './orders.module.css'
import { ordersWords } from './orders-words.ts'
import { useAssignees } from './use-assignees.ts'

type Done = Answer<typeof api.markTogether>

const { chosen: says, csv } = ordersWords

/** What can be done to several orders at once. */
export function ChosenOrders({ txnIds, clear }: { txnIds: string[]; clear: () => void }) {
  const me = useMe()
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'resend' | 'cancel'>()
  const [tag, setTag] = useState('')
  const finish = ({ data }: Done) => {
    const refused = data.filter(({ outcome }) => outcome === 'refused')
    const [first] = refused
    notifications.show({
      title: says.done(data.length - refused.length),
      message: first ? says.refused(refused.length, first.detail ?? '') : '',
      ...(first && { color: 'red', autoClose: 12_000 }),
    })
    void queries.invalidateQueries({ queryKey: ['orders'] })
    if (!first) clear()
  }
  const marking = useMutation({
    mutationFn: (said: { tag: string } | { assignee: string | null }) =>
      ask(api.markTogether, { body: { txn_ids: txnIds, ...said } }),
    onSuccess: (done) => {
      setTag('')
      finish(done)
    },
    onError: (error) => {
      const { title, detail } = problemOf(error)
      notifications.show({ color: 'red', title, message: detail })
    },
  })
  const exporting = useMutation({
    mutationFn: () => {
      const query = { txn_ids: txnIds.join(',') }
      const { signal } = new AbortController()
      return saveStream(addressOf(api.ordersCsv, { query }), csv.file, signal, () => {})
    },
    onSuccess: (lines) => notifications.show({ message: csv.done(lines) }),
  })
  if (txnIds.length === 0) return null
  const isAgent = me.user.role === 'agent'
  const mayAct = whyNot(me, 'act_on_orders')
  return (
    <section className={classes.chosen} aria-label={says.label}>
      <strong role="status">{says.count(txnIds.length)}</strong>
      <Group gap="xs">
        <ActButton
          size="xs"
          whyNot={whyNot(me, 'resend_callbacks')}
          onClick={() => setAsked('resend')}
        >
          {says.resend}
        </ActButton>
        {!isAgent && (
          <>
            <ActButton size="xs" whyNot={mayAct} onClick={() => setAsked('cancel')}>
              {says.cancel}
            </ActButton>
            {mayAct === undefined && <Assign assign={(assignee) => marking.mutate({ assignee })} />}
          </>
        )}
        <Button
          variant="default"
          size="xs"
          loading={exporting.isPending}
          onClick={() => exporting.mutate()}
        >
          {says.export}
        </Button>
        {!isAgent && mayAct === undefined && (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              marking.mutate({ tag: tag.trim().toLowerCase() })
            }}
          >
            <Group gap={4} wrap="nowrap">
              <TextInput
                size="xs"
                w={120}
                aria-label={says.tag}
                placeholder={says.tag}
                value={tag}
                onChange={(event) => setTag(event.currentTarget.value)}
              />
              <Button type="submit" size="xs" variant="default" disabled={tag.trim() === ''}>
                {says.addTag}
              </Button>
            </Group>
          </form>
        )}
        <Button variant="subtle" size="xs" onClick={clear}>
          {says.clear}
        </Button>
      </Group>
      {asked && (
        <ActDialog
          draft={`together/${asked}`}
          title={says.titles[asked](txnIds.length)}
          explain={says.explains[asked]}
          confirm={asked === 'resend' ? says.resend : says.cancel}
          danger={asked === 'cancel'}
          needsCode={asked === 'cancel'}
          close={() => setAsked(undefined)}
          act={async ({ reason, code }) => {
            const body = { txn_ids: txnIds, reason }
            finish(
              await (asked === 'resend'
                ? ask(api.resendTogether, { body })
                : ask(api.cancelTogether, { body: { ...body, code } })),
            )
          }}
        />
      )}
    </section>
  )
}

/** Somebody looks into the orders from now on, or nobody any more. */
function Assign({ assign }: { assign: (assignee: string | null) => void }) {
  const me = useMe()
  const people = useAssignees()
  const [assignee, setAssignee] = useState(me.user.email)
  return (
    <Group gap={4} wrap="nowrap">
      <NativeSelect
        size="xs"
        aria-label={says.assignee}
        value={assignee}
        onChange={(event) => setAssignee(event.currentTarget.value)}
        data={[
          ...people.map((email) => ({
            value: email,
            label: email === me.user.email ? says.me : email,
          })),
          { value: '', label: says.nobody },
        ]}
      />
      <Button size="xs" variant="default" onClick={() => assign(assignee || null)}>
        {says.assign}
      </Button>
    </Group>
  )
}
