import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { Refusal } from './api.ts'
import { Empty } from './parts/empty.tsx'
import classes from './parts/parts.module.css'
import { ProblemPanel } from './parts/problem-panel.tsx'
import { base } from './root.ts'
import { meQuery } from './session.tsx'
import { leaveView } from './shell/agent-view.ts'
import { Shell } from './shell/shell.tsx'
// Before the router reads the address: it would rewrite what an issuer put there.
import './sso-answer.ts'
import { words } from './words.ts'

interface Context {
  queries: QueryClient
}

const top = createRootRouteWithContext<Context>()({ component: Outlet })

const open = (path: string, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => top, path, component: lazyRouteComponent(load) })

/** After signing in, the user returns to the same address. */
async function signedIn({ context, location }: { context: Context; location: { href: string } }) {
  try {
    await context.queries.ensureQueryData(meQuery)
  } catch (error) {
    if (error instanceof Refusal && error.problem.code === 'not_signed_in') {
      throw redirect({ to: '/sign-in', search: { to: location.href } })
    }
    if (error instanceof Refusal && error.problem.code === 'view_ended') await leaveView()
    throw error
  }
}

/** All pages that require a session and have the frame around them. */
const inside = createRoute({
  getParentRoute: () => top,
  id: 'inside',
  component: Shell,
  beforeLoad: signedIn,
})

const wall = createRoute({
  getParentRoute: () => top,
  path: '/wall',
  component: lazyRouteComponent(() => import('./pages/wall/wall.tsx')),
  beforeLoad: signedIn,
})

const page = (path: string, load: () => Promise<{ default: () => React.ReactNode }>) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load) })

function NothingHere() {
  return <Empty title={words.nothingHere} teach={words.nothingHereTeach} />
}

const tree = top.addChildren([
  open('/sign-in', () => import('./pages/sign-in/sign-in.tsx')),
  open('/look', () => import('./pages/look/look.tsx')),
  open('/invitation', () => import('./pages/invitation/invitation.tsx')),
  wall,
  inside.addChildren([
    page('/', () => import('./pages/home/home.tsx')),
    page('/insights', () => import('./pages/insights/insights.tsx')),
    page('/orders', () => import('./pages/orders/orders.tsx')),
    page('/orders/$txnId', () => import('./pages/order/order.tsx')),
    page('/callbacks', () => import('./pages/callbacks/callbacks.tsx')),
    page('/callbacks/$appId/$seq', () => import('./pages/callback/callback.tsx')),
    page('/queue', () => import('./pages/queue/queue.tsx')),
    page('/payments', () => import('./pages/payments/payments.tsx')),
    page('/payments/$paymentId', () => import('./pages/payment/payment.tsx')),
    page('/approvals', () => import('./pages/approvals/approvals.tsx')),
    page('/approvals/$id', () => import('./pages/approval/approval.tsx')),
    page('/rules', () => import('./pages/rules/rules.tsx')),
    page('/limits', () => import('./pages/limits/limits.tsx')),
    page('/alerts', () => import('./pages/alerts/alerts.tsx')),
    page('/reports', () => import('./pages/reports/reports.tsx')),
    page('/open-items', () => import('./pages/open-items/open-items.tsx')),
    page('/open-items/$itemId', () => import('./pages/open-item/open-item.tsx')),
    page('/wallets', () => import('./pages/wallets/wallets.tsx')),
    page('/wallets/$appId', () => import('./pages/wallet/wallet.tsx')),
    page('/books', () => import('./pages/books/books.tsx')),
    page('/agents', () => import('./pages/agents/agents.tsx')),
    page('/agents/$appId', () => import('./pages/agent/agent.tsx')),
    page('/agents/$appId/audit', () => import('./pages/agent-audit/agent-audit.tsx')),
    page('/providers', () => import('./pages/providers/providers.tsx')),
    page('/connectors', () => import('./pages/connectors/connectors.tsx')),
    page('/connectors/new', () => import('./pages/connector-form/new-connector.tsx')),
    page('/connectors/$name', () => import('./pages/connector/connector.tsx')),
    page(
      '/connectors/$name/new-version',
      () => import('./pages/connector-form/new-connector-version.tsx'),
    ),
    page('/bank-accounts', () => import('./pages/bank-accounts/bank-accounts.tsx')),
    page('/bank-accounts/new', () => import('./pages/bank-account-form/new-bank-account.tsx')),
    page('/bank-accounts/$name', () => import('./pages/bank-account/bank-account.tsx')),
    page(
      '/bank-accounts/$name/edit',
      () => import('./pages/bank-account-form/edit-bank-account.tsx'),
    ),
    page('/bank-accounts/$name/import', () => import('./pages/bank-import/bank-import.tsx')),
    page('/bank-accounts/$name/record', () => import('./pages/record-payment/record-payment.tsx')),
    page('/payout-files', () => import('./pages/payout-files/payout-files.tsx')),
    page('/payout-files/$id', () => import('./pages/payout-file/payout-file.tsx')),
    page('/reconciliation', () => import('./pages/reconciliation/reconciliation.tsx')),
    page('/settings', () => import('./pages/settings/settings.tsx')),
    page('/api-log', () => import('./pages/api-log/api-log.tsx')),
    page('/signature', () => import('./pages/signature/signature.tsx')),
    page('/users', () => import('./pages/users/users.tsx')),
    page('/audit', () => import('./pages/audit/audit.tsx')),
    page('/me', () => import('./pages/me/me.tsx')),
    page('/test-orders', () => import('./pages/test-orders/test-orders.tsx')),
    createRoute({ getParentRoute: () => inside, path: '$', component: NothingHere }),
  ]),
])

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: base,
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadDelay: 80,
    scrollRestoration: true,
    defaultErrorComponent: ({ error, reset }) => (
      <main className={classes.alone}>
        <ProblemPanel error={error} retry={reset} />
      </main>
    ),
    defaultNotFoundComponent: NothingHere,
    // Plain names and values, because people read, type and share these addresses.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(
        Object.entries(search).flatMap(([name, value]) =>
          value === undefined || value === null ? [] : [[name, String(value)]],
        ),
      ).toString()
      return text === '' ? '' : `?${text}`
    },
  })
}
