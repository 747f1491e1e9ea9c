import { translated } from '../../languages/language.ts'

export const callbackWords = translated('callback', {
  title: 'Callback',
  heading: (seq: number, status: string) => `Callback #${seq}: ${status}`,
  resend: 'Resend',
  resendTitle: (seq: number) => `Resend callback #${seq}`,
  resendExplain: 'The same body is sent again with a fresh signature. Agents must expect repeats.',
  resent: 'It will be sent in a moment.',
  attempts: 'Attempts',
  noAttempts: 'It has not been sent yet.',
  noAnswer: 'No answer',
  noUrl: 'The agent has no address for it',
  body: 'Body',
  curl: 'As curl',
  responseHeaders: 'Headers of the answer',
  responseBody: 'Body of the answer',
  facts: {
    delivery: 'Delivery',
    agent: 'Agent',
    order: 'Order',
    refId: 'refId',
    url: 'Address',
    address: 'Dialled',
    at: 'Happened',
    deliveredAt: 'Accepted',
    due: 'Next try',
  },
})
