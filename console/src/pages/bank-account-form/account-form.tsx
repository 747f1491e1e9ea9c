import { Group, Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { type AccountDraft, termsOf } from './account-draft.ts'
import { AccountFields } from './account-fields.tsx'
import { AccountPreview, type Sample } from './account-preview.tsx'
import classes from './form.module.css'
import { formWords as says } from './form-words.ts'

/** The form of a bank account beside what it would mean. Saving is the caller's. */
export function AccountForm(props: {
  draft: AccountDraft
  setDraft: (next: (now: AccountDraft) => AccountDraft) => void
  isNew: boolean
  save: () => void
}) {
  const { draft, isNew } = props
  const me = useMe()
  const [sample, setSample] = useState<Sample | null>(null)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [asked] = useDebouncedValue(draft, 300)
  const choices = useQuery({
    queryKey: ['bank-account-choices'],
    queryFn: ({ signal }) => ask(api.bankAccountChoices, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const banks = useQuery({
    queryKey: ['banks'],
    queryFn: ({ signal }) => ask(api.banks, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const whyMayNot = whyNot(me, 'manage_bank_accounts')
  const preview = useQuery({
    queryKey: ['bank-account-preview', asked, sample?.content],
    queryFn: ({ signal }) =>
      ask(api.previewBankAccount, {
        body: {
          name: asked.name,
          currency: asked.currency,
          ...termsOf(asked),
          sample: sample && { content: sample.content },
        },
        signal,
      }),
    enabled: whyMayNot === undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  if (!choices.data) {
    return choices.isError ? <ProblemPanel error={choices.error} /> : <Skeleton height={480} />
  }
  const found = preview.data?.errors ?? []
  // What nobody has come to yet is not wrong yet.
  const shown = found.filter(({ field }) => !isNew || touched.has(field))
  const isLooked = preview.data !== undefined && !preview.isFetching && asked === draft
  return (
    <>
      {preview.isError && <ProblemPanel error={preview.error} />}
      <div className={classes.columns}>
        <div>
          <AccountFields
            draft={draft}
            change={(changed) => {
              setTouched((now) => new Set([...now, ...Object.keys(changed)]))
              props.setDraft((now) => ({ ...now, ...changed }))
            }}
            errors={Object.fromEntries(shown.map(({ field, message }) => [field, message]))}
            choices={choices.data}
            banks={banks.data?.data ?? []}
            defaults={preview.data?.defaults}
            isNew={isNew}
          />
        </div>
        <div className={classes.side}>
          <AccountPreview
            preview={preview.data}
            currency={draft.currency}
            sample={sample}
            setSample={setSample}
          />
        </div>
        <Group justify="flex-end" className={classes.actions}>
          <ActButton
            size="sm"
            variant="filled"
            whyNot={
              whyMayNot ?? (found.length > 0 ? says.notYet : isLooked ? undefined : says.notLooked)
            }
            onClick={props.save}
          >
            {says.save}
          </ActButton>
        </Group>
      </div>
    </>
  )
}
