import { translated } from '../../languages/language.ts'

export const callbacksWords = translated('callbacks', {
  title: 'Callbacks',
  says: 'Callbacks to agents, newest first. Each is sent until it is accepted or given up, and can be sent again at any time.',
  saysOwn:
    'Callbacks to your server, newest first. Each is sent until it is accepted or given up, and can be sent again at any time.',
  none: 'No callback matches',
  noneTeach:
    'A callback appears with every outcome of an order. Choose another state, or none, to see more.',
  age: 'Any age',
  ages: [
    ['300', 'Older than 5 minutes'],
    ['3600', 'Older than 1 hour'],
    ['86400', 'Older than 1 day'],
    ['604800', 'Older than 1 week'],
  ] as [string, string][],
  columns: {
    seq: 'Event',
    at: 'Happened',
    agent: 'Agent',
    order: 'Order',
    status: 'Outcome',
    delivery: 'Delivery',
    attempts: 'Tries',
    answer: 'Latest answer',
    due: 'Next try',
  },
  lanes: {
    title: 'Lanes',
    count: (n: number, label: string) => `${n >= 1000 ? '1000+' : n} ${label}`,
    waiting: 'waiting',
    failing: 'failing',
    givenUp: 'given up',
    superseded: 'superseded',
    noAddress: 'without address',
    oldest: 'oldest',
    probe: 'next try',
    pause: 'Pause',
    resume: 'Resume',
    dialog: (action: string, agent: string) => `${action} the callbacks of ${agent}`,
    pauseExplain:
      'Nothing is sent to this agent until you resume. New callbacks wait and are then sent in order.',
    resumeExplain: 'Waiting callbacks are sent now, a few at first, then all of them.',
  },
  replay: {
    open: 'Replay failed',
    title: 'Resend callbacks that were given up',
    explain:
      'Every callback that was given up since then is sent again, oldest first, unless a later state of its order was already sent.',
    allAgents: 'All agents',
    since: 'Failed since',
    confirm: 'Replay',
    done: (n: number, leftOut: number) =>
      [
        n === 1 ? '1 callback goes out again.' : `${n} callbacks go out again.`,
        leftOut > 0 ? `${leftOut} left out: a later state of the order has gone out.` : '',
      ]
        .join(' ')
        .trim(),
  },
})
