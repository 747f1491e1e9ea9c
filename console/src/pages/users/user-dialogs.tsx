import { NativeSelect, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Body } from '../../api.ts'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { AgentSelect } from '../../parts/agent-select.tsx'
import { useDraft } from '../../parts/draft.ts'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { api } from '../../paths.ts'
import { words } from '../../words.ts'
import type { User } from './user.ts'
import { usersWords as says } from './users-words.ts'

export type AskedKind = 'create' | 'role' | 'disable' | 'enable' | 'reset'

type Role = Body<typeof api.createUser>['role']

const roles: Role[] = ['admin', 'operator', 'viewer', 'agent']

/** The dialogs for inviting and changing users. A new link is shown only once. */
export function UserDialogs(props: { kind: AskedKind; user: User | undefined; close: () => void }) {
  const { kind, close } = props
  // The user as it was when the dialog opened.
  const [user] = useState(props.user)
  const [link, setLink] = useState<string>()
  const queries = useQueryClient()
  const changed = () => queries.invalidateQueries({ queryKey: ['users'] })
  if (link !== undefined) {
    return <ShownOnce title={says.link} says={says.linkHint} value={link} close={close} />
  }
  const shared = { close, changed, setLink }
  if (kind === 'create') return <CreateDialog {...shared} />
  if (!user) return null
  switch (kind) {
    case 'role':
      return <RoleDialog user={user} {...shared} />
    case 'disable':
    case 'enable':
      return <EnableDialog user={user} enables={kind === 'enable'} {...shared} />
    case 'reset':
      return <ResetDialog user={user} {...shared} />
  }
}

interface Shared {
  close: () => void
  changed: () => Promise<void>
  setLink: (link: string) => void
}

function CreateDialog({ close, changed, setLink }: Shared) {
  const [email, setEmail] = useDraft('user/create/email', '')
  const [role, setRole] = useDraft<Role>('user/create/role', 'operator')
  const [appId, setAppId] = useDraft('user/create/app', '')
  return (
    <ActDialog
      draft="user/create"
      title={says.create}
      explain={says.createExplain}
      confirm={says.create}
      needsReason={false}
      close={close}
      stays
      act={async ({ code }) => {
        const { link } = await ask(api.createUser, {
          body: { email: email.trim(), role, code, ...(role === 'agent' && { app_id: appId }) },
        })
        await changed()
        setLink(link)
      }}
    >
      <TextInput
        label={says.columns.email}
        type="email"
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <RoleFields role={role} setRole={setRole} appId={appId} setAppId={setAppId} />
    </ActDialog>
  )
}

function RoleDialog({ user, close, changed }: Shared & { user: User }) {
  const [role, setRole] = useDraft<Role>(`user/role/${user.id}/role`, user.role)
  const [appId, setAppId] = useDraft(`user/role/${user.id}/app`, user.app_id ?? '')
  return (
    <ActDialog
      draft={`user/role/${user.id}`}
      title={says.titleOf(says.changeRole, user.email)}
      explain={says.roleExplain}
      confirm={says.changeRole}
      close={close}
      act={async ({ reason, code }) => {
        await ask(api.changeUser, {
          params: { id: user.id },
          body: { role, reason, code, ...(role === 'agent' && { app_id: appId }) },
        })
        await changed()
      }}
    >
      <RoleFields role={role} setRole={setRole} appId={appId} setAppId={setAppId} />
    </ActDialog>
  )
}

function RoleFields(props: {
  role: Role
  setRole: (role: Role) => void
  appId: string
  setAppId: (appId: string) => void
}) {
  return (
    <>
      <NativeSelect
        label={says.columns.role}
        description={says.roleHints[props.role]}
        value={props.role}
        data={roles.map((value) => ({ value, label: words.roles[value] ?? value }))}
        onChange={({ currentTarget: { value } }) =>
          props.setRole(roles.find((role) => role === value) ?? 'viewer')
        }
      />
      {props.role === 'agent' && (
        <AgentSelect label={says.columns.agent} value={props.appId} onChoose={props.setAppId} />
      )}
    </>
  )
}

function EnableDialog(props: Shared & { user: User; enables: boolean }) {
  const { user, enables, close, changed } = props
  const label = enables ? says.enable : says.disable
  return (
    <ActDialog
      draft={`user/${enables ? 'enable' : 'disable'}/${user.id}`}
      title={says.titleOf(label, user.email)}
      explain={enables ? says.enableExplain : says.disableExplain}
      confirm={label}
      danger={!enables}
      needsCode={enables}
      close={close}
      act={async ({ reason, code }) => {
        await ask(api.changeUser, {
          params: { id: user.id },
          body: { disabled: !enables, reason, ...(enables && { code }) },
        })
        await changed()
      }}
    />
  )
}

function ResetDialog({ user, close, changed, setLink }: Shared & { user: User }) {
  return (
    <ActDialog
      draft={`user/reset/${user.id}`}
      title={says.titleOf(says.reset, user.email)}
      explain={says.resetExplain}
      confirm={says.reset}
      danger
      close={close}
      stays
      act={async ({ reason, code }) => {
        const { link } = await ask(api.resetUser, {
          params: { id: user.id },
          body: { reason, code },
        })
        await changed()
        setLink(link)
      }}
    />
  )
}
