import { NativeSelect } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { useDraft } from '../../parts/draft.ts'
import { moneyText } from '../../parts/money.tsx'
import { api } from '../../paths.ts'
import { words } from '../../words.ts'
import { type PaymentDetail, paymentKey } from './payment-detail.ts'
import { paymentWords as says } from './payment-words.ts'

export type Decision =
  | { kind: 'order'; txnId: string }
  | { kind: 'wallet' }
  | { kind: 'return' }
  | { kind: 'dismiss' }

/** Confirms an operator's decision on a payment, which changes the books or closes the case. */
export function DecisionDialog(props: {
  payment: PaymentDetail['payment']
  decision: Decision
  close: () => void
}) {
  const { payment, decision } = props
  const queries = useQueryClient()
  const [agent, setAgent] = useDraft('decision/wallet/agent', payment.app_id ?? '')
  const choices = useAgentChoices()
  const amount = `${moneyText(payment.amount, payment.currency)} ${payment.currency}`
  const told = says.decisions[decision.kind]
  const params = { payment_id: payment.payment_id }
  const send = ({ reason, code }: Given) => {
    switch (decision.kind) {
      case 'order':
        return ask(api.creditPayment, { params, body: { txn_id: decision.txnId, reason, code } })
      case 'wallet':
        return ask(api.creditPayment, { params, body: { agent, reason, code } })
      case 'return':
        return ask(api.returnPayment, { params, body: { reason, code } })
      case 'dismiss':
        return ask(api.dismissPayment, { params, body: { reason, code } })
    }
  }
  return (
    <ActDialog
      draft={`decision/${decision.kind}`}
      title={told.title(amount)}
      explain={told.explain}
      confirm={told.confirm}
      danger
      {...(decision.kind === 'return' && { reasonHint: says.returnEvidence })}
      {...(decision.kind === 'dismiss' && { reasonHint: says.dismissEvidence })}
      close={props.close}
      act={async (given) => {
        await send(given)
        await queries.invalidateQueries({ queryKey: paymentKey(payment.payment_id) })
        void queries.invalidateQueries({ queryKey: ['payments'] })
        notifications.show({ message: says.decidedNow })
      }}
    >
      {decision.kind === 'wallet' && (
        <NativeSelect
          label={says.whose}
          required
          value={agent}
          onChange={(event) => setAgent(event.currentTarget.value)}
        >
          <option value="">{words.chooseAgent}</option>
          {choices.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </NativeSelect>
      )}
    </ActDialog>
  )
}
