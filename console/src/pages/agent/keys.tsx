import { NativeSelect } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { type AgentDetail, agentKey } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'

const { keys: says } = agentWords

/** The agent's live secrets, at most two. They are never shown again, only replaced. */
export function Keys({ agent }: { agent: AgentDetail }) {
  const [isRotating, setRotating] = useDraft('rotate', false)
  const [revoking, setRevoking] = useState<AgentDetail['keys'][number]>()
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'manage_own_keys')
  return (
    <Panel
      title={says.title}
      tools={
        <ActButton whyNot={whyDisabled} onClick={() => setRotating(true)}>
          {says.rotate}
        </ActButton>
      }
    >
      <DataTable
        label={says.title}
        rows={agent.keys}
        rowKey={(key) => `${key.created_at} ${key.expires_at}`}
        empty={<p>{says.none}</p>}
        columns={[
          { key: 'created', head: says.created, cell: (key) => <When at={key.created_at} /> },
          { key: 'used', head: says.lastUsed, cell: (key) => <When at={key.last_used_at} ago /> },
          {
            key: 'expires',
            head: says.expires,
            cell: (key) => (key.expires_at === null ? says.never : <When at={key.expires_at} />),
          },
          {
            key: 'tools',
            head: says.tools,
            cell: (key) => (
              <ActButton size="xs" whyNot={whyDisabled} onClick={() => setRevoking(key)}>
                {says.revoke}
              </ActButton>
            ),
          },
        ]}
      />
      {isRotating && <RotateDialog agent={agent} close={() => setRotating(false)} />}
      {revoking && (
        <ActDialog
          draft="revoke-key"
          title={says.revokeTitle}
          explain={says.revokeExplain}
          confirm={says.revoke}
          danger
          needsCode={false}
          close={() => setRevoking(undefined)}
          act={async ({ reason }) => {
            const params = { app_id: agent.app_id, slot: revoking.slot }
            await ask(api.revokeKey, { params, body: { reason } })
            await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
          }}
        />
      )}
    </Panel>
  )
}

function RotateDialog({ agent, close }: { agent: AgentDetail; close: () => void }) {
  const queries = useQueryClient()
  const [secret, setSecret] = useState<string>()
  const [overlap, setOverlap] = useDraft('rotate/overlap', '86400')
  if (secret !== undefined) {
    return <SecretOnce appId={agent.app_id} secret={secret} close={close} />
  }
  return (
    <ActDialog
      draft="rotate"
      title={says.rotate}
      explain={says.explain}
      confirm={says.rotate}
      danger
      stays
      close={close}
      act={async ({ reason, code }) => {
        const made = await ask(api.rotateKey, {
          params: { app_id: agent.app_id },
          body: { overlap_s: Number(overlap), reason, code },
        })
        setSecret(made.secret)
        await queries.invalidateQueries({ queryKey: agentKey(agent.app_id) })
      }}
    >
      <NativeSelect
        label={says.overlap}
        description={says.overlapHint}
        value={overlap}
        data={says.overlaps.map(([value, label]) => ({ value, label }))}
        onChange={(event) => setOverlap(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
