import { numberText, translated } from '../../languages/language.ts'

export const wallWords = translated('wall', {
  title: 'Today',
  leave: 'Back to the console',
  asOf: 'As of',
  old: 'Not up to date: the service does not answer',
  signsOut: 'Signs out half an hour after it was last touched.',
  in: 'Paid in',
  out: 'Paid out',
  yesterday: 'yesterday by now',
  success: { deposit: 'Deposits paid', withdraw: 'Withdrawals paid' },
  of: (paid: number, ended: number) => `${numberText(paid)} of ${numberText(ended)}`,
  queue: 'Waiting for a person',
  unknown: 'Unknown payouts',
  callbacks: 'Callbacks failing',
  lanes: 'Callback lanes',
  lanesFine: 'all open',
  lanesStuck: (probing: number, paused: number) =>
    [probing > 0 && `${probing} probing`, paused > 0 && `${paused} paused`]
      .filter(Boolean)
      .join(', '),
  oldest: 'oldest',
  proof: 'Books',
  proved: 'proved',
  red: (agents: number) => (agents === 1 ? 'one is wrong' : `${agents} are wrong`),
  behind: (rows: number) => `${numberText(rows)} rows to prove`,
  providers: 'Providers',
  unknownAt: (count: number) => (count === 0 ? '' : `${count} unknown`),
})
