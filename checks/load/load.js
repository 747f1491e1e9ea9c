import { createHmac, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { verifyCallback } from 'sluice-sdk'

const patienceMs = 40_000
const startBalance = 1_000_000
const party = { userId: 'user-1', accountName: 'Somchai Jaidee', bankCode: 'SCB' }

/**
 * Agents at work at several doors of the service: deposits and withdrawals by signed requests, each repeated until it is
 * known what became of it, reads of what was acknowledged, and receivers of callbacks. Remembers all it was told.
 */
export class Load {
  /** By refId: what was asked, and what was answered when it was taken. */
  orders = new Map()
  /** Answers by door and status, with the times of those that took an order. */
  doors
  /** What no fault is an excuse for. */
  surprises = []
  callbacks = 0
  #agents = []
  #company
  #working = []
  #isStopping = false
  #named = 0

  /** Without a company, the sandbox's bank pays. */
  constructor(doors, company) {
    this.doors = []
    for (const url of doors) this.addDoor(url)
    this.#company = company
  }

  addDoor(url) {
    this.doors.push({ url, taken: [], answers: new Map() })
  }

  /** What was asked there before is still answered there. */
  removeDoor(url) {
    this.doors = this.doors.filter((door) => door.url !== url)
  }

  /** Makes the agents, with money in their wallets. */
  async prepare(sluice, count = 2) {
    for (let at = 0; at < count; at++) {
      const receiver = await this.#openReceiver()
      const { app_id: appId, secret } = await sluice(
        ...['agent', 'create', '--name', `Shop ${at + 1}`, '--rate-limit', '0'],
        ...['--deposit-callback', receiver.url, '--withdraw-callback', receiver.url],
        ...['--deposit-fee', '1.5%', '--withdraw-fee', '3'],
      )
      receiver.secret = secret
      await sluice('wallet', 'adjust', appId, String(startBalance), '--reason', 'To withdraw from')
      this.#agents.push({ appId, secret, receiver })
    }
  }

  start(connections) {
    this.#working = Array.from({ length: connections }, (_, at) => this.#work(at))
  }

  /** Asks for nothing more, and repeats what is not known until it is. */
  async stop() {
    this.#isStopping = true
    await Promise.all(this.#working)
  }

  get taken() {
    return [...this.orders.values()].filter(({ answer }) => answer !== undefined)
  }

  close() {
    for (const { receiver } of this.#agents) {
      receiver.server.closeAllConnections()
      receiver.server.close()
    }
  }

  async #work(connection) {
    while (!this.#isStopping) {
      const agent = this.#agents[this.#named % this.#agents.length]
      const kind = this.#named % 3 === 2 ? 'withdraw' : 'deposit'
      const refId = `${kind}-${++this.#named}`
      // The account is of this order alone, so that the company's book tells what it was paid for.
      const accountNo = `9${String(this.#named).padStart(9, '0')}`
      const order = { refId, kind, agent, accountNo, amount: 10 + (this.#named % 90), tries: 0 }
      this.orders.set(refId, order)
      await this.#place(order, connection)
      if (this.#named % 5 === 0) await this.#look(order, connection)
      await pause(20)
    }
  }

  /** Repeats an order until it is taken, as an agent does that was told to try again. */
  async #place(order, connection) {
    const { refId, kind, amount, accountNo } = order
    for (;;) {
      // Always at the same door, which shows how long that one is closed.
      const door = this.doors[connection % this.doors.length]
      const story = this.#company ? {} : { extraParams: { sandbox: 'paid' } }
      const timestamp = new Date().toISOString()
      const body = { ...party, refId, amount, accountNo, timestamp, ...story }
      order.tries++
      const answer = await this.#send(door, order.agent, 'POST', `/payment/${kind}`, body)
      if (answer.status === 201 || answer.status === 200) {
        door.taken.push({ sentAt: answer.sentAt, at: Date.now() })
        if (order.answer && order.answer.txn_id !== answer.json.txn_id) {
          this.surprises.push(
            `${refId} was taken as ${order.answer.txn_id} and ${answer.json.txn_id}`,
          )
        }
        if (Number(answer.json.amount) !== amount) {
          this.surprises.push(`${refId} of ${amount} was taken with ${answer.json.amount}`)
        }
        order.answer ??= answer.json
        if (kind === 'deposit') this.#company?.pay(order.answer.txn_id)
        return
      }
      const isAway = answer.status === 503 && Number(answer.retryAfter) > 0
      if (!isAway && answer.status !== 'none') {
        this.surprises.push(`${refId} was answered ${answer.status}: ${answer.text}`)
        return
      }
      await pause(150)
    }
  }

  /** What was acknowledged must be there, whoever is asked. */
  async #look(order, connection) {
    const door = this.doors[(connection + 1) % this.doors.length]
    if (!order.answer) return
    const path = `/payment/orders/${order.answer.txn_id}`
    const answer = await this.#send(door, order.agent, 'GET', path)
    if (answer.status === 'none' || (answer.status === 503 && answer.retryAfter)) return
    if (answer.status !== 200 || Number(answer.json.amount) !== order.amount) {
      this.surprises.push(`${path}, acknowledged, was answered ${answer.status}: ${answer.text}`)
    }
  }

  async #send(door, { appId, secret }, method, path, json) {
    const body = json === undefined ? '' : JSON.stringify(json)
    const t = Math.floor(Date.now() / 1000)
    const v1 = createHmac('sha256', secret).update(`${t}.${method} ${path}.${body}`).digest('hex')
    const sentAt = Date.now()
    const answer = await fetch(door.url + path, {
      method,
      headers: {
        'x-appid': appId,
        'x-signature': `t=${t},v1=${v1}`,
        ...(json && { 'content-type': 'application/json' }),
      },
      ...(json && { body }),
      signal: AbortSignal.timeout(patienceMs),
    })
      .then(async (response) => {
        const text = await response.text()
        const retryAfter = response.headers.get('retry-after')
        return {
          ...{ status: response.status, text, retryAfter },
          json: text.startsWith('{') ? JSON.parse(text) : {},
        }
      })
      .catch((error) => ({ status: 'none', text: String(error) }))
    door.answers.set(answer.status, (door.answers.get(answer.status) ?? 0) + 1)
    return { ...answer, sentAt }
  }

  async #openReceiver() {
    const receiver = { secret: '', told: new Map(), url: '', server: undefined }
    receiver.server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      try {
        const callback = await verifyCallback(body, request.headers, receiver.secret)
        const known = receiver.told.get(callback.refId) ?? new Set()
        receiver.told.set(callback.refId, known.add(body.toString()))
        this.callbacks++
        response.end('{"code":0}')
      } catch (error) {
        this.surprises.push(`a callback was refused: ${error.message}`)
        response.writeHead(400).end()
      }
    })
    await new Promise((resolve) => receiver.server.listen(0, '127.0.0.1', resolve))
    receiver.url = `http://127.0.0.1:${receiver.server.address().port}/${randomBytes(4).toString('hex')}`
    return receiver
  }

  /** Waits until every order that was taken has ended, and its agent was told; returns what does not. */
  async settle(withinMs = 120_000) {
    const until = Date.now() + withinMs
    for (;;) {
      const waiting = this.taken.filter(
        ({ refId, agent }) => !(agent.receiver.told.get(refId)?.size > 0),
      )
      if (waiting.length === 0) return []
      if (Date.now() > until) return waiting.map(({ refId }) => `${refId} was not called back`)
      await pause(250)
    }
  }

  /** Lays what agents and the company know beside what the service says. */
  async findings() {
    const found = [...this.surprises]
    const [door] = this.doors
    for (const agent of this.#agents) {
      const own = this.taken.filter((order) => order.agent === agent)
      let expected = startBalance * 100
      for (const order of own) {
        const path = `/payment/orders/${order.answer.txn_id}`
        const { status, json, text } = await this.#send(door, agent, 'GET', path)
        const is = status === 200 ? json.status : `${status} ${text}`
        if (is !== 'PAID' || Number(json.amount) !== order.amount) {
          found.push(`${order.refId} is ${is}, and not PAID with ${order.amount}`)
          continue
        }
        const cents = Math.round(order.amount * 100)
        const fee = Math.round(Number(order.answer.fee) * 100)
        expected += order.kind === 'deposit' ? cents - fee : -cents - fee
        found.push(...this.#toldOf(order))
      }
      const { json } = await this.#send(door, agent, 'GET', '/payment/wallet')
      if (Math.round(json.balance * 100) !== expected) {
        found.push(`${agent.appId} has ${json.balance}, and not ${expected / 100}`)
      }
    }
    return [...found, ...(this.#company ? this.#paidOut() : [])]
  }

  #toldOf({ refId, agent }) {
    const told = [...(agent.receiver.told.get(refId) ?? [])]
    if (told.length !== 1) return [`${refId} was called back with ${told.length} outcomes`]
    const { status } = JSON.parse(told[0])
    return status === 'PAID' ? [] : [`${refId} was called back as ${status}`]
  }

  /** Every withdrawal was paid once, with its amount, and nothing else was. */
  #paidOut() {
    const paid = new Map()
    for (const { account, amount } of this.#company.payouts) {
      paid.set(account, [...(paid.get(account) ?? []), Number(amount)])
    }
    const found = []
    for (const { refId, kind, accountNo, amount, answer } of this.orders.values()) {
      const got = paid.get(accountNo) ?? []
      paid.delete(accountNo)
      const wanted = kind === 'withdraw' && answer ? [amount] : []
      if (JSON.stringify(got) !== JSON.stringify(wanted)) {
        found.push(`${refId} of ${amount} was paid out ${got.length} times: ${got.join(', ')}`)
      }
    }
    for (const account of paid.keys()) found.push(`${account} was paid, which nobody asked for`)
    return found
  }
}
