/** `npm run demo`: the service with a database of its own, and a small shop that is paid through it. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { openPayments } from './payments.js'
import { openShop, shopAddresses } from './shop-server.js'
import { startSluice } from './start-sluice.js'

const { PORT, SHOP_PORT, DATA_DIR, LOG_LEVEL = 'warn' } = process.env

// From the first moment on, Ctrl-C ends both; a terminal sends it to the service as well.
const told = new Promise((resolve) => {
  process.on('SIGINT', resolve)
  process.on('SIGTERM', resolve)
})

try {
  await demo()
} catch (error) {
  console.error(`demo: ${error.message}`)
  process.exitCode = 1
}

async function demo() {
  console.log('Starting the service and its database ...')
  const service = await startSluice({
    PORT: PORT ?? (await freePort(8080)),
    DATA_DIR: DATA_DIR ?? fileURLToPath(new URL('data', import.meta.url)),
    LOG_LEVEL,
  })
  try {
    const port = SHOP_PORT ?? (await freePort(8090))
    const { url, origins, callbackUrl } = shopAddresses(port)
    // A new agent at every start: its wallet begins at zero, and its secret is kept by nobody.
    const agent = await service.createAgent(
      ...['--name', 'Teahouse by the River', '--colour', '#0f6b5c'],
      ...['--deposit-fee', '1.5%', '--withdraw-fee', '5'],
      ...['--deposit-callback', callbackUrl, '--withdraw-callback', callbackUrl],
      ...['--frame-origin', ...origins],
    )
    const payments = await openPayments({ baseUrl: service.url, ...agent })
    const shop = await openShop({ port, payments, sluiceUrl: service.url })
    console.log(`
Open both, side by side: what happens in the shop is seen in the console as it happens.

  The shop     ${url}
  The console  ${service.look ?? `${service.url}/console`}

${
  service.look
    ? "The console's link works once, within five minutes, and only shows things; starting again makes another."
    : 'To sign in to the console, make a user: npx sluice user create. A link for looking around is made on this machine alone.'
}
The API is explained at ${service.url}/docs

Nothing here is real money. Ctrl-C ends both.
`)
    const hasFailed = await Promise.race([told.then(() => false), service.ended.then(() => true)])
    shop.close()
    if (hasFailed) throw new Error('the service has ended')
  } finally {
    await service.stop()
  }
}

/** The port, or any other one where it is taken. */
async function freePort(port) {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
    return String(server.address().port)
  } catch {
    return freePort(0)
  } finally {
    server.close()
  }
}
