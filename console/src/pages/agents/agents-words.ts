export const agentsWords = {
  title: 'Agents',
  says: 'Who creates orders, on which terms.',
  none: 'No agents yet',
  noneTeach: 'An agent is a shop or a platform that takes and pays out money. Create one to begin.',
  create: 'Create an agent',
  createExplain: 'With usual terms, which can be changed afterwards. Its secret is shown once.',
  currencyHint: 'Never changes afterwards.',
  framesHint:
    'Sites that may show the payment page in a frame: one to a line, such as https://shop.example; or any, or none.',
  columns: {
    name: 'Name',
    appId: 'App id',
    status: 'State',
    currency: 'Currency',
    depositFee: 'Deposit fee',
    withdrawFee: 'Withdrawal fee',
    method: 'Ways to pay',
    callback: 'Deposit callback',
    created: 'Created',
  },
}
