import { translated } from '../../languages/language.ts'

export const payoutFileWords = translated('payoutFile', {
  title: (account: string) => `Payout file of ${account}`,
  untitled: 'Payout file',
  says: (count: number) =>
    count === 1 ? 'It pays one withdrawal, together' : `It pays ${count} withdrawals, together`,
  steps: {
    title: 'Where it is',
    made: 'Made',
    approved: 'Approved',
    downloaded: 'Downloaded',
    sent: 'Brought to the bank',
    answered: 'Answered by the bank',
    closed: 'Every payout has ended',
    cancelled: 'Given up: it pays nothing. Withdrawals that still wait come into the next file.',
    approve: (maker: string) =>
      `Another person than ${maker} has to approve it. Compare the number and the sum with what you expect.`,
    approveAgain: 'The list has changed since it was approved, so it has to be approved again.',
    allOut: 'All of its payouts were taken out: it pays nothing.',
    tookOut: (count: number) =>
      count === 1 ? 'One payout taken out' : `${count} payouts taken out`,
    resealed: 'To be sealed for a later day',
    abandoned: 'Not paid by the bank: the money was given back',
    overdue: 'Its day is over. Have it sealed for a later day, which another person approves.',
    fromCommand: 'Nobody signed in to make it: an admin has to approve it.',
    handing: 'The payouts are being handed over to this file. It can be downloaded in a moment.',
    download: 'Download it and bring it to the bank. The bytes are always the same.',
    bring: (who: string) =>
      `Bring it to the bank once. Then another person than ${who} says that the bank has it, with the bank’s own number.`,
    wait: 'The bank’s answer (pain.002), its messages or its statement say what became of each payout.',
    paying: 'The payouts that are open end by the bank’s next answer or its statement.',
    reference: (reference: string) => `The bank’s number: ${reference}`,
  },
  facts: {
    title: 'The file',
    state: 'State',
    account: 'Bank account',
    sum: 'Sum',
    count: 'Payouts',
    dropped: 'Dropped out',
    droppedNote: (count: number) =>
      count === 1 ? 'one withdrawal ended before' : `${count} withdrawals ended before`,
    format: 'Format',
    digest: 'Digest of the list',
    name: 'Name of the file',
    message: 'Message id',
    execution: 'Executed on',
    sha256: 'SHA-256 of the bytes',
    alreadyPaid: 'Paid already',
    neverLeaves: 'The bank has debited its payouts: it is never sealed, and never leaves.',
    debit: 'Paid by the debit',
    debitNote: (day: string, text: string) => `on ${day}: ${text}`,
    put: 'By SFTP',
    putFault: 'Why it has not arrived',
  },
  put: { waiting: 'On its way to', held: 'Somebody has to look:', arrived: 'Arrived as' },
  banks: {
    title: 'By bank',
    bank: 'Bank',
    count: 'Payouts',
    sum: 'Sum',
  },
  items: {
    title: 'Payouts',
    none: 'No payouts are left in it',
    noneTeach: 'Every withdrawal of the draft ended before it was approved.',
    state: 'State',
    all: (count: number) => `All ${count}`,
    ofState: (state: string, count: number) => `${state}: ${count}`,
    more: (count: number) => `Show ${count} more`,
    takeOut: 'Take out',
    takeOutOf: (code: string) => `Take out ${code}`,
    columns: {
      act: 'Change',
      order: 'Order',
      payee: 'Payee',
      account: 'Account',
      bank: 'Bank',
      amount: 'Amount',
      state: 'State',
      code: 'Code',
      said: 'What the bank said',
    },
  },
  isOwn: 'You made this file: another person has to approve it.',
  onlyAdmin: 'Nobody signed in to make it: only an admin may approve it.',
  isApprover: 'You approved it, and nobody signed in to make it: another person does this.',
  isDownloader: 'You downloaded it first: another person says that the bank has it.',
  approve: {
    button: 'Approve',
    title: (count: number, sum: string) => `Approve ${count} payouts, ${sum}`,
    explain:
      'The withdrawals can no longer be cancelled, and the file can be downloaded. You approve exactly the list on this page, by its digest.',
    done: 'Approved',
    again: 'Withdrawals dropped out. Approve what is left.',
  },
  cancel: {
    button: 'Give it up',
    title: 'Give this draft up',
    explain: 'It pays nothing. Its withdrawals wait for the next file.',
    done: 'The draft is given up',
  },
  download: {
    button: 'Download',
    title: 'Download the file',
    explain:
      'Whoever has the file can have it paid. Your name and the reason are kept. If it was downloaded before, make sure that it was not brought before: the bytes are the same.',
    done: 'The file is downloaded',
  },
  send: {
    button: 'Send by SFTP',
    title: 'Send the file to the bank’s server',
    explain:
      'It is put into the bank’s folder once, under its own name, and the bank pays it. Your name and the reason are kept.',
    done: 'It is on its way to the bank',
  },
  sent: {
    button: 'The bank has it',
    title: 'The bank has the file',
    explain: 'Say so only if the bank itself shows it to you, under a number of its own.',
    reference: 'The bank’s number of the file',
    done: 'Kept: the bank has it',
  },
  answer: {
    button: 'Bring the bank’s answer',
    title: 'Bring the bank’s answer',
    explain:
      'A pain.002 file of the bank. What it accepted or paid counts at once. What it refuses waits until another person has confirmed it.',
    choose: 'Choose a file',
    tooLarge: 'The file is larger than 8 MiB.',
    confirm: 'Take it',
  },
  proposals: {
    waits: (who: string) => `${who} proposed this, and another person has to decide on it.`,
    actions: {
      take_out_payouts: 'Payouts are to be taken out of the file',
      abandon_payout_file: 'Payouts are said not to be paid by the bank',
      reject_payouts: 'The bank’s answer refuses payouts',
    } as Record<string, string | undefined>,
    open: 'Open the proposal',
  },
  takeOut: {
    title: (sum: string) => `Take a payout of ${sum} out`,
    titleMany: (count: number, sum: string) => `Take ${count} payouts out, ${sum}`,
    explain:
      'Another person decides on it. Then the rest of the file is sealed anew, and is approved again before anybody can download it. Nothing is taken out once somebody has downloaded the file.',
    sameAgent: (count: number) =>
      count === 1
        ? 'Also the other payout of the same agent'
        : `Also the ${count} other payouts of the same agent`,
    afterwards: 'What happens to the withdrawal',
    fail: 'It fails, and the agent has its money back',
    another: 'Another provider may pay it',
    confirm: 'Propose it',
  },
  reseal: {
    button: 'Seal for a later day',
    title: 'Have the file sealed for a later day',
    explain: (day: string) =>
      `It is for ${day}, and that day is over for the bank. Another person approves the same list again; then it is sealed for the next day on which the bank works. The bytes of before are never given out.`,
    done: 'Another person has to approve it again',
  },
  abandon: {
    button: 'The bank does not pay',
    title: 'Say that the bank has not paid, and never will',
    explain:
      'The file was never brought, or the bank dropped payouts of it. Another person decides on it. Then these withdrawals fail, and the agents have their money back. It is refused until the account’s statements, three working days of the bank past its day and its last answer, show no debit of them. If the bank pays after all, the money is lost: destroy every copy, and have the bank confirm it first.',
    which: 'Which payouts',
    evidence: 'Evidence',
    evidenceHint: 'What shows that the bank does not pay, such as its answer to your question.',
    confirm: 'Propose it',
  },
  taken: {
    title: 'What came back',
    none: 'Nothing yet.',
    brought: (who: string) => `brought by ${who}`,
    repeated: 'This answer was brought before.',
    accepted: (count: number) => `${count} accepted`,
    paid: (count: number) => `${count} paid`,
    refused: (count: number) =>
      `${count} refused: their money stays held until another person confirms it`,
    proposal: 'Open the proposal',
    unknown: (count: number) =>
      `${count} called duplicates: a first copy may be paid, so their money stays held`,
    breaks: 'What fits no payment of this file, and changed nothing',
    kinds: {
      other_message: 'about another file',
      other_batch: 'about another batch',
      unknown_item: 'a payment that is not in this file',
      amount_differs: 'another amount',
      sum_differs: 'another count or sum',
      unknown_status: 'a status that means nothing here',
      contradiction: 'it contradicts itself',
      never_left: 'nobody has had this file when the bank answered',
    } as Record<string, string | undefined>,
  },
})
