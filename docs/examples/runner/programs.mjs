import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

/** Where the examples are. */
export const folder = fileURLToPath(new URL('..', import.meta.url))
export const limitMs = 60_000

const children = new Set()

/** In a group of its own: `go run` and others start a second process. */
export function startProgram([file, ...args], env, output) {
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  children.add(child)
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output.text += text
    })
  }
  child.on('error', (error) => {
    output.fault = error
  })
  child.on('exit', (code) => {
    if (code) output.fault = new Error(`it ended with ${code}: ${output.text}`)
  })
}

export function stopPrograms() {
  for (const child of children) {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
  children.clear()
}

/** Waits until it has written something. */
export async function until(output, pattern) {
  for (const end = Date.now() + limitMs; Date.now() < end; ) {
    const match = pattern.exec(output.text)
    if (match) return match
    if (output.fault) throw output.fault
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`nothing like ${pattern} in: ${output.text}`)
}

/** Hands each callback to a program that reads it from its input, as web servers do with CGI. */
export async function openCgiHost(port, [file, ...args], env, output) {
  const server = createServer((request, response) => {
    const signature = request.headers['x-signature']
    const child = spawn(file, args, {
      cwd: folder,
      env: { ...process.env, ...env, ...(signature && { HTTP_X_SIGNATURE: signature }) },
    })
    let answer = ''
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.text += text
    })
    child.stdout.setEncoding('utf8').on('data', (text) => {
      answer += text
    })
    child.on('close', () => {
      const [, status, body] = /^Status: (\d+)\n[\s\S]*?\n\n([\s\S]*)$/.exec(answer) ?? [0, 500, '']
      response.writeHead(Number(status)).end(body)
    })
    request.pipe(child.stdin)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
