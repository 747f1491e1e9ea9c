import { execFile, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../free-port.js'

const ours = fileURLToPath(new URL('../../server/bin/sluice.js', import.meta.url))
const children = new Set()

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Settings of a service and of commands; nothing of this process's own environment counts but where programs are. */
export function settings(scratch, name, more) {
  return {
    PATH: process.env.PATH,
    DATA_DIR: join(scratch, `data-${name}`),
    SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    LOG_LEVEL: 'info',
    ...more,
  }
}

/** A command line with these settings: resolves with what it says as JSON. */
export function commandLine(env, program = ours) {
  return async (...args) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, '--json'], {
      env,
      maxBuffer: 1e8,
    })
    return stdout.trim() === '' ? undefined : JSON.parse(stdout)
  }
}

/** A process of the service, once it answers; what it says is in a log of its name. */
export async function serve(scratch, name, env, program = ours) {
  const port = await freePort()
  const file = join(scratch, `${name}.log`)
  const log = openSync(file, 'a')
  const child = spawn(process.execPath, [program, 'serve'], {
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', log, log],
  })
  children.add(child)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    children.delete(child)
  }
  const url = `http://127.0.0.1:${port}`
  for (const until = Date.now() + 90_000; Date.now() < until; await pause(200)) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return { name, url, stop }
    if (child.exitCode !== null) break
  }
  await stop()
  throw new Error(`${name} does not start: ${readFileSync(file, 'utf8').trim()}`)
}
