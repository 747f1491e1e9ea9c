import type { Agent } from './agent.ts'
import type { KeyInfo } from './find-agent.ts'

/** An agent as operators see it, on the command line and in the console. */
export function agentView(agent: Agent) {
  return {
    app_id: agent.appId,
    name: agent.name,
    currency: agent.currency,
    status: agent.status,
    deposit_callback: agent.depositCallbackUrl,
    withdraw_callback: agent.withdrawCallbackUrl,
    deposit_fee: agent.depositFee,
    withdraw_fee: agent.withdrawFee,
    revert_fee: agent.revertFee,
    late_money: agent.lateMoney,
    method: agent.method,
    expires_in: agent.expiresInS,
    // Limits are far below what a number holds exactly.
    min_deposit: Number(agent.minDeposit),
    max_deposit: Number(agent.maxDeposit),
    min_withdraw: Number(agent.minWithdraw),
    max_withdraw: Number(agent.maxWithdraw),
    rate_limit: agent.rateLimit,
    allow_ip: agent.allowedIps,
    frame_origin: agent.frameOrigins,
    support: agent.support,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  }
}

/** When a secret was made and used; never the secret. */
export function keyView(key: KeyInfo) {
  return {
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  }
}
