import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'

/**
 * The companies that connectors are run against. `answer` is what a company says to a request that it has taken;
 * `stands in` says that it was written from the documentation, because there is no mock server of the company's own.
 */

const parties = {
  THB: { accountName: 'Somchai Jaidee', accountNo: '1234567890', bankCode: 'SCB' },
  SGD: { accountName: 'Tan Mei Ling', accountNo: '1234567890', bankCode: 'DBSSSGSG' },
  BRL: { accountName: 'Ana Souza', accountNo: '1234567890', bankCode: 'ITAUBRSP' },
  IDR: { accountName: 'Siti Rahma', accountNo: '1234567890', bankCode: 'CENAIDJA' },
}

const stripe = (currency, more = {}) => ({
  company: 'stripe',
  currency,
  party: parties[currency],
  amount: 100,
  secrets: { api: 'sk_test_123', hook: 'whsec_of_a_check' },
  sign: (body, secret) => {
    const t = Math.floor(Date.now() / 1000)
    return { 'stripe-signature': `t=${t},v1=${hex(secret, `${t}.${body}`)}` }
  },
  ...more,
})

const xendit = (more) => ({
  company: 'xendit',
  currency: 'IDR',
  party: parties.IDR,
  amount: 150_000,
  secrets: { api: 'xnd_development_check', hook: 'token-of-a-check' },
  sign: (_body, secret) => ({ 'x-callback-token': secret }),
  ...more,
})

const omise = (more) => ({
  company: 'omise',
  currency: 'THB',
  party: parties.THB,
  amount: 100,
  secrets: { api: 'skey_test_check', hook: Buffer.from('secret of a check').toString('base64') },
  sign: (body, secret) => {
    const t = Math.floor(Date.now() / 1000)
    const signature = hex(Buffer.from(secret, 'base64'), `${t}.${body}`)
    return { 'omise-signature': signature, 'omise-signature-timestamp': String(t) }
  },
  ...more,
})

/** Each connector, what is done with it and which samples tell of it. */
export const connectors = {
  'stripe-promptpay': stripe('THB', { paid: 'told: paid' }),
  'stripe-paynow': stripe('SGD', { paid: 'told: paid' }),
  'stripe-pix': stripe('BRL', { paid: 'told: paid' }),
  'stripe-checkout': stripe('THB', { paid: 'told: paid' }),
  'xendit-qr': xendit({ paid: 'told: paid' }),
  'xendit-va': xendit({ paid: 'told: paid' }),
  'xendit-payouts': xendit({ payout: ['told: paid', 'told: came back'] }),
  'omise-promptpay': omise({ paid: 'told: paid' }),
  'omise-transfers': omise({
    payout: ['told: paid'],
    payees: { 'SCB:1234567890': 'recp_test_0000000000000000001' },
  }),
}

function hex(key, text) {
  return createHmac('sha256', key).update(text).digest('hex')
}

/**
 * A company on a port of its own. `take` returns the status and what is said; every request is kept in `calls`, with
 * whether it was taken.
 */
