import { stateWords } from '../words.ts'
import classes from './parts.module.css'

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'odd' | 'calm'

/** The look of every state, in one table, so that a colour means the same thing everywhere. */
const tones: Record<string, Tone> = {
  proposal_open: 'warn',
  proposal_approved: 'info',
  proposal_done: 'good',
  proposal_refused: 'bad',
  proposal_declined: 'calm',
  proposal_withdrawn: 'calm',
  proposal_expired: 'calm',
  PAID: 'good',
  WAITING: 'warn',
  FAILED: 'bad',
  EXPIRED: 'calm',
  VOID: 'calm',
  CANCEL: 'calm',
  REVERT: 'odd',
  delivered: 'good',
  waiting: 'warn',
  sending: 'info',
  exhausted: 'bad',
  no_address: 'bad',
  superseded: 'calm',
  paused: 'info',
  probing: 'warn',
  unreadable: 'bad',
  needs_samples: 'warn',
  ready: 'info',
  waits_for_another: 'warn',
  open: 'good',
  on: 'good',
  draining: 'warn',
  off: 'calm',
  active: 'good',
  suspended: 'bad',
  disabled: 'bad',
  invited: 'info',
  to_decide: 'warn',
  credited: 'good',
  matched: 'good',
  returned: 'calm',
  paid_after_failed: 'bad',
  paid_twice: 'bad',
  failed_after_paid: 'warn',
  refunded_and_taken_back: 'bad',
  late: 'warn',
  wrong_amount: 'warn',
  duplicate: 'odd',
  unmatched: 'info',
  claimed_twice: 'bad',
  wrong_provider: 'bad',
  ambiguous: 'bad',
  wrong_currency: 'warn',
  dismissed: 'calm',
  fee: 'warn',
  bound: 'warn',
  failing: 'bad',
  taken_back: 'odd',
  unknown: 'bad',
  asked: 'info',
  done: 'good',
  refused: 'bad',
  ok: 'good',
  failed: 'bad',
  skipped: 'calm',
  green: 'good',
  amber: 'warn',
  red: 'bad',
  unconfirmed: 'warn',
  new: 'info',
  booked: 'good',
  unexplained: 'bad',
  order: 'good',
  nobody: 'warn',
  takes_back: 'odd',
  pending: 'calm',
  taken_out: 'calm',
  abandoned: 'calm',
  draft: 'warn',
  approving: 'info',
  approved: 'warn',
  exported: 'warn',
  sent: 'info',
  acknowledged: 'info',
  closed: 'good',
  cancelled: 'calm',
  accepted: 'info',
  paid: 'good',
  rejected: 'bad',
  deposit: 'calm',
  withdraw: 'calm',
}

/** Usually a state has its own tone; `tone` is for where more than the state decides. */
export function StateBadge(props: { state: string; title?: string; tone?: Tone }) {
  const { state, title } = props
  return (
    <Toned tone={props.tone ?? tones[state] ?? 'calm'} title={title}>
      {stateWords[state] ?? state}
    </Toned>
  )
}

export function Toned(props: {
  tone: Tone
  title?: string | undefined
  children: React.ReactNode
}) {
  return (
    <span className={classes.badge} data-tone={props.tone} title={props.title}>
      {props.children}
    </span>
  )
}
