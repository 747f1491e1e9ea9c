import { Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StateBadge, Toned } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { type BankDay, daysQuery } from './days.ts'
import classes from './reconciliation.module.css'
import { reconciliationWords as says } from './reconciliation-words.ts'

/** One day of an account: its balances, its breaks with what to do about each, and its sign-off. */
export function DayPanel({ account, date }: { account: string; date: string }) {
  const me = useMe()
  const [isSigning, setSigning] = useState(false)
  const found = useQuery(daysQuery(account, date.slice(0, 7)))
  const day = found.data?.data.find((each) => each.day === date)
  if (!found.data || !day) return null
  const { currency } = found.data
  const { signed_off: signed } = day
  const isDone = signed?.current === true && signed.state === day.state
  return (
    <Panel
      title={`${account} ${date}`}
      tools={
        <Group gap="xs">
          <PageLink to={pages.importBankFile(account)}>{says.day.import}</PageLink>
          <ActButton
            whyNot={whyNot(me, 'sign_off_days') ?? (isDone ? says.signOff.isDone : undefined)}
            onClick={() => setSigning(true)}
          >
            {says.signOff.button}
          </ActButton>
        </Group>
      }
    >
      <Facts
        facts={[
          [
            says.day.state,
            <span key="s">
              <StateBadge state={day.state} /> {says.states[day.state]}
            </span>,
          ],
          day.opening !== null && [
            says.day.opening,
            <Money key="o" amount={day.opening} currency={currency} />,
          ],
          day.closing !== null && [
            says.day.closing,
            <Money key="c" amount={day.closing} currency={currency} />,
          ],
          [
            says.day.movements,
            <span key="m">
              {says.day.sum(day.movements)} <Money amount={day.amount} currency={currency} signed />{' '}
              <PageLink
                to={pages.bankAccount(account)}
                search={{ view: 'movements', from: date, to: date }}
              >
                {says.day.show}
              </PageLink>
            </span>,
          ],
          signed !== null && [
            says.day.signedOff,
            <span key="w">
              <When at={signed.at} /> {says.day.by(signed.by)}{' '}
              {!signed.current && says.day.notAnyMore}
            </span>,
          ],
          signed?.reason != null && [says.day.reason, signed.reason],
        ]}
      />
      {day.breaks.length === 0 ? (
        <p>{says.day.noBreaks}</p>
      ) : (
        <div className={classes.breaks}>
          <Breaks account={account} day={day} currency={currency} />
        </div>
      )}
      {isSigning && <SignOff account={account} day={day} close={() => setSigning(false)} />}
    </Panel>
  )
}

function Breaks(props: { account: string; day: BankDay; currency: string }) {
  const { account, day, currency } = props
  return (
    <DataTable
      label={says.day.breaks}
      rows={day.breaks}
      rowKey={({ name, movement, detail }) => `${name} ${movement} ${detail}`}
      empty={null}
      columns={[
        {
          key: 'name',
          head: says.columns.name,
          phone: 'plain',
          cell: ({ name }) => (
            <Toned tone={name === 'unexplained_credit' ? 'warn' : 'bad'}>
              {says.breaks[name] ?? name}
            </Toned>
          ),
        },
        {
          key: 'amount',
          head: says.columns.amount,
          right: true,
          phone: 'plain',
          cell: ({ amount }) => <Money amount={amount} currency={currency} signed />,
        },
        {
          key: 'detail',
          head: says.columns.detail,
          phone: 'wide',
          cell: ({ detail }) => detail,
        },
        {
          key: 'act',
          head: says.columns.act,
          cell: (each) => <Go account={account} day={day.day} at={each} />,
        },
      ]}
    />
  )
}

/** Where a break is dealt with. */
function Go(props: { account: string; day: string; at: BankDay['breaks'][number] }) {
  const { account, day } = props
  const { name, movement, payment } = props.at
  switch (name) {
    case 'gap':
    case 'seq_gap':
    case 'does_not_close':
    case 'vanished':
    case 'changed':
      return <PageLink to={pages.importBankFile(account)}>{says.go.import}</PageLink>
    case 'batch_twice':
      return movement === null ? null : <OnlySum account={account} movement={movement} />
    case 'unconfirmed':
      return (
        <PageLink to={pages.bankAccount(account)} search={{ view: 'files' }}>
          {says.go.confirm}
        </PageLink>
      )
    case 'unexplained_debit':
    case 'paid_twice':
    case 'amount_differs':
    case 'return_unknown':
    case 'unexplained_credit':
      // The sum of a batch is nobody's payment: it is explained, not decided.
      return payment === null ? (
        <PageLink
          to={pages.bankAccount(account)}
          search={{ view: 'movements', state: 'unexplained', from: day, to: day }}
        >
          {says.go.explain}
        </PageLink>
      ) : (
        <PageLink to={pages.payment(payment)}>{says.go.decide}</PageLink>
      )
    default:
      return (
        <PageLink
          to={pages.bankAccount(account)}
          search={{ view: 'movements', from: day, to: day }}
        >
          {says.go.look}
        </PageLink>
      )
  }
}

/** The sum of a batch that was explained before its payments were known. */
function OnlySum({ account, movement }: { account: string; movement: string }) {
  const me = useMe()
  const queries = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <ActButton
        size="compact-xs"
        whyNot={whyNot(me, 'decide_payments')}
        onClick={() => setAsked(true)}
      >
        {says.batch.button}
      </ActButton>
      {isAsked && (
        <ActDialog
          draft="batch"
          title={says.batch.title}
          explain={says.batch.explain}
          confirm={says.batch.button}
          danger
          needsCode
          close={() => setAsked(false)}
          act={async ({ reason, code }) => {
            const params = { name: account, movement_id: movement }
            await ask(api.explainMovement, { params, body: { as: 'batch', reason, code } })
            await queries.invalidateQueries({ queryKey: ['bank-days', account] })
          }}
        />
      )}
    </>
  )
}

function SignOff(props: { account: string; day: BankDay; close: () => void }) {
  const { account } = props
  const queries = useQueryClient()
  // As it was when the dialog was opened: if it changes meanwhile, the service says so.
  const [day] = useState(props.day)
  const isGreen = day.state === 'green'
  return (
    <ActDialog
      draft="sign-off"
      title={says.signOff.title(account, day.day)}
      explain={isGreen ? says.signOff.explainGreen : says.signOff.explain}
      confirm={says.signOff.button}
      needsReason={!isGreen}
      needsCode
      close={props.close}
      act={async ({ reason, code }) => {
        await ask(api.signOffDay, {
          params: { name: account, day: day.day },
          body: { digest: day.digest, ...(!isGreen && { reason }), code },
        })
        await queries.invalidateQueries({ queryKey: ['bank-days', account] })
      }}
    />
  )
}
