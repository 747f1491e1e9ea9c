import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const program = fileURLToPath(new URL('../server/bin/sluice.js', import.meta.url))

/**
 * Starts the service in the sandbox and waits until it answers. `env` replaces what the environment
 * says; the same settings hold for the commands that are run beside it.
 */
export async function startSluice(env) {
  const settings = { ...process.env, ...env, MODE: 'sandbox', ROLE: 'all' }
  const service = spawn(process.execPath, [program, 'serve', '--json', '--look'], {
    env: settings,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  process.once('exit', () => service.kill())
  const told = await firstJson(service)

  async function sluice(...args) {
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, [program, ...args, '--json'], { env: settings })
    return JSON.parse(stdout)
  }
  return {
    /** What agents and payers call it. */
    url: told.url,
    /** Opens the console for looking around, once, within five minutes. */
    look: told.look,
    /** Runs a command beside the service and reads its JSON. */
    sluice,
    /** The app id and the secret of a new agent, with the options of `sluice agent create`. */
    async createAgent(...options) {
      const { app_id: appId, secret } = await sluice('agent', 'create', ...options)
      return { appId, secret }
    },
    ended,
    async stop() {
      service.kill('SIGTERM')
      await ended
    },
  }
}

/** What it prints when it is ready; where it ends before, it has said why on stderr. */
function firstJson(service) {
  return new Promise((resolve, reject) => {
    let text = ''
    service.stdout.setEncoding('utf8').on('data', (more) => {
      text += more
      if (text.endsWith('}\n')) resolve(JSON.parse(text))
    })
    service.once('error', reject)
    service.once('exit', () => reject(new Error('the service could not be started')))
  })
}
