import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Proposed, problemOf } from '../api.ts'
import { pages } from '../paths.ts'
import { base } from '../root.ts'
import { words } from '../words.ts'
import { useDraft, useForgetDrafts } from './draft.ts'
import { useFocusBack } from './focus-back.ts'
import { FreshCode, isFreshCode } from './fresh-code.tsx'
import { ProblemPanel } from './problem-panel.tsx'

export interface Given {
  reason: string
  code: string
}

/**
 * Confirms an action: explains what will happen, asks for the reason and for a fresh code. What the service
 * takes without one, such as stopping an agent, asks for none.
 * A refusal is shown here. Input survives a refusal and a reload, and is discarded when the user goes back.
 */
export function ActDialog(props: {
  /** The form's name among the page's drafts, followed by which one if there are several. */
  draft: string
  title: string
  explain: ReactNode
  confirm: string
  danger?: boolean
  needsReason?: boolean
  /** What the reason has to show, where it is more than why. */
  reasonHint?: string
  /** For forms with many fields. */
  wide?: boolean
  needsCode?: boolean
  /** False while something else that is asked for is missing. */
  isReady?: boolean
  /** Do not close after success: the caller shows something else in its place. */
  stays?: boolean
  children?: ReactNode
  act: (given: Given) => Promise<unknown>
  close: () => void
}) {
  const { needsReason = true, needsCode = true, isReady = true } = props
  useFocusBack()
  const queries = useQueryClient()
  const [reason, setReason] = useDraft(`${props.draft}/reason`, '')
  const [code, setCode] = useState('')
  const forgetDrafts = useForgetDrafts()
  const forget = () => forgetDrafts(props.draft.split('/')[0] ?? '')
  const close = () => {
    forget()
    props.close()
  }
  const acting = useMutation({
    mutationFn: (given: Given) =>
      props.act(given).then(
        () => undefined,
        (error: unknown) => {
          if (error instanceof Proposed) return error
          throw error
        },
      ),
    onSuccess: (proposed) => {
      if (proposed) {
        // Notices stand outside the router, so the link is a plain one.
        const link = <a href={`${base}${pages.approval(proposed.proposal)}`}>{proposed.message}</a>
        notifications.show({ title: words.proposed, message: link, autoClose: 12_000 })
        void queries.invalidateQueries({ queryKey: ['approvals'] })
      }
      if (props.stays && !proposed) forget()
      else close()
    },
  })
  const onError = (error: unknown) => {
    setCode('')
    // The page was out of date: reload what is behind the dialog.
    if (problemOf(error).status === 409) void queries.invalidateQueries()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    acting.mutate({ reason: reason.trim(), code }, { onError })
  }
  return (
    <Modal
      opened
      size={props.wide ? 'xl' : 'md'}
      onClose={close}
      title={<strong>{props.title}</strong>}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          <div>{props.explain}</div>
          {props.children}
          {needsReason && (
            <Textarea
              label={words.reason}
              description={props.reasonHint ?? words.reasonHint}
              required
              maxLength={500}
              data-autofocus
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
          )}
          {needsCode && (
            <FreshCode
              label={words.codeAgain}
              description={words.codeAgainHint}
              value={code}
              change={setCode}
            />
          )}
          {acting.isError && <ProblemPanel error={acting.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" size="sm" onClick={close}>
              {words.back}
            </Button>
            <Button
              type="submit"
              size="sm"
              color={props.danger ? 'red.8' : undefined}
              loading={acting.isPending}
              disabled={
                !isReady ||
                (needsReason && reason.trim() === '') ||
                (needsCode && !isFreshCode(code))
              }
            >
              {props.confirm}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
