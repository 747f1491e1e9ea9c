import { Checkbox, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { use } from 'react'
import { type Answer, ask } from '../../api.ts'
import { plainNumber } from '../../languages/language.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { TimeZone } from '../../parts/when.tsx'
import { fromLocal } from '../../parts/zoned-time.ts'
import { api } from '../../paths.ts'
import { formWords } from '../bank-account-form/form-words.ts'
import { bankAccountWords } from './bank-account-words.ts'

type Account = Answer<typeof api.bankAccount>

const { confirm: says, facts } = bankAccountWords

/** Another person than who made or changed the account confirms it; the bank's own QR code is tried first. */
export function ConfirmAccount({ account, close }: { account: Account; close: () => void }) {
  const queries = useQueryClient()
  const zone = use(TimeZone)
  const needsTest = account.qr_kind === 'template' && account.test_payment === null
  const [test, setTest] = useDraft('confirm/test', {
    amount: '',
    paid_at: '',
    paid_by: '',
    isDone: false,
  })
  return (
    <ActDialog
      draft="confirm"
      title={says.title(account.name)}
      explain={says.explain}
      confirm={says.button}
      danger
      needsCode
      close={close}
      act={async ({ reason, code }) => {
        const { amount, paid_at, paid_by } = test
        const test_payment = {
          amount: plainNumber(amount),
          paid_by,
          paid_at: paid_at && fromLocal(paid_at, zone),
        }
        await ask(api.confirmBankAccount, {
          params: { name: account.name },
          body: {
            version: account.version,
            ...(needsTest && test.isDone && { test_payment }),
            reason,
            code,
          },
        })
        await queries.invalidateQueries({ queryKey: ['bank-account', account.name] })
        void queries.invalidateQueries({ queryKey: ['bank-accounts'] })
        void queries.invalidateQueries({ queryKey: ['bank-account-changes'] })
      }}
    >
      <Facts
        facts={[
          [facts.bank, account.bank || '–'],
          [facts.number, account.account_no],
          [facts.holder, account.account_name],
          [facts.qr, formWords.qrKinds[account.qr_kind]],
          account.qr_value !== null && [formWords.fields.qr_value, account.qr_value],
          [says.by, account.changed_by ?? account.created_by],
        ]}
      />
      {needsTest && (
        <fieldset>
          <legend>{says.test}</legend>
          <p>{says.testExplain}</p>
          <TextInput
            label={says.amount}
            inputMode="decimal"
            required
            value={test.amount}
            onChange={({ currentTarget: { value } }) => setTest({ ...test, amount: value })}
          />
          <TextInput
            label={says.paidAt}
            type="datetime-local"
            required
            value={test.paid_at}
            onChange={({ currentTarget: { value } }) => setTest({ ...test, paid_at: value })}
          />
          <TextInput
            label={says.paidBy}
            required
            value={test.paid_by}
            onChange={({ currentTarget: { value } }) => setTest({ ...test, paid_by: value })}
          />
          <Checkbox
            mt="xs"
            label={says.ticked}
            checked={test.isDone}
            onChange={({ currentTarget: { checked } }) => setTest({ ...test, isDone: checked })}
          />
        </fieldset>
      )}
    </ActDialog>
  )
}
