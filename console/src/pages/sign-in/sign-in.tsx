import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { startAuthentication } from '@simplewebauthn/browser'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ask } from '../../api.ts'
import { CodeInput } from '../../parts/code-input.tsx'
import { LanguageSelect } from '../../parts/language-select.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { base } from '../../root.ts'
import { ssoAnswer } from '../../sso-answer.ts'
import { words } from '../../words.ts'
import { Door } from './door.tsx'
import { signInWords as signIn } from './sign-in-words.ts'
import { SsoReturn } from './sso-return.tsx'

export default function SignIn() {
  // Taken once: whoever comes back to this page later begins again.
  const [query, setQuery] = useState(() => ssoAnswer.take())
  return query === undefined ? (
    <SignInHere />
  ) : (
    <SsoReturn query={query} again={() => setQuery(undefined)} />
  )
}

function SignInHere() {
  const router = useRouter()
  const queries = useQueryClient()
  const { to }: { to?: string } = useSearch({ strict: false })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  useEffect(() => {
    document.title = `${signIn.title} · ${words.product}`
  }, [])
  const signing = useMutation({
    mutationFn: () => ask(api.signIn, { body: { email: email.trim(), password, code } }),
    onSuccess: () => {
      queries.clear()
      router.history.push(within(to))
    },
    // A code works only once, even if the attempt fails.
    onError: () => setCode(''),
  })
  const withPasskey = useMutation({
    mutationFn: async () => {
      const { options } = await ask(api.signInOptions)
      const optionsJSON = options as Parameters<typeof startAuthentication>[0]['optionsJSON']
      const answer = JSON.stringify(await startAuthentication({ optionsJSON }))
      return ask(api.signInWithPasskey, { body: { answer } })
    },
    onSuccess: () => {
      queries.clear()
      router.history.push(within(to))
    },
  })
  const sso = useQuery({ queryKey: ['sso'], queryFn: () => ask(api.sso), retry: false })
  const withSso = useMutation({
    mutationFn: () => ask(api.ssoBegin),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  const error = signing.error ?? withPasskey.error ?? withSso.error
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signing.mutate()
  }
  return (
    <Door title={signIn.title} says={to === undefined ? signIn.says : signIn.saysAgain}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={signIn.email}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <PasswordInput
            label={signIn.password}
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <CodeInput description={signIn.codeHint} value={code} change={setCode} />
          {error && <ProblemPanel error={error} />}
          <Button type="submit" size="sm" mt={4} loading={signing.isPending}>
            {signIn.title}
          </Button>
          <Button
            variant="default"
            size="sm"
            loading={withPasskey.isPending}
            onClick={() => withPasskey.mutate()}
          >
            {words.usePasskey}
          </Button>
          {sso.data?.available && (
            <Button
              variant="default"
              size="sm"
              loading={withSso.isPending || withSso.isSuccess}
              onClick={() => withSso.mutate()}
            >
              {signIn.sso}
            </Button>
          )}
          <LanguageSelect />
        </Stack>
      </form>
    </Door>
  )
}

/** Allows only addresses inside the console as the target after sign-in. */
function within(to: string | undefined): string {
  return to?.startsWith('/') ? `${base}${to}` : `${base}/`
}
