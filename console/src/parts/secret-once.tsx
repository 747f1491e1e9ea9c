import { Button, Modal, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { words } from '../words.ts'
import { CopyId } from './copy-id.tsx'
import { Facts } from './facts.tsx'
import { RawView } from './raw-view.tsx'

/** An agent's new secret, which is shown only once. */
export function SecretOnce(props: { appId: string; secret: string; close: () => void }) {
  return (
    <ShownOnce
      title={words.secret}
      says={words.secretOnce}
      value={props.secret}
      close={props.close}
    >
      <Facts facts={[[words.appId, <CopyId key="a" id={props.appId} />]]} />
    </ShownOnce>
  )
}

/** A dialog for values that are shown only once. Neither a click outside nor Escape closes it. */
export function ShownOnce(props: {
  title: string
  says: string
  value: string
  close: () => void
  children?: ReactNode
}) {
  return (
    <Modal
      opened
      closeOnClickOutside={false}
      closeOnEscape={false}
      onClose={props.close}
      title={<strong>{props.title}</strong>}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="sm">
        <div>{props.says}</div>
        {props.children}
        <RawView raw={props.value} label={props.title} />
        <Button size="sm" ml="auto" onClick={props.close}>
          {words.haveIt}
        </Button>
      </Stack>
    </Modal>
  )
}
