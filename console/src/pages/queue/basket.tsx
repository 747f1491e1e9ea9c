import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask, type Body } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Money, moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api, pages } from '../../paths.ts'
import classes from './queue.module.css'
import { queueWords as says } from './queue-words.ts'

/** What a person has decided on a payment, and not confirmed yet. */
export interface Chosen {
  id: string
  amount: number
  currency: string
  does: 'credit' | 'return' | 'dismiss'
  txnId: string | undefined
  agent: string | undefined
}

export type Results = Answer<typeof api.decideTogether>['data']

/** Decisions that wait for their code, a line for each currency. */
export function Basket(props: {
  chosen: Chosen[]
  clear: () => void
  decided: (results: Results, ids: string[]) => void
}) {
  const [asked, setAsked] = useState<string>()
  const currencies = [...new Set(props.chosen.map(({ currency }) => currency))]
  if (currencies.length === 0) return null
  const of = (currency: string) => props.chosen.filter((each) => each.currency === currency)
  return (
    <>
      <div className={classes.basket}>
        {currencies.map((currency) => (
          <Group key={currency} justify="space-between" gap="xs">
            <strong role="status">{says.basket(of(currency).length, currency)}</strong>
            <Group gap="xs">
              <Button variant="default" size="sm" onClick={props.clear}>
                {says.clear}
              </Button>
              <Button size="sm" onClick={() => setAsked(currency)}>
                {says.confirm}
              </Button>
            </Group>
          </Group>
        ))}
      </div>
      {asked !== undefined && of(asked).length > 0 && (
        <Confirm chosen={of(asked)} close={() => setAsked(undefined)} decided={props.decided} />
      )}
    </>
  )
}

function Confirm(props: {
  chosen: Chosen[]
  close: () => void
  decided: (results: Results, ids: string[]) => void
}) {
  const { dialog } = says
  const queries = useQueryClient()
  // The list as it was when the dialog opened: that is what the code confirms.
  const [decisions] = useState(() => props.chosen.map(decisionOf))
  const found = useQuery({
    queryKey: ['payment-decisions', decisions],
    queryFn: ({ signal }) => ask(api.previewTogether, { body: { decisions }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const shown = found.data
  const isTooMuch = shown !== undefined && shown.most !== null && shown.sum > shown.most
  return (
    <ActDialog
      draft="confirming"
      title={dialog.title(decisions.length)}
      explain={dialog.explain}
      confirm={says.confirm}
      wide
      danger
      isReady={shown !== undefined && !isTooMuch}
      close={props.close}
      act={async ({ reason, code }) => {
        if (!shown) return
        const body = { decisions, digest: shown.digest, reason, code }
        const ids = decisions.map(({ payment_id }) => payment_id)
        const { data } = await ask(api.decideTogether, { body }).finally(() => {
          void queries.invalidateQueries({ queryKey: ['queue'] })
          void queries.invalidateQueries({ queryKey: ['payments'] })
        })
        props.decided(data, ids)
      }}
    >
      {found.isError && <ProblemPanel error={found.error} />}
      {!shown && !found.isError && <Skeleton height={120} />}
      {shown && (
        <>
          <DataTable
            label={dialog.label}
            rows={shown.data}
            rowKey={({ payment_id }) => payment_id}
            empty={null}
            columns={[
              {
                key: 'payment',
                head: dialog.payment,
                phone: 'wide',
                cell: (row) => <CopyId id={row.payment_id} short />,
              },
              {
                key: 'amount',
                head: dialog.amount,
                right: true,
                phone: 'plain',
                cell: (row) => <Money amount={row.amount} currency={row.currency} />,
              },
              {
                key: 'does',
                head: dialog.does,
                cell: (row) =>
                  [dialog.words[row.does] ?? row.does, row.to].filter(Boolean).join(' '),
              },
            ]}
          />
          <strong>{dialog.sum(`${moneyText(shown.sum, shown.currency)} ${shown.currency}`)}</strong>
          {isTooMuch && (
            <p role="alert">
              {dialog.most(`${moneyText(shown.most ?? 0, shown.currency)} ${shown.currency}`)}
            </p>
          )}
        </>
      )}
    </ActDialog>
  )
}

/** What became of each decision that was confirmed. */
export function ResultsPanel({ results, close }: { results: Results; close: () => void }) {
  const refused = results.filter(({ outcome }) => outcome === 'refused')
  return (
    <Panel
      title={says.results.title}
      tools={
        <Button variant="default" size="compact-sm" onClick={close}>
          {says.results.close}
        </Button>
      }
    >
      <p role="status">{says.results.done(results.length - refused.length)}</p>
      {refused.map(({ payment_id, detail }) => (
        <p key={payment_id}>
          {says.results.refused}: <CopyId id={payment_id} to={pages.payment(payment_id)} short />{' '}
          {detail}
        </p>
      ))}
    </Panel>
  )
}

function decisionOf(each: Chosen): Body<typeof api.decideTogether>['decisions'][number] {
  return {
    payment_id: each.id,
    do: each.does,
    ...(each.txnId !== undefined && { txn_id: each.txnId }),
    ...(each.agent !== undefined && { agent: each.agent }),
  }
}