export async function openCompany(take) {
  const calls = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const call = { method, url, headers, body: Buffer.concat(chunks).toString() }
    try {
      const { status, said } = await take(call)
      calls.push({ ...call, status, said })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    } catch (error) {
      calls.push({ ...call, status: 500, said: { message: error.message } })
      response.writeHead(500).end()
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${server.address().port}`
  return { url, calls, server, becomes: take.becomes, idOf: take.idOf }
}

/**
 * Stripe's own mock server checks each request. Its answers are the same for every request, so what a real answer
 * says of this one is put in; except the first, which must not be taken for an answer about this deposit.
 */
export function stripeTakes(mockUrl) {
  let isFirst = true
  return async ({ method, url, headers, body }) => {
    const { host: _host, connection: _connection, ...sent } = headers
    delete sent['content-length']
    const answer = await fetch(mockUrl + url, {
      method,
      headers: sent,
      ...(method === 'POST' && { body }),
    })
    const said = await answer.json()
    const isBare = isFirst
    isFirst = false
    if (answer.status !== 200 || isBare) return { status: answer.status, said }
    return {
      status: 200,
      said: { ...said, ...stripeFills(said, method, new URLSearchParams(body)) },
    }
  }
}

const filled = new Map()

function stripeFills(said, method, form) {
  if (method === 'GET') return filled.get(said.object) ?? {}
  const own =
    said.object === 'checkout.session'
      ? {
          client_reference_id: form.get('client_reference_id'),
          amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
          currency: form.get('line_items[0][price_data][currency]'),
          status: 'open',
          payment_status: 'unpaid',
        }
      : intentFills(form)
  filled.set(said.object, own)
  return own
}

function intentFills(form) {
  const type = `${form.get('payment_method_data[type]')}_display_qr_code`
  return {
    amount: Number(form.get('amount')),
    currency: form.get('currency'),
    metadata: { reference: form.get('metadata[reference]') },
    status: 'requires_action',
    next_action: { type, [type]: { data: '00020101021230' } },
  }
}

/** What the documentation of Xendit asks of a request; an answer in the shape that it describes. */
export function xenditTakes() {
  const kept = new Map()
  const take = ({ method, url, headers, body }) => {
    const key = `Basic ${Buffer.from('xnd_development_check:').toString('base64')}`
    if (headers.authorization !== key) return refusal(401, 'INVALID_API_KEY')
    if (method === 'GET') {
      const named = new URL(url, 'http://x').searchParams.get('reference_id')
      if (named) return { status: 200, said: { data: [kept.get(named)].filter(Boolean) } }
      const found = [...kept.values()].find(({ id }) => url.endsWith(`/${id}`))
      return found ? { status: 200, said: found } : refusal(404, 'DATA_NOT_FOUND')
    }
    const asked = JSON.parse(body)
    const isPayout = url === '/v2/payouts'
    const needed = isPayout
      ? ['reference_id', 'channel_code', 'channel_properties', 'amount', 'currency']
      : ['reference_id', 'amount', 'currency', 'payment_method']
    const missing = needed.find((name) => asked[name] === undefined)
    if (missing || !Number.isInteger(asked.amount)) return refusal(400, 'API_VALIDATION_ERROR')
    if (!headers['idempotency-key']) return refusal(400, 'API_VALIDATION_ERROR')
    if (kept.has(asked.reference_id)) return refusal(409, 'DUPLICATE_ERROR')
    const id = `${isPayout ? 'disb' : 'pr'}-${kept.size + 1}`
    const said = isPayout
      ? { ...asked, id, status: 'ACCEPTED' }
      : { ...asked, id, status: 'PENDING', payment_method: xenditMethod(asked.payment_method) }
    kept.set(asked.reference_id, said)
    return { status: isPayout ? 200 : 201, said }
  }
  /** What a notice tells is what it says from then on. */
  take.becomes = (reference, { data }) => {
    kept.set(reference, { ...kept.get(reference), status: data.status })
  }
  take.idOf = (reference) => kept.get(reference)?.id
  return take
}

function refusal(status, code) {
  return { status, said: { error_code: code, message: 'refused by the stand-in' } }
}

function xenditMethod({ qr_code: code, virtual_account: account, ...method }) {
  const given = (one, more) => ({
    ...one,
    channel_properties: { ...one.channel_properties, ...more },
  })
  return {
    ...method,
    ...(code && { qr_code: given(code, { qr_string: '00020101021226' }) }),
    ...(account && { virtual_account: given(account, { virtual_account_number: '107660001' }) }),
  }
}

/** What the documentation of Omise asks of a request; an answer in the shape that it describes. */
export function omiseTakes() {
  const kept = new Map()
  return ({ method, url, headers, body }) => {
    const key = `Basic ${Buffer.from('skey_test_check:').toString('base64')}`
    const error = (status, code) => ({ status, said: { object: 'error', code, message: code } })
    if (headers.authorization !== key) return error(401, 'authentication_failure')
    if (method === 'GET') {
      const found = kept.get(url.split('/').at(-1))
      return found ? { status: 200, said: found } : error(404, 'not_found')
    }
    const form = new URLSearchParams(body)
    const own = {
      amount: Number(form.get('amount')),
      currency: 'THB',
      metadata: { reference: form.get('metadata[reference]') },
    }
    if (!Number.isInteger(own.amount) || own.amount < 2000) return error(400, 'invalid_amount')
    const id = `${url === '/transfers' ? 'trsf' : 'chrg'}_test_${kept.size + 1}`
    if (url === '/transfers') {
      if (!form.get('recipient')?.startsWith('recp_')) return error(404, 'not_found')
      const states = { sent: false, paid: false, failure_code: null }
      kept.set(id, { object: 'transfer', id, ...own, ...states, recipient: form.get('recipient') })
    } else {
      if (form.get('source[type]') !== 'promptpay') return error(400, 'invalid_charge')
      const image = { download_uri: `https://api.omise.example/charges/${id}/code.svg` }
      const source = { type: 'promptpay', scannable_code: { image } }
      kept.set(id, { object: 'charge', id, ...own, status: 'pending', paid: false, source })
    }
    return { status: 200, said: kept.get(id) }
  }
}
