import type { Operation } from './api.ts'

/** Every operation of the service that the console asks for. */
export const api = {
  me: 'GET /console/api/me',
  signIn: 'POST /console/api/sign-in',
  signOut: 'POST /console/api/sign-out',
  invitation: 'GET /console/api/invitations/{token}',
  acceptInvitation: 'POST /console/api/invitations/{token}',
  home: 'GET /console/api/home',
  orders: 'GET /console/api/orders',
  ordersCsv: 'GET /console/api/orders.csv',
  order: 'GET /console/api/orders/{txn_id}',
  testOrder: 'POST /console/api/test-orders',
  callbacks: 'GET /console/api/callbacks',
  callback: 'GET /console/api/callbacks/{app_id}/{seq}',
  resendCallback: 'POST /console/api/callbacks/{app_id}/{seq}/resend',
  replayCallbacks: 'POST /console/api/callbacks/replay',
  lanes: 'GET /console/api/callback-lanes',
  pauseLane: 'POST /console/api/callback-lanes/{app_id}/pause',
  resumeLane: 'POST /console/api/callback-lanes/{app_id}/resume',
  payments: 'GET /console/api/payments',
  payment: 'GET /console/api/payments/{payment_id}',
  creditPayment: 'POST /console/api/payments/{payment_id}/credit',
  returnPayment: 'POST /console/api/payments/{payment_id}/return',
  assignPayment: 'POST /console/api/payments/{payment_id}/assign',
  notePayment: 'POST /console/api/payments/{payment_id}/note',
  wallets: 'GET /console/api/wallets',
  wallet: 'GET /console/api/wallets/{app_id}',
  journal: 'GET /console/api/wallets/{app_id}/journal',
  adjustWallet: 'POST /console/api/wallets/{app_id}/adjust',
  statementCsv: 'GET /console/api/wallets/{app_id}/statement.csv',
  statementPdf: 'GET /console/api/wallets/{app_id}/statement.pdf',
} as const satisfies Record<string, Operation>

/** What can be done to an order, by the name the service gives it. */
export const orderActions = {
  'mark-paid': 'POST /console/api/orders/{txn_id}/mark-paid',
  'mark-failed': 'POST /console/api/orders/{txn_id}/mark-failed',
  void: 'POST /console/api/orders/{txn_id}/void',
  'take-back': 'POST /console/api/orders/{txn_id}/take-back',
  cancel: 'POST /console/api/orders/{txn_id}/cancel',
  revert: 'POST /console/api/orders/{txn_id}/revert',
  resend: 'POST /console/api/orders/{txn_id}/resend',
} as const satisfies Record<string, Operation>

/** The console's own pages. */
export const pages = {
  home: '/',
  signIn: '/sign-in',
  invitation: '/invitations',
  orders: '/orders',
  order: (txnId: string) => `/orders/${txnId}`,
  callbacks: '/callbacks',
  callback: (appId: string, seq: number) => `/callbacks/${appId}/${seq}`,
  payments: '/payments',
  payment: (paymentId: string) => `/payments/${encodeURIComponent(paymentId)}`,
  wallets: '/wallets',
  wallet: (appId: string) => `/wallets/${appId}`,
  agents: '/agents',
  agent: (appId: string) => `/agents/${appId}`,
  providers: '/providers',
  users: '/users',
  audit: '/audit',
  settings: '/settings',
  me: '/me',
  debugger: '/signature',
  testOrders: '/test-orders',
}
