import type { Logger } from 'pino'
import type { Backend } from '../backend.ts'
import type { Config } from '../config.ts'
import { isConnectionLost } from '../db/pool.ts'
import { Metrics } from '../http/metrics.ts'
import type { Clock } from '../lib/clock.ts'
import { Address } from './address.ts'
import { Closing } from './closing.ts'

/** What every part of a service is built on. */
export interface Ground {
  config: Config
  backend: Backend
  log: Logger
  clock: Clock
  address: Address
  metrics: Metrics
  closing: Closing
  onError: (error: unknown) => void
}

export function makeGround(config: Config, backend: Backend, log: Logger, clock: Clock): Ground {
  const closing = new Closing()
  return {
    config,
    backend,
    log,
    clock,
    address: new Address(config),
    metrics: new Metrics(),
    closing,
    onError: (error) => {
      // Ctrl-C reaches the embedded database at the same moment as the service.
      if (!closing.hasBegun || !isConnectionLost(error)) log.error({ err: error })
    },
  }
}
