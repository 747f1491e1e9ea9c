import { Button, Group, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { words } from '../../words.ts'
import classes from './notes.module.css'
import { type PaymentDetail, paymentKey } from './payment.tsx'

const { payment: says } = words

/** Who looks into it, and what they have found out so far. */
export function Notes({ detail: { payment, notes } }: { detail: PaymentDetail }) {
  const me = useMe()
  const shut = whyNot(me, 'decide_payments')
  const queries = useQueryClient()
  const [note, setNote] = useDraft('note', '')
  const params = { payment_id: payment.payment_id }
  const onSuccess = () => queries.invalidateQueries({ queryKey: paymentKey(payment.payment_id) })
  const assigning = useMutation({
    mutationFn: (assignee: string | null) =>
      ask(api.assignPayment, { params, body: { assignee, instead_of: payment.assignee } }),
    // Refused, somebody else has it by now: the page shows who.
    onSettled: onSuccess,
  })
  const noting = useMutation({
    mutationFn: () => ask(api.notePayment, { params, body: { note: note.trim() } }),
    onSuccess: async () => {
      setNote('')
      await onSuccess()
    },
  })
  const isMine = payment.assignee === me.user.email
  return (
    <Panel title={says.notes}>
      <Group gap="xs" mb="sm">
        <span>
          {says.assignee} <strong>{payment.assignee ?? says.nobody}</strong>
        </span>
        <ActButton
          size="compact-xs"
          whyNot={shut}
          onClick={() => assigning.mutate(isMine ? null : me.user.email)}
        >
          {isMine ? says.letGo : says.take}
        </ActButton>
      </Group>
      <ol className={classes.notes}>
        {notes.map((each) => (
          <li key={`${each.at} ${each.note}`}>
            <span className={classes.by}>
              {each.by} <When at={each.at} />
            </span>
            {each.note ?? says.assigned(each.assignee)}
          </li>
        ))}
      </ol>
      {(assigning.isError || noting.isError) && (
        <ProblemPanel error={assigning.error ?? noting.error} />
      )}
      {!shut && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            noting.mutate()
          }}
        >
          <Textarea
            aria-label={says.note}
            placeholder={says.note}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <Button type="submit" mt={6} disabled={note.trim() === ''} loading={noting.isPending}>
            {says.addNote}
          </Button>
        </form>
      )}
    </Panel>
  )
}
