import { Group, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { payoutFilesWords } from './payout-files-words.ts'

const { held: says } = payoutFilesWords

export type Waiting = Row<typeof api.payoutsWaiting>
type LostSum = Waiting['lost_sums'][number]

/** An account whose files do not leave since the database was restored: what is missing, and what people can do. */
export function HeldBack({ waiting }: { waiting: Waiting }) {
  const { account, currency, locked, lost_sums: lostSums } = waiting
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'debited' | 'release' | LostSum>()
  const mayMake = whyNot(me, 'make_payout_files')
  const close = () => setAsked(undefined)
  const changed = () => queries.invalidateQueries({ queryKey: ['payouts-waiting'] })
  return (
    <Panel title={says.title(account)}>
      <div role="alert">
        <p>{says.explain}</p>
        <ul>
          {locked.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      </div>
      <Group gap="xs">
        <ActButton whyNot={mayMake} onClick={() => setAsked('debited')}>
          {says.debited.button}
        </ActButton>
        {lostSums.map((sum) => (
          <ActButton key={sum.movement} whyNot={mayMake} onClick={() => setAsked(sum)}>
            {says.lost.button(inWords(sum.amount, currency))}
          </ActButton>
        ))}
        <ActButton whyNot={mayMake} onClick={() => setAsked('release')}>
          {says.release.button}
        </ActButton>
      </Group>
      {asked === 'debited' && (
        <ActDialog
          draft="debited"
          title={says.debited.title}
          explain={says.debited.explain}
          confirm={says.debited.button}
          needsReason={false}
          needsCode={false}
          close={close}
          act={async () => {
            const { id } = await ask(api.draftPayoutFile, { body: { account, debited: true } })
            await changed()
            await navigate({ to: pages.payoutFile(id) })
          }}
        />
      )}
      {typeof asked === 'object' && (
        <WhatItPaid
          waiting={waiting}
          sum={asked}
          close={close}
          made={async (id) => {
            await changed()
            await navigate({ to: pages.payoutFile(id) })
          }}
        />
      )}
      {asked === 'release' && (
        <ActDialog
          draft="release"
          title={says.release.title(account)}
          explain={says.release.explain}
          confirm={says.release.button}
          danger
          needsCode
          close={close}
          act={async ({ reason, code }) => {
            await ask(api.releasePayouts, { params: { name: account }, body: { reason, code } })
            await changed()
          }}
        />
      )}
    </Panel>
  )
}

/** A person says which withdrawals the debit of a lost file paid. */
function WhatItPaid(props: {
  waiting: Waiting
  sum: LostSum
  close: () => void
  made: (id: string) => Promise<void>
}) {
  const { account, currency } = props.waiting
  const { movement, amount, day, count, sum } = props.sum
  const [text, setText] = useDraft(`lost/${movement}/withdrawals`, '')
  const [rest, setRest] = useDraft(`lost/${movement}/rest`, '')
  const named = [...new Set(text.split(/[\s,;]+/).filter((each) => each !== ''))]
  return (
    <ActDialog
      draft="lost"
      title={says.lost.title(inWords(amount, currency), day)}
      explain={says.lost.explain(count, inWords(sum, currency))}
      confirm={says.lost.confirm}
      needsReason={false}
      needsCode={false}
      isReady={named.length > 0}
      close={props.close}
      act={async () => {
        const more = rest.trim() === '' ? {} : { rest: rest.trim() }
        const body = { account, debited: true, movement, txn_ids: named, ...more }
        const { id } = await ask(api.draftPayoutFile, { body })
        await props.made(id)
      }}
    >
      <Textarea
        label={says.lost.withdrawals}
        description={says.lost.withdrawalsHint}
        required
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <TextInput
        label={says.lost.rest}
        description={says.lost.restHint}
        inputMode="decimal"
        value={rest}
        onChange={(event) => setRest(event.currentTarget.value)}
      />
    </ActDialog>
  )
}

function inWords(amount: LostSum['amount'], currency: string): string {
  return `${moneyText(amount, currency)} ${currency}`
}
