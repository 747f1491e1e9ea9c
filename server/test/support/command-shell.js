import { fileURLToPath } from 'node:url'

/**
 * Runs one command of sluice after the other in this process, each as if it were alone: most of what a
 * process for each would cost goes into loading the program. A command has ended when nothing is left
 * to wait for, as a process would have.
 */
const program = new URL('../../dist/main.js', import.meta.url).href
class Exit extends Error {}

let count = 0
/** What the command under way has come to. */
let ended

function begin({ args, env }) {
  count++
  ended = { code: undefined, signal: null, stdout: '', stderr: '' }
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, fileURLToPath(program), ...args]
  process.exitCode = undefined
  // Those of the commands before it.
  for (const name of ['stdout', 'stderr']) process[name].removeAllListeners('error')
  process.channel?.unref()
  // Only the program itself is read again, under another name; what it stands on is there.
  import(`${program}?${count}`).catch(crash)
}

for (const name of ['stdout', 'stderr']) {
  process[name].write = (text) => {
    // Whatever comes after its end nobody would see.
    if (ended && ended.code === undefined) ended[name] += text
    return true
  }
}

process.exit = (code) => {
  if (ended) ended.code ??= Number(code ?? process.exitCode ?? 0)
  throw new Exit()
}

function crash(error) {
  if (error instanceof Exit || !ended || ended.code !== undefined) return
  ended.stderr += error instanceof Error ? error.stack : String(error)
  ended.code = 1
}
process.on('uncaughtException', crash).on('unhandledRejection', crash)

process.on('message', begin)
process.on('beforeExit', () => {
  if (!ended) return
  const { code = process.exitCode ?? 0, ...rest } = ended
  ended = undefined
  process.channel?.ref()
  process.send?.({ code, ...rest })
})
