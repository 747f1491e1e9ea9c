import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { api } from '../../paths.ts'
import type { WalletDetail } from './wallet-detail.ts'
import { walletWords } from './wallet-words.ts'

const { adjust: says } = walletWords

/** Adjusts a wallet by a manual journal entry. */
export function AdjustDialog(props: {
  wallet: WalletDetail
  /** Fixed when the dialog opens, so that submitting twice moves the money once. */
  newRef: string
  close: () => void
}) {
  const { wallet, newRef, close } = props
  const queries = useQueryClient()
  const [amount, setAmount] = useDraft('adjust/amount', '')
  const [ref, setRef] = useDraft('adjust/ref', newRef)
  return (
    <ActDialog
      draft="adjust"
      title={says.title(wallet.agent_name)}
      explain={says.explain}
      confirm={says.confirm}
      danger
      close={close}
      act={async ({ reason, code }) => {
        const { changed } = await ask(api.adjustWallet, {
          params: { app_id: wallet.app_id },
          body: { amount: Number(plainNumber(amount)), reason, ref, code },
        })
        await queries.invalidateQueries({ queryKey: ['wallet'] })
        void queries.invalidateQueries({ queryKey: ['journal'] })
        notifications.show({ message: changed ? says.done : says.repeated })
      }}
    >
      <TextInput
        label={says.amount(wallet.currency)}
        description={says.amountHint}
        required
        data-autofocus
        inputMode="numeric"
        pattern="-?[0-9]+"
        value={amount}
        onChange={(event) => setAmount(event.currentTarget.value)}
      />
      <TextInput
        label={says.ref}
        description={says.refHint}
        required
        value={ref}
        onChange={(event) => setRef(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
