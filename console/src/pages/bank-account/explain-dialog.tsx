import { NativeSelect } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, type Body, type Row } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { moneyText } from '../../parts/money.tsx'
import { api } from '../../paths.ts'
import { bankAccountWords } from './bank-account-words.ts'

export type Movement = Row<typeof api.bankMovements>
type As = Body<typeof api.explainMovement>['as']

const { explain: says, movements: about } = bankAccountWords
const ofDebits: As[] = [
  ...(['bank_fee', 'own_transfer', 'interest', 'correction', 'payment_returned'] as const),
  'payout',
]
const ofCredits: As[] = ['interest', 'own_transfer', 'correction']
/** What can be said of a payment that only people reported. */
const ofHands: As[] = ['never_booked']

/** Asks what a movement was that is nobody's payment, and books it so. */
export function ExplainDialog({ movement, close }: { movement: Movement; close: () => void }) {
  const queries = useQueryClient()
  const isDebit = movement.amount < 0
  const isByHand = movement.reported_by.every((source) => source === 'hand')
  const isOpen = movement.state === 'waiting' || movement.state === 'unexplained'
  const kinds = isDebit ? ofDebits : [...(isByHand ? ofHands : []), ...(isOpen ? ofCredits : [])]
  const [as, setAs] = useDraft<As>('explain/as', kinds[0] ?? 'correction')
  const [payment, setPayment] = useDraft('explain/payment', '')
  const params = { name: movement.account, movement_id: movement.id }
  return (
    <ActDialog
      draft="explain"
      title={says.title(`${moneyText(movement.amount, movement.currency)} ${movement.currency}`)}
      explain={
        as === 'payment_returned'
          ? says.returned
          : as === 'never_booked'
            ? says.neverBooked
            : as === 'payout'
              ? says.payout
              : says.explain
      }
      confirm={says.button}
      danger
      needsCode
      close={close}
      act={async ({ reason, code }) => {
        const which = as === 'payment_returned' && payment !== '' ? { payment } : {}
        await ask(api.explainMovement, { params, body: { as, ...which, reason, code } })
        await queries.invalidateQueries({ queryKey: ['bank-movements'] })
        void queries.invalidateQueries({ queryKey: ['unexplained-movements'] })
        void queries.invalidateQueries({ queryKey: ['bank-days'] })
        void queries.invalidateQueries({ queryKey: ['bank-accounts'] })
        notifications.show({ message: says.done })
      }}
    >
      <Facts
        facts={[
          [about.columns.day, movement.day],
          movement.text !== '' && [about.columns.text, movement.text],
          movement.payer.name !== null && [about.columns.payer, movement.payer.name],
        ]}
      />
      <NativeSelect
        label={says.as}
        value={as}
        data={kinds.map((value) => ({ value, label: says.kinds[value] ?? value }))}
        onChange={({ currentTarget: { value } }) =>
          setAs(kinds.find((each) => each === value) ?? 'correction')
        }
      />
      {as === 'payment_returned' && (
        <Returned movement={movement} value={payment} change={setPayment} />
      )}
    </ActDialog>
  )
}

/** The payments of this amount that are marked as returned. */
function Returned(props: { movement: Movement; value: string; change: (id: string) => void }) {
  const { account, amount } = props.movement
  const query = { explained_by: 'payment', amount: String(Math.abs(amount)), limit: '200' }
  const found = useQuery({
    queryKey: ['bank-movements', account, query],
    queryFn: ({ signal }) => ask(api.bankMovements, { params: { name: account }, query, signal }),
  })
  const returned = found.data?.data.filter(({ state }) => state === 'returned') ?? []
  if (found.data && returned.length === 0) return <p>{says.noReturned}</p>
  return (
    <NativeSelect
      label={says.which}
      required
      value={props.value}
      onChange={(event) => props.change(event.currentTarget.value)}
    >
      <option value="">{says.choose}</option>
      {returned.map(({ id, day, payer, text }) => (
        <option key={id} value={id}>
          {[day, payer.name ?? payer.account_no, text].filter(Boolean).join(' · ')}
        </option>
      ))}
    </NativeSelect>
  )
}
