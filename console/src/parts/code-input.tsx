import { TextInput } from '@mantine/core'
import { words } from '../words.ts'
import classes from './code-input.module.css'

/** Input for the authenticator's six digits. One field, so that pasting and password managers work. */
export function CodeInput(props: {
  label?: string
  description?: string
  value: string
  change: (code: string) => void
}) {
  return (
    <TextInput
      label={props.label ?? words.code}
      description={props.description}
      required
      withAsterisk={false}
      classNames={{ input: classes.code }}
      inputMode="numeric"
      autoComplete="one-time-code"
      pattern="[0-9]{6}"
      maxLength={6}
      placeholder="000000"
      value={props.value}
      onChange={(event) => props.change(event.currentTarget.value.replace(/\D/g, ''))}
    />
  )
}
