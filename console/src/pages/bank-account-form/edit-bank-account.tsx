import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft, useForgetDrafts } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { api, pages } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import { type Account, changesOf, draftOf, termsOf } from './account-draft.ts'
import { PrivateKeyField } from './account-fields.tsx'
import { AccountForm } from './account-form.tsx'
import classes from './form.module.css'
import { formWords as says } from './form-words.ts'

export default function EditBankAccount() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const found = useQuery({
    queryKey: ['bank-account', name],
    queryFn: ({ signal }) => ask(api.bankAccount, { params: { name }, signal }),
  })
  return (
    <>
      <PageHead title={says.editTitle(name)} says={says.editSays} />
      {found.isError && <ProblemPanel error={found.error} />}
      {found.data ? <Editing account={found.data} /> : !found.isError && <Skeleton height={480} />}
    </>
  )
}

function Editing({ account }: { account: Account }) {
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const forget = useForgetDrafts()
  // The version from when the form was opened, so that saving reports another user's change.
  const [{ version, before, draft }, setForm] = useDraft('account', () => ({
    version: account.version,
    before: draftOf(account),
    draft: draftOf(account),
  }))
  const [isSaving, setSaving] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [key, setKey] = useState('')
  const changes = changesOf(before, draft)
  const leave = () => void navigate({ to: pages.bankAccount(account.name) })
  return (
    <>
      <AccountForm
        draft={draft}
        setDraft={(next) => setForm((now) => ({ ...now, draft: next(now.draft) }))}
        isNew={false}
        save={() => setSaving(true)}
      />
      {isSaving && (
        <ActDialog
          draft="save"
          title={says.saveChange.title(account.name)}
          explain={says.saveChange.explain(me.mode === 'live')}
          confirm={says.save}
          needsCode
          close={() => setSaving(false)}
          act={async ({ reason, code }) => {
            const { feed_secret } = await ask(api.changeBankAccount, {
              params: { name: account.name },
              body: {
                ...termsOf(draft),
                ...(key !== '' && { sftp_key: key }),
                version,
                reason,
                code,
              },
            })
            forget('account')
            await queries.invalidateQueries({ queryKey: ['bank-account', account.name] })
            void queries.invalidateQueries({ queryKey: ['bank-accounts'] })
            void queries.invalidateQueries({ queryKey: ['bank-account-changes'] })
            if (feed_secret === null) leave()
            else setSecret(feed_secret)
          }}
        >
          {changes.length === 0 ? (
            <p>{says.saveChange.nothing}</p>
          ) : (
            <ul className={classes.changes}>
              {changes.map(([field, was, is]) => (
                <li key={field}>
                  {says.fields[field] as string}: <s>{was === '' ? '–' : was.slice(0, 120)}</s>{' '}
                  {is === '' ? '–' : is.slice(0, 120)}
                </li>
              ))}
            </ul>
          )}
          {draft.sftp_host !== '' && (
            <PrivateKeyField isNew={account.sftp_host === null} value={key} change={setKey} />
          )}
        </ActDialog>
      )}
      {secret !== null && (
        <ShownOnce title={says.secret} says={says.secretSays} value={secret} close={leave} />
      )}
    </>
  )
}
