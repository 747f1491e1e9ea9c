import { translated } from '../../languages/language.ts'

export const payoutFilesWords = translated('payoutFiles', {
  title: 'Payout files',
  says: 'Withdrawals that leave your bank accounts by a file. One person makes the file, another approves it; only then can it be downloaded and brought to the bank.',
  waiting: {
    title: 'What waits for a file',
    none: 'No account pays out by files',
    noneTeach: 'Change a bank account and let it pay withdrawals by payment files.',
    accounts: 'Bank accounts',
    columns: {
      account: 'Account',
      count: 'Withdrawals',
      sum: 'Sum',
      cutoff: 'Next cut-off of the bank',
      execution: 'A file of now is executed on',
      act: 'New file',
    },
    noCutoff: 'none is set',
    cutoff: (times: string, zone: string) => `${times} ${zone}`,
    make: 'Make a file',
    makeFor: (account: string) => `Make a file for ${account}`,
    nothing: 'No withdrawal waits for this account.',
    stuck: (count: number) => `${count} withdrawals wait that nobody can pay`,
    why: 'Why',
    made: 'The file is made. Another person has to approve it.',
  },
  held: {
    title: (account: string) => `No file of ${account} leaves`,
    explain:
      'The database was restored from a backup, and what was paid since is not known here. Import the account’s statements. This is missing:',
    debited: {
      button: 'Make a file of what is paid already',
      title: 'Take over what the bank has debited',
      explain:
        'A file of the withdrawals that wait here and that debits of this account name. Another person approves it; it never leaves, and the debits pay them.',
    },
    lost: {
      button: (sum: string) => `Say what the debit of ${sum} paid`,
      title: (sum: string, day: string) => `The debit of ${sum} on ${day}`,
      explain: (count: number, sum: string) =>
        `It is of a payment file that was lost with the database. ${count === 1 ? 'One withdrawal waits here that it may have paid' : `${count} withdrawals wait here that it may have paid`}, ${sum} together. Name those that the bank has paid by it: another person approves the list, it never leaves, and the debit pays them. What you do not name is paid later, so leave out none that the bank has paid.`,
      withdrawals: 'Withdrawals that it paid',
      withdrawalsHint: 'Their ids, or the codes by which the bank names them, one on each line.',
      rest: 'Charged by the bank with it',
      restHint:
        'What it is more than these: the bank’s charge, a cost of the house. Withdrawals that were lost here are no rest: have them created again first, and name them above.',
      confirm: 'Make a file of them',
    },
    release: {
      button: 'Nothing else was paid',
      title: (account: string) => `Let files of ${account} leave again`,
      explain:
        'For days that have no statement. Say how you know that nothing was paid: the bank’s letter, its web page. Another person decides on it. If it is wrong, withdrawals are paid twice.',
    },
  },
  files: {
    title: 'Files',
    none: 'No files yet',
    noneTeach: 'Make one above once withdrawals wait.',
    columns: {
      made: 'Made',
      account: 'Account',
      state: 'State',
      next: 'What is next',
      count: 'Payouts',
      sum: 'Sum',
      by: 'Made by',
    },
    next: {
      draft: 'Another person approves it',
      approving: 'Nothing to do: it is ready in a moment',
      approved: 'Somebody downloads it',
      exported: 'Bring it to the bank; another person says so',
      sent: 'The bank answers',
      acknowledged: 'The bank pays',
      closed: '–',
      cancelled: '–',
    },
  },
})
