import { Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { Panel } from '../../parts/panel.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { payoutFilesWords } from './payout-files-words.ts'

const { held: says } = payoutFilesWords

/** An account whose files do not leave since the database was restored: what is missing, and what people can do. */
export function HeldBack({ account, missing }: { account: string; missing: string[] }) {
  const me = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'debited' | 'release'>()
  const mayMake = whyNot(me, 'make_payout_files')
  const close = () => setAsked(undefined)
  const changed = () => queries.invalidateQueries({ queryKey: ['payouts-waiting'] })
  return (
    <Panel title={says.title(account)}>
      <div role="alert">
        <p>{says.explain}</p>
        <ul>
          {missing.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      </div>
      <Group gap="xs">
        <ActButton whyNot={mayMake} onClick={() => setAsked('debited')}>
          {says.debited.button}
        </ActButton>
        <ActButton whyNot={mayMake} onClick={() => setAsked('release')}>
          {says.release.button}
        </ActButton>
      </Group>
      {asked === 'debited' && (
        <ActDialog
          draft="debited"
          title={says.debited.title}
          explain={says.debited.explain}
          confirm={says.debited.button}
          needsReason={false}
          needsCode={false}
          close={close}
          act={async () => {
            const { id } = await ask(api.draftPayoutFile, { body: { account, debited: true } })
            await changed()
            await navigate({ to: pages.payoutFile(id) })
          }}
        />
      )}
      {asked === 'release' && (
        <ActDialog
          draft="release"
          title={says.release.title(account)}
          explain={says.release.explain}
          confirm={says.release.button}
          danger
          needsCode
          close={close}
          act={async ({ reason, code }) => {
            await ask(api.releasePayouts, { params: { name: account }, body: { reason, code } })
            await changed()
          }}
        />
      )}
    </Panel>
  )
}
