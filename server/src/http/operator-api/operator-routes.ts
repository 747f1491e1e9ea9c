import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { SignIn } from '../../operators/sign-in.ts'
import { fiveMinutes, madeOnce, sendDocument, staticDocument } from '../static-document.ts'
import { agentKeyRoutes } from './agent-keys.ts'
import { agentLooksRoute } from './agent-looks.ts'
import { agentSecretRoutes } from './agent-secrets.ts'
import { agentRoutes } from './agents.ts'
import { alertRuleRoutes } from './alert-rules.ts'
import { alertRoutes } from './alerts.ts'
import { apiLogRoute } from './api-log.ts'
import { approvalPolicyRoutes } from './approval-policy.ts'
import { approvalRoutes } from './approvals.ts'
import { ApprovalsDesk } from './approvals-desk.ts'
import { agentAuditRoute, auditRoutes } from './audit.ts'
import { bankAccountRoutes } from './bank-accounts.ts'
import { bankDayRoutes } from './bank-days.ts'
import { bankFileRoutes } from './bank-files.ts'
import { bankMovementRoutes } from './bank-movements.ts'
import { bookRoutes, writeOffRoute } from './books.ts'
import { callbackRoutes } from './callbacks.ts'
import { commandBankAccounts } from './command-bank-accounts.ts'
import { connectorRoutes } from './connectors.ts'
import { OperatorDoor } from './door.ts'
import { eventRoutes } from './events.ts'
import { handPaymentRoutes } from './hand-payments.ts'
import { homeRoute, sayBackupRoute } from './home.ts'
import { insightsRoute } from './insights.ts'
import { invitationRoutes } from './invitations.ts'
import { limitRoutes } from './limits.ts'
import { lookAroundRoute } from './look-around-route.ts'
import { markRoutes } from './marks.ts'
import { openItemRoutes } from './open-items.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { operatorOpenapi } from './operator-openapi.ts'
import { type OperatorApi, openRoute, takeXml } from './operator-route.ts'
import { orderActionRoutes } from './order-actions.ts'
import { orderDetailRoute } from './order-detail.ts'
import { orderRoutes } from './orders.ts'
import { pagePreviewRoute } from './page-preview.ts'
import { passkeyRoutes } from './passkeys.ts'
import { paymentDecisionRoutes } from './payment-decisions.ts'
import { paymentRoutes } from './payments.ts'
import { payoutFileEndRoutes } from './payout-file-ends.ts'
import { payoutFileRoutes } from './payout-files.ts'
import { providerRoutes } from './providers.ts'
import { queueRoutes } from './queue.ts'
import { reportScheduleRoutes } from './report-schedules.ts'
import { restoreRoutes } from './restores.ts'
import { routingRoutes } from './routing.ts'
import { saveBankAccountRoutes } from './save-bank-accounts.ts'
import { searchRoute } from './search.ts'
import { exportLimits } from './send-export.ts'
import { settingsRoute } from './settings.ts'
import { signInRoutes } from './sign-in.ts'
import { ssoRoutes } from './sso.ts'
import { statementRoutes } from './statements.ts'
import { stopRoutes } from './stops.ts'
import { testOrderRoutes } from './test-orders.ts'
import { trendsRoute } from './trends.ts'
import { userRoutes } from './users.ts'
import { viewAsAgentRoutes } from './view-as-agent.ts'
import { walletRoutes } from './wallets.ts'

/** Registers all routes under /console/api. */
export function operatorRoutes(app: FastifyInstance, deps: OperatorDeps): OperatorApi {
  const { desk, version } = deps
  const limits = deps.exportLimits ?? exportLimits
  const api: OperatorApi = {
    app,
    door: new OperatorDoor({
      ...desk,
      buckets: deps.buckets,
      lookAround: deps.lookAround,
      consoleAddresses: deps.consoleAddresses,
      portalAddresses: deps.portalAddresses,
      warn: (message) => app.log.warn(message),
    }),
    approvals: new ApprovalsDesk({
      ...desk,
      mode: deps.mode,
      onError: (error) => app.log.error({ err: error }, 'an approved action was interrupted'),
    }),
    routes: [],
  }
  const warn = (message: string) => app.log.warn(message)
  const signIn = new SignIn(desk.pool, desk.secretKeys, deps.buckets, desk.now, warn)
  const description = madeOnce(() =>
    staticDocument(
      'application/json; charset=utf-8',
      JSON.stringify(operatorOpenapi(api.routes, version, desk.publicUrl())),
    ),
  )
  openRoute(api, {
    method: 'GET',
    url: '/openapi.json',
    summary: 'This description',
    tag: 'Console',
    schema: { response: Type.Unknown() },
    handler: async ({ request, reply }) => sendDocument(request, reply, description(), fiveMinutes),
  })
  takeXml(app)
  app.addHook('onReady', async () => api.approvals.start())
  app.addHook('onClose', async () => api.approvals.stop())
  signInRoutes(api, deps, signIn)
  invitationRoutes(api, deps, signIn)
  if (deps.mode === 'sandbox' && deps.lookAround) lookAroundRoute(api, deps, deps.lookAround)
  passkeyRoutes(api, deps, signIn)
  ssoRoutes(api, deps, signIn, warn)
  alertRoutes(api, deps)
  alertRuleRoutes(api, desk)
  userRoutes(api, deps)
  auditRoutes(api, deps)
  agentAuditRoute(api, deps)
  agentRoutes(api, deps)
  agentKeyRoutes(api, deps)
  agentLooksRoute(api, desk)
  pagePreviewRoute(api, deps)
  agentSecretRoutes(api, desk)
  viewAsAgentRoutes(api, deps)
  apiLogRoute(api, desk)
  providerRoutes(api, deps)
  routingRoutes(api, deps)
  connectorRoutes(api, deps)
  bankAccountRoutes(api, deps)
  saveBankAccountRoutes(api, deps)
  commandBankAccounts(api, deps)
  bankFileRoutes(api, deps)
  bankMovementRoutes(api, desk)
  handPaymentRoutes(api, desk)
  bankDayRoutes(api, desk)
  payoutFileRoutes(api, deps)
  payoutFileEndRoutes(api, deps)
  settingsRoute(api, deps.settings)
  homeRoute(api, desk, deps.timeZone)
  sayBackupRoute(api, desk)
  insightsRoute(api, desk, deps.timeZone)
  trendsRoute(api, desk, deps.timeZone)
  searchRoute(api, desk)
  orderRoutes(api, desk, limits)
  orderDetailRoute(api, desk)
  orderActionRoutes(api, desk, deps.wake)
  markRoutes(api, desk, deps.wake)
  if (deps.mode === 'sandbox') testOrderRoutes(api, desk)
  callbackRoutes(api, desk, deps.wake)
  paymentRoutes(api, desk)
  paymentDecisionRoutes(api, deps)
  queueRoutes(api, desk)
  openItemRoutes(api, desk)
  eventRoutes(api, desk)
  walletRoutes(api, desk)
  statementRoutes(api, desk, deps.timeZone, limits)
  reportScheduleRoutes(api, deps, limits)
  bookRoutes(api, desk, deps.timeZone, limits)
  writeOffRoute(api, desk)
  stopRoutes(api, desk)
  restoreRoutes(api, desk)
  limitRoutes(api, desk)
  approvalRoutes(api, deps)
  approvalPolicyRoutes(api, deps)
  return api
}
