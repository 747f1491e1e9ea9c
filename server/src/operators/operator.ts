export const roles = ['admin', 'operator', 'viewer', 'agent'] as const

export type Role = (typeof roles)[number]

/** A permission. Each route requires one, and each role has some. */
export type Permission =
  | 'view'
  | 'act_on_orders'
  | 'resend_callbacks'
  | 'decide_payments'
  | 'adjust_wallets'
  | 'manage_agents'
  | 'manage_own_keys'
  | 'manage_providers'
  | 'manage_bank_accounts'
  | 'import_statements'
  | 'sign_off_days'
  | 'make_payout_files'
  | 'approve_payout_files'
  | 'manage_users'
  | 'view_audit'
  | 'view_own_audit'
  | 'manage_policy'
  | 'manage_alert_rules'
  | 'view_as_agents'

const operatorMay = [
  'view',
  'act_on_orders',
  'resend_callbacks',
  'decide_payments',
  'adjust_wallets',
  'manage_agents',
  'manage_own_keys',
  'import_statements',
  'sign_off_days',
  'make_payout_files',
  'approve_payout_files',
  'view_audit',
  'view_own_audit',
  'view_as_agents',
] as const satisfies Permission[]

export const permissionsOf: Record<Role, readonly Permission[]> = {
  admin: [
    ...operatorMay,
    'manage_providers',
    'manage_bank_accounts',
    'manage_users',
    'manage_policy',
    'manage_alert_rules',
  ],
  operator: operatorMay,
  viewer: ['view'],
  agent: ['view', 'resend_callbacks', 'manage_own_keys', 'manage_alert_rules', 'view_own_audit'],
}

/** A user who is signed in to the console. */
export interface Operator {
  userId: bigint
  email: string
  role: Role
  /** Set for the role agent, which sees only this agent. */
  agentId: bigint | null
  sessionId: string
  ip: string
  /** Set while an action runs that two people decided on. */
  proposal?: ApprovedProposal
  /** Set while an operator sees the console as an agent's users do: their own role, and until when they may. */
  view?: { role: Role; until: Date | null }
}

/** Stands for whoever looks around in a demo, who is no user, nor the command line. */
export const lookerId = -1n

export interface ApprovedProposal {
  id: string
  /** An earlier run was interrupted: this may have happened already. */
  again: boolean
  /** The command line proposed it, so that one user alone has given their word. */
  byCommandLine: boolean
  /** Seals an answer that only the proposer may see. */
  seal: (answer: string) => Buffer
}

export function may({ role }: Pick<Operator, 'role'>, permission: Permission): boolean {
  return permissionsOf[role].includes(permission)
}
