import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { CallbackRefused, createClient, expressCallbacks } from 'sluice-sdk'

const kept = 50

/**
 * All that this shop has to do with Sluice. The page shows the functions below as they are, so they are
 * also the text of a lesson. A real shop keeps in its database what is kept in memory here.
 */
export async function openPayments({ baseUrl, appId, secret }) {
  const sluice = createClient({ baseUrl, appId, secret })
  const customer = {
    userId: 'customer-7',
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
  }
  /** Every callback that came, newest first: outcomes by their key, and what was refused. */
  const callbacks = []
  const changes = new EventEmitter()
  let latestOrder
  let wallet = await sluice.getWallet()

  async function askForMoney(item, amount) {
    const { order } = await sluice.createDeposit({
      ...customer,
      // The shop's own id. Repeating a request with it makes no second order.
      refId: `tea-${randomUUID()}`,
      amount,
      extraParams: { item }, // comes back in the callback
    })
    show({ kind: 'deposit', item, ...order })
    return order.link // for the payer
  }

  async function payOut(amount, story) {
    const { order } = await sluice.createWithdraw({
      ...customer,
      refId: `refund-${randomUUID()}`,
      amount,
      extraParams: { sandbox: story }, // what the bank of the sandbox will do
    })
    show({ kind: 'withdraw', ...order })
    await readWallet() // amount and fee are held until the bank has answered
  }

  // Reads the body's bytes, checks clock and signature, and only then calls takeOutcome.
  const takeCallback = expressCallbacks({
    secrets: [secret], // both, while a key is rotated
    onCallback: takeOutcome,
    onError: noteRefusal,
  })

  async function takeOutcome(callback, { eventSeq }) {
    // An outcome can come more than once; it counts once.
    const key = `${callback.transactionId} ${callback.status} ${callback.successAt}`
    const known = callbacks.find((each) => each.key === key)
    if (known) known.times += 1
    else keep({ key, verified: true, times: 1, eventSeq, ...callback })
    await readWallet()
  }

  async function readWallet() {
    wallet = await sluice.getWallet()
    changes.emit('change')
  }

  function noteRefusal(error) {
    if (!(error instanceof CallbackRefused)) return console.error(error)
    keep({ verified: false, reason: error.reason, why: error.message })
  }

  function keep(entry) {
    callbacks.unshift({ at: new Date().toISOString(), ...entry })
    callbacks.length = Math.min(callbacks.length, kept)
    changes.emit('change')
  }

  function show({ kind, item, txn_id, amount, fee }) {
    latestOrder = { kind, item, txn_id, amount, fee }
    changes.emit('change')
  }

  return {
    askForMoney,
    payOut,
    takeCallback,
    sendAgain: (seq) => sluice.resendEvent(seq),
    changes,
    /** What the page shows. */
    state: () => ({ wallet, latestOrder, callbacks }),
  }
}
