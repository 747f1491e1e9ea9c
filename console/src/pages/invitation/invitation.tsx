import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Answer, ask, problemOf } from '../../api.ts'
import { CodeInput } from '../../parts/code-input.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { base } from '../../root.ts'
import { words } from '../../words.ts'
import classes from '../sign-in/door.module.css'
import { Door } from '../sign-in/door.tsx'
import { signInWords } from '../sign-in/sign-in-words.ts'
import { invitationWords as invitation } from './invitation-words.ts'

/** The page of a one-time link: choose a password, enrol an authenticator, sign in. */
export default function Invitation() {
  // Browsers send what stands after # to nobody.
  const { hash: token } = useLocation()
  const found = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => ask(api.openInvitation, { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (found.isError) {
    return (
      <Door title={invitation.refused} says={invitation.refusedHint}>
        {problemOf(found.error).status !== 404 && <ProblemPanel error={found.error} />}
      </Door>
    )
  }
  const role = words.roles[found.data?.role ?? ''] ?? ''
  return (
    <Door
      title={invitation.title}
      says={found.data ? invitation.says(found.data.email, role) : words.loading}
    >
      {found.data && <Enrol token={token} invited={found.data} />}
    </Door>
  )
}

function Enrol(props: { token: string; invited: Answer<typeof api.openInvitation> }) {
  const { token, invited } = props
  const router = useRouter()
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const accepting = useMutation({
    mutationFn: () =>
      ask(api.acceptInvitation, {
        body: { token, password, code, ...(invited.email === null && { email: email.trim() }) },
      }),
    onSuccess: () => {
      queries.clear()
      router.history.push(`${base}/`)
    },
    onError: () => setCode(''),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    accepting.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Step at={1}>{invitation.choose}</Step>
        {invited.email === null && (
          <TextInput
            label={signInWords.email}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label={signInWords.password}
          description={invitation.passwordHint}
          autoComplete="new-password"
          minLength={12}
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Step at={2}>{invitation.scan}</Step>
        <img className={classes.qr} src={invited.totp.qrcode} alt={invitation.qrAlt} />
        <div>
          {invitation.byHand} <CopyId id={invited.totp.secret} />
        </div>
        <Step at={3}>{invitation.confirm}</Step>
        <CodeInput value={code} change={setCode} />
        {accepting.isError && <ProblemPanel error={accepting.error} />}
        <Button type="submit" size="sm" loading={accepting.isPending}>
          {invitation.done}
        </Button>
      </Stack>
    </form>
  )
}

function Step({ at, children }: { at: number; children: string }) {
  return (
    <div className={classes.step}>
      <span className={classes.number}>{at}</span>
      {children}
    </div>
  )
}
