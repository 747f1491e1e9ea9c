import { Button, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from '../bank-account-form/form.module.css'
import meClasses from '../me/me.module.css'
import type { ConnectorDetail } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'
import { documentQuery } from './document-query.ts'
import { TriedPanel } from './tried-panel.tsx'
import { VersionSelect, versionIn } from './version-select.tsx'

const { try: says, calls } = connectorWords
const steps = ['expectDeposit', 'askDeposit', 'submitPayout', 'askPayout', 'notice'] as const
type Step = (typeof steps)[number]

/** Shows what a version makes of an answer or a notice. Nothing is changed. */
export function ConnectorTester({ connector }: { connector: ConnectorDetail }) {
  const { name, currencies } = connector
  const { filters, set } = useFilters()
  const version = versionIn(connector, filters.version)
  const [call, setCall] = useDraft<Step>('try/call', 'askPayout')
  const [status, setStatus] = useDraft('try/status', '200')
  const [body, setBody] = useDraft('try/body', '')
  const [reference, setReference] = useDraft('try/reference', '')
  const [amount, setAmount] = useDraft('try/amount', '')
  const [chosen, setCurrency] = useDraft('try/currency', '')
  const [theirId, setTheirId] = useDraft('try/their-id', '')
  const [address, setAddress] = useDraft('try/address', '')
  // No draft: with its body it would be a genuine notice that could be replayed.
  const [headers, setHeaders] = useState('')
  const currency = currencies.find((each) => each === chosen) ?? currencies[0]
  const whyDisabled = whyNot(useMe(), 'manage_providers')
  const document = useQuery(documentQuery(name, version))
  const isNotice = call === 'notice'
  const trying = useMutation({
    mutationFn: () =>
      ask(api.tryConnector, {
        params: { name },
        body: {
          version,
          call,
          body,
          ...(isNotice
            ? headers.trim() !== '' && { headers, ...(address !== '' && { address }) }
            : {
                status: Number(status),
                ...(reference !== '' && { reference }),
                ...(amount !== '' && { amount }),
                ...(theirId !== '' && { their_id: theirId }),
                ...(currency && { currency }),
              }),
        },
      }),
  })
  return (
    <div className={meClasses.panels}>
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            trying.mutate()
          }}
        >
          <Stack gap="sm">
            <div>{says.says}</div>
            <VersionSelect
              connector={connector}
              value={version}
              choose={(next) => set({ version: next })}
            />
            <NativeSelect
              label={says.call}
              value={call}
              data={steps.map((value) => ({ value, label: calls[value] }))}
              onChange={({ currentTarget: { value } }) =>
                setCall(steps.find((each) => each === value) ?? 'notice')
              }
            />
            <Textarea
              label={says.body}
              description={says.bodyHint}
              classNames={{ input: classes.code }}
              autosize
              minRows={5}
              maxRows={20}
              maxLength={65_536}
              spellCheck={false}
              value={body}
              onChange={(event) => setBody(event.currentTarget.value)}
            />
            {isNotice ? (
              <>
                <Textarea
                  label={says.headers}
                  description={says.headersHint}
                  classNames={{ input: classes.code }}
                  autosize
                  minRows={2}
                  maxRows={10}
                  maxLength={16_384}
                  spellCheck={false}
                  value={headers}
                  onChange={(event) => setHeaders(event.currentTarget.value)}
                />
                <TextInput
                  label={says.address}
                  description={says.addressHint}
                  value={address}
                  onChange={(event) => setAddress(event.currentTarget.value)}
                />
              </>
            ) : (
              <div className={classes.fields}>
                <TextInput
                  label={says.status}
                  inputMode="numeric"
                  pattern="[2-5][0-9][0-9]"
                  required
                  value={status}
                  onChange={(event) => setStatus(event.currentTarget.value)}
                />
                <TextInput
                  label={says.reference}
                  description={says.referenceHint}
                  value={reference}
                  onChange={(event) => setReference(event.currentTarget.value)}
                />
                <TextInput
                  label={says.amount}
                  inputMode="decimal"
                  value={amount}
                  onChange={(event) => setAmount(event.currentTarget.value)}
                />
                <TextInput
                  label={says.theirId}
                  value={theirId}
                  onChange={(event) => setTheirId(event.currentTarget.value)}
                />
                <NativeSelect
                  label={says.currency}
                  value={currency}
                  data={currencies}
                  onChange={(event) => setCurrency(event.currentTarget.value)}
                />
              </div>
            )}
            {trying.isError && <ProblemPanel error={trying.error} />}
            <Button
              type="submit"
              size="sm"
              loading={trying.isPending}
              disabled={whyDisabled !== undefined}
              title={whyDisabled}
            >
              {says.button}
            </Button>
          </Stack>
        </form>
      </Panel>
      <TriedPanel answer={trying.data} document={document.data?.document} />
    </div>
  )
}
