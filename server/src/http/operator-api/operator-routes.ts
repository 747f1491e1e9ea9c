import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { AgentFinder } from '../../agents/agent-finder.ts'
import { SignIn } from '../../operators/sign-in.ts'
import type { Desk } from '../../orders/desk.ts'
import { OperatorDoor } from './door.ts'
import { invitationRoutes } from './invitations.ts'
import { operatorOpenapi } from './operator-openapi.ts'
import { type OperatorApi, openRoute } from './operator-route.ts'
import { signInRoutes } from './sign-in.ts'

/** What the console's routes stand on. */
export interface OperatorDeps {
  desk: Desk
  agents: AgentFinder
  mode: 'sandbox' | 'live'
  timeZone: string
  version: string
  /** Says that agents have callbacks to be sent. */
  wake: (agentIds: bigint[]) => void
}

/** All routes under /console/api. */
export function operatorRoutes(app: FastifyInstance, deps: OperatorDeps): OperatorApi {
  const { desk, version } = deps
  const api: OperatorApi = { app, door: new OperatorDoor(desk), routes: [] }
  openRoute(api, {
    method: 'GET',
    url: '/openapi.json',
    summary: 'This description',
    tag: 'Console',
    schema: { response: Type.Unknown() },
    handler: async () => operatorOpenapi(api.routes, version),
  })
  signInRoutes(api, deps, new SignIn(desk.pool, desk.secretKeys, desk.now))
  invitationRoutes(api, deps)
  return api
}
