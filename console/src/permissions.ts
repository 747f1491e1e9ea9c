import type { Me } from './session.tsx'
import { viewWords } from './shell/view-words.ts'
import { words } from './words.ts'

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
  | 'make_payout_files'
  | 'approve_payout_files'
  | 'sign_off_days'
  | 'manage_users'
  | 'view_audit'
  | 'view_own_audit'
  | 'manage_policy'
  | 'manage_alert_rules'
  | 'view_as_agents'

export function may(me: Me, permission: Permission): boolean {
  return me.permissions.some((each) => each === permission)
}

/** Why the user may not do something, for a disabled button; undefined if they may. */
export function whyNot(me: Me, permission: Permission): string | undefined {
  if (may(me, permission)) return undefined
  if (me.view) return viewWords.onlyLooks
  return words.notPermitted(words.roles[me.user.role] ?? me.user.role)
}

/** Whether the user sees who persons are; those who do not may not search for them either. */
export function seesPersons(me: Me): boolean {
  return me.user.role !== 'viewer'
}
