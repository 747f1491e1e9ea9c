import { Button, Group } from '@mantine/core'
import { startAuthentication } from '@simplewebauthn/browser'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ask } from '../api.ts'
import { api } from '../paths.ts'
import { words } from '../words.ts'
import { CodeInput } from './code-input.tsx'
import { ProblemPanel } from './problem-panel.tsx'

export const passkeysQuery = {
  queryKey: ['passkeys'],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask(api.myPasskeys, { signal }),
}

/** Whether what was entered can be sent: six digits, or what a passkey gave in their place. */
export function isFreshCode(code: string): boolean {
  return /^(\d{6}|pk_.+)$/.test(code)
}

/** A fresh code from the authenticator or, for who has one, from a passkey. */
export function FreshCode(props: {
  label?: string
  description?: string
  value: string
  change: (code: string) => void
}) {
  const mine = useQuery(passkeysQuery)
  const proving = useMutation({
    mutationFn: async () => {
      const { options } = await ask(api.passkeyChallenge)
      const optionsJSON = options as Parameters<typeof startAuthentication>[0]['optionsJSON']
      const answer = JSON.stringify(await startAuthentication({ optionsJSON }))
      return (await ask(api.provePasskey, { body: { answer } })).code
    },
    onSuccess: (code) => props.change(code),
  })
  if (props.value.startsWith('pk_')) return <div role="status">{words.passkeyUsed}</div>
  return (
    <>
      <CodeInput {...props} />
      {(mine.data?.data.length ?? 0) > 0 && (
        <Group>
          <Button variant="default" loading={proving.isPending} onClick={() => proving.mutate()}>
            {words.usePasskey}
          </Button>
        </Group>
      )}
      {proving.isError && <ProblemPanel error={proving.error} />}
    </>
  )
}
