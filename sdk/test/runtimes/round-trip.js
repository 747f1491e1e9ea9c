/**
 * What an agent does in a day, with the installed package; the file is given to runtimes as an ES module
 * and as CommonJS, each with its own first line that defines `sdk`.
 */
const { createClient, expressCallbacks, fetchCallbacks, makeCallback, SluiceError } = sdk
const { SLUICE_URL: baseUrl, SLUICE_APP_ID: appId, SLUICE_SECRET: secret } = process.env
const port = Number(process.env.PORT)
const sluice = createClient({ baseUrl, appId, secret })
const callbacks = []
const refusals = []

roundTrip().then(
  (steps) => {
    console.log(`passed ${runtime()}: ${steps}`)
    process.exit(0)
  },
  (error) => {
    console.error(error)
    process.exit(1)
  },
)

async function roundTrip() {
  await listen()
  const order = (refId) => ({
    refId,
    userId: 'user-42',
    amount: 250n,
    accountName: 'สมชาย ใจดี',
    accountNo: '1234567890',
    bankCode: 'SCB',
    extraParams: { note: 'ขอบคุณ 🙂' },
  })

  const first = await sluice.createDeposit(order('first'))
  const again = await sluice.createDeposit(order('first'))
  expect('create', [first.replayed, again.replayed], [false, true])
  expect('the same order', again.order, first.order)

  const read = await sluice.getOrder(first.order.txn_id)
  expect('read', [read.kind, read.status, read.amount], ['deposit', 'WAITING', 250])
  const second = (await sluice.createDeposit(order('second'))).order
  await sluice.createDeposit(order('third'))
  const refIds = []
  for await (const each of sluice.eachOrder({ limit: 2 })) refIds.push(each.ref_id)
  expect('iterate', refIds, ['third', 'second', 'first'])

  expect('cancel', (await sluice.cancelOrder(second.txn_id)).status, 'VOID')
  expect('its callback', (await callbackOf(second.txn_id)).status, 'VOID')

  await sluice.triggerOutcome(first.order.txn_id, { outcome: 'PAID' })
  const paid = await callbackOf(first.order.txn_id)
  expect('callback', [paid.refId, paid.status, paid.amount], ['first', 'PAID', 250])
  expect('extParams', paid.extParams, { note: 'ขอบคุณ 🙂' })
  expect('wallet', (await sluice.getWallet()).balance, paid.wallet.balance)
  const events = []
  for await (const { status } of sluice.eachEvent({ limit: 1 })) events.push(status)
  expect('events', events, ['VOID', 'PAID'])

  const forged = await makeCallback({ status: 'PAID' }, 'sk_somebody_else')
  const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...forged })
  expect('forged', [status, refusals], [401, ['wrong_secret']])

  const refused = await sluice
    .createWithdraw({ ...order('too-much'), amount: 1_000_000 })
    .catch((error) => error)
  expect('error', [refused instanceof SluiceError, refused.code], [true, 'insufficient_balance'])
  return 'create, read, iterate, cancel, callback, events, forged, error'
}

/** By its own word. */
function runtime() {
  if (globalThis.Deno) return `Deno ${Deno.version.deno}`
  return globalThis.Bun ? `Bun ${Bun.version}` : `Node.js ${process.versions.node}`
}

/** The server that the runtime has, with the handler that is made for it. */
async function listen() {
  const options = {
    secrets: secret,
    onCallback: (callback) => callbacks.push(callback),
    onError: (error) => refusals.push(error.reason ?? String(error)),
  }
  const place = { port, hostname: '127.0.0.1' }
  if (globalThis.Deno) return Deno.serve({ ...place, onListen() {} }, fetchCallbacks(options))
  if (globalThis.Bun) return Bun.serve({ ...place, fetch: fetchCallbacks(options) })
  const { createServer } = await import('node:http')
  return new Promise((resolve) => {
    createServer(expressCallbacks(options)).listen(port, '127.0.0.1', resolve)
  })
}

async function callbackOf(txnId) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const found = callbacks.find(({ transactionId }) => transactionId === txnId)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`no callback of ${txnId} has come; refused: ${refusals}`)
}

function expect(what, got, wanted) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`)
}
