import { Button, Checkbox, PasswordInput, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { FreshCode } from '../../parts/fresh-code.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { invitationWords } from '../invitation/invitation-words.ts'
import { Alerts } from './alerts.tsx'
import classes from './me.module.css'
import { meWords as says } from './me-words.ts'
import { Passkeys } from './passkeys.tsx'

export default function MyAccount() {
  return (
    <>
      <PageHead title={says.title} />
      <div className={classes.panels}>
        <Sessions />
        <Password />
        <Passkeys />
        <Alerts />
      </div>
    </>
  )
}

function Sessions() {
  const queries = useQueryClient()
  const found = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => ask(api.mySessions, { signal }),
  })
  const ending = useMutation({
    mutationFn: (id: string) => ask(api.endSession, { params: { id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const endingOthers = useMutation({
    mutationFn: () => ask(api.endOtherSessions),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const error = found.error ?? ending.error ?? endingOthers.error
  return (
    <Panel title={says.sessions}>
      {error && <ProblemPanel error={error} />}
      <ul className={classes.sessions}>
        {found.data?.data.map((session) => (
          <li key={session.id}>
            <div>
              <strong>{session.ip}</strong>{' '}
              {session.current && <Toned tone="good">{says.current}</Toned>}
              <div className={classes.agent}>{session.user_agent ?? says.unknownBrowser}</div>
              <div className={classes.agent}>
                <When at={session.created_at} />, {says.lastSeen}{' '}
                <When at={session.last_seen_at} ago />
              </div>
            </div>
            {!session.current && (
              <Button variant="default" onClick={() => ending.mutate(session.id)}>
                {says.end}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {(found.data?.data.length ?? 0) > 1 && (
        <Button
          variant="default"
          mt="sm"
          loading={endingOthers.isPending}
          onClick={() => endingOthers.mutate()}
        >
          {says.endOthers}
        </Button>
      )}
    </Panel>
  )
}

function Password() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [keepsPasskeys, setKeepsPasskeys] = useState(false)
  const [code, setCode] = useState('')
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: () =>
      ask(api.changePassword, {
        body: { current_password: current, password, keep_passkeys: keepsPasskeys, code },
      }),
    onSuccess: async () => {
      setCurrent('')
      setPassword('')
      setCode('')
      notifications.show({ message: says.changed })
      await queries.invalidateQueries({ queryKey: ['sessions'] })
      await queries.invalidateQueries({ queryKey: ['passkeys'] })
    },
    onError: () => setCode(''),
  })
  return (
    <Panel title={says.password}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          changing.mutate()
        }}
      >
        <Stack gap="sm">
          <span>{says.passwordHint}</span>
          <PasswordInput
            label={says.currentPassword}
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordInput
            label={says.newPassword}
            description={invitationWords.passwordHint}
            autoComplete="new-password"
            minLength={12}
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Checkbox
            label={says.keepPasskeys}
            description={says.keepPasskeysHint}
            checked={keepsPasskeys}
            onChange={(event) => setKeepsPasskeys(event.currentTarget.checked)}
          />
          <FreshCode value={code} change={setCode} />
          {changing.isError && <ProblemPanel error={changing.error} />}
          <Button type="submit" size="sm" loading={changing.isPending}>
            {says.change}
          </Button>
        </Stack>
      </form>
    </Panel>
  )
}
