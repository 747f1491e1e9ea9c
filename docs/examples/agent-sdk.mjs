/** Creates a deposit with Sluice and takes its callback, with the SDK. Node.js 20 or newer. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createClient, expressCallbacks, verifyCallback } from 'sluice-sdk'

if (process.argv[2] === '--vectors') await checkVectors(process.argv[3])
else run()

function run() {
  const { SLUICE_URL: baseUrl, SLUICE_APP_ID: appId, SLUICE_SECRETS, PORT } = process.env
  const secrets = SLUICE_SECRETS.split(',') // newest first
  const sluice = createClient({ baseUrl, appId, secret: secrets[0] })
  const takeCallbacks = expressCallbacks({
    secrets,
    // It can come more than once: what counts is transactionId, status and successAt together.
    onCallback: ({ refId, status, amount }) => console.log('verified', refId, status, amount),
    onError: (error) => console.log('refused', error.message),
  })
  createServer(takeCallbacks).listen(Number(PORT), '127.0.0.1', async () => {
    const { order } = await sluice.createDeposit({
      refId: `sdk-${randomUUID()}`,
      userId: 'user-42',
      amount: 250,
      accountName: 'Somchai Jaidee',
      accountNo: '1234567890',
      bankCode: 'SCB',
    })
    console.log('created', order.txn_id, order.link)
  })
}

async function checkVectors(path) {
  const { refused } = JSON.parse(readFileSync(path, 'utf8'))
  for (const { name, reason, secrets, header, body, now } of refused) {
    const headers = { 'x-signature': header }
    const why = await verifyCallback(body, headers, secrets, { now: new Date(now) }).catch(
      (error) => error.reason,
    )
    if (why !== reason) throw new Error(`vector failed: ${name}`)
  }
  console.log('vectors', refused.length)
}
