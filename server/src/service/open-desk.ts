import type { Backend } from '../backend.ts'
import { ExpectedDeposits } from '../bank-accounts/expected-deposits.ts'
import type { Config } from '../config.ts'
import type { Pool } from '../db/pool.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { localTimeIn } from '../lib/local-time.ts'
import type { Provider } from '../providers/provider.ts'
import { SandboxBank } from '../providers/sandbox/bank-client.ts'
import { makeSandboxProvider } from '../providers/sandbox/sandbox.ts'
import { Providers } from '../routing/providers.ts'
import type { Desk } from '../teller/desk.ts'
import { Teller, type TellerOptions } from '../teller/teller.ts'
import { openTellerPool, tellerWriters } from '../teller/teller-pool.ts'
import { bankKey } from './open-sandbox-bank.ts'

export interface DeskOptions extends Pick<TellerOptions, 'onBatch' | 'onFault' | 'onCallbacks'> {
  clock?: Clock
  publicUrl?: () => string
  /** The address of the sandbox bank. */
  bankUrl?: string | undefined
  /** Providers that replace the default ones of the mode. */
  providers?: readonly Provider[] | undefined
  /** Providers in addition to those. */
  moreProviders?: readonly Provider[] | undefined
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
    ...hooks
  } = options
  const localTime = localTimeIn(config.timeZone)
  const pool = openTellerPool(backend.databaseUrl, (error) => hooks.onFault?.(error))
  const teller = new Teller({
    pool,
    localTime,
    ...tellerWriters,
    maxBatch: config.tellerBatch,
    maxQueue: 5_000,
    maxQueuePerAgent: 1_250,
    patienceMs: 10_000,
    ...hooks,
  })
  const atBank =
    config.mode === 'sandbox' ? { bankUrl: () => bankUrl, key: bankKey(backend) } : undefined
  const desk: Desk = {
    pool: backend.pool,
    teller,
    providers: new Providers(
      [...(providers ?? (atBank ? [makeSandboxProvider(atBank)] : [])), ...moreProviders],
      backend.pool,
      (error) => hooks.onFault?.(error),
    ),
    expected: new ExpectedDeposits(backend.pool),
    bank: atBank && new SandboxBank(atBank),
    secretKeys: backend.secretKeys,
    publicUrl,
    localTime,
    now: clock,
  }
  return { desk, teller, pool, close: () => pool.end() }
}
