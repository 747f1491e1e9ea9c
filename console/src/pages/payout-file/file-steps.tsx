import type { ReactNode } from 'react'
import { When } from '../../parts/when.tsx'
import classes from './payout-file.module.css'
import type { PayoutFileDetail } from './payout-file-detail.ts'
import { payoutFileWords } from './payout-file-words.ts'

const { steps: says } = payoutFileWords

interface Done {
  at: string
  by: string
  note?: string
}

/** The way of a file from its draft to the bank's answer: who did what, and what is next. */
export function FileSteps({ file, isByCommand }: { file: PayoutFileDetail; isByCommand: boolean }) {
  const { state, approvals, downloads, sent, reports, reseals, ends } = file
  const changes = [
    ...reseals.map(({ at, by }) => ({ at, by, note: says.resealed })),
    ...ends
      .filter(({ how }) => how === 'taken_out')
      .map(({ at, count, reason }) => ({ at, by: says.tookOut(count), note: reason })),
  ]
  const abandoned = ends.filter(({ how }) => how === 'abandoned')
  const isAnswered = state === 'acknowledged' || state === 'closed'
  const approve = isByCommand ? says.fromCommand : says.approve(file.made_by)
  const first = downloads[0]?.by ?? ''
  if (state === 'cancelled') {
    return (
      <ol className={classes.steps}>
        <Step title={says.made} done={[{ at: file.made_at, by: file.made_by }]} />
        <Step title={ends.length > 0 ? says.allOut : says.cancelled} done={changes} />
      </ol>
    )
  }
  return (
    <ol className={classes.steps}>
      <Step title={says.made} done={[{ at: file.made_at, by: file.made_by }]} />
      <Step
        title={says.approved}
        done={[...approvals, ...changes].sort((a, b) => (a.at < b.at ? -1 : 1))}
        now={
          state === 'draft'
            ? approvals.length > 0
              ? `${says.approveAgain} ${approve}`
              : approve
            : state === 'approving' && says.handing
        }
      />
      <Step
        title={says.downloaded}
        done={downloads}
        note={(at) => downloads[at]?.reason}
        now={state === 'approved' && (file.sealed?.is_over ? says.overdue : says.download)}
      />
      <Step
        title={says.sent}
        done={sent === null ? [] : [sent]}
        note={() => sent && says.reference(sent.bank_reference)}
        now={state === 'exported' && says.bring(first)}
      />
      <Step
        title={says.answered}
        done={isAnswered ? reports : []}
        now={state === 'sent' ? says.wait : state === 'acknowledged' && says.paying}
      />
      {abandoned.map(({ at, reason }) => (
        <Step key={at} title={says.abandoned} done={[{ at, by: reason }]} />
      ))}
      <Step title={says.closed} done={[]} isDone={state === 'closed'} />
    </ol>
  )
}

function Step(props: {
  title: string
  done: Done[]
  isDone?: boolean
  note?: (at: number) => ReactNode
  /** What somebody does now; nothing if it is another step's turn. */
  now?: string | false
}) {
  const { done, now } = props
  const is = now ? 'now' : props.isDone || done.length > 0 ? 'done' : 'later'
  return (
    <li data-is={is} {...(is === 'now' && { 'aria-current': 'step' })}>
      <strong>{props.title}</strong>
      {done.map(({ at, by, note }, index) => (
        <p key={at + by}>
          <When at={at} /> {by}
          <Note says={note ?? props.note?.(index)} />
        </p>
      ))}
      {now && <p>{now}</p>}
    </li>
  )
}

function Note({ says: words }: { says: ReactNode }) {
  return words ? <> · {words}</> : null
}
