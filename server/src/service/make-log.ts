import { type Logger, pino } from 'pino'
import { prettyLine } from './pretty-line.ts'

/**
 * A log of JSON lines on stderr; lines for reading if a person watches there. Secrets and personal data are not logged in the first place; redaction
 * is a second safeguard.
 */
export function makeLog(level: string, isWatched = false): Logger {
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
    isWatched ? { write: (line) => process.stderr.write(prettyLine(line)) } : pino.destination(2),
  )
}
