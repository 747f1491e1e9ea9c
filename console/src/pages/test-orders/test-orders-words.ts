export const testOrdersWords = {
  title: 'Test orders',
  says: 'Creates an order as the agent itself would, and has the bank of the sandbox play a story.',
  agent: 'Agent',
  kind: 'Kind',
  amount: 'Amount, without decimals',
  story: 'Story',
  noStory: 'None: wait for the payer, or pay out',
  refId: 'refId',
  refIdHint: 'Empty makes one up.',
  create: 'Create',
  made: 'What the API answers',
  open: 'Open the order',
}
