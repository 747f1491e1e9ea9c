import { availableChannels } from '../alerts/alert-senders.ts'
import type { Config } from '../config.ts'

const callbackWords = {
  near: 'also on this machine and in private networks',
  public: 'public',
  secure: 'public, with TLS',
}

/** The settings that operators may see: no secrets, and nothing that leads to one. */
export function settingsShown(
  config: Config,
): Record<string, string | number | boolean | string[]> {
  return {
    mode: config.mode,
    role: config.role,
    time_zone: config.timeZone,
    database: config.databaseUrl === undefined ? 'embedded' : 'external',
    separate_database_owner:
      config.databaseUrl === undefined || config.databaseOwnerUrl !== undefined,
    secret_key: config.secretKeys.length > 0 ? 'set' : 'made by the service',
    secret_key_previous: config.secretKeys.length > 1 ? 'set' : 'not set',
    metrics_token: config.metricsToken === undefined ? 'not set' : 'set',
    trusted_proxies: config.trustedProxies,
    console_addresses: config.consoleAddresses,
    portal_addresses: config.portalAddresses,
    log_level: config.logLevel,
    callback_addresses: callbackWords[config.callbackTargets],
    callbacks_per_agent: config.callbacksPerAgent,
    callback_attempts_days: config.attemptsKeptDays,
    alerts: availableChannels(config.alerts),
    break_glass: config.breakGlass,
    notices_kept_days: config.noticesKeptDays,
    teller_batch: config.tellerBatch,
    traces: config.traces === undefined ? 'not collected' : 'collected',
  }
}
