import { urlFault } from '../agents/callback-url.ts'
import { makeResolveHost, type ResolveHost } from '../agents/resolve-host.ts'
import type { Backend } from '../backend.ts'
import { ExpectedDeposits } from '../bank-accounts/expected-deposits.ts'
import { trustedBesides } from '../callbacks/post-callback.ts'
import { makeVettedLookup } from '../callbacks/vetted-lookup.ts'
import type { Config } from '../config.ts'
import { ConnectorsInUse } from '../connectors/connectors-in-use.ts'
import type { Pool } from '../db/pool.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { localTimeIn } from '../lib/local-time.ts'
import { CompanyClient } from '../providers/http/company-client.ts'
import type { Provider } from '../providers/provider.ts'
import { SandboxBank } from '../providers/sandbox/bank-client.ts'
import { makeSandboxProvider } from '../providers/sandbox/sandbox.ts'
import { Providers } from '../routing/providers.ts'
import type { Desk } from '../teller/desk.ts'
import { Teller, type TellerOptions } from '../teller/teller.ts'
import { openTellerPool, tellerWriters } from '../teller/teller-pool.ts'
import { bankKey } from './open-sandbox-bank.ts'

export interface DeskOptions
  extends Pick<TellerOptions, 'onBatch' | 'onFault' | 'onCallbacks' | 'onWritten' | 'tracer'> {
  clock?: Clock
  publicUrl?: () => string
  /** The address of the sandbox bank. */
  bankUrl?: string | undefined
  /** Providers that replace the default ones of the mode. */
  providers?: readonly Provider[] | undefined
  /** Providers in addition to those. */
  moreProviders?: readonly Provider[] | undefined
  /** Finds the addresses of payment companies. */
  resolveHost?: ResolveHost | undefined
  /** A certificate authority to trust in addition to the usual ones. */
  ca?: string | undefined
}

/** Opens everything but HTTP, on an open backend: the teller and what belongs to it. */
export function openDesk(
  config: Config,
  backend: Backend,
  options: DeskOptions,
): { desk: Desk; teller: Teller; pool: Pool; close: () => Promise<void> } {
  const {
    clock = systemClock,
    publicUrl = () => config.publicUrl ?? 'http://localhost',
    bankUrl = 'http://127.0.0.1:9',
    providers,
    moreProviders = [],
    resolveHost = makeResolveHost(),
    ca,
    ...hooks
  } = options
  const localTime = localTimeIn(config.timeZone)
  const { databaseUrl, gate } = backend
  const pool = openTellerPool(databaseUrl, (error) => hooks.onFault?.(error), undefined, gate)
  const teller = new Teller({
    pool,
    localTime,
    isOnTime: clock === systemClock,
    ...tellerWriters,
    maxBatch: config.tellerBatch,
    maxQueue: 5_000,
    maxQueuePerAgent: 1_250,
    patienceMs: 10_000,
    ...hooks,
  })
  const atBank =
    config.mode === 'sandbox' ? { bankUrl: () => bankUrl, key: bankKey(backend) } : undefined
  const client = new CompanyClient({
    // Companies are called where callbacks may be sent.
    lookup: makeVettedLookup(config.callbackTargets, resolveHost),
    urlFault: (url) => urlFault(url, config.callbackTargets),
    ca: ca === undefined ? undefined : trustedBesides(ca),
  })
  const onFault = (error: unknown) => hooks.onFault?.(error)
  const connectors = new ConnectorsInUse(backend.pool, {
    secretKeys: backend.secretKeys,
    client,
    now: clock,
    publicUrl,
    onError: onFault,
  })
  const desk: Desk = {
    pool: backend.pool,
    teller,
    providers: new Providers(
      [...(providers ?? (atBank ? [makeSandboxProvider(atBank)] : [])), ...moreProviders],
      backend.pool,
      onFault,
      connectors,
    ),
    expected: new ExpectedDeposits(backend.pool),
    bank: atBank && new SandboxBank(atBank),
    secretKeys: backend.secretKeys,
    picturesDrawnSince: backend.picturesDrawnSince,
    publicUrl,
    localTime,
    now: clock,
    tracer: hooks.tracer,
  }
  return {
    desk,
    teller,
    pool,
    close: async () => {
      await client.close()
      await pool.end()
    },
  }
}
