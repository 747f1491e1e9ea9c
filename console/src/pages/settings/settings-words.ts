import { translated } from '../../languages/language.ts'

export const settingsWords = translated('settings', {
  title: 'Settings',
  says: 'The settings of this process, without secrets. Change them in its environment, not here.',
  idle: 'Sessions end when idle for',
  absolute: 'Sessions end at the latest after',
  none: 'none',
  yes: 'yes',
  no: 'no',
  backups: {
    title: 'Backups',
    how: 'Archive the database’s log and take a base backup every night, or follow it with a replica: the list on Home sees that by itself. A managed database, or a backup by other means, is said here.',
    drill:
      'A backup that was never restored is a hope: deploy/backup/restore-drill.js tries it. The guide is docs/operate.md, Backups.',
    say: 'Backups are made',
    explain:
      'Say as the reason where they are kept and who looks after them. It counts for 90 days.',
    said: 'Noted',
  },
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
