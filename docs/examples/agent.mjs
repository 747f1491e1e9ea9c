/** Creates a deposit with Sluice and takes its callback. Node.js 20 or newer, no packages. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const toleranceS = 300
const maxBodyBytes = 65_536

function sign(secret, prefix, body) {
  return createHmac('sha256', secret).update(prefix).update(body).digest('hex')
}

/** `body` is what came over the wire, not what a parser made of it. */
function isGenuine(secrets, header, body, nowS) {
  const match = /^t=([1-9]\d{0,11})((?:,v1=[0-9a-f]{64}){1,4})$/.exec(header)
  if (!match) return false
  const [, t, signatures] = match
  let genuine = false
  for (const secret of secrets.filter((each) => each !== '')) {
    const expected = Buffer.from(sign(secret, `${t}.`, body))
    for (const given of signatures.split(',v1=').slice(1)) {
      genuine = timingSafeEqual(expected, Buffer.from(given)) || genuine
    }
  }
  return genuine && Math.abs(nowS - Number(t)) <= toleranceS
}

async function createDeposit({ SLUICE_URL, SLUICE_APP_ID }, [secret]) {
  const url = new URL(`${SLUICE_URL}/payment/deposit`)
  const body = JSON.stringify({
    refId: `node-${randomUUID()}`,
    userId: 'user-42',
    amount: 250,
    accountName: 'Somchai Jaidee',
    accountNo: '1234567890',
    bankCode: 'SCB',
    timestamp: new Date().toISOString(),
  })
  const t = Math.floor(Date.now() / 1000)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-appid': SLUICE_APP_ID,
      'x-signature': `t=${t},v1=${sign(secret, `${t}.POST ${url.pathname}.`, body)}`,
    },
    body,
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

function takeCallbacks(secrets) {
  return async (request, response) => {
    const chunks = []
    let length = 0
    for await (const chunk of request) {
      length += chunk.length
      if (length > maxBodyBytes) return response.writeHead(413).end()
      chunks.push(chunk)
    }
    const body = Buffer.concat(chunks)
    const header = request.headers['x-signature'] ?? ''
    if (!isGenuine(secrets, header, body, Date.now() / 1000)) {
      console.log('refused')
      return response.writeHead(401).end('{"code":1,"message":"not genuine"}')
    }
    // It can come more than once: what counts is transactionId, status and successAt together.
    const { refId, status, amount } = JSON.parse(body)
    console.log('verified', refId, status, amount)
    response.writeHead(200).end('{"code":0}')
  }
}

function checkVectors(path) {
  const { signed, refused } = JSON.parse(readFileSync(path, 'utf8'))
  const expect = (isTrue, { name }) => {
    if (!isTrue) throw new Error(`vector failed: ${name}`)
  }
  for (const vector of signed) {
    const { kind, secrets, t, method, path, body, header } = vector
    const prefix = kind === 'request' ? `${t}.${method} ${path}.` : `${t}.`
    const all = secrets.map((secret) => `v1=${sign(secret, prefix, body)}`)
    expect([`t=${t}`, ...all].join() === header, vector)
    expect(kind === 'request' || isGenuine(secrets, header, body, Number(t)), vector)
  }
  // What is genuine and no callback is for whoever reads the body to see.
  const forged = refused.filter(({ reason }) => reason !== 'body_malformed')
  for (const vector of forged) {
    const { secrets, header, body, now } = vector
    expect(!isGenuine(secrets, header, body, Date.parse(now) / 1000), vector)
  }
  console.log('vectors', signed.length + forged.length)
}

if (process.argv[2] === '--vectors') {
  checkVectors(process.argv[3])
} else {
  const secrets = process.env.SLUICE_SECRETS.split(',') // newest first
  createServer(takeCallbacks(secrets)).listen(Number(process.env.PORT), '127.0.0.1', async () => {
    const { txn_id, link } = await createDeposit(process.env, secrets)
    console.log('created', txn_id, link)
  })
}
