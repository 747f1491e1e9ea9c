import { Button, Group, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMe } from '../session.tsx'
import { words } from '../words.ts'
import { ActButton } from './act-button.tsx'
import { useDraft } from './draft.ts'
import classes from './notes.module.css'
import { Panel } from './panel.tsx'
import { ProblemPanel } from './problem-panel.tsx'
import { When } from './when.tsx'

interface Note {
  at: string
  by: string
  assignee: string | null
  note: string | null
}

const { notes: says } = words

/** The assignee of a case, and the notes on it. */
export function Notes(props: {
  assignee: string | null
  notes: Note[]
  /** Why this user may not change it; undefined if they may. */
  whyDisabled: string | undefined
  assign: (assignee: string | null, insteadOf: string | null) => Promise<unknown>
  add: (note: string) => Promise<unknown>
  /** Reloads the page's data. */
  changed: () => Promise<unknown>
}) {
  const me = useMe()
  const [note, setNote] = useDraft('note', '')
  const assigning = useMutation({
    mutationFn: (assignee: string | null) => props.assign(assignee, props.assignee),
    // After a refusal another operator has it by now: reload to show who.
    onSettled: props.changed,
  })
  const noting = useMutation({
    mutationFn: () => props.add(note.trim()),
    onSuccess: async () => {
      setNote('')
      await props.changed()
    },
  })
  const isMine = props.assignee === me.user.email
  return (
    <Panel title={says.title}>
      <Group gap="xs" mb="sm">
        <span>
          {says.assignee} <strong>{props.assignee ?? says.nobody}</strong>
        </span>
        <ActButton
          size="compact-xs"
          whyNot={props.whyDisabled}
          onClick={() => assigning.mutate(isMine ? null : me.user.email)}
        >
          {isMine ? says.letGo : says.take}
        </ActButton>
      </Group>
      <ol className={classes.notes}>
        {props.notes.map((each) => (
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
      {!props.whyDisabled && (
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
            {says.add}
          </Button>
        </form>
      )}
    </Panel>
  )
}
