import { Button, FileButton, Group, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { readBase64 } from '../../parts/read-base64.ts'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { bankImportWords as says } from './bank-import-words.ts'
import { FilePreview } from './file-preview.tsx'

const maxBytes = 16 * 1024 * 1024

interface Chosen {
  name: string
  content: string
}

/** Brings a bank's file: it is looked at first, and stored only when the user says so. */
export default function BankImport() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const forgetFile = useRef<() => void>(null)
  const [isImporting, setImporting] = useState(false)
  const account = useQuery({
    queryKey: ['bank-account', name],
    queryFn: ({ signal }) => ask(api.bankAccount, { params: { name }, signal }),
  })
  const looking = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > maxBytes) throw new Error(says.tooLarge)
      const chosen: Chosen = { name: file.name, content: await readBase64(file) }
      const preview = await ask(api.previewBankFile, { params: { name }, body: chosen })
      return { chosen, preview }
    },
    onSettled: () => forgetFile.current?.(),
  })
  const whyDisabled = whyNot(me, 'import_statements')
  const chosen = looking.data?.chosen
  const act = async (code?: string) => {
    if (!chosen) return
    const { movements, unconfirmed } = await ask(api.importBankFile, {
      params: { name },
      body: { ...chosen, ...(code !== undefined && { code }) },
    })
    for (const key of ['bank-files', 'bank-movements', 'bank-account', 'bank-days']) {
      void queries.invalidateQueries({ queryKey: [key, name] })
    }
    void queries.invalidateQueries({ queryKey: ['bank-accounts'] })
    notifications.show({ message: says.done(movements, unconfirmed) })
    await navigate({ to: pages.bankAccount(name), search: { view: 'files' } })
  }
  return (
    <>
      <PageHead title={says.title(name)} says={says.says} />
      {account.isError && <ProblemPanel error={account.error} />}
      <Stack gap="md">
        <Group gap="xs">
          <FileButton
            resetRef={forgetFile}
            disabled={whyDisabled !== undefined}
            onChange={(file) => file && looking.mutate(file)}
          >
            {(button) =>
              whyDisabled === undefined ? (
                <Button variant="default" size="sm" loading={looking.isPending} {...button}>
                  {chosen ? says.another : says.choose}
                </Button>
              ) : (
                <ActButton size="sm" whyNot={whyDisabled} onClick={button.onClick}>
                  {says.choose}
                </ActButton>
              )
            }
          </FileButton>
          {chosen && <strong>{chosen.name}</strong>}
        </Group>
        {looking.isError && <ProblemPanel error={looking.error} />}
        {looking.data && account.data && (
          <>
            <FilePreview preview={looking.data.preview} currency={account.data.currency} />
            {looking.data.preview.refused === null && (
              <Group justify="flex-end">
                <Button size="sm" onClick={() => setImporting(true)}>
                  {says.import}
                </Button>
              </Group>
            )}
          </>
        )}
      </Stack>
      {isImporting && chosen && (
        <ActDialog
          draft="import"
          title={says.dialog.title(chosen.name)}
          explain={says.dialog.explain}
          confirm={says.import}
          needsReason={false}
          needsCode={me.mode === 'live'}
          close={() => setImporting(false)}
          act={({ code }) => act(me.mode === 'live' ? code : undefined)}
        />
      )}
    </>
  )
}
