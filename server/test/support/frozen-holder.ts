import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from './process.ts'

const program = `
  const client = new (require('pg').Client)(process.env.OWNER_URL)
  client.connect()
    .then(() => client.query('begin'))
    .then(() => client.query('select 1 from sluice.wallets where agent_id = $1 for update', [process.env.AGENT_ID]))
    .then(() => console.log('held'))
`

/** A process that is stopped (SIGSTOP) while it has a wallet locked. Returns what ends it. */
export async function freezeHolding(ownerUrl: string, agentId: bigint): Promise<() => void> {
  const holder = spawn(process.execPath, ['-e', program], {
    cwd: root,
    env: { PATH: process.env.PATH, OWNER_URL: ownerUrl, AGENT_ID: String(agentId) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const failed = once(holder, 'exit').then(() => {
    throw new Error('the process that was to hold a wallet has ended')
  })
  failed.catch(() => {})
  await Promise.race([once(holder.stdout, 'data'), failed])
  holder.kill('SIGSTOP')
  return () => holder.kill('SIGKILL')
}
