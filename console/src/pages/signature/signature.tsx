import { Button, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { AgentSelect } from '../../parts/agent-select.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { RawView } from '../../parts/raw-view.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from '../me/me.module.css'
import { testOrdersWords } from '../test-orders/test-orders-words.ts'
import { signatureWords as says } from './signature-words.ts'

/** Checks the signature of a pasted request or callback and explains what is wrong with it. */
export default function SignatureDebugger() {
  const me = useMe()
  // A request of the log comes with the address, and has drafts of its own.
  const { filters } = useFilters()
  const form = filters.request === undefined ? 'check' : `check-${filters.request}`
  const [appId, setAppId] = useDraft(`${form}/agent`, filters.agent ?? me.user.app_id ?? '')
  const [kind, setKind] = useDraft<'request' | 'callback'>(`${form}/kind`, 'request')
  const [method, setMethod] = useDraft(`${form}/method`, filters.method ?? 'POST')
  const [path, setPath] = useDraft(`${form}/path`, filters.path ?? '/payment/deposit')
  const [body, setBody] = useDraft(`${form}/body`, filters.body ?? '')
  // Never stored: together with the body it would be a valid request that could be replayed.
  const [header, setHeader] = useState('')
  const whyDisabled = whyNot(me, 'manage_own_keys')
  const checking = useMutation({
    mutationFn: () =>
      ask(api.signatureCheck, {
        body: {
          app_id: appId,
          kind,
          body,
          signature: header.trim(),
          ...(kind === 'request' && { method, path }),
        },
      }),
  })
  return (
    <>
      <PageHead title={says.title} says={says.says} />
      <div className={classes.panels}>
        <Panel>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              checking.mutate()
            }}
          >
            <Stack gap="sm">
              {me.user.role !== 'agent' && (
                <AgentSelect label={testOrdersWords.agent} value={appId} onChoose={setAppId} />
              )}
              <NativeSelect
                label={says.kind}
                value={kind}
                data={[
                  { value: 'request', label: says.request },
                  { value: 'callback', label: says.callback },
                ]}
                onChange={({ currentTarget: { value } }) =>
                  setKind(value === 'callback' ? 'callback' : 'request')
                }
              />
              {kind === 'request' && (
                <>
                  <NativeSelect
                    label={says.method}
                    value={method}
                    data={['POST', 'GET']}
                    onChange={(event) => setMethod(event.currentTarget.value)}
                  />
                  <TextInput
                    label={says.path}
                    description={says.pathHint}
                    required
                    value={path}
                    onChange={(event) => setPath(event.currentTarget.value)}
                  />
                </>
              )}
              <Textarea
                label={says.body}
                description={says.bodyHint}
                minRows={4}
                value={body}
                onChange={(event) => setBody(event.currentTarget.value)}
              />
              <TextInput
                label="x-signature"
                description={says.headerHint}
                required
                value={header}
                onChange={(event) => setHeader(event.currentTarget.value)}
              />
              {checking.isError && <ProblemPanel error={checking.error} />}
              <Button
                type="submit"
                size="sm"
                loading={checking.isPending}
                disabled={whyDisabled !== undefined}
                title={whyDisabled}
              >
                {says.check}
              </Button>
            </Stack>
          </form>
        </Panel>
        {checking.data && <Verdict verdict={checking.data} />}
      </div>
    </>
  )
}

function Verdict({ verdict }: { verdict: Answer<typeof api.signatureCheck> }) {
  return (
    <Panel
      title={says.verdict}
      tools={
        <Toned tone={verdict.matches ? 'good' : 'bad'}>
          {verdict.matches ? says.matches : says.differs}
        </Toned>
      }
    >
      <Stack gap="sm">
        <p aria-live="polite">{verdict.says}</p>
        <Facts
          facts={[
            [says.got, <code key="g">{verdict.got.join(' ') || '–'}</code>],
            [says.expected, <code key="e">{verdict.expected.join(' ') || '–'}</code>],
            verdict.age_s !== null && [says.age, `${verdict.age_s} s`],
          ]}
        />
        <strong>{says.signedText}</strong>
        <RawView raw={verdict.signed_text} label={says.signedText} />
      </Stack>
    </Panel>
  )
}
