import { styleNonce } from './nonce.ts'
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './console.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Refusal } from './api.ts'
import { pages } from './paths.ts'
import { base } from './root.ts'
import { makeRouter } from './routes.tsx'
import { leaveView } from './shell/agent-view.ts'
import { theme, variables } from './theme.ts'

/** When the session has ended, goes to the sign-in page, which leads back to this address. */
function onError(error: unknown) {
  if (!(error instanceof Refusal)) return
  if (error.problem.code === 'view_ended') void leaveView()
  if (error.problem.code !== 'not_signed_in') return
  const { pathname, href } = router.latestLocation
  if (pathname.startsWith(pages.signIn) || pathname.startsWith(pages.invitation)) return
  // Clear cached answers once they are no longer shown.
  void router.navigate({ to: pages.signIn, search: { to: href } }).then(() => queries.clear())
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refused request would be refused again; only a lost connection is worth a retry.
      retry: (count, error) => count < 2 && error instanceof Refusal && error.problem.status === 0,
    },
  },
})
const router = makeRouter(queries)

const place = document.getElementById('root')
const { pathname, search } = location
if (!`${pathname}/`.startsWith(`${base}/`)) {
  // The page was opened outside the path of PUBLIC_URL, where the browser does not send the session cookie.
  location.replace(base + pathname.replace(/^\/console/, '') + search)
} else if (place) {
  createRoot(place).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={() => styleNonce}
      >
        <QueryClientProvider client={queries}>
          <Notifications position="bottom-right" />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
