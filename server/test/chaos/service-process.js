// One process of the service, as `sluice serve` would run it, with a clock that the suite can move.
import { openBackend } from '../../dist/backend.js'
import { readConfig } from '../../dist/config.js'
import { makeLog } from '../../dist/service/make-log.js'
import { startService } from '../../dist/service/start-service.js'

let offsetMs = Number(process.argv[2])
process.on('message', (message) => {
  offsetMs = message.offsetMs
  process.send({ offsetMs })
})
// It never outlives the suite.
process.on('disconnect', () => process.exit(1))

const read = readConfig()
if ('faults' in read) throw new Error(read.faults.join('\n'))
const { config } = read
const log = makeLog(config.logLevel)
const backend = await openBackend(config, 'serve', (message) => log.info(message))
await startService(config, backend, log, {
  clock: () => new Date(Date.now() + offsetMs),
  moreProviders: process.env.HUNG_BANK_URL ? [hungProvider(process.env.HUNG_BANK_URL)] : [],
})
process.send({ ready: true })

/** A provider of payouts whose server may keep every call waiting. */
function hungProvider(url) {
  const call = async ({ reference }, signal) => {
    const answer = await fetch(`${url}/${reference}`, { method: 'POST', signal })
    return { type: (await answer.text()) === 'paid' ? 'paid' : 'unknown', reason: 'Nobody knows.' }
  }
  return {
    name: 'hung',
    can: { currencies: ['THB'], deposits: false, payouts: true, idempotentByReference: true },
    depositInstructions: () => undefined,
    submitPayout: call,
    askPayout: call,
    readNotice: () => undefined,
  }
}
