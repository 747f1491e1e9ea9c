import {
  createSecret,
  listSecrets,
  revokeSecret,
  type SecretScope,
  secretFaults,
  secretView,
} from '../../agents/agent-secrets.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { Problem } from '../../lib/problem.ts'
import { audited, writeAudit } from '../../operators/audit.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import type { Desk } from '../../teller/desk.ts'
import { invalidRequest } from '../check.ts'
import { AgentParams } from './agents.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import {
  AgentSecretList,
  MadeSecret,
  MakeSecretBody,
  RevokeSecretBody,
  SecretParams,
} from './schemas/agent-secrets.ts'
import { agentNamed } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

/** Secrets that may do only some things, beside those that may do everything. */
export function agentSecretRoutes(api: OperatorApi, { pool, secretKeys, now }: Desk): void {
  const own = { tag: 'Agents', permission: 'manage_own_keys', agents: 'own' } as const
  const list = async (agentId: bigint) => ({
    data: (await listSecrets(pool, agentId)).map(secretView),
  })

  operatorRoute(api, {
    ...own,
    method: 'GET',
    url: '/agents/:app_id/secrets',
    summary: "An agent's secrets that may do only some things",
    permission: 'view',
    schema: { params: AgentParams, response: AgentSecretList },
    handler: async ({ operator, params }) =>
      list((await agentNamed(pool, operator, params.app_id)).agentId),
  })

  twoPersonRoute(api, {
    ...own,
    method: 'POST',
    url: '/agents/:app_id/secrets',
    summary: 'Make a secret that may do only some things',
    schema: {
      params: AgentParams,
      body: MakeSecretBody,
      response: { status: 201, schema: MadeSecret },
    },
    approval: {
      action: 'rotate_key',
      repeats: 'effect',
      hasSecret: true,
      view: async ({ operator, params, body }) => {
        const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
        const { name, scopes } = body
        check(body)
        return {
          subject: { kind: 'agent', id: appId },
          agentId,
          before: null,
          after: { new_secret: name, scopes, allow_ip: body.allow_ip ?? [] },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
      const made = { ...check(body), createdBy: operator.email }
      const { name, scopes, allowedIps } = made
      const { secret, n } = await audited(
        pool,
        now,
        {
          operator,
          action: 'make_secret',
          subject: { kind: 'agent', id: appId },
          agentId,
          reason: body.reason,
        },
        () =>
          createSecret(pool, secretKeys, agentId, made, now(), (tx, given) =>
            takeEffect(tx, operator, now(), { app_id: appId, id: given.n, secret: given.secret }),
          ),
        ({ n }) => ({ id: n, name, scopes, allow_ip: allowedIps }),
      )
      return { app_id: appId, id: n, secret }
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/agents/:app_id/secrets/:id/revoke',
    summary: 'End a secret now',
    withoutCode: 'a stolen secret must end quickly',
    schema: { params: SecretParams, body: RevokeSecretBody, response: AgentSecretList },
    handler: async ({ operator, params, body }) => {
      const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
      const at = now()
      await inTransaction(pool, async (tx) => {
        if (!(await revokeSecret(tx, agentId, Number(params.id), at))) {
          throw new Problem('not_found', 'There is no such secret any more.')
        }
        await writeAudit(tx, {
          at,
          operator,
          action: 'revoke_secret',
          subject: { kind: 'agent', id: appId },
          agentId,
          after: { id: Number(params.id) },
          reason: body.reason,
        })
      })
      return list(agentId)
    },
  })
}

function check(body: { name: string; scopes: string[]; allow_ip?: string[] }) {
  const { name, scopes, allow_ip: allowedIps = [] } = body
  const faults = secretFaults({ name, scopes, allowedIps })
  if (faults.length > 0) throw invalidRequest(faults)
  return { name, scopes: [...new Set(scopes)] as SecretScope[], allowedIps }
}
