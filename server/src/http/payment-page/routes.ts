import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { anyOrigin, mayFrame } from '../../agents/frame-origins.ts'
import { returnUrlOf } from '../../agents/return-url.ts'
import { addressKey } from '../../lib/address-key.ts'
import { Problem } from '../../lib/problem.ts'
import { qrPng } from '../../lib/qr-png.ts'
import { TokenBuckets } from '../../lib/token-bucket.ts'
import { parsePageToken } from '../../orders/page-token.ts'
import {
  type OrderName,
  type PaymentPage,
  readPageStates,
  readPaymentPage,
} from '../../orders/payment-page.ts'
import { trigger } from '../../orders/trigger.ts'
import { waysToPay } from '../../orders/ways-to-pay.ts'
import type { Desk } from '../../teller/desk.ts'
import { problemOf, publicPath } from '../app.ts'
import { anHour, sendDocument } from '../static-document.ts'
import { type Asset, readAssets } from './assets.ts'
import { EventStreams, stateView } from './event-streams.ts'
import { chooseLanguage } from './language.ts'
import { messagePage } from './message-page.ts'
import { paymentPage } from './page.ts'
import { qrView } from './qr-view.ts'
import { sandboxPayments } from './sandbox.ts'
import { href, type Page, type Place } from './whole-page.ts'

export interface PaymentPageOptions {
  desk: Desk
  mode: 'sandbox' | 'live'
  timeZone: string
  isDraining: () => boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set on the only route that accepts a form body. */
    takesForm?: boolean
  }
}

/** Many payers can share an address, so these limits only keep one source from using all capacity. */
const requestsPerS = 50
const requestsAtOnce = 500
const maxStreams = 10_000
const maxStreamsPerAddress = 200
const maxStreamsPerOrder = 20
const streamsEveryMs = 1_000

const forever = 'public, max-age=31536000, immutable'

/** The payers' routes: the page behind `link`. Anyone with the token may look; looking changes nothing. */
export function paymentPageRoutes(app: FastifyInstance, options: PaymentPageOptions): void {
  const { desk, mode, timeZone, isDraining } = options
  const assets = readAssets()
  const requests = new TokenBuckets()
  const streams = new EventStreams({
    read: (names) => readPageStates(desk, names),
    isDraining,
    onError: (error) => app.log.error({ err: error }),
    maxStreams,
    maxStreamsPerAddress,
    maxStreamsPerOrder,
    everyMs: streamsEveryMs,
  })
  app.addHook('preClose', async () => streams.closeAll())

  const placeOf = (request: FastifyRequest, shown?: PaymentPage): Place => {
    const asked = askedOf(request)
    const root = publicPath(desk.publicUrl())
    // The sandbox has nothing to protect, so any site may try the frame.
    const frameOrigins = mode === 'sandbox' ? [anyOrigin] : (shown?.agent.frameOrigins ?? [])
    const isAllowed = (origin: string | undefined) =>
      origin !== undefined && mayFrame(frameOrigins, origin)
    const language = chooseLanguage(asked.lang, request.headers['accept-language'])
    return {
      root,
      base: `${root}/pay/${tokenOf(request)}`,
      language,
      askedLanguage: asked.lang === language.code ? asked.lang : undefined,
      parentOrigin: [asked.origin, originOf(request.headers.referer)].find(isAllowed),
      frameOrigins,
    }
  }

  const checkRate = (request: FastifyRequest) => {
    const now = desk.now().getTime()
    const { taken, waitS } = requests.take(
      addressKey(request.ip),
      requestsPerS,
      requestsAtOnce,
      now,
    )
    if (taken) return
    throw new Problem('rate_limited', 'Too many requests.', { retryAfterS: waitS })
  }

  /** The order of the token. A wrong token gets the same answer as an order that does not exist. */
  const nameOf = (request: FastifyRequest): OrderName => {
    checkRate(request)
    const name = parsePageToken(desk.secretKeys, tokenOf(request))
    if (!name) throw new Problem('order_not_found', 'No order has this payment link.')
    return name
  }

  const read = async (request: FastifyRequest): Promise<PaymentPage> => {
    const shown = await readPaymentPage(desk, nameOf(request))
    if (!shown) throw new Problem('order_not_found', 'No order has this payment link.')
    return shown
  }

  /** The payer gets a page, whatever went wrong. */
  const errorHandler: RouteShorthandOptions['errorHandler'] = (error, request, reply) => {
    const problem = problemOf(error)
    // For the payer an internal error is temporary: the page can be tried again.
    const status = problem.status === 500 ? 503 : problem.status
    const what = status === 404 ? 'notFound' : status === 429 ? 'busy' : 'trouble'
    if (status >= 500) request.log.error({ err: error })
    if (problem.retryAfterS !== undefined) reply.header('retry-after', problem.retryAfterS)
    // The error page belongs to no order, so it has no links to one.
    const place = { ...placeOf(request), base: '' }
    return send(reply.code(status), messagePage(place, assets, what))
  }
  const page = { schema: { hide: true }, errorHandler }
  const data = { schema: { hide: true } }

  get(app, '/pay/:token', page, async (request, reply) => {
    const shown = await read(request)
    const place = placeOf(request, shown)
    const ways = waysToPay(desk, shown.order)
    const isSandbox = mode === 'sandbox'
    const returnUrl = returnUrlOf(shown.order, shown.agent, mode)
    return send(reply, paymentPage({ place, assets, shown, ways, timeZone, isSandbox, returnUrl }))
  })

  get(app, '/pay/:token/qr', page, async (request, reply) => {
    const shown = await read(request)
    const place = placeOf(request, shown)
    const { qrcodeText, qrKind } = waysToPay(desk, shown.order)
    // A code that must no longer be paid should not be scanned.
    if (shown.state !== 'waiting' || qrcodeText === undefined) {
      return reply.redirect(href(place, ''), 303)
    }
    return send(reply, qrView(place, assets, shown, { qrcodeText, qrKind }))
  })

  get(app, '/pay/:token/qr.png', page, async (request, reply) => {
    const shown = await read(request)
    const { qrcodeText } = waysToPay(desk, shown.order)
    if (qrcodeText === undefined) throw new Problem('not_found', 'The order has no QR code.')
    if (shown.state !== 'waiting') {
      return reply.redirect(href(placeOf(request, shown), ''), 303)
    }
    return reply
      .header('content-disposition', 'attachment; filename="payment-qr.png"')
      .type('image/png')
      .send(qrPng(qrcodeText))
  })

  get(app, '/pay/:token/logo', page, async (request, reply) => {
    const { logo } = (await read(request)).brand
    if (!logo) throw new Problem('not_found', 'The agent has no logo.')
    return reply.type(logo.type).send(logo.bytes)
  })

  const stateNow = async (name: OrderName) => {
    const [now] = (await readPageStates(desk, [name])).values()
    if (!now) throw new Problem('order_not_found', 'No order has this payment link.')
    return now
  }

  get(app, '/pay/:token/state', data, async (request, reply) => {
    return reply.send(stateView(await stateNow(nameOf(request))))
  })

  app.get('/pay/:token/events', data, async (request, reply) => {
    const name = nameOf(request)
    const stream = streams.open(name, addressKey(request.ip), await stateNow(name))
    if (stream === 'too_many') {
      throw new Problem(
        'rate_limited',
        'Too many pages are open at this address, or of this order.',
        {
          retryAfterS: 30,
        },
      )
    }
    if (stream === 'full') {
      throw new Problem('overloaded', 'Ask for the state instead.', { retryAfterS: 30 })
    }
    // The page sends nothing after its request, so the end of its side means that it was closed.
    request.raw.socket.once('end', () => stream.end())
    // Keeps proxies from buffering the stream, which would delay the events.
    reply.header('x-accel-buffering', 'no')
    return reply.type('text/event-stream; charset=utf-8').send(stream)
  })

  if (mode === 'sandbox') {
    takeForms(app)
    app.post(
      '/pay/:token/sandbox',
      { ...page, config: { takesForm: true } },
      async (request, reply) => {
        const shown = await read(request)
        refuseOtherSites(request, desk.publicUrl())
        const { order } = shown
        const asked = new URLSearchParams(String(request.body ?? '')).get('outcome')
        const chosen = sandboxPayments(order.amountMinor).find(({ outcome }) => outcome === asked)
        if (!chosen) throw new Problem('not_found', 'The bank knows no such outcome.')
        if (order.status === 'WAITING') {
          // If another outcome came first, it stands, and the page shows it.
          await trigger(desk, order.agentId, order.orderId, chosen.trigger).catch((error) => {
            if (!(error instanceof Problem)) throw error
          })
        }
        return reply.redirect(href(placeOf(request, shown), ''), 303)
      },
    )
  }

  for (const asset of [assets.style, assets.script]) {
    serve(app, `/pay/assets/${asset.name}`, asset, forever)
  }
  for (const asset of [assets.loader, assets.loaderTypes]) {
    serve(app, `/${asset.name}`, asset, anHour)
  }
}

