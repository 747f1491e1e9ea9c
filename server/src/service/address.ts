import type { Config } from '../config.ts'

/** The service's addresses. With port 0, which means any free port, they are known only once it listens. */
export class Address {
  private readonly config: Config
  /** The address that the service listens on. */
  url: string
  /** The address that agents and payers see. */
  publicUrl: string
  /**
   * Where the sandbox bank sends notices; undefined until the service listens, and in a worker, which
   * accepts none.
   */
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
