import type { AgentClient, Answer, TestService } from './service.ts'

export const said = ({ status, json }: Answer) => [status, json?.code ?? 'none']
export const utc = (at: Date) => at.toISOString().slice(0, 19).replace('T', ' ')
/** Keeps a withdrawal from being handed to the bank before the test says so. */
export const queued = { extraParams: { note: 'as it comes' } }

/** Available, held and the fees taken so far. */
export async function money(
  s: TestService,
  agent: AgentClient,
): Promise<[balance: number, held: number, fees: number]> {
  const { balance, held } = (await agent.get('/payment/wallet')).json
  const { rows } = await s.sql('select fees from wallets where agent_id = $1', [agent.agentId])
  return [balance, held, Number(rows[0].fees) / 100]
}

export async function lastCallback(agent: AgentClient) {
  const { data } = (await agent.get('/payment/events?limit=200')).json
  const event = data.at(-1)
  return { event, text: event.body as string, json: JSON.parse(event.body) }
}

export function adjust(s: TestService, agent: AgentClient, amountMinor: bigint, ref: string) {
  return s.service.desk.teller.do({
    type: 'adjust',
    agentId: agent.agentId,
    at: s.clock(),
    amountMinor,
    reason: 'to the bound',
    ref,
  })
}
