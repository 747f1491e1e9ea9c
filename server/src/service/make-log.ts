import { type Logger, pino } from 'pino'

/**
 * A log of JSON lines on stderr. Secrets and personal data are not logged in the first place; redaction
 * is a second safeguard.
 */
export function makeLog(level: string): Logger {
  const secrets = ['secret', 'password', 'accountNo', 'accountName', 'account_no', 'account_name']
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          ...secrets,
          ...secrets.map((name) => `*.${name}`),
          '*.headers',
          'err.client',
          'err.detail',
          'err.where',
        ],
        censor: '[redacted]',
      },
    },
    pino.destination(2),
  )
}
