import { Modal, Stack } from '@mantine/core'
import { words } from '../words.ts'
import { CopyId } from './copy-id.tsx'
import { RawView } from './raw-view.tsx'

/** A secret, shown this once. A click beside it does not close it. */
export function SecretOnce(props: { appId: string; secret: string; close: () => void }) {
  return (
    <Modal
      opened
      closeOnClickOutside={false}
      onClose={props.close}
      title={<strong>{words.agent.secret}</strong>}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="xs">
        <p>{words.agent.secretOnce}</p>
        <CopyId id={props.appId} />
        <RawView raw={props.secret} label={words.agent.secret} />
      </Stack>
    </Modal>
  )
}