/** Registers a GET route that also answers HEAD. */
function get(
  app: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
): void {
  app.route({ ...options, method: ['GET', 'HEAD'], url, handler })
}

function send(reply: FastifyReply, { html, headers }: Page): FastifyReply {
  return reply.headers(headers).send(html)
}

/** Serves public files to pages of any origin. */
function serve(app: FastifyInstance, url: string, asset: Asset, cacheControl: string): void {
  get(app, url, { schema: { hide: true } }, async (request, reply) => {
    reply
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('access-control-allow-origin', '*')
    return sendDocument(request, reply, asset, cacheControl)
  })
}

/** Parses forms only on routes that accept them; all others still refuse them. */
function takeForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 1_024 },
    (request, body, done) => {
      if (request.routeOptions.config.takesForm === true) return done(null, body)
      done(
        new Problem('unsupported_media_type', 'Send the body as content-type: application/json.'),
        undefined,
      )
    },
  )
}

/** The token grants access, but no other site should submit the payer's forms. */
function refuseOtherSites(request: FastifyRequest, publicUrl: string): void {
  const site = request.headers['sec-fetch-site']
  const origin = request.headers.origin
  // The page sends no referrer, so its own forms have no origin.
  const isOurs =
    site === undefined
      ? origin === undefined || origin === 'null' || origin === new URL(publicUrl).origin
      : site === 'same-origin' || site === 'none'
  if (!isOurs) throw new Problem('not_found', 'This can be pressed on the payment page alone.')
}

function tokenOf(request: FastifyRequest): string {
  const { token } = request.params as { token?: string }
  return token ?? ''
}

function askedOf(request: FastifyRequest): {
  lang: string | undefined
  origin: string | undefined
} {
  const query = new Map(Object.entries(request.query ?? {}))
  const text = (name: string) => {
    const value: unknown = query.get(name)
    return typeof value === 'string' ? value : undefined
  }
  return { lang: text('lang'), origin: text('origin') }
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined
}
