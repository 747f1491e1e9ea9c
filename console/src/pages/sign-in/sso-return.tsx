import { Button, Stack } from '@mantine/core'
import { startAuthentication } from '@simplewebauthn/browser'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type FormEvent, useCallback, useEffect, useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { CodeInput } from '../../parts/code-input.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { base } from '../../root.ts'
import { words } from '../../words.ts'
import { invitationWords as invitation } from '../invitation/invitation-words.ts'
import classes from './door.module.css'
import { Door } from './door.tsx'
import { signInWords as signIn } from './sign-in-words.ts'

/** Where an issuer sends people back to: sends on what it said, and asks for the code that is still missing. */
export function SsoReturn({ query, again }: { query: string; again: () => void }) {
  const router = useRouter()
  const queries = useQueryClient()
  const enter = useCallback(() => {
    queries.clear()
    router.history.push(`${base}/`)
  }, [queries, router])
  const sent = useQuery({
    queryKey: ['sso-return', query],
    queryFn: () => ask(api.ssoReturn, { body: { query } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isDone = sent.data?.next === 'done'
  useEffect(() => {
    if (isDone) enter()
  }, [isDone, enter])
  if (sent.isError) {
    return (
      <Door title={signIn.ssoTitle} says="">
        <Stack gap="sm">
          <ProblemPanel error={sent.error} />
          <Button size="sm" onClick={again}>
            {signIn.ssoAgain}
          </Button>
        </Stack>
      </Door>
    )
  }
  if (!sent.data || isDone) {
    return (
      <Door title={signIn.ssoTitle} says={words.loading}>
        {null}
      </Door>
    )
  }
  return (
    <Door title={signIn.ssoTitle} says={sent.data.totp ? signIn.ssoEnrol : signIn.ssoCode}>
      <Prove totp={sent.data.totp} enter={enter} again={again} />
    </Door>
  )
}

function Prove(props: {
  totp: Answer<typeof api.ssoReturn>['totp']
  enter: () => void
  again: () => void
}) {
  const { totp, enter, again } = props
  const [code, setCode] = useState('')
  const proving = useMutation({
    mutationFn: () => ask(api.ssoProve, { body: { code } }),
    onSuccess: enter,
    onError: () => setCode(''),
  })
  const withPasskey = useMutation({
    mutationFn: async () => {
      const { options } = await ask(api.signInOptions)
      const optionsJSON = options as Parameters<typeof startAuthentication>[0]['optionsJSON']
      const answer = JSON.stringify(await startAuthentication({ optionsJSON }))
      return ask(api.ssoProve, { body: { answer } })
    },
    onSuccess: enter,
  })
  const error = proving.error ?? withPasskey.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    proving.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {totp && (
          <>
            <img className={classes.qr} src={totp.qrcode} alt={invitation.qrAlt} />
            <div>
              {invitation.byHand} <CopyId id={totp.secret} />
            </div>
          </>
        )}
        <CodeInput description={signIn.codeHint} value={code} change={setCode} />
        {error && <ProblemPanel error={error} />}
        <Button type="submit" size="sm" loading={proving.isPending}>
          {signIn.title}
        </Button>
        {!totp && (
          <Button
            variant="default"
            size="sm"
            loading={withPasskey.isPending}
            onClick={() => withPasskey.mutate()}
          >
            {words.usePasskey}
          </Button>
        )}
        <Button variant="subtle" size="sm" onClick={again}>
          {signIn.ssoAgain}
        </Button>
      </Stack>
    </form>
  )
}
