import type { agentWords } from '../pages/agent/agent-words.ts'
import type { agentAuditWords } from '../pages/agent-audit/agent-audit-words.ts'
import type { agentsWords } from '../pages/agents/agents-words.ts'
import type { alertsWords } from '../pages/alerts/alerts-words.ts'
import type { apiLogWords } from '../pages/api-log/api-log-words.ts'
import type { approvalWords } from '../pages/approval/approval-words.ts'
import type { titleWords } from '../pages/approval/title-words.ts'
import type { approvalsWords } from '../pages/approvals/approvals-words.ts'
import type { actionWords } from '../pages/audit/action-text.ts'
import type { auditWords } from '../pages/audit/audit-words.ts'
import type { bankAccountWords } from '../pages/bank-account/bank-account-words.ts'
import type { formWords } from '../pages/bank-account-form/form-words.ts'
import type { bankAccountsWords } from '../pages/bank-accounts/bank-accounts-words.ts'
import type { bankImportWords } from '../pages/bank-import/bank-import-words.ts'
import type { booksWords } from '../pages/books/books-words.ts'
import type { callbackWords } from '../pages/callback/callback-words.ts'
import type { callbacksWords } from '../pages/callbacks/callbacks-words.ts'
import type { connectorWords, meaningWords } from '../pages/connector/connector-words.ts'
import type { connectorFormWords } from '../pages/connector-form/connector-form-words.ts'
import type { connectorsWords } from '../pages/connectors/connectors-words.ts'
import type { homeWords } from '../pages/home/home-words.ts'
import type { insightsWords } from '../pages/insights/insights-words.ts'
import type { invitationWords } from '../pages/invitation/invitation-words.ts'
import type { limitsWords } from '../pages/limits/limits-words.ts'
import type { lookWords } from '../pages/look/look-words.ts'
import type { meWords } from '../pages/me/me-words.ts'
import type { openItemWords } from '../pages/open-item/open-item-words.ts'
import type { openItemsWords } from '../pages/open-items/open-items-words.ts'
import type { orderWords } from '../pages/order/order-words.ts'
import type { ordersWords } from '../pages/orders/orders-words.ts'
import type { paymentWords } from '../pages/payment/payment-words.ts'
import type { paymentsWords } from '../pages/payments/payments-words.ts'
import type { payoutFileWords } from '../pages/payout-file/payout-file-words.ts'
import type { payoutFilesWords } from '../pages/payout-files/payout-files-words.ts'
import type { providersWords } from '../pages/providers/providers-words.ts'
import type { queueWords } from '../pages/queue/queue-words.ts'
import type { reconciliationWords } from '../pages/reconciliation/reconciliation-words.ts'
import type { recordPaymentWords } from '../pages/record-payment/record-payment-words.ts'
import type { reportsWords } from '../pages/reports/reports-words.ts'
import type { rulesWords } from '../pages/rules/rules-words.ts'
import type { settingsWords } from '../pages/settings/settings-words.ts'
import type { signInWords } from '../pages/sign-in/sign-in-words.ts'
import type { signatureWords } from '../pages/signature/signature-words.ts'
import type { testOrdersWords } from '../pages/test-orders/test-orders-words.ts'
import type { usersWords } from '../pages/users/users-words.ts'
import type { wallWords } from '../pages/wall/wall-words.ts'
import type { walletWords } from '../pages/wallet/wallet-words.ts'
import type { walletsWords } from '../pages/wallets/wallets-words.ts'
import type { subjectWords } from '../parts/subject-words.ts'
import type { trendWords } from '../parts/trend-words.ts'
import type { problemWords } from '../problem-words.ts'
import type { viewWords } from '../shell/view-words.ts'
import type { stateWords, words } from '../words.ts'

/** The words of a file in another language: each is missing, or takes the same arguments. */
type Own<Words> = Words extends string
  ? string
  : Words extends (...given: infer Given) => string
    ? (...given: Given) => string
    : Words extends readonly unknown[]
      ? { [Place in keyof Words]: Own<Words[Place]> }
      : { [Key in keyof Words]?: Own<Words[Key]> }

/** A language: its texts by file of words, as each file names itself. */
export type Translation = Partial<{
  agentAudit: Own<typeof agentAuditWords>
  agent: Own<typeof agentWords>
  agents: Own<typeof agentsWords>
  alerts: Own<typeof alertsWords>
  apiLog: Own<typeof apiLogWords>
  approval: Own<typeof approvalWords>
  title: Own<typeof titleWords>
  approvals: Own<typeof approvalsWords>
  action: Own<typeof actionWords>
  audit: Own<typeof auditWords>
  form: Own<typeof formWords>
  bankAccount: Own<typeof bankAccountWords>
  bankAccounts: Own<typeof bankAccountsWords>
  bankImport: Own<typeof bankImportWords>
  books: Own<typeof booksWords>
  callback: Own<typeof callbackWords>
  callbacks: Own<typeof callbacksWords>
  connectorForm: Own<typeof connectorFormWords>
  connector: Own<typeof connectorWords>
  meaning: Own<typeof meaningWords>
  connectors: Own<typeof connectorsWords>
  home: Own<typeof homeWords>
  insights: Own<typeof insightsWords>
  invitation: Own<typeof invitationWords>
  limits: Own<typeof limitsWords>
  look: Own<typeof lookWords>
  me: Own<typeof meWords>
  openItem: Own<typeof openItemWords>
  openItems: Own<typeof openItemsWords>
  order: Own<typeof orderWords>
  orders: Own<typeof ordersWords>
  payment: Own<typeof paymentWords>
  payments: Own<typeof paymentsWords>
  payoutFile: Own<typeof payoutFileWords>
  payoutFiles: Own<typeof payoutFilesWords>
  problem: Own<typeof problemWords>
  providers: Own<typeof providersWords>
  queue: Own<typeof queueWords>
  reconciliation: Own<typeof reconciliationWords>
  recordPayment: Own<typeof recordPaymentWords>
  reports: Own<typeof reportsWords>
  rules: Own<typeof rulesWords>
  settings: Own<typeof settingsWords>
  signIn: Own<typeof signInWords>
  signature: Own<typeof signatureWords>
  testOrders: Own<typeof testOrdersWords>
  users: Own<typeof usersWords>
  subject: Own<typeof subjectWords>
  trend: Own<typeof trendWords>
  view: Own<typeof viewWords>
  wall: Own<typeof wallWords>
  wallet: Own<typeof walletWords>
  wallets: Own<typeof walletsWords>
  shared: Own<typeof words>
  state: Own<typeof stateWords>
}>
