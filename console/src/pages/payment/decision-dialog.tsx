import { NativeSelect, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { useAgentChoices } from '../../parts/agent-choices.ts'
import { useDraft } from '../../parts/draft.ts'
import { moneyText } from '../../parts/money.tsx'
import { api } from '../../paths.ts'
import { words } from '../../words.ts'
import { orderWords } from '../order/order-words.ts'
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
  const [evidence, setEvidence] = useDraft(`decision/${decision.kind}/evidence`, '')
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
        return ask(api.returnPayment, { params, body: { evidence, reason, code } })
      case 'dismiss':
        return ask(api.dismissPayment, { params, body: { evidence, reason, code } })
    }
  }
  return (
    <ActDialog
      draft={`decision/${decision.kind}`}
      title={told.title(amount)}
      explain={told.explain}
      confirm={told.confirm}
      danger
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
      {(decision.kind === 'return' || decision.kind === 'dismiss') && (
        <Textarea
          label={orderWords.evidence}
          description={decision.kind === 'return' ? says.returnEvidence : says.dismissEvidence}
          required
          data-autofocus
          value={evidence}
          onChange={(event) => setEvidence(event.currentTarget.value)}
        />
      )}
    </ActDialog>
  )
}
