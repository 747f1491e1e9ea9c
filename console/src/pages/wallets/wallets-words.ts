import { translated } from '../../languages/language.ts'

export const walletsWords = translated('wallets', {
  title: 'Wallets',
  says: 'The balances of all agents. Held money is reserved for withdrawals in progress.',
  none: 'No wallets yet',
  noneTeach:
    'Every agent has one. Create an agent on the page Agents, or with sluice agent create.',
  columns: {
    agent: 'Agent',
    appId: 'App id',
    balance: 'Available',
    held: 'Held',
    fees: 'Fees',
    seq: 'Journal rows',
  },
})
