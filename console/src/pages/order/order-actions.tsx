import { Checkbox, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { moneyText } from '../../parts/money.tsx'
import { orderActions } from '../../paths.ts'
import { stateWords } from '../../words.ts'
import { type OrderDetail, orderKey } from './order-detail.ts'
import { orderWords as says } from './order-words.ts'

type Action = OrderDetail['actions'][number]

interface Asked extends Pick<Action, 'name'> {
  version: number
  /** Fixed when the dialog opens, so that submitting twice refunds once. */
  ref: string
}

/** The actions that the service allows; disabled ones say why. */
export function OrderActions({ detail }: { detail: OrderDetail }) {
  // Keeps the version that the user saw, so that a reload does not count as having seen a newer one.
  const [asked, setAsked] = useDraft<Asked | null>('action', null)
  const { actions } = detail
  const action = actions.find(({ name }) => name === asked?.name)
  const byUse = [
    ...actions.filter((each) => each.allowed),
    ...actions.filter((each) => !each.allowed),
  ]
  return (
    <>
      {byUse.map((action) => (
        <ActButton
          key={action.name}
          size="sm"
          whyNot={action.allowed ? undefined : action.why_not}
          onClick={() =>
            setAsked({
              name: action.name,
              version: detail.order.version,
              ref: crypto.randomUUID(),
            })
          }
        >
          {says.actions[action.name].label}
        </ActButton>
      ))}
      {asked && action && (
        <AskFirst detail={detail} action={action} asked={asked} close={() => setAsked(null)} />
      )}
    </>
  )
}

const noAccount = { account_no: '', account_name: '', bank_code: '' }

function AskFirst(props: { detail: OrderDetail; action: Action; asked: Asked; close: () => void }) {
  // The order as it was when the dialog opened; the user has not reviewed later changes.
  const [{ order, action }] = useState({ order: props.detail.order, action: props.action })
  const { name, needs } = action
  const { label, explain } = says.actions[name]
  const queries = useQueryClient()
  const [refunded, setRefunded] = useDraft(`action/${name}/amount`, String(order.refundable ?? ''))
  const [isElsewhere, setElsewhere] = useDraft(`action/${name}/elsewhere`, false)
  const [to, setTo] = useDraft(`action/${name}/to`, noAccount)
  const amount = order.paid_amount ?? order.amount
  const needsAmount = needs.includes('amount')
  // What is claimed of a bank needs more than an opinion.
  const isClaim = ['mark-paid', 'mark-failed', 'take-back', 'revert'].includes(name)
  return (
    <ActDialog
      draft={`action/${name}`}
      title={says.actionTitle(label, `${moneyText(amount, order.currency)} ${order.currency}`)}
      explain={
        <>
          <strong>
            {says.actionOn(stateWords[order.kind] ?? order.kind, order.ref_id, order.agent_name)}
          </strong>
          <br />
          {explain}
        </>
      }
      confirm={label}
      danger={action.moves_money}
      needsReason={needs.includes('reason')}
      {...(isClaim && { reasonHint: says.evidenceHint })}
      needsCode={needs.includes('code')}
      close={props.close}
      act={async ({ reason, code }) => {
        await ask(orderActions[name], {
          params: { txn_id: order.txn_id },
          body: {
            reason,
            // The version the user saw: if the order has changed since, the service refuses the action.
            version: props.asked.version,
            ...(needs.includes('code') && { code }),
            ...(needsAmount && { amount: plainNumber(refunded), ref: props.asked.ref }),
            ...(needsAmount && isElsewhere && { to }),
          },
        })
        await queries.invalidateQueries({ queryKey: orderKey(order.txn_id) })
        notifications.show({ message: says.done(label) })
      }}
    >
      {needsAmount && (
        <TextInput
          label={says.amount}
          description={says.amountHint(
            `${moneyText(order.refundable ?? 0, order.currency)} ${order.currency}`,
          )}
          required
          data-autofocus
          inputMode="decimal"
          value={refunded}
          onChange={(event) => setRefunded(event.currentTarget.value)}
        />
      )}
      {needsAmount && (
        <Checkbox
          label={says.elsewhere}
          description={says.elsewhereHint}
          checked={isElsewhere}
          onChange={(event) => setElsewhere(event.currentTarget.checked)}
        />
      )}
      {needsAmount &&
        isElsewhere &&
        (['account_no', 'account_name', 'bank_code'] as const).map((field) => (
          <TextInput
            key={field}
            label={says.toAccount[field]}
            required
            value={to[field]}
            onChange={(event) => setTo({ ...to, [field]: event.currentTarget.value })}
          />
        ))}
    </ActDialog>
  )
}
