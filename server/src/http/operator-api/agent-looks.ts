import { findBrand, logoText, parseColour, parseLogo, saveBrand } from '../../agents/agent-brand.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { type FieldError, Problem } from '../../lib/problem.ts'
import { writeAudit } from '../../operators/audit.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { AgentParams } from './agents.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { AgentLooks, SetLooks } from './schemas/agents.ts'
import { agentNamed } from './scope.ts'

/**
 * How an agent looks on its payment page, which its own users may change: it says nothing of money. Anybody else changes
 * the agent, and policy says how many people that takes.
 */
export function agentLooksRoute(api: OperatorApi, { pool, now }: Desk): void {
  operatorRoute(api, {
    method: 'PUT',
    url: '/agents/:app_id/looks',
    summary: "Change the colour and the logo of an agent's payment page",
    tag: 'Agents',
    permission: 'manage_own_keys',
    agents: 'own',
    bodyLimit: 64 * 1024,
    schema: { params: AgentParams, body: SetLooks, response: AgentLooks },
    handler: async ({ operator, params, body }) => {
      const agent = await agentNamed(pool, operator, params.app_id)
      if (operator.agentId === null) {
        throw new Problem('not_permitted', "These are for the agent's own users: change the agent.")
      }
      const faults: FieldError[] = []
      const colour = typeof body.colour === 'string' ? parseColour(body.colour) : null
      if (colour === undefined) {
        faults.push({ field: 'colour', message: 'must be a colour such as #0a7d4f' })
      }
      const given = typeof body.logo === 'string' ? body.logo : null
      const [, base64 = ''] = /^data:image\/\w+;base64,([A-Za-z0-9+/]+=*)$/.exec(given ?? '') ?? []
      const logo = given === null ? null : parseLogo(Buffer.from(base64, 'base64'))
      if (typeof logo === 'string') faults.push({ field: 'logo', message: logo })
      if (faults.length > 0 || colour === undefined || typeof logo === 'string') {
        throw invalidRequest(faults)
      }
      const at = now()
      await inTransaction(pool, async (tx) => {
        const before = await findBrand(tx, agent.agentId)
        const after = await saveBrand(tx, agent.agentId, { colour, logo }, at)
        const told = (brand: typeof before) => ({
          colour: brand.colour,
          logo: brand.logo && logoText(brand.logo),
        })
        await writeAudit(tx, {
          at,
          operator,
          action: 'change_agent',
          subject: { kind: 'agent', id: agent.appId },
          agentId: agent.agentId,
          before: told(before),
          after: told(after),
        })
      })
      return { colour, logo: given }
    },
  })
}
