import { txnId } from '../../lib/ids.ts'
import type { QrKind } from '../../lib/qr/qr-kinds.ts'
import type { Patch } from '../../lib/qr-code.ts'
import { qrPath } from '../../lib/qr-path.ts'
import type { PaymentPage } from '../../orders/payment-page.ts'
import { type Html, html, Html as Markup } from '../html.ts'
import type { Assets } from './assets.ts'
import { howToScan } from './how-to-scan.ts'
import { fillPlain, moneyText } from './language.ts'
import { href, liveData, type Page, type Place, wholePage } from './whole-page.ts'

const quietZone = 4

/** A QR code for the page: black on white in every colour scheme, with its quiet zone. */
export function qrPicture(text: string, label: string): Html {
  const { side, path, patches } = qrPath(text)
  const all = side + 2 * quietZone
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="-${quietZone} -${quietZone} ${all} ${all}" shape-rendering="crispEdges"><path stroke="#000" d="${new Markup(path)}"/>${patches.map(patch)}</svg>`
}

function patch({ x, y, width, height, isDark }: Patch): Html {
  return html`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${isDark ? '#000' : '#fff'}"/>`
}

/** The QR code alone, as large as the screen allows. */
export function qrView(
  place: Place,
  assets: Assets,
  { agent, brand, order, state, remainingS }: PaymentPage,
  { qrcodeText, qrKind }: { qrcodeText: string; qrKind: QrKind | undefined },
): Page {
  const { words } = place.language
  const amount = moneyText(place.language, order.payableMinor ?? order.amountMinor, order.currency)
  return wholePage(place, assets, brand, {
    title: `${words.scanTitle} · ${amount} · ${agent.name}`,
    bodyClass: 'large',
    header: html`<header><div class="brand"><p class="name"><bdi>${agent.name}</bdi></p></div></header>`,
    main: html`<main data-state="${state}" data-remaining="${remainingS}">
<section class="card sum"><h1>${words.scanTitle} <span class="total">${amount}</span></h1>
${qrPicture(qrcodeText, fillPlain(words.qrName, { amount }))}
<p class="how">${howToScan(words, qrKind)}</p>
<div class="actions"><a class="button main" href="${href(place, '')}">${words.back}</a><a class="button" href="${href(place, '/qr.png')}" download="payment-qr.png">${words.saveImage}</a></div>
</section>
</main>`,
    bodyData: liveData(place, txnId(order.agentId, order.orderId)),
    isLive: true,
    // Once the order is no longer open there is no code, and this address redirects to the page.
    refreshS: 5,
  })
}
