import type { Config } from '../config.ts'

/** Where the service is found. The port is known for sure once it listens: port 0 stands for any that is free. */
export class Address {
  private readonly config: Config
  /** Where it listens. */
  url: string
  /** What agents and payers are told. */
  publicUrl: string
  /** Where the sandbox's bank sends notices: undefined until the service listens, and in a worker, which takes none. */
  noticeUrl: string | undefined

  constructor(config: Config) {
    this.config = config
    this.url = urlOf(config.host, config.port)
    this.publicUrl = config.publicUrl ?? `http://localhost:${config.port}`
  }

  listensOn(port: number): void {
    const { host, publicUrl, role } = this.config
    this.url = urlOf(host, port)
    this.publicUrl = publicUrl ?? `http://localhost:${port}`
    if (role === 'worker') return
    const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
    this.noticeUrl = `${urlOf(here, port)}/providers/sandbox/notices`
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
