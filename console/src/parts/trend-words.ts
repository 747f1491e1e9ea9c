import { translated } from '../languages/language.ts'

export const trendWords = translated('trend', {
  head: '30 days',
  /** What a row's values are, for those who cannot see the little plot. */
  of: {
    wallets: 'Available at the end of each day',
    agents: 'Paid',
    providers: 'Orders paid',
    lanes: 'Callbacks accepted',
  },
  says: (what: string, least: string, most: string, last: string) =>
    `${what}, 30 days: least ${least}, most ${most}, today ${last}`,
})
