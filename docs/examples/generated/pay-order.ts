// Pays a deposit in the sandbox through a client that openapi-typescript and openapi-fetch make of /openapi.json.
import { createHmac, randomUUID } from 'node:crypto'
import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './schema.js'

const {
  SLUICE_URL: baseUrl = '',
  SLUICE_APP_ID: appId = '',
  SLUICE_SECRET: secret = '',
} = process.env
const amount = 123_456_789

const sign: Middleware = {
  async onRequest({ request }) {
    const body = await request.clone().text()
    const { pathname, search } = new URL(request.url)
    const t = Math.floor(Date.now() / 1000)
    const signed = `${t}.${request.method} ${pathname}${search}.${body}`
    const v1 = createHmac('sha256', secret).update(signed).digest('hex')
    request.headers.set('x-appid', appId)
    request.headers.set('x-signature', `t=${t},v1=${v1}`)
    return request
  },
}

const sluice = createClient<paths>({ baseUrl })
sluice.use(sign)

const order: components['schemas']['OrderRequest'] = {
  refId: `typescript-${randomUUID()}`,
  userId: 'user-42',
  amount,
  accountName: 'Somchai Jaidee',
  accountNo: '123-4-56789-0',
  bankCode: 'SCB',
  timestamp: new Date().toISOString(),
}
const created = await sluice.POST('/payment/deposit', { body: order })
if (!created.data) throw new Error(created.error.detail)
const { txn_id } = created.data
const params = { path: { txn_id } }
const paid = await sluice.POST('/sandbox/orders/{txn_id}', { params, body: { outcome: 'PAID' } })
if (!paid.data) throw new Error(paid.error.detail)
const read = await sluice.GET('/payment/orders/{txn_id}', { params })
if (!read.data) throw new Error(read.error.detail)
const { status, paid_amount } = read.data
if (status !== 'PAID' || paid_amount !== amount) throw new Error(`${status} ${paid_amount}`)
console.log('paid', txn_id, paid_amount)
