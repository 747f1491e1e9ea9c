import { translated } from '../../languages/language.ts'

export const settingsWords = translated('settings', {
  title: 'Settings',
  says: 'The settings of this process, without secrets. Change them in its environment, not here.',
  idle: 'Sessions end when idle for',
  absolute: 'Sessions end at the latest after',
  none: 'none',
  yes: 'yes',
  no: 'no',
  names: {
    mode: 'Mode',
    role: 'Role of this process',
    time_zone: 'Time zone',
    database: 'Database',
    separate_database_owner: 'Separate login for the schema’s owner',
    secret_key: 'Secret key',
    secret_key_previous: 'Previous secret key',
    metrics_token: 'Token for metrics',
    trusted_proxies: 'Trusted proxies',
    alerts: 'Channels for alerts',
    console_addresses: 'Addresses of the console',
    portal_addresses: 'Addresses of agents’ users',
    log_level: 'Log level',
    callbacks_per_agent: 'Callbacks sent to an agent at once',
    callback_attempts_days: 'Days to keep attempts',
    teller_batch: 'Most commands in one transaction',
  } as Record<string, string>,
})
