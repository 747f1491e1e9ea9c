import { NativeSelect } from '@mantine/core'
import { words } from '../words.ts'
import { useAgentChoices } from './agent-choices.ts'

/** A select for one agent, by name. */
export function AgentSelect(props: {
  label: string
  value: string
  onChoose: (appId: string) => void
}) {
  const choices = useAgentChoices()
  return (
    <NativeSelect
      label={props.label}
      required
      value={props.value}
      onChange={(event) => props.onChoose(event.currentTarget.value)}
    >
      <option value="">{words.chooseAgent}</option>
      {choices.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </NativeSelect>
  )
}
