import { translated } from '../../languages/language.ts'

export const testOrdersWords = translated('testOrders', {
  title: 'Test orders',
  says: 'Creates an order as the agent itself would, and lets the sandbox’s bank play out a story.',
  agent: 'Agent',
  kind: 'Kind',
  amount: 'Amount, without decimals',
  story: 'Story',
  noStory: 'None: wait for the payer, or pay out',
  refId: 'refId',
  refIdHint: 'Leave empty to generate one.',
  create: 'Create',
  made: 'The API’s answer',
  open: 'Open the order',
})
