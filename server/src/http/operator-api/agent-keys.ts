import type { Static } from 'typebox'
import { callbackSecrets } from '../../agents/agent-finder.ts'
import { keyView } from '../../agents/agent-view.ts'
import { listKeys, newestKeyAt } from '../../agents/find-agent.ts'
import { revokeKey, rotateKey } from '../../agents/save-agent.ts'
import { checkAddress } from '../../callbacks/check-address.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import { explainSignature } from '../../lib/explain-signature.ts'
import { type FeeRule, parseFeeRule } from '../../lib/fee.ts'
import { jsonObject, quoted } from '../../lib/json-text.ts'
import { type Currency, decimalText } from '../../lib/money.ts'
import { fieldProblem, Problem } from '../../lib/problem.ts'
import { parseSignatureHeader } from '../../lib/signature.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { audited, writeAudit } from '../../operators/audit.ts'
import type { Operator } from '../../operators/operator.ts'
import { takeEffect } from '../../operators/take-effect.ts'
import { type FeesOf, previewFees } from '../../orders/fee-preview.ts'
import { AgentParams } from './agents.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'
import { RevokeSecretBody } from './schemas/agent-secrets.ts'
import {
  AddressSteps,
  AgentKeys,
  CheckAddressBody,
  FeePreview,
  FeePreviewBody,
  KeyParams,
  RotateBody,
  SecretAnswer,
  SignatureCheckBody,
  SignatureVerdict,
} from './schemas/agents.ts'
import { agentNamed } from './scope.ts'
import { twoPersonRoute } from './two-person-route.ts'

const monthMs = 30 * 86_400_000

