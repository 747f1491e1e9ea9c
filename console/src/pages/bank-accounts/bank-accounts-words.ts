import { translated } from '../../languages/language.ts'

export const bankAccountsWords = translated('bankAccounts', {
  title: 'Bank accounts',
  says: 'Your own accounts that take deposits. Payers scan a QR code or make a transfer; the bank’s reports say what arrived.',
  add: 'Add an account',
  none: 'No bank accounts yet',
  noneTeach:
    'Add one: payers then pay straight into it, and the bank’s messages and statements say what arrived.',
  columns: {
    name: 'Name',
    state: 'State',
    currency: 'Currency',
    account: 'Account',
    places: 'Free amounts',
    expected: 'Expected',
    report: 'Last report',
    day: 'Last day',
    waiting: 'To do',
  },
  places: (free: number, all: number) => `${Math.round((free / all) * 100)}% (${free} of ${all})`,
  byCode: 'by code',
  unconfirmed: (count: number) => `${count} to confirm`,
  unexplained: (count: number) => `${count} to explain`,
})
