import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask, type Body } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentLink } from '../../parts/agent-link.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Money, moneyText } from '../../parts/money.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
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
            columns={listColumns}
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

type Row = Answer<typeof api.previewTogether>['data'][number]

/** A list as a person checks it: which payment, who paid it, and where it goes. */
const listColumns: Column<Row>[] = [
  {
    key: 'payment',
    head: says.dialog.payment,
    phone: 'wide',
    cell: (row) => <CopyId id={row.payment_id} to={pages.payment(row.payment_id)} short />,
  },
  {
    key: 'amount',
    head: says.dialog.amount,
    right: true,
    phone: 'plain',
    cell: (row) => <Money amount={row.amount} currency={row.currency} />,
  },
  {
    key: 'payer',
    head: says.facts.payer,
    cell: ({ payer }) =>
      [payer?.account_name, payer?.bank_code, payer?.account_no].filter(Boolean).join(' · '),
  },
  { key: 'does', head: says.dialog.does, phone: 'wide', cell: (row) => <Decision row={row} /> },
]

function Decision({ row: { does, to } }: { row: Row }) {
  if (to === null) return says.dialog.words[does] ?? does
  return (
    <>
      {to.txn_id === null ? (
        says.dialog.toWallet
      ) : (
        <>
          {says.dialog.toOrder} <CopyId id={to.txn_id} to={pages.order(to.txn_id)} short />
        </>
      )}{' '}
      · <AgentLink app_id={to.app_id} agent_name={to.agent_name} />{' '}
      <span className={classes.quiet}>{to.app_id}</span>
    </>
  )
}

/** What became of each decision that was confirmed. */
export function ResultsPanel({ results, close }: { results: Results; close: () => void }) {
  const done = results.filter(({ outcome }) => outcome === 'done')
  return (
    <Panel
      title={says.results.title}
      tools={
        <Button variant="default" size="compact-sm" onClick={close}>
          {says.results.close}
        </Button>
      }
    >
      <p role="status">{says.results.done(done.length)}</p>
      <DataTable
        label={says.results.title}
        rows={results}
        rowKey={({ payment_id }) => payment_id}
        to={({ payment_id }) => pages.payment(payment_id)}
        empty={null}
        columns={[
          ...listColumns,
          {
            key: 'outcome',
            head: says.results.outcome,
            phone: 'wide',
            cell: ({ outcome, detail }) => (
              <>
                <Toned tone={outcome === 'done' ? 'good' : 'warn'}>
                  {says.results.outcomes[outcome] ?? outcome}
                </Toned>{' '}
                {detail}
              </>
            ),
          },
        ]}
      />
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
