import { randomBytes } from 'node:crypto'
import { sampleBankCode } from '../../lib/banks.ts'
import { jsonObject, quoted } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import { audited } from '../../operators/audit.ts'
import { createDeposit, createWithdraw } from '../../orders/create-order.ts'
import { stories } from '../../providers/sandbox/story-name.ts'
import type { Desk, OrderRequest } from '../../teller/desk.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { StoryList, TestOrderAnswer, TestOrderRequest } from './schemas/orders.ts'
import { agentsInScope } from './scope.ts'

/** `POST /test-orders`: creates an order as the agent itself would, in the sandbox only. */
export function testOrderRoutes(api: OperatorApi, desk: Desk): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/stories',
    summary: 'The stories that the bank of the sandbox plays',
    tag: 'Orders',
    permission: 'view',
    agents: 'own',
    schema: { response: StoryList },
    handler: async () => {
      const data = (['deposit', 'withdraw'] as const).flatMap((kind) =>
        Array.from(stories[kind], ([name, says]) => ({ kind, name, says })),
      )
      return { data, next: null }
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/test-orders',
    summary: 'Create an order as the agent, to try things out',
    withoutCode: 'exists in the sandbox only, where no money is real',
    tag: 'Orders',
    // The order is created in the agent's name, as if with its keys.
    permission: 'manage_own_keys',
    agents: 'own',
    schema: { body: TestOrderRequest, response: { status: 201, schema: TestOrderAnswer } },
    handler: async ({ operator, body }) => {
      const [agent, ...others] = await agentsInScope(desk.pool, operator, body.agent)
      if (!agent || others.length > 0) {
        throw new Problem('invalid_request', 'Say for which agent it is.', {
          errors: [{ field: 'agent', message: 'is required' }],
        })
      }
      const request: OrderRequest = {
        refId: body.ref_id ?? `test-${randomBytes(8).toString('hex')}`,
        userId: body.user_id ?? 'test-user',
        amount: BigInt(body.amount),
        accountName: body.account_name ?? 'Test Person',
        accountNo: body.account_no ?? '1234567890',
        bankCode: body.bank_code ?? sampleBankCode(agent.currency),
        extraParams: body.story === undefined ? null : JSON.stringify({ sandbox: body.story }),
      }
      const entry = {
        operator,
        action: 'create_test_order',
        subject: { kind: 'agent', id: agent.appId },
        agentId: agent.agentId,
        before: { kind: body.kind, amount: body.amount, ref_id: request.refId },
      }
      const create = body.kind === 'deposit' ? createDeposit : createWithdraw
      const { answer } = await audited(desk.pool, desk.now, entry, () =>
        create(desk, agent, request),
      )
      return jsonObject({ txn_id: quoted(JSON.parse(answer).txn_id), answer })
    },
  })
}
