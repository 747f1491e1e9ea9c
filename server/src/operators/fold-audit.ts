import { notMadeYet } from './audit.ts'

/**
 * An action that is audited before and after has two rows; a reader wants one. An attempt has its result if the next
 * row of the same user, action and subject is one. Otherwise it was interrupted, and stays.
 */

const byTheSame = `r.action = a.action and r.email = a.email
  and r.user_id is not distinct from a.user_id and r.subject_kind = a.subject_kind`

const nextIsResult = (about: string) => `(select r.outcome <> 'asked' from audit_log r
  where ${byTheSame} and ${about} and r.audit_id > a.audit_id order by r.audit_id limit 1)`

const timeOfAttempt = (about: string) => `(
  select case when r.outcome = 'asked' then r.at end from audit_log r
  where ${byTheSame} and ${about} and r.audit_id < a.audit_id order by r.audit_id desc limit 1)`

// Apart from what is made, both rows are found next to each other in the index of subjects.
const sameSubject = 'r.subject_id = a.subject_id'

/** Whether the row `a` is an attempt whose result is in the log. What is made has its id only in the result. */
export const hasResult = `(a.outcome = 'asked' and coalesce(
  case when a.subject_id = '${notMadeYet}' then ${nextIsResult('true')}
    else ${nextIsResult(sameSubject)} end, false))`

/** When the row `a`, if it is a result, was attempted. */
export const askedAt = `(case when a.outcome = 'asked' then null
  when a.action = 'create_agent' then ${timeOfAttempt(`r.subject_id in (a.subject_id, '${notMadeYet}')`)}
  else ${timeOfAttempt(sameSubject)} end)`
