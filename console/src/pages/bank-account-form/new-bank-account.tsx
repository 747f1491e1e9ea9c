import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft, useForgetDrafts } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { emptyDraft, termsOf } from './account-draft.ts'
import { PrivateKeyField } from './account-fields.tsx'
import { AccountForm } from './account-form.tsx'
import { formWords as says } from './form-words.ts'

export default function NewBankAccount() {
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const forget = useForgetDrafts()
  const [draft, setDraft] = useDraft('account', emptyDraft)
  const [isSaving, setSaving] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [key, setKey] = useState('')
  const leave = () => void navigate({ to: pages.bankAccount(draft.name) })
  return (
    <>
      <PageHead title={says.newTitle} says={says.newSays} />
      <AccountForm draft={draft} setDraft={setDraft} isNew save={() => setSaving(true)} />
      {isSaving && (
        <ActDialog
          draft="save"
          title={says.saveNew.title(draft.name)}
          explain={says.saveNew.explain(me.mode === 'live')}
          confirm={says.save}
          needsCode
          close={() => setSaving(false)}
          act={async ({ reason, code }) => {
            const { name, currency, route } = draft
            const { feed_secret } = await ask(api.createBankAccount, {
              body: {
                ...{ name, currency, ...termsOf(draft), route, reason, code },
                ...(key !== '' && { sftp_key: key }),
              },
            })
            forget('account')
            void queries.invalidateQueries({ queryKey: ['bank-accounts'] })
            void queries.invalidateQueries({ queryKey: ['bank-account-changes'] })
            if (feed_secret === null) leave()
            else setSecret(feed_secret)
          }}
        >
          {draft.sftp_host !== '' && <PrivateKeyField isNew value={key} change={setKey} />}
        </ActDialog>
      )}
      {secret !== null && (
        <ShownOnce title={says.secret} says={says.secretSays} value={secret} close={leave} />
      )}
    </>
  )
}
