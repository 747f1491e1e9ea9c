import { UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { useState } from 'react'
import { Facts } from '../../parts/facts.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { spanText, When } from '../../parts/when.tsx'
import classes from './attempts.module.css'
import type { CallbackDetail } from './callback-detail.ts'
import { callbackWords as says } from './callback-words.ts'

type Attempt = CallbackDetail['attempts_made'][number]

/** Every attempt: its address, the answer and the duration. */
export function Attempts({ attempts }: { attempts: Attempt[] }) {
  const [opened, setOpened] = useState<number>()
  if (attempts.length === 0) return <p>{says.noAttempts}</p>
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt, at) => {
        // Numbered from the oldest, so that numbers stay the same when an attempt is added.
        const number = attempts.length - at
        const isOpen = opened === number
        return (
          <li key={number}>
            <UnstyledButton
              className={classes.summary}
              aria-expanded={isOpen}
              onClick={() => setOpened(isOpen ? undefined : number)}
            >
              <IconChevronRight size={14} className={classes.chevron} aria-hidden />
              <When at={attempt.started_at} />
              <Outcome attempt={attempt} />
              <span className={classes.took}>{spanText(attempt.duration_ms / 1000)}</span>
            </UnstyledButton>
            {isOpen && <Exchange attempt={attempt} />}
          </li>
        )
      })}
    </ol>
  )
}

function Outcome({ attempt: { status, error } }: { attempt: Attempt }) {
  const isAccepted = status !== null && [200, 201, 202].includes(status)
  return (
    <span className={classes.outcome}>
      <Toned tone={isAccepted ? 'good' : 'bad'}>
        {status === null ? says.noAnswer : `HTTP ${status}`}
      </Toned>
      {status === null && error}
    </span>
  )
}

function Exchange({ attempt }: { attempt: Attempt }) {
  return (
    <div className={classes.exchange}>
      <Facts
        facts={[
          [says.facts.url, attempt.url],
          [says.facts.address, attempt.address ?? '–'],
        ]}
      />
      {attempt.response_headers !== null && (
        <div>
          <strong>{says.responseHeaders}</strong>
          <RawView raw={attempt.response_headers} label={says.responseHeaders} />
        </div>
      )}
      {attempt.response_body !== null && (
        <div>
          <strong>{says.responseBody}</strong>
          <RawView raw={attempt.response_body} label={says.responseBody} />
        </div>
      )}
    </div>
  )
}
