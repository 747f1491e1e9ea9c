import type { ConnectorDetail } from './connector-detail.ts'
import { connectorWords } from './connector-words.ts'

const { use: says } = connectorWords

/** Why a version cannot be used now, for a disabled button; undefined if it can. The service decides. */
export function whyNotUse(connector: ConnectorDetail, version: number): string | undefined {
  const { secrets, versions } = connector
  if (!versions.find((each) => each.version === version)?.passed) return says.notPassed(version)
  // An older document may do without a secret of the newest: what it lacks, the service says.
  const isNewest = version === connector.newest_version
  const missing = secrets.filter(({ newest, found }) => newest === null && found !== null)
  if (isNewest && missing.length > 0) {
    return says.noSecrets(missing.map(({ name }) => name).join(', '))
  }
  const hasNewest = secrets.every(({ newest, in_use }) => newest === in_use)
  return connector.version === version && hasNewest ? says.isUsed(version) : undefined
}
