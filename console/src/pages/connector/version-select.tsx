import { NativeSelect } from '@mantine/core'
import type { ConnectorDetail } from './connector-detail.ts'
import { connectorWords as says } from './connector-words.ts'

/** The version that a text names, or the newest. */
export function versionIn({ versions, newest_version }: ConnectorDetail, text?: string): number {
  return versions.find(({ version }) => String(version) === text)?.version ?? newest_version
}

export function VersionSelect(props: {
  connector: ConnectorDetail
  value: number
  choose: (version: string) => void
}) {
  const { versions, version: used } = props.connector
  return (
    <NativeSelect
      label={says.version}
      value={props.value}
      data={versions
        .map(({ version }) => ({
          value: String(version),
          label: says.versionOf(version, version === used),
        }))
        .reverse()}
      onChange={(event) => props.choose(event.currentTarget.value)}
    />
  )
}
