import { Group, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { useDraft, useForgetDrafts } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { TextOrFile } from '../../parts/text-or-file.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import classes from '../bank-account-form/form.module.css'
import { connectorFormWords as says } from './connector-form-words.ts'
import { DocumentCheck } from './document-check.tsx'

const maxBytes = 256 * 1024

/** A connector's document beside what is wrong with it. Saved, it is a version that is not used yet. */
export function DocumentForm(props: {
  /** Of a connector that is there already. */
  name?: string
  tools?: (setDocument: (text: string) => void) => ReactNode
}) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const forgetDrafts = useForgetDrafts()
  const [typed, setTyped] = useDraft('document/name', '')
  const [document, setDocument] = useDraft('document/text', '')
  const [isSaving, setSaving] = useState(false)
  const [asked] = useDebouncedValue(document, 300)
  const whyMayNot = whyNot(useMe(), 'manage_providers')
  const name = props.name ?? typed.trim()
  const isThere = asked.trim().length > 1
  const check = useQuery({
    queryKey: ['connector-check', asked],
    queryFn: ({ signal }) => ask(api.checkConnector, { body: { document: asked }, signal }),
    enabled: whyMayNot === undefined && isThere,
    placeholderData: keepPreviousData,
    retry: false,
  })
  const checked = isThere ? check.data : undefined
  const isLooked = checked !== undefined && !check.isFetching && asked === document
  const whyDisabled =
    whyMayNot ??
    (name === '' ? says.noName : undefined) ??
    (document.trim() === '' ? says.noDocument : undefined) ??
    (isLooked ? (checked.found ? undefined : says.notYet) : says.notLooked)
  const save = async ({ reason, code }: { reason: string; code: string }) => {
    const added = await ask(api.addConnector, { body: { name, document, reason, code } })
    forgetDrafts('document')
    void queries.invalidateQueries({ queryKey: ['connectors'] })
    void queries.invalidateQueries({ queryKey: ['connector', name] })
    notifications.show({
      message: added.is_new ? says.saved(added.version) : says.known(added.version),
    })
    await navigate({ to: pages.connector(name), search: { view: 'samples' } })
  }
  return (
    <>
      {check.isError && <ProblemPanel error={check.error} />}
      <div className={classes.columns}>
        <Panel>
          <Stack gap="sm">
            {props.name === undefined && (
              <TextInput
                label={says.name}
                description={says.nameHint}
                required
                maxLength={32}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
              />
            )}
            {props.tools?.(setDocument)}
            <TextOrFile
              label={says.document}
              accept=".json,application/json"
              maxBytes={maxBytes}
              value={document}
              change={setDocument}
            />
          </Stack>
        </Panel>
        <div className={classes.side}>
          <DocumentCheck checked={checked} />
        </div>
        <Group justify="flex-end">
          <ActButton
            size="sm"
            variant="filled"
            whyNot={whyDisabled}
            onClick={() => setSaving(true)}
          >
            {says.save}
          </ActButton>
        </Group>
      </div>
      {isSaving && (
        <ActDialog
          draft="save"
          title={says.dialog.title(name)}
          explain={says.dialog.explain}
          confirm={says.save}
          close={() => setSaving(false)}
          act={save}
        />
      )}
    </>
  )
}
