import { numberText, translated } from '../../languages/language.ts'

export const apiLogWords = translated('apiLog', {
  title: 'API log',
  says: 'What agents asked in the last seven days, and what they were answered. Every error is here, in a flood up to ten a second; of what went well some are left out where there are many.',
  saysOwn:
    'What your programs asked in the last seven days, and what they were answered. Every error is here, in a flood up to ten a second; of what went well some are left out where there are many.',
  none: 'No requests',
  noneTeach: 'Requests appear here a second after they are answered.',
  columns: {
    at: 'Answered',
    agent: 'Agent',
    request: 'Request',
    status: 'Answer',
    took: 'Took',
    ip: 'From',
    leftOut: 'Left out before',
    more: 'Details',
  },
  answered: 'Answers',
  refused: 'Only errors',
  show: 'Show',
  showWhat: (request: string) => `Show ${request}`,
  details: 'Request',
  requestId: 'Request id',
  detail: 'What it was told',
  body: 'Body, with accounts and names masked',
  noBody: 'It had no body, none that is JSON, or there was no room for it.',
  debug: 'Open in the signature debugger',
  debugHint:
    'Put what is masked back before you check it there: the signature is over the body as it was sent.',
  ms: (ms: number) => `${numberText(ms)} ms`,
})
