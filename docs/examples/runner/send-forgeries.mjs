import { createHmac } from 'node:crypto'
import { until } from './programs.mjs'

/** What it must refuse, and between it what it must take, so that refusing everything is not enough. */
export async function sendForgeries(url, body, [newest, older], output) {
  const now = Math.floor(Date.now() / 1000)
  const v1 = (secret, t, text = body) =>
    `v1=${createHmac('sha256', secret).update(`${t}.${text}`).digest('hex')}`
  const rich = body.replace(/"balance":/, '"balance":9')
  const sent = [
    ['a wrong secret', 401, `t=${now},${v1('sk_somebody_else', now)}`],
    ['the older secret alone', 200, `t=${now},${v1(older, now)}`],
    ['another body', 401, `t=${now},${v1(newest, now)}`, rich],
    ['no signature', 401, undefined],
    ['a time long ago', 401, `t=${now - 400},${v1(newest, now - 400)}`],
    ['a time to come', 401, `t=${now + 400},${v1(newest, now + 400)}`],
    ['a time that was not signed', 401, `t=${now - 1},${v1(newest, now)}`],
    ['a second time', 401, `t=${now},t=${now},${v1(newest, now)}`],
    ['one right signature of two', 200, `t=${now},${v1('sk_other', now)},${v1(newest, now)}`],
  ]
  for (const [what, status, header, text = body] of sent) {
    const headers = { 'content-type': 'application/json', ...(header && { 'x-signature': header }) }
    const response = await fetch(url, { method: 'POST', headers, body: text })
    await response.text()
    if (response.status !== status) throw new Error(`${what}: answered ${response.status}`)
  }
  // The last one is to be believed; when it has been, whatever was believed before has been told.
  const believed = 1 + sent.filter(([, status]) => status === 200).length
  await until(output, new RegExp(`(?:verified [\\s\\S]*){${believed}}`))
  if (output.text.split('verified ').length > believed + 1) throw new Error('it believed a forgery')
}
