import type { Currency } from '../lib/money.ts'

export const methods = ['link', 'link+qrcode', 'link+transfer', 'link+qrcode+transfer'] as const

export type Method = (typeof methods)[number]

/** An agent: who may create orders, on what terms. Limits are in whole units. */
export interface Agent {
  agentId: bigint
  appId: string
  name: string
  currency: Currency
  status: 'active' | 'suspended'
  depositCallbackUrl: string | null
  withdrawCallbackUrl: string | null
  depositFee: string
  withdrawFee: string
  revertFee: 'return' | 'keep'
  lateMoney: 'review' | 'credit'
  method: Method
  expiresInS: number
  minDeposit: bigint
  maxDeposit: bigint
  minWithdraw: bigint
  maxWithdraw: bigint
  /** Requests a second; 0 for no limit. */
  rateLimit: number
  allowedIps: string[]
  /** Who may show its payment page in a frame; empty: nobody, `any`: everybody. */
  frameOrigins: string[]
  support: string | null
  createdAt: Date
  updatedAt: Date
}

export interface AgentRow {
  agent_id: bigint
  app_id: string
  name: string
  currency: Currency
  status: Agent['status']
  deposit_callback_url: string | null
  withdraw_callback_url: string | null
  deposit_fee: string
  withdraw_fee: string
  revert_fee: Agent['revertFee']
  late_money: Agent['lateMoney']
  method: Method
  expires_in_s: number
  min_deposit: bigint
  max_deposit: bigint
  min_withdraw: bigint
  max_withdraw: bigint
  rate_limit: number
  allowed_ips: string[]
  frame_origins: string[]
  support: string | null
  created_at: Date
  updated_at: Date
}

export function agentFromRow(row: AgentRow): Agent {
  return {
    agentId: row.agent_id,
    appId: row.app_id,
    name: row.name,
    currency: row.currency,
    status: row.status,
    depositCallbackUrl: row.deposit_callback_url,
    withdrawCallbackUrl: row.withdraw_callback_url,
    depositFee: row.deposit_fee,
    withdrawFee: row.withdraw_fee,
    revertFee: row.revert_fee,
    lateMoney: row.late_money,
    method: row.method,
    expiresInS: row.expires_in_s,
    minDeposit: row.min_deposit,
    maxDeposit: row.max_deposit,
    minWithdraw: row.min_withdraw,
    maxWithdraw: row.max_withdraw,
    rateLimit: row.rate_limit,
    allowedIps: row.allowed_ips,
    frameOrigins: row.frame_origins,
    support: row.support,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
