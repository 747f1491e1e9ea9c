import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import {
  type Currency,
  currencies,
  currencyChosen,
  defaultCurrency,
} from '../../parts/currencies.ts'
import { useDraft } from '../../parts/draft.ts'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { agentWords as fields } from '../agent/agent-words.ts'
import { agentsWords as says } from './agents-words.ts'

export function CreateAgent({ close }: { close: () => void }) {
  const isLive = useMe().mode === 'live'
  const queries = useQueryClient()
  const [made, setMade] = useState<Answer<typeof api.createAgent>>()
  const [name, setName] = useDraft('create/name', '')
  const [currency, setCurrency] = useDraft<Currency>('create/currency', defaultCurrency)
  const [deposit, setDeposit] = useDraft('create/deposit', '')
  const [withdraw, setWithdraw] = useDraft('create/withdraw', '')
  const [origins, setOrigins] = useDraft('create/origins', '')
  const named = origins.split(/\s+/).filter((origin) => origin !== '')
  if (made) return <SecretOnce appId={made.app_id} secret={made.secret} close={close} />
  return (
    <ActDialog
      draft="create"
      title={says.create}
      explain={says.createExplain}
      confirm={says.create}
      needsReason={false}
      close={close}
      stays
      act={async ({ code }) => {
        setMade(
          await ask(api.createAgent, {
            body: {
              code,
              name: name.trim(),
              currency,
              deposit_callback: deposit.trim() || null,
              withdraw_callback: withdraw.trim() || null,
              // Omitted if empty: the service knows when it is required.
              ...(named.length > 0 && { frame_origin: named }),
            },
          }),
        )
        await queries.invalidateQueries({ queryKey: ['agents'] })
        void queries.invalidateQueries({ queryKey: ['wallets'] })
      }}
    >
      <TextInput
        label={says.columns.name}
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label={says.columns.currency}
        description={says.currencyHint}
        value={currency}
        data={currencies}
        onChange={(event) => setCurrency(currencyChosen(event.currentTarget.value))}
      />
      <TextInput
        label={fields.depositCallback}
        type="url"
        value={deposit}
        onChange={(event) => setDeposit(event.currentTarget.value)}
      />
      <TextInput
        label={fields.withdrawCallback}
        type="url"
        value={withdraw}
        onChange={(event) => setWithdraw(event.currentTarget.value)}
      />
      <Textarea
        label={fields.terms.frame_origin[0]}
        description={says.framesHint}
        required={isLive}
        value={origins}
        onChange={(event) => setOrigins(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
