import { Secret, TOTP } from 'otpauth'
import type { Role } from '../../src/operators/operator.ts'
import { createUser } from '../../src/operators/save-user.ts'
import { type Answer, exchange } from './exchange.ts'
import type { AgentClient, TestClock, TestService } from './service.ts'

const stepMs = 30_000
const arrivesWithinMs = 12_000

/** A browser at the console: holds the cookie, sends what the console's pages send. */
export class OperatorClient {
  readonly url: string
  readonly email: string
  readonly password: string
  cookie = ''
  private readonly clock: TestClock
  private readonly totpSecret: string
  private lastStep: number

  constructor(
    url: string,
    clock: TestClock,
    who: { email: string; password: string; totpSecret: string },
  ) {
    this.url = url
    this.clock = clock
    this.email = who.email
    this.password = who.password
    this.totpSecret = who.totpSecret
    this.lastStep = Math.floor(clock().getTime() / stepMs) - 2
  }

  /** The next code that was not used yet; the clock is moved on where its time has not come. */
  code(): string {
    // The oldest that is valid, unless a clock that runs would end it before it arrives.
    const oldest = Math.floor((this.clock().getTime() + arrivesWithinMs) / stepMs) - 1
    const step = Math.max(this.lastStep + 1, oldest)
    this.lastStep = step
    const aheadMs = (step - 1) * stepMs - this.clock().getTime()
    if (aheadMs > 0) this.clock.advance(aheadMs)
    return this.codeAt(step * stepMs)
  }

  codeAt(timestamp: number): string {
    return TOTP.generate({ secret: Secret.fromBase32(this.totpSecret), timestamp })
  }

  /** Sends to a path under /console/api. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const isUnsafe = method !== 'GET'
    const answer = await exchange(`${this.url}/console/api${path}`, {
      method,
      headers: {
        ...(this.cookie !== '' && { cookie: this.cookie }),
        ...(isUnsafe && { 'content-type': 'application/json', 'x-sluice-console': '1' }),
        ...headers,
      },
      ...(isUnsafe && { body: Buffer.isBuffer(body) ? body : JSON.stringify(body ?? {}) }),
    })
    for (const set of answer.headers.getSetCookie()) this.keep(set)
    return answer
  }

  /** Takes a cookie in the place of the one of the same name, or drops it where it has ended. */
  private keep(set: string): void {
    const [held = ''] = set.split(';')
    const name = held.split('=')[0]
    const others = this.cookie.split('; ').filter((each) => each.split('=')[0] !== name)
    const kept = set.includes('Max-Age=0') ? others : [...others, held]
    this.cookie = kept.filter((each) => each !== '').join('; ')
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path)
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.send('POST', path, body)
  }

  put(path: string, body?: unknown): Promise<Answer> {
    return this.send('PUT', path, body)
  }

  patch(path: string, body?: unknown): Promise<Answer> {
    return this.send('PATCH', path, body)
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path)
  }

  /** Signs in anew, in a session beside the others. */
  async signInAgain(): Promise<OperatorClient> {
    const { email, password } = this
    const again = new OperatorClient(this.url, this.clock, {
      email,
      password,
      totpSecret: this.totpSecret,
    })
    const answer = await again.post('/sign-in', { email, password, code: this.code() })
    if (answer.status !== 200) throw new Error(answer.text)
    again.lastStep = this.lastStep
    return again
  }
}

let made = 0

/** Makes a user of a role, has them accept their invitation and returns their browser, signed in. */
export async function signIn(
  test: TestService,
  role: Role,
  agent?: Pick<AgentClient, 'agentId'>,
): Promise<OperatorClient> {
  const email = `${role}-${++made}@sluice.example`
  const { token } = await createUser(
    test.backend.pool,
    { email, role, agentId: agent?.agentId ?? null },
    {
      operator: { userId: null, email: 'test', ip: null },
      reason: null,
      at: test.clock(),
    },
  )
  return acceptInvitation(test, token, email)
}

/** Accepts an invitation as a browser does. */
export async function acceptInvitation(
  test: TestService,
  token: string,
  email: string,
  password = 'six plain words put together',
): Promise<OperatorClient> {
  const { url } = test.service
  const opening = new OperatorClient(url, test.clock, { email, password, totpSecret: '' })
  const { json: invitation } = await opening.post('/invitations/open', { token })
  const who = { email, password, totpSecret: invitation.totp.secret }
  const client = new OperatorClient(url, test.clock, who)
  client.cookie = opening.cookie
  const answer = await client.post('/invitations/accept', {
    token,
    ...(invitation.email === null && { email }),
    password,
    code: client.code(),
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return client
}
