import { createHash } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { request } from 'undici'
import { signCallback } from '../lib/signature.ts'
import { type AlertMessage, alertText, type Channel, channels } from './alert.ts'
import type { AlertSenders, SendAlert } from './deliver-alerts.ts'

/** How each channel is reached; undefined: it is not set up. */
export interface AlertSettings {
  mail: { url: string; from: string } | undefined
  telegram: { url: string; token: string } | undefined
  line: { url: string; token: string } | undefined
}

/** The channels that the settings make available. A webhook needs none, nor does Slack. */
export function availableChannels({ mail, telegram, line }: AlertSettings): Channel[] {
  return channels.filter(
    (channel) => ({ mail, webhook: true, telegram, line, slack: true })[channel] !== undefined,
  )
}

/** Posts as callbacks are posted: to vetted addresses alone. */
type Post = (
  url: string,
  headers: Record<string, string>,
  body: Buffer,
) => Promise<{ error: string | null }>

const timeoutMs = 10_000

/** The channels that are set up. A webhook and Slack need nothing but the address that a person gives. */
export function makeAlertSenders(
  settings: AlertSettings,
  {
    post,
    link,
    now,
    version,
  }: { post: Post; link: () => string; now: () => Date; version: string },
): AlertSenders {
  const { mail, telegram, line } = settings
  return {
    ...(mail && { mail: mailSender(mail, link) }),
    webhook: webhookSender(post, link, now, version),
    ...(telegram && { telegram: telegramSender(telegram, link) }),
    ...(line && { line: lineSender(line, link) }),
    slack: slackSender(post, link, version),
  }
}

/** Sends a mail; fails if the mail server does not take it. */
export type SendMail = (mail: {
  to: readonly string[]
  subject: string
  text: string
  /** The same for each attempt, so that one that comes twice can be told. */
  id: string
  files?: readonly { filename: string; content: Buffer }[]
}) => Promise<void>

export function makeMailer({ url, from }: { url: string; from: string }): SendMail {
  const { hostname } = new URL(url)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const transport = createTransport({
    url,
    // What is said to another machine, a password first of all, is said over TLS.
    requireTLS: !isLocal,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = from.split('@')[1]?.replace(/>.*/, '') ?? 'sluice'
  return async ({ to, subject, text, id, files = [] }) => {
    await transport.sendMail({
      from,
      // As objects, because a text would be read as a list of addresses.
      to: to.map((address) => ({ name: '', address })),
      subject,
      text,
      messageId: `<${id}@${domain}>`,
      headers: { 'auto-submitted': 'auto-generated' },
      attachments: [...files],
    })
  }
}

function mailSender(settings: { url: string; from: string }, link: () => string): SendAlert {
  const send = makeMailer(settings)
  return async (message, { address }) => {
    const { title: subject, text } = alertText(message, link())
    await send({ to: [address], subject, text, id: `${message.alertId}.${message.userId}` })
    return undefined
  }
}

function webhookSender(
  post: Post,
  link: () => string,
  now: () => Date,
  version: string,
): SendAlert {
  return async ({ alertId, kind, words, count, firstAt, lastAt }, { address, secret = '' }) => {
    const body = Buffer.from(
      JSON.stringify({
        alert_id: alertId,
        kind,
        words,
        count,
        first_at: firstAt.toISOString(),
        last_at: lastAt.toISOString(),
        link: link(),
      }),
    )
    const t = String(Math.floor(now().getTime() / 1000))
    const headers = {
      'content-type': 'application/json',
      'x-signature': `t=${t},v1=${signCallback(secret, t, body)}`,
      'user-agent': `Sluice/${version}`,
    }
    return (await post(address, headers, body)).error ?? undefined
  }
}

function telegramSender(
  { url, token }: { url: string; token: string },
  link: () => string,
): SendAlert {
  return async (message, { address }) => {
    // Plain text: without parse_mode nothing in it is markup.
    const body = { chat_id: address, text: plain(message, link()) }
    const status = await postJson(`${url}/bot${token}/sendMessage`, {}, body)
    return status === 200 ? undefined : `Telegram answered ${status}`
  }
}

function lineSender({ url, token }: { url: string; token: string }, link: () => string): SendAlert {
  return async (message, { address }) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-line-retry-key': retryKey(message),
    }
    const body = { to: address, messages: [{ type: 'text', text: plain(message, link()) }] }
    const status = await postJson(`${url}/v2/bot/message/push`, headers, body)
    // 409: an attempt whose answer was lost had been taken.
    return status === 200 || status === 409 ? undefined : `LINE answered ${status}`
  }
}

/** The address itself is the secret, as Slack has it. */
function slackSender(post: Post, link: () => string, version: string): SendAlert {
  return async (message, { secret = '' }) => {
    // These three are all that Slack reads as markup in links and mentions.
    const text = plain(message, link())
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
    const body = Buffer.from(JSON.stringify({ text, mrkdwn: false }))
    const headers = { 'content-type': 'application/json', 'user-agent': `Sluice/${version}` }
    return (await post(secret, headers, body)).error ?? undefined
  }
}

function plain(message: AlertMessage, link: string): string {
  const { title, text } = alertText(message, link)
  return `${title}\n\n${text}`
}

/** A UUID that is the same for each attempt to tell one person of one alert. */
function retryKey({ alertId, userId }: AlertMessage): string {
  const hex = createHash('sha256').update(`${alertId} ${userId}`).digest('hex')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) % 4]
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

async function postJson(
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<number> {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
  })
  await answer.body.dump({ limit: 16_384 })
  return answer.statusCode
}
