import { setTimeout as pause } from 'node:timers/promises'
import { inject } from 'vitest'
import { type Env, freePort, kill, type Running, start } from '../support/process.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const readyWithinMs = 90_000

/**
 * A place for one process of the service: its port, its way to the database and its clock stay when
 * the process is killed and the next one takes the place.
 */
export class ServiceSlot {
  readonly role: 'all' | 'api' | 'worker'
  readonly proxy: TcpProxy
  readonly url: string
  offsetMs = 0
  /** Times a process ended that nobody had killed, with its last words. */
  readonly collapses: string[] = []
  private readonly env: Env
  private process: Running | undefined
  private readonly before: Running[] = []
  private killed = false

  private constructor(role: ServiceSlot['role'], proxy: TcpProxy, port: number, env: Env) {
    this.role = role
    this.proxy = proxy
    this.url = `http://127.0.0.1:${port}`
    this.env = { ...env, ROLE: role, PORT: String(port), DATABASE_URL: proxy.url }
  }

  static async open(role: ServiceSlot['role'], databaseUrl: string, env: Env) {
    const slot = new ServiceSlot(role, await TcpProxy.open(databaseUrl), await freePort(), env)
    await slot.start()
    return slot
  }

  get pid(): number {
    return this.process?.pid ?? 0
  }

  /** The lines of its processes' logs that hold a text. */
  logged(text: string): string[] {
    const all = this.process ? [...this.before, this.process] : this.before
    return all.flatMap(({ stderr }) => stderr.split('\n').filter((line) => line.includes(text)))
  }

  /** Kills the process with -9 and puts the next one in its place. Says whether there was one. */
  async kill(): Promise<boolean> {
    const { process } = this
    // It is being started after a kill before this one.
    if (!process || this.killed) return false
    this.killed = true
    kill(process.pid)
    await process.ended
    await this.start()
    return true
  }

  /** Moves the clock; resolves when the process says that it has. */
  async setOffset(offsetMs: number): Promise<boolean> {
    this.offsetMs = offsetMs
    const child = this.process?.child
    if (!child?.connected) return false
    const told = new Promise<boolean>((resolve) => {
      const hear = (message: unknown) => {
        if (!isRecord(message) || message.offsetMs !== offsetMs) return
        child.off('message', hear)
        resolve(true)
      }
      child.on('message', hear)
    })
    child.send({ offsetMs }, () => {})
    return Promise.race([told, pause(5_000, false)])
  }

  async close(): Promise<void> {
    this.killed = true
    kill(this.pid)
    await this.process?.ended
    await this.proxy.close()
  }

  /** Starts processes until one gets ready: without its database, a service gives up. */
  private async start(): Promise<void> {
    const deadline = performance.now() + readyWithinMs
    for (;;) {
      const offset = String(this.offsetMs)
      const args = ['--enable-source-maps', inject('programs').chaosProcess, offset]
      const process = start(globalThis.process.execPath, args, { env: this.env, messages: true })
      const ready = new Promise<true>((resolve) => {
        process.child.on('message', (message) => {
          if (isRecord(message) && message.ready === true) resolve(true)
        })
      })
      if (this.process) this.before.push(this.process)
      this.process = process
      const ended = await Promise.race([ready, process.ended])
      if (ended === true) {
        this.killed = false
        void process.ended.then(({ code, signal, stderr }) => {
          if (this.killed) return
          this.collapses.push(`${this.role} ended with ${signal ?? code}: ${stderr.slice(-2_000)}`)
          this.killed = true
          return this.start()
        })
        return
      }
      if (performance.now() > deadline) {
        throw new Error(`${this.role} does not start: ${ended.stderr.slice(-2_000)}`)
      }
      await pause(100)
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
