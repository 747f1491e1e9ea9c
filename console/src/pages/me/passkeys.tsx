import { Button, TextInput } from '@mantine/core'
import { startRegistration } from '@simplewebauthn/browser'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../../api.ts'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { passkeysQuery } from '../../parts/fresh-code.tsx'
import { Panel } from '../../parts/panel.tsx'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import classes from './me.module.css'
import { meWords } from './me-words.ts'

const { passkeys: says } = meWords

/** The user's passkeys: they sign in, and stand for a code. */
export function Passkeys() {
  const queries = useQueryClient()
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<{ id: string; name: string }>()
  const [name, setName] = useState('')
  const mine = useQuery(passkeysQuery)
  const again = () => queries.invalidateQueries({ queryKey: passkeysQuery.queryKey })
  return (
    <Panel
      title={says.title}
      tools={
        mine.data?.available && (
          <Button variant="default" onClick={() => setAdding(true)}>
            {says.add}
          </Button>
        )
      }
    >
      {mine.data?.data.length === 0 && <p>{mine.data.available ? says.none : says.notHere}</p>}
      <ul className={classes.sessions}>
        {mine.data?.data.map((each) => (
          <li key={each.id}>
            <div>
              <strong>{each.name}</strong>
              <div className={classes.agent}>
                <When at={each.created_at} />, {says.lastUsed} <When at={each.last_used_at} ago />
              </div>
            </div>
            <Button variant="default" onClick={() => setRemoving(each)}>
              {says.remove}
            </Button>
          </li>
        ))}
      </ul>
      {isAdding && (
        <ActDialog
          draft="passkey"
          title={says.add}
          explain={says.explain}
          confirm={says.add}
          needsReason={false}
          close={() => setAdding(false)}
          act={async ({ code }) => {
            const { options } = await ask(api.passkeyOptions, { body: { code } })
            const optionsJSON = options as Parameters<typeof startRegistration>[0]['optionsJSON']
            const answer = JSON.stringify(await startRegistration({ optionsJSON }))
            await ask(api.addPasskey, { body: { name: name.trim(), answer } })
            setName('')
            await again()
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
        </ActDialog>
      )}
      {removing && (
        <ActDialog
          draft="passkey-removal"
          title={says.removeTitle(removing.name)}
          explain={says.removeExplain}
          confirm={says.remove}
          danger
          needsReason={false}
          close={() => setRemoving(undefined)}
          act={async ({ code }) => {
            await ask(api.removePasskey, { body: { id: removing.id, code } })
            await again()
          }}
        />
      )}
    </Panel>
  )
}
