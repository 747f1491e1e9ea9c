import { type Logger, pino } from 'pino'

/** A log of JSON lines on stderr. What must not be in a log is not written; this is the second net. */
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
