import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { buildApp } from '../http/app.ts'
import { noticeRoutes } from '../http/provider-webhooks/notices.ts'
import type { Desk } from '../teller/desk.ts'
import { version } from '../version.ts'
import { makeLog } from './make-log.ts'
import { openDesk } from './open-desk.ts'
import { openSandboxBank } from './open-sandbox-bank.ts'

/** Opens a desk with a sandbox bank and a route for the bank's notices, for a single command. */
export async function openCounter(
  config: Config,
  backend: Backend,
  onError: (error: unknown) => void,
): Promise<{ desk: Desk; close(): Promise<void> }> {
  let noticeUrl: string | undefined
  const bank = await openSandboxBank(backend, {
    tellStories: false,
    noticeUrl: () => noticeUrl,
    onError,
  })
  const { desk, close } = openDesk(config, backend, { bankUrl: bank.url, onFault: onError })
  const publicUrl = () => 'http://127.0.0.1'
  const app = await buildApp(
    { log: makeLog('silent'), trustedProxies: [], publicUrl, version },
    (routes) => noticeRoutes(routes, desk, { mode: config.mode }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  noticeUrl = `http://127.0.0.1:${port}/providers/sandbox/notices`
  return {
    desk,
    async close() {
      await bank.close()
      await app.close()
      await close()
    },
  }
}
