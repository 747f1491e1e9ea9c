import { Button, FileButton, Group, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ask, askForFile } from '../../api.ts'
import { ActDialog, type Given } from '../../parts/act-dialog.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Facts } from '../../parts/facts.tsx'
import { moneyText } from '../../parts/money.tsx'
import { readBase64 } from '../../parts/read-base64.ts'
import { api } from '../../paths.ts'
import { useMe } from '../../session.tsx'
import type { Taken } from './bank-answers.tsx'
import { Abandon, Reseal, TakeOut } from './end-dialogs.tsx'
import type { Item } from './file-items.tsx'
import type { PayoutFileDetail } from './payout-file-detail.ts'
import { payoutFileWords as says } from './payout-file-words.ts'
import { type FileDialogProps as Props, useChanged } from './use-changed.ts'

/** What the user is about to do. An approval is of what was on the screen when they asked for it. */
export type Asked =
  | { what: 'approve'; shown: PayoutFileDetail }
  | { what: 'take-out'; item: Item }
  | { what: 'cancel' | 'download' | 'send' | 'sent' | 'answer' | 'reseal' | 'abandon' }

const maxBytes = 8 * 1024 * 1024

/** Confirms a step of a payout file. */
export function FileDialog(props: Props & { asked: Asked; setTaken: (taken: Taken) => void }) {
  const { asked, file, close } = props
  switch (asked.what) {
    case 'approve':
      return <Approve file={asked.shown} close={close} />
    case 'cancel':
      return <Cancel file={file} close={close} />
    case 'download':
      return <Download file={file} close={close} />
    case 'send':
      return <Send file={file} close={close} />
    case 'sent':
      return <Sent file={file} close={close} />
    case 'take-out':
      return <TakeOut file={file} item={asked.item} close={close} />
    case 'reseal':
      return <Reseal file={file} close={close} />
    case 'abandon':
      return <Abandon file={file} close={close} />
    case 'answer':
      return <BankAnswer file={file} close={close} setTaken={props.setTaken} />
  }
}

function Approve({ file, close }: Props) {
  const changed = useChanged(file.id)
  const sum = `${moneyText(file.sum, file.currency)} ${file.currency}`
  return (
    <ActDialog
      draft="approve"
      title={says.approve.title(file.count, sum)}
      explain={says.approve.explain}
      confirm={says.approve.button}
      needsReason={false}
      close={close}
      act={async ({ code }) => {
        const body = { digest: file.digest, code }
        const { state } = await ask(api.approvePayoutFile, { params: { id: file.id }, body })
        await changed(state === 'draft' ? says.approve.again : says.approve.done)
      }}
    >
      <Facts
        facts={[
          [says.facts.account, file.account],
          [says.facts.digest, <CopyId key="d" id={file.digest} short />],
        ]}
      />
    </ActDialog>
  )
}

function Cancel({ file, close }: Props) {
  const changed = useChanged(file.id)
  return (
    <ActDialog
      draft="cancel"
      title={says.cancel.title}
      explain={says.cancel.explain}
      confirm={says.cancel.button}
      danger
      close={close}
      act={async (given: Given) => {
        await ask(api.cancelPayoutFile, { params: { id: file.id }, body: given })
        await changed(says.cancel.done)
      }}
    />
  )
}

function Download({ file, close }: Props) {
  const changed = useChanged(file.id)
  return (
    <ActDialog
      draft="download"
      title={says.download.title}
      explain={says.download.explain}
      confirm={says.download.button}
      close={close}
      act={async (given: Given) => {
        await askForFile(api.exportPayoutFile, { params: { id: file.id }, body: given })
        await changed(says.download.done)
      }}
    />
  )
}

function Send({ file, close }: Props) {
  const changed = useChanged(file.id)
  return (
    <ActDialog
      draft="send"
      title={says.send.title}
      explain={says.send.explain}
      confirm={says.send.button}
      close={close}
      act={async (given: Given) => {
        await ask(api.sendPayoutFile, { params: { id: file.id }, body: given })
        await changed(says.send.done)
      }}
    />
  )
}

function Sent({ file, close }: Props) {
  const changed = useChanged(file.id)
  const [reference, setReference] = useDraft('sent/reference', '')
  return (
    <ActDialog
      draft="sent"
      title={says.sent.title}
      explain={says.sent.explain}
      confirm={says.sent.button}
      needsReason={false}
      isReady={reference.trim() !== ''}
      close={close}
      act={async ({ code }) => {
        const body = { bank_reference: reference.trim(), code }
        await ask(api.sentPayoutFile, { params: { id: file.id }, body })
        await changed(says.sent.done)
      }}
    >
      <TextInput
        label={says.sent.reference}
        required
        maxLength={100}
        data-autofocus
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
      />
    </ActDialog>
  )
}

function BankAnswer({ file, close, setTaken }: Props & { setTaken: (taken: Taken) => void }) {
  const me = useMe()
  const changed = useChanged(file.id)
  const [chosen, setChosen] = useState<File | null>(null)
  const isLive = me.mode === 'live'
  const isTooLarge = chosen !== null && chosen.size > maxBytes
  return (
    <ActDialog
      draft="answer"
      title={says.answer.title}
      explain={says.answer.explain}
      confirm={says.answer.confirm}
      needsReason={false}
      needsCode={isLive}
      isReady={chosen !== null && !isTooLarge}
      close={close}
      act={async ({ code }) => {
        if (!chosen) return
        const content = await readBase64(chosen)
        const body = { content, ...(isLive && { code }) }
        setTaken(await ask(api.answerPayoutFile, { params: { id: file.id }, body }))
        await changed()
      }}
    >
      <Group gap="xs">
        <FileButton onChange={setChosen}>
          {(button) => (
            <Button variant="default" size="sm" {...button}>
              {says.answer.choose}
            </Button>
          )}
        </FileButton>
        {chosen && <strong>{chosen.name}</strong>}
      </Group>
      {isTooLarge && <p role="alert">{says.answer.tooLarge}</p>}
    </ActDialog>
  )
}
