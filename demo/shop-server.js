import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { makeCallback, SluiceError } from 'sluice-sdk'
import { codeOf } from './code-of.js'

const goods = { 'Jasmine tea': 120, 'Tea for two': 480, 'Gift box': 1250 }
const stories = ['paid', 'failed', 'revert']
const maxBodyBytes = 4096

/** Where a shop on this port is found: by browsers, and by Sluice. */
export function shopAddresses(port) {
  const [url, byNumber] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]
  return { url, origins: [url, byNumber], callbackUrl: `${byNumber}/callbacks` }
}

/** The shop's web server, for this machine alone. */
export async function openShop({ port, payments, sluiceUrl }) {
  const { url, origins, callbackUrl } = shopAddresses(port)
  const files = await loadFiles(sluiceUrl, callbackUrl)
  const watchers = new Set()

  async function answer(request, response) {
    const { pathname } = new URL(request.url, url)
    const asked = `${request.method} ${pathname}`
    if (asked === 'POST /callbacks') return payments.takeCallback(request, response)
    // Another site that the same browser has open may neither press our buttons nor read our answers.
    if (!origins.includes(`http://${request.headers.host}`)) return send(response, 421, {})
    if (request.method === 'POST' && !origins.includes(request.headers.origin)) {
      return send(response, 403, { message: 'This is for the pages of the shop alone.' })
    }
    if (asked === 'GET /events') return watch(response)
    const file = request.method === 'GET' && files.get(pathname)
    if (file) return response.writeHead(200, file.headers).end(file.text)
    const action = actions[asked]
    if (!action) return send(response, 404, { message: 'There is nothing here.' })
    try {
      send(response, 200, (await action(await jsonIn(request))) ?? {})
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      send(response, 422, { code: error.code, message: error.message })
    }
  }

  /** What the page's buttons do. */
  const actions = {
    'POST /deposits': async ({ item }) => {
      if (!Object.hasOwn(goods, item)) return {}
      return { link: await payments.askForMoney(item, goods[item]) }
    },
    'POST /withdrawals': ({ amount, story }) =>
      payments.payOut(
        Math.floor(Number(amount)) || 0,
        stories.find((each) => each === story) ?? 'paid',
      ),
    'POST /repeats': ({ seq }) => payments.sendAgain(Number(seq)),
    // Somebody who knows everything but the secret.
    'POST /forgeries': async () => {
      const forged = await makeCallback({ amount: 1_000_000 }, 'not the secret of this shop')
      await fetch(callbackUrl, { method: 'POST', ...forged })
    },
  }

  /** Tells a page the state now and whenever it changes. */
  function watch(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    watchers.add(response)
    response.on('close', () => watchers.delete(response))
    response.write(stateEvent())
  }
  const stateEvent = () => `data: ${JSON.stringify(payments.state())}\n\n`
  payments.changes.on('change', () => {
    for (const response of watchers) response.write(stateEvent())
  })

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error(error)
      send(response, 500, { message: 'The shop has a fault; its terminal says more.' })
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function loadFiles(sluiceUrl, callbackUrl) {
  const sluice = new URL(sluiceUrl).origin
  const headers = {
    'content-security-policy': `default-src 'none'; script-src 'self' ${sluice}; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src ${sluice}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
    // The popup of the payment page has to find its opener.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  }
  const read = (path) => readFile(new URL(path, import.meta.url), 'utf8')
  const text = await read('page/shop.html')
  const code = await codeOf(['payments.js', 'page/shop.js'], read)
  const values = { sluice: sluiceUrl, callbackUrl, ...code }
  const page = text.replace(/\{\{(\w+)\}\}/g, (_, name) => escapeHtml(values[name]))
  const file = (type, content) => ({ text: content, headers: { ...headers, 'content-type': type } })
  return new Map([
    ['/', file('text/html; charset=utf-8', page)],
    ['/shop.css', file('text/css', await read('page/shop.css'))],
    ['/shop.js', file('text/javascript', await read('page/shop.js'))],
    ['/icon.svg', file('image/svg+xml', await read('page/icon.svg'))],
  ])
}

function escapeHtml(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => entities[character])
}

async function jsonIn(request) {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > maxBodyBytes) throw new Error('a body of more than the pages send')
  }
  return JSON.parse(text)
}

function send(response, status, value) {
  if (response.headersSent) return response.end()
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