/** Secrets and the tools that help set an agent up: checks of its addresses, signatures and fees. */
export function agentKeyRoutes(api: OperatorApi, deps: OperatorDeps): void {
  const { desk } = deps
  const { pool, secretKeys, now } = desk
  const own = { tag: 'Agents', permission: 'manage_own_keys', agents: 'own' } as const
  const checks = new TokenBuckets()
  const slowDown = (what: string, { userId }: Operator, perS: number, burst: number) => {
    const { taken, waitS } = checks.take(`${what} ${userId}`, perS, burst, now().getTime())
    if (!taken) {
      throw new Problem('rate_limited', 'Wait a moment between checks.', { retryAfterS: waitS })
    }
  }

  twoPersonRoute(api, {
    ...own,
    method: 'POST',
    url: '/agents/:app_id/keys',
    summary: 'Make a new secret; the one before it stays valid for the overlap',
    schema: {
      params: AgentParams,
      body: RotateBody,
      response: { status: 201, schema: SecretAnswer },
    },
    approval: {
      action: 'rotate_key',
      repeats: 'effect',
      hasSecret: true,
      view: async ({ operator, params, body }) => {
        const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
        return {
          subject: { kind: 'agent', id: appId },
          agentId,
          // Neither the older ones, whose overlap may end meanwhile, nor whether it was revoked.
          before: { newest_secret_of: await newestKeyAt(pool, agentId) },
          after: { new_secret: true, old_one_valid_for_s: body.overlap_s },
        }
      },
    },
    handler: async ({ operator, params, body }) => {
      const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
      const secret = await audited(
        pool,
        now,
        {
          operator,
          action: 'rotate_key',
          subject: { kind: 'agent', id: appId },
          agentId,
          reason: body.reason,
        },
        () =>
          rotateKey(pool, secretKeys, agentId, body.overlap_s, now(), (tx, made) =>
            takeEffect(tx, operator, now(), { app_id: appId, secret: made.secret }),
          ),
        () => ({ overlap_s: body.overlap_s }),
      )
      return { app_id: appId, secret }
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/agents/:app_id/keys/:slot/revoke',
    summary: 'End a secret that may do everything now; a new one takes its place by rotating',
    withoutCode: 'a stolen secret must end quickly',
    schema: { params: KeyParams, body: RevokeSecretBody, response: AgentKeys },
    handler: async ({ operator, params, body }) => {
      const { agentId, appId } = await agentNamed(pool, operator, params.app_id)
      const at = now()
      const slot = Number(params.slot)
      await inTransaction(pool, async (tx) => {
        if (!(await revokeKey(tx, agentId, slot, at))) {
          throw new Problem('not_found', 'There is no such secret any more.')
        }
        await writeAudit(tx, {
          at,
          operator,
          action: 'revoke_secret',
          subject: { kind: 'agent', id: appId },
          agentId,
          after: { slot },
          reason: body.reason,
        })
      })
      return { keys: (await listKeys(pool, agentId, at)).map(keyView) }
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/agents/:app_id/check-address',
    summary: 'Try a callback address for real: name, connection, TLS, an answer',
    withoutCode: 'changes nothing',
    schema: { params: AgentParams, body: CheckAddressBody, response: AddressSteps },
    handler: async ({ operator, params, body }) => {
      await agentNamed(pool, operator, params.app_id)
      slowDown('address', operator, 1 / 3, 10)
      const { callbackTargets: targets, resolveHost, poster, version } = deps
      const steps = await checkAddress(body.url, { targets, resolveHost, poster, version })
      return { ok: steps.every(({ ok }) => ok), steps }
    },
  })

  operatorRoute(api, {
    method: 'POST',
    url: '/agents/:app_id/fee-preview',
    summary: "What other fees would have come to on last month's orders",
    withoutCode: 'changes nothing',
    tag: 'Agents',
    permission: 'manage_agents',
    agents: 'none',
    schema: { params: AgentParams, body: FeePreviewBody, response: FeePreview },
    handler: async ({ operator, params, body }) => {
      const { agentId, currency } = await agentNamed(pool, operator, params.app_id)
      const rules = {
        deposit: feeRule('deposit_fee', body.deposit_fee, currency),
        withdraw: feeRule('withdraw_fee', body.withdraw_fee, currency),
      }
      const from = new Date(now().getTime() - monthMs)
      const preview = await previewFees(pool, agentId, rules, from)
      return jsonObject({
        currency: quoted(currency),
        from: quoted(from.toISOString()),
        complete: String(preview.complete),
        deposit: feesJson(preview.deposit, currency),
        withdraw: feesJson(preview.withdraw, currency),
      })
    },
  })

  operatorRoute(api, {
    ...own,
    method: 'POST',
    url: '/signature-check',
    summary: 'Find out what is wrong with a signature',
    withoutCode: 'changes nothing',
    bodyLimit: 64 * 1024,
    schema: { body: SignatureCheckBody, response: SignatureVerdict },
    handler: async ({ operator, body }) => {
      const { appId } = await agentNamed(pool, operator, body.app_id)
      // The check tries many likely mistakes, each over the whole body, which blocks other requests.
      slowDown('signature', operator, 1, 20)
      const found = await deps.agents.find(appId)
      const secrets =
        found && body.kind === 'callback'
          ? callbackSecrets(found)
          : [...(found?.keys ?? []), ...(found?.scoped ?? [])].map(({ secret }) => secret)
      return signatureVerdict(body, secrets, now())
    },
  })
}

/** How many digits of a correct signature are shown. With all of them, a reader could send the request. */
const shownDigits = 8

function signatureVerdict(
  sent: Static<typeof SignatureCheckBody>,
  secrets: readonly string[],
  now: Date,
): Static<typeof SignatureVerdict> {
  const { kind, method = 'POST', path = '/', body, signature } = sent
  const { causes, signed, expected } = explainSignature(
    {
      request: kind === 'callback' ? undefined : { method, path },
      headers: { 'x-signature': signature },
      body: Buffer.from(body),
    },
    secrets,
    now,
  )
  const header = parseSignatureHeader(signature)
  return {
    matches: causes.every(({ code }) => code === 'clock_off'),
    says: causes.map(({ message }) => message).join(' ') || 'The signature is right.',
    signed_text: signed.toString(),
    got: header?.signatures ?? [],
    expected: (parseSignatureHeader(expected)?.signatures ?? []).map((each) =>
      each.slice(0, shownDigits),
    ),
    age_s: header ? Math.floor(now.getTime() / 1000) - Number(header.t) : null,
  }
}

function feeRule(field: string, text: string, currency: Currency): FeeRule {
  const parsed = parseFeeRule(text, currency)
  if (typeof parsed === 'string') throw fieldProblem(field, parsed)
  return parsed
}

function feesJson({ orders, amount, feesNow, feesThen }: FeesOf, currency: Currency): string {
  return jsonObject({
    orders: String(orders),
    amount: decimalText(amount, currency),
    fees_now: decimalText(feesNow, currency),
    fees_then: decimalText(feesThen, currency),
  })
}
