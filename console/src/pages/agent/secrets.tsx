import { Checkbox, Group, Textarea, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Body, type Row } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Panel } from '../../parts/panel.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import type { AgentDetail } from './agent-detail.ts'
import { agentWords } from './agent-words.ts'

const { secrets: says } = agentWords

type Secret = Row<typeof api.agentSecrets>
type Scopes = Body<typeof api.makeSecret>['scopes']

const keyOf = (agent: AgentDetail) => ['agent-secrets', agent.app_id]

/** The agent's secrets that may do only some things. */
export function Secrets({ agent }: { agent: AgentDetail }) {
  const [isMaking, setMaking] = useDraft('secret', false)
  const [revoking, setRevoking] = useState<Secret>()
  const queries = useQueryClient()
  const whyDisabled = whyNot(useMe(), 'manage_own_keys')
  const found = useQuery({
    queryKey: keyOf(agent),
    queryFn: ({ signal }) => ask(api.agentSecrets, { params: { app_id: agent.app_id }, signal }),
  })
  const columns: Column<Secret>[] = [
    { key: 'name', head: says.name, phone: 'wide', cell: ({ name }) => name },
    {
      key: 'scopes',
      head: says.scopes,
      cell: ({ scopes }) => scopes.map((scope) => says.scopeNames[scope] ?? scope).join(', '),
    },
    {
      key: 'from',
      head: says.addresses,
      cell: ({ allow_ip }) => allow_ip.join(', ') || says.anywhere,
    },
    { key: 'used', head: says.lastUsed, cell: (row) => <When at={row.last_used_at} ago /> },
    {
      key: 'tools',
      head: says.tools,
      cell: (row) => (
        <ActButton size="xs" whyNot={whyDisabled} onClick={() => setRevoking(row)}>
          {says.revoke}
        </ActButton>
      ),
    },
  ]
  return (
    <Panel
      title={says.title}
      tools={
        <ActButton whyNot={whyDisabled} onClick={() => setMaking(true)}>
          {says.make}
        </ActButton>
      }
    >
      <DataTable
        label={says.title}
        rows={(found.data?.data ?? []).filter(({ revoked_at }) => revoked_at === null)}
        rowKey={({ id }) => String(id)}
        empty={<p>{says.none}</p>}
        columns={columns}
      />
      {isMaking && <MakeDialog agent={agent} close={() => setMaking(false)} />}
      {revoking && (
        <ActDialog
          draft="revoke"
          title={says.revokeTitle(revoking.name)}
          explain={says.revokeExplain}
          confirm={says.revoke}
          danger
          needsCode={false}
          close={() => setRevoking(undefined)}
          act={async ({ reason }) => {
            const params = { app_id: agent.app_id, id: revoking.id }
            await ask(api.revokeSecret, { params, body: { reason } })
            await queries.invalidateQueries({ queryKey: keyOf(agent) })
          }}
        />
      )}
    </Panel>
  )
}

function MakeDialog({ agent, close }: { agent: AgentDetail; close: () => void }) {
  const queries = useQueryClient()
  const [secret, setSecret] = useState<string>()
  const [name, setName] = useDraft('secret/name', '')
  const [scopes, setScopes] = useDraft<Scopes>('secret/scopes', ['read'])
  const [addresses, setAddresses] = useDraft('secret/addresses', '')
  if (secret !== undefined) {
    return <SecretOnce appId={agent.app_id} secret={secret} close={close} />
  }
  return (
    <ActDialog
      draft="secret"
      title={says.make}
      explain={says.explain}
      confirm={says.make}
      stays
      close={close}
      act={async ({ reason, code }) => {
        const allow_ip = addresses.split(/\s+/).filter((each) => each !== '')
        const made = await ask(api.makeSecret, {
          params: { app_id: agent.app_id },
          body: { name: name.trim(), scopes, allow_ip, reason, code },
        })
        setSecret(made.secret)
        await queries.invalidateQueries({ queryKey: keyOf(agent) })
      }}
    >
      <TextInput
        label={says.name}
        description={says.nameHint}
        required
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox.Group
        label={says.scopes}
        value={scopes}
        onChange={(next) => setScopes(next as Scopes)}
      >
        <Group gap="md">
          {Object.entries(says.scopeNames).map(([scope, label]) => (
            <Checkbox key={scope} value={scope} label={label} />
          ))}
        </Group>
      </Checkbox.Group>
      <Textarea
        label={says.addresses}
        description={says.addressesHint}
        value={addresses}
        onChange={(event) => setAddresses(event.currentTarget.value)}
      />
    </ActDialog>
  )
}
