import { translated } from '../../languages/language.ts'

export const agentsWords = translated('agents', {
  title: 'Agents',
  says: 'Who creates orders, and on which terms.',
  none: 'No agents yet',
  noneTeach: 'An agent is a shop or a platform that takes and pays out money. Create one to begin.',
  create: 'Create an agent',
  createExplain:
    'It gets default terms, which you can change afterwards. Its secret is shown once.',
  currencyHint: 'Cannot be changed afterwards.',
  framesHint:
    'Sites that may show the payment page in a frame: one per line, such as https://shop.example; or any, or none.',
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
})
