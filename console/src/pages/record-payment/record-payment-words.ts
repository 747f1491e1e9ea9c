import { translated } from '../../languages/language.ts'

export const recordPaymentWords = translated('recordPayment', {
  title: (account: string) => `Record a payment to ${account}`,
  says: 'For money that arrived and that the bank has not reported yet. The statement that comes later is about the same payment, so it counts once.',
  payment: 'The payment',
  payer: 'Who paid',
  slip: 'The slip',
  fields: {
    day: 'Day',
    dayHint: 'On which it was paid.',
    amount: 'Amount',
    amountHint: 'As it is on the slip.',
    order: 'Order',
    orderHint: 'The txn_id, if you know it. Otherwise the usual rules look for it.',
    name: 'Name',
    accountNo: 'Account number',
    accountNoHint: 'As much as the slip shows.',
    bank: 'Bank',
    reference: 'Reference on the slip',
    referenceHint: 'The number that the payer’s bank gave it. It counts once, over all accounts.',
    text: 'What the payer wrote',
  },
  choose: 'Choose a picture',
  another: 'Choose another picture',
  pictureHint: 'JPEG, PNG or WebP, at most 4 MiB. A picture that was used before is refused.',
  picture: 'The picture of the slip',
  tooLarge: 'The picture is larger than 4 MiB.',
  record: 'Record',
  missing: 'Day, amount, the payer’s name and the picture are needed.',
  dialog: {
    title: (amount: string) => `Record ${amount}?`,
    explain:
      'Slips are forged, and shown twice. Look whether the money is on the bank’s own page. If the bank does not report it within two banking days, the day is red.',
  },
  people: (isSandbox: boolean) =>
    isSandbox
      ? 'This is the sandbox: unless a rule says otherwise, one person is enough. In live a second person always decides.'
      : 'A second person always decides: they see the slip, and what it would pay.',
  done: 'Recorded',
  known: 'The bank had reported it before: nothing counts again.',
})
