import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const name = 'kluaypay'
const secrets = { api: 'of-calls-to-kluay-pay', hook: 'of-notices-by-kluay-pay' }

/**
 * A payment company whose book is in this process and not in the service's database, so that nothing is lost together. It
 * pays each reference once, as it promises, and whatever it is told under another one; it gives notice until that is accepted.
 */
export class Company {
  /** Payouts in the order in which they were handed over; the account tells whose they are. */
  payouts = []
  /** How often a notice was answered in which way. */
  noticeAnswers = new Map()
  #deposits = new Map()
  #doors = []
  #underway = new Set()
  #server = createServer((request, response) => void this.#serve(request, response))

  static async open() {
    const company = new Company()
    await new Promise((resolve) => company.#server.listen(0, '127.0.0.1', resolve))
    return company
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`
  }

  /** Connects it to a service as an operator does; from then on it gives notice there. */
  async connect(sluice, scratch, doors) {
    this.#doors = doors
    const [document, samples] = [join(scratch, `${name}.json`), join(scratch, 'samples.json')]
    writeFileSync(document, JSON.stringify(documentOf(this.url)))
    writeFileSync(samples, JSON.stringify(samplesOf))
    const given = Object.entries(secrets).map(([secret, value]) => `${secret}=${value}`)
    await sluice('provider', 'add', document, '--secret', ...given)
    await sluice('provider', 'test', name, '--sample', samples)
    await sluice('provider', 'use', name)
    await sluice('provider', 'set', name, 'on')
    await sluice('provider', 'set', 'sandbox', 'off')
  }

  /** From now on it gives notice at these doors. */
  movedTo(doors) {
    this.#doors = doors
  }

  /** A payer pays a deposit; once, however often they are shown the way. */
  pay(reference) {
    const deposit = this.#deposits.get(reference)
    if (!deposit || deposit.state === 'PAID') return
    deposit.state = 'PAID'
    this.#later('collection', deposit, 'PAID')
  }

  /** Resolves once every notice was accepted. */
  async settled() {
    while (this.#underway.size > 0) await Promise.all(this.#underway)
  }

  close() {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(request, response) {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const [status, said] = this.#answer(
      request.method,
      request.url,
      text === '' ? {} : JSON.parse(text),
    )
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  }

  #answer(method, path, asked) {
    if (method === 'POST' && path === '/collections') {
      const known = this.#deposits.get(asked.ref) ?? { id: `c${this.#deposits.size + 1}`, ...asked }
      this.#deposits.set(asked.ref, known)
      return [201, { ...known, state: 'WAITING', link: `https://pay.example/${known.id}` }]
    }
    if (method === 'POST' && path === '/transfers') {
      const known = this.payouts.find(({ ref }) => ref === asked.ref)
      if (known) return [201, { ...known, state: 'SENT' }]
      const payout = { id: `t${this.payouts.length + 1}`, state: 'SENT', ...asked }
      this.payouts.push(payout)
      this.#later('transfer', payout, 'DONE')
      return [201, payout]
    }
    const payout = this.payouts.find(({ ref }) => path === `/transfers/${ref}`)
    return payout ? [200, payout] : [404, { code: 'NO_SUCH_TRANSFER' }]
  }

  #later(kind, object, state) {
    const telling = this.#tell(kind, object, state).finally(() => this.#underway.delete(telling))
    this.#underway.add(telling)
  }

  async #tell(kind, object, state) {
    await pause(100 + Math.random() * 900)
    object.state = state
    const body = JSON.stringify({ kind, object: { ...object, state } })
    for (let tries = 0; ; tries++) {
      const t = Math.floor(Date.now() / 1000)
      const v1 = createHmac('sha256', secrets.hook).update(`${t}.${body}`).digest('hex')
      const door = this.#doors[tries % this.#doors.length]
      const status = await fetch(`${door}/providers/${name}/notices`, {
        method: 'POST',
        headers: { 'x-sign': `t=${t},v1=${v1}` },
        body,
        signal: AbortSignal.timeout(30_000),
      }).then(
        (answer) => answer.text().then(() => answer.status),
        () => 'none',
      )
      this.noticeAnswers.set(status, (this.noticeAnswers.get(status) ?? 0) + 1)
      if (status === 200) return
      await pause(300)
    }
  }
}

const amount = (at) => ({ at, as: 'decimal' })
const echo = { reference: '/ref', amount: amount('/amount'), currency: '/currency' }

