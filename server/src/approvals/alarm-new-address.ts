import type { NewAddress } from '../agents/key-use.ts'
import { toldOf } from '../agents/save-agent.ts'
import { raiseAlert } from '../alerts/raise-alert.ts'
import type { Tx } from '../db/in-transaction.ts'
import { writeAudit } from '../operators/audit.ts'
import { raiseAlarm } from './alarms.ts'

/** Tells every admin that a secret was used from an address that it was never used from before. */
export async function alarmNewAddress(tx: Tx, { agent, key, address, at }: NewAddress) {
  const which = key.scopes ? `secret ${key.slot} (${key.scopes.join(', ')})` : 'secret'
  const by = `agent ${agent.appId}`
  const words = `The ${which} of ${agent.name} was used from a new address: ${address}.`
  await raiseAlarm(tx, { at, by, words })
  const subject = `agent ${agent.agentId}`
  const to = toldOf(agent.agentId)
  await raiseAlert(tx, { kind: 'sign_in_new_place', subject, words, to, at })
  await writeAudit(tx, {
    at,
    operator: { userId: null, email: by, ip: address },
    action: 'new_address',
    subject: { kind: 'agent', id: agent.appId },
    agentId: agent.agentId,
    after: { secret: key.scopes ? key.slot : 'main', address },
  })
}
