/** Every text of the page. English replaces texts that another language lacks. */
export const english = {
  payTo: 'Pay {agent}',
  paymentTo: 'Payment to {agent}',
  reference: 'Reference',
  transaction: 'Transaction',
  amount: 'Amount',
  timeLeft: 'Time left',
  until: 'until {time}',
  leftToPay: '{time} left to pay',
  scanTitle: 'Scan the QR code',
  scanHow:
    'Open your banking app, choose to scan or pay by QR, and point the camera at this code. Paying on this phone? Save the image and open it in your banking app.',
  'scan.promptpay':
    'Open your banking app, choose to scan, and point the camera at this PromptPay code. The amount is in it already; do not change it.',
  'scan.vietqr':
    'Open your banking app, choose to scan a QR code, and point the camera at this VietQR code. Do not change the amount or the message.',
  'scan.pix':
    'Open the app of your bank, choose Pix and then to pay with a QR code, and point the camera at this code. Do not change the amount.',
  'scan.paynow':
    'Open your banking app, choose Scan & Pay, and point the camera at this PayNow code. Do not change the amount or the reference.',
  'scan.epc':
    'Open your banking app, choose to scan a code for a transfer, and point the camera at this code. It fills in the account, the amount and the reference; do not change them.',
  'scan.swiss':
    'Open your banking app, choose to scan a QR-bill, and point the camera at this code. It fills in the account, the amount and the reference; do not change them.',
  'scan.upi':
    'Open any UPI app, choose to scan, and point the camera at this code. Do not change the amount or the note.',
  samePhone: 'Paying on this phone? Save the image and open it in your banking app.',
  exactAmount:
    'Pay exactly {amount}, to the last digit. Your payment is recognised by this amount, so another one cannot be found.',
  paymentCode: 'Payment code',
  paymentCodeHow: 'Write this code into the message or reference of your transfer.',
  qrName: 'QR code to pay {amount}',
  saveImage: 'Save image',
  largerView: 'Larger view',
  back: 'Back to the payment',
  backTo: 'Back to {agent}',
  transferTitle: 'Transfer to this account',
  orTransferTitle: 'Or transfer to this account',
  transferHow: 'Transfer exactly this amount, in one transfer.',
  payOnlineTitle: 'Pay online',
  payOnlineHow:
    'You pay on the page of the payment company. This page changes by itself when your payment arrives.',
  payOnline: 'Continue to payment',
  bank: 'Bank',
  openApp: 'Open the {bank} app',
  accountNumber: 'Account number',
  accountName: 'Account name',
  copy: 'Copy',
  copied: 'Copied',
  help: 'Need help?',
  helpAgent: 'Ask {agent} and give the reference above.',
  receipt: 'Receipt',
  print: 'Print or save',
  paidTo: 'Paid to',
  paidOn: 'Paid on',
  paidAmount: 'Amount paid',
  sandbox: 'Sandbox: this is a test, no real money moves.',
  sandboxTitle: 'You are the bank here',
  sandboxHow: 'Choose what happens to this test payment.',
  sandboxPay: 'Pay {amount}',
  sandboxLess: 'Pay less: {amount}',
  sandboxMore: 'Pay more: {amount}',
  sandboxOther: 'Pay from another account',
  sandboxFail: 'Let it fail',
  close: 'Close',
  offline: 'No connection. Trying again…',
  language: 'Language',
  'waiting.title': 'Waiting for your payment',
  'waiting.money': 'No money has arrived for this payment yet.',
  'waiting.next': 'Pay exactly {amount}. This page changes by itself when your payment arrives.',
  'received.title': 'Your payment is being checked',
  'received.money': '{paid} has arrived.',
  'received.next': 'Do not pay again. {agent} is checking it, and this page will show the result.',
  'paid.title': 'Paid',
  'paid.money': '{paid} has reached {agent}.',
  'paid.next': 'There is nothing more to do. Keep the receipt if you need one.',
  'expired.title': 'The time to pay is over',
  'expired.money': 'No money has arrived for this payment.',
  'expired.next':
    'Do not pay with these details any more; start a new payment at {agent}. If you have paid already, do not pay again: this page changes by itself when your money arrives.',
  'failed.title': 'The payment failed',
  'failed.money': 'No money has arrived for this payment.',
  'failed.next':
    'Start a new payment at {agent}. If your bank shows the money as gone, ask before you pay again.',
  'void.title': 'This payment was cancelled',
  'void.money': 'No money has arrived for this payment.',
  'void.next':
    'Do not pay with these details any more. If you still want to pay, start a new payment at {agent}.',
  'paid_late.title': 'Your payment came too late',
  'paid_late.money': '{paid} has arrived after the time was over. It is kept, but not counted yet.',
  'paid_late.next':
    'Do not pay again. {agent} decides whether it is counted or sent back, and this page will show it.',
  'wrong_amount.title': 'The amount is not the one asked for',
  'wrong_amount.money': '{paid} has arrived instead of {amount}. It is kept, but not counted yet.',
  'wrong_amount.next':
    'Do not pay again, and do not pay the difference. {agent} decides whether it is counted or sent back, and this page will show it.',
  'taken_back.title': 'The payment was taken back',
  'taken_back.money': 'Your bank has taken {paid} back, so {agent} no longer has it.',
  'taken_back.next':
    'If you did not ask for this, contact your bank. Ask {agent} before you pay again.',
  'returned.title': 'Your money was sent back',
  'returned.money': '{paid} was sent back to the account it came from.',
  'returned.next':
    'It can take some days to show there. If you still want to pay, start a new payment at {agent}.',
  otherPayments: 'Another payment',
  'other.waiting':
    'Another payment of {amount} has arrived. {agent} decides whether it is credited or sent back. Do not pay again.',
  'other.credited': 'Another payment of {amount} has arrived and was credited to {agent}.',
  'other.returned':
    'A payment of {amount} was sent back to the account it came from. It can take some days to show there.',
  'other.taken_back': 'Your bank has taken another payment of {amount} back.',
  'notFound.title': 'This payment link is not valid',
  'notFound.text':
    'Check that the link is complete, or ask whoever sent it for a new one. Nothing has been paid here.',
  'busy.title': 'Too many requests',
  'busy.text': 'Wait a moment, then load this page again. Your payment is not affected.',
  'trouble.title': 'This page cannot be shown right now',
  'trouble.text':
    'It tries again by itself in a few seconds. What has been paid stays paid; do not pay twice.',
}

export type Words = typeof english