function documentOf(url) {
  const told = {
    id: ['/object/id', '/object/state'],
    reference: '/object/ref',
    amount: amount('/object/amount'),
    currency: { at: '/object/currency' },
  }
  return {
    format: 1,
    company: 'Kluay Pay',
    base: url,
    currencies: ['THB'],
    secrets: { api: 'of calls', hook: 'of notices' },
    auth: { kind: 'bearer', token: { secret: 'api' } },
    banks: { SCB: '014' },
    idempotentByReference: true,
    expectDeposit: {
      request: {
        method: 'POST',
        path: '/collections',
        json: { ref: '{txnId}', amount: '{amount.fixed}', currency: '{currency}' },
      },
      echo,
      theirId: '/id',
      answers: [
        { if: { status: [201], '/state': ['WAITING'] }, means: 'accepted' },
        { if: { status: [422], '/code': ['CLOSED'] }, means: 'rejected' },
      ],
      gives: { link: '/link' },
    },
    submitPayout: {
      request: {
        method: 'POST',
        path: '/transfers',
        json: {
          ref: '{reference}',
          amount: '{amount.fixed}',
          currency: '{currency}',
          account: '{payee.accountNo}',
        },
      },
      echo,
      theirId: '/id',
      answers: [
        { if: { status: [201], '/state': ['SENT'] }, means: 'accepted' },
        { if: { status: [422], '/code': ['NO_SUCH_ACCOUNT'] }, means: 'rejected' },
      ],
    },
    askPayout: {
      request: { method: 'GET', path: '/transfers/{reference}' },
      echo,
      answers: [
        { if: { status: [200], '/state': ['SENT'] }, means: 'accepted' },
        { if: { status: [200], '/state': ['DONE'] }, means: 'paid' },
        { if: { status: [404], '/code': ['NO_SUCH_TRANSFER'] }, means: 'not_found' },
      ],
    },
    notice: {
      verify: {
        kind: 'hmac',
        hash: 'sha256',
        key: { secret: 'hook' },
        over: ['timestamp', { text: '.' }, 'body'],
        encode: 'hex',
        signature: { header: 'x-sign', field: 'v1' },
        timestamp: { in: { header: 'x-sign', field: 't' }, as: 'unix' },
      },
      rules: [
        {
          if: { '/kind': ['collection'], '/object/state': ['PAID'] },
          events: [{ type: 'payment', ...told, paymentId: ['/object/id'] }],
        },
        {
          if: { '/kind': ['transfer'], '/object/state': ['DONE'] },
          events: [{ type: 'payout', ...told, outcome: 'paid' }],
        },
      ],
    },
  }
}

const ref = 'SX0000000000A'
const sample = { ref, amount: '100.00', currency: 'THB' }
const samplesOf = {
  order: { reference: ref, amount: '100.00', currency: 'THB' },
  samples: [
    {
      name: 'a deposit is taken',
      call: 'expectDeposit',
      status: 201,
      body: { ...sample, id: 'c1', state: 'WAITING', link: 'https://pay.example/c1' },
      expect: ['accepted with link'],
    },
    {
      name: 'a payout is taken',
      call: 'submitPayout',
      status: 201,
      body: { ...sample, id: 't1', state: 'SENT' },
      expect: ['accepted'],
    },
    {
      name: 'a deposit is refused',
      call: 'expectDeposit',
      status: 422,
      body: { code: 'CLOSED' },
      expect: ['rejected'],
    },
    {
      name: 'a payout is refused',
      call: 'submitPayout',
      status: 422,
      body: { code: 'NO_SUCH_ACCOUNT' },
      expect: ['rejected'],
    },
    {
      name: 'it was paid',
      call: 'askPayout',
      body: { ...sample, id: 't1', state: 'DONE' },
      expect: ['paid'],
    },
    {
      name: 'it is not known',
      call: 'askPayout',
      status: 404,
      body: { code: 'NO_SUCH_TRANSFER' },
      expect: ['not_found'],
    },
    {
      name: 'told: a deposit was paid',
      call: 'notice',
      body: { kind: 'collection', object: { ...sample, id: 'c1', state: 'PAID' } },
      expect: [`payment 100 THB for ${ref} as c1`],
    },
    {
      name: 'told: a payout was paid',
      call: 'notice',
      body: { kind: 'transfer', object: { ...sample, id: 't1', state: 'DONE' } },
      expect: [`payout paid 100 THB for ${ref}`],
    },
  ],
}
