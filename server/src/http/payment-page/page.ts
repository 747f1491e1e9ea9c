import type { Order } from '../../ledger/book.ts'
import { bankAppLink, findBank } from '../../lib/banks.ts'
import { txnId } from '../../lib/ids.ts'
import { isFinal, type PageState, type PaymentPage } from '../../orders/payment-page.ts'
import type { DepositInstructions } from '../../providers/provider.ts'
import { type Html, html, nothing } from '../html.ts'
import type { Assets } from './assets.ts'
import { howToScan } from './how-to-scan.ts'
import { bareMoney, clockText, fill, fillPlain, moneyText, timeText } from './language.ts'
import { qrPicture } from './qr-view.ts'
import { sandboxPayments } from './sandbox.ts'
import { href, liveData, type Page, type Place, wholePage } from './whole-page.ts'

export interface PageOptions {
  place: Place
  assets: Assets
  shown: PaymentPage
  ways: DepositInstructions
  timeZone: string
  isSandbox: boolean
  /** Where the payer goes back to. */
  returnUrl: string | undefined
  /** Set for a picture of the page: nothing on it does anything, and the logo is in it. */
  preview?: { logo: string | null }
}

const refreshS = 5

const tone: Record<PageState, string> = {
  waiting: '',
  received: 'warn',
  paid: 'good',
  expired: 'bad',
  failed: 'bad',
  void: 'bad',
  paid_late: 'warn',
  wrong_amount: 'warn',
  taken_back: 'bad',
  returned: 'warn',
}

/** The payment page of an order, which works without scripts. */
export function paymentPage(options: PageOptions): Page {
  const { place, assets, shown, isSandbox } = options
  const { agent, order, state } = shown
  const { words } = place.language
  const amount = moneyText(place.language, payableOf(order), order.currency)
  const open = state === 'waiting'
  const aside = [
    open ? bankApp(options) : nothing,
    open ? scan(options, amount) : nothing,
    open ? transfer(options) : nothing,
    open ? elsewhere(options) : nothing,
    state === 'paid' ? receipt(options) : nothing,
  ].filter((part) => part !== nothing)
  const final = isFinal(state) ? html` data-final` : nothing
  const main = html`<main class="${aside.length > 0 ? 'wide' : ''}" data-state="${state}" data-remaining="${shown.remainingS}" data-others="${shown.others.map((other) => other.state).join(' ')}"${final}>
<div class="stack">
<section class="card sum">
<h1>${fill(open ? words.payTo : words.paymentTo, { agent: name(agent.name) })} <span class="total">${amount}</span></h1>
<dl>${row(options, words.reference, order.refId)}</dl>
</section>
${status(options, amount)}
${shown.others.length > 0 ? otherPayments(options) : nothing}
</div>
${aside.length > 0 ? html`<div class="stack ways">${aside}</div>` : nothing}
<div class="stack">
${isSandbox && order.status === 'WAITING' && !options.preview && !isAtBankAccount(options) ? bankButtons(options) : nothing}
${help(options)}
</div>
</main>`
  return wholePage(place, assets, shown.brand, {
    title: `${words[`${state}.title`]} · ${amount} · ${agent.name}`,
    header: html`<header>${isSandbox ? html`<p class="banner">${words.sandbox}</p>` : nothing}
<div class="brand">${logo(options)}<p class="name">${name(agent.name)}</p><button type="button" id="close" hidden>${words.close}</button></div></header>`,
    main,
    ...(options.preview === undefined && {
      bodyData: liveData(place, txnId(order.agentId, order.orderId)),
      isLive: true,
      ...(!isFinal(state) && { refreshS }),
    }),
  })
}

function name(text: string): Html {
  return html`<bdi>${text}</bdi>`
}

/** The name beside it serves as its description. */
function logo({ place, shown, preview }: PageOptions): Html {
  if (preview) return html`<img class="logo" src="${preview.logo ?? 'data:,'}" alt="">`
  return shown.brand.logo ? html`<img class="logo" src="${href(place, '/logo')}" alt="">` : nothing
}

/** What happened to the money, and what to do next. */
function status(options: PageOptions, amount: string): Html {
  const { place, shown, timeZone } = options
  const { agent, order, about, state, remainingS } = shown
  const { language } = place
  const { words } = language
  const money = (minor: bigint) => moneyText(language, minor, order.currency)
  const paid = about?.amountMinor ?? order.paidAmountMinor ?? order.amountMinor
  const values = { agent: name(agent.name), amount: html`<b>${amount}</b>`, paid: money(paid) }
  return html`<section class="card status ${tone[state]}">
<h2 id="state" tabindex="-1">${words[`${state}.title`]}</h2>
<p>${fill(words[`${state}.money`], values)}</p>
<p class="next">${fill(words[`${state}.next`], values)}</p>
${
  state === 'waiting' && order.expiresAt
    ? html`<p class="left"><span>${words.timeLeft}</span> <b id="left" role="timer">${clockText(language, remainingS)}</b> <span>${fill(words.until, { time: timeOf(place, order.expiresAt, timeZone) })}</span></p>`
    : nothing
}<p id="offline" role="status" hidden>${words.offline}</p>
${isFinal(state) || state === 'expired' ? wayBack(options, 'button main') : nothing}</section>`
}

/** A time in the service's zone, which the script puts into the payer's own. */
function timeOf({ language }: Place, at: Date, timeZone: string): Html {
  return html`<time datetime="${at.toISOString()}">${timeText(language, at, timeZone)}</time>`
}

/** Back to the shop; where a shop shows the page in a frame or a popup, the script hides it. */
function wayBack({ place, shown, returnUrl }: PageOptions, look: string): Html {
  if (returnUrl === undefined) return nothing
  const text = fill(place.language.words.backTo, { agent: name(shown.agent.name) })
  return html`<p class="actions"><a id="back" class="${look}" href="${returnUrl}" rel="noopener noreferrer">${text}</a></p>`
}

/** What became of each payment that the order did not take, such as a second one. */
function otherPayments({ place, shown }: PageOptions): Html {
  const { language } = place
  const { agent, order, others } = shown
  const items = others.map(({ amountMinor, state }) => {
    const amount = html`<b>${moneyText(language, amountMinor, order.currency)}</b>`
    const text = fill(language.words[`other.${state}`], { agent: name(agent.name), amount })
    return html`<p data-other="${state}">${text}</p>`
  })
  return html`<section class="card status warn others">
<h2>${language.words.otherPayments}</h2>
${items}
</section>`
}

function scan({ place, ways }: PageOptions, amount: string): Html {
  const { words } = place.language
  if (ways.qrcodeText === undefined) return nothing
  return html`<section class="card">
<h2>${words.scanTitle}</h2>
<div class="scan">${qrPicture(ways.qrcodeText, fillPlain(words.qrName, { amount }))}<p class="how">${howToScan(words, ways.qrKind)}</p></div>${exactNote(place, ways, amount)}
<div class="actions"><a class="button" href="${href(place, '/qr.png')}" download="payment-qr.png">${words.saveImage}</a><a class="button" href="${href(place, '/qr')}">${words.largerView}</a></div>
</section>`
}

function transfer(options: PageOptions): Html {
  const { place, shown, ways } = options
  const { words } = place.language
  if (!ways.transfer) return nothing
  const { bankCode, accountNumber, accountName } = ways.transfer
  const { currency } = shown.order
  const amountMinor = payableOf(shown.order)
  const amount = moneyText(place.language, amountMinor, currency)
  const bank = findBank(currency, bankCode)
  return html`<section class="card">
<h2>${ways.qrcodeText === undefined ? words.transferTitle : words.orTransferTitle}</h2>
<p class="how">${words.transferHow}</p>
<dl>
${bankCode === '' ? nothing : row(options, words.bank, bank && bank.name !== bankCode ? `${bank.name} (${bankCode})` : bankCode, bankCode, bankMark(bankCode))}
${row(options, words.accountNumber, accountNumber)}
${row(options, words.accountName, accountName)}
${row(options, words.amount, amount, bareMoney(amountMinor, currency))}
${ways.code === undefined ? nothing : row(options, words.paymentCode, ways.code)}
</dl>
${ways.code === undefined ? nothing : html`<p class="how">${words.paymentCodeHow}</p>`}${ways.qrcodeText === undefined ? exactNote(place, ways, amount) : nothing}
</section>`
}

/** On a phone, the app of the payer's bank; for UPI the code itself is a link that every app takes. */
function bankApp({ place, shown, ways }: PageOptions): Html {
  const { words } = place.language
  const { currency, bankCode } = shown.order
  if (ways.qrcodeText === undefined && !ways.transfer) return nothing
  const isUpi = ways.qrKind === 'upi' && ways.qrcodeText?.startsWith('upi://pay?')
  const link = isUpi ? ways.qrcodeText : bankAppLink(currency, bankCode)
  if (link === undefined) return nothing
  const bank = isUpi ? 'UPI' : (findBank(currency, bankCode)?.name ?? bankCode)
  return html`<p class="actions app"><a class="button" href="${link}" rel="noopener noreferrer">${isUpi ? nothing : bankMark(bankCode)}${fill(words.openApp, { bank: name(bank) })}</a></p>`
}

/** What the payer has to pay: a little more than the amount, where only that names the order. */
function payableOf({ payableMinor, amountMinor }: Order): bigint {
  return payableMinor ?? amountMinor
}

/** Money for a bank account comes from the outside: the sandbox's bank knows nothing of it. */
function isAtBankAccount({ ways }: PageOptions): boolean {
  return ways.code !== undefined || ways.exactAmount !== undefined
}

function exactNote(place: Place, ways: DepositInstructions, amount: string): Html {
  if (ways.exactAmount === undefined) return nothing
  return html`<p class="how exact">${fill(place.language.words.exactAmount, { amount: name(amount) })}</p>`
}

/** Opens in a new window, because the page may be in an agent's frame, which banks refuse. */
function elsewhere({ place, ways }: PageOptions): Html {
  const { words } = place.language
  if (ways.link === undefined) return nothing
  return html`<section class="card">
<h2>${words.payOnlineTitle}</h2>
<p class="how">${words.payOnlineHow}</p>
<div class="actions"><a class="button main" href="${ways.link}" target="_blank" rel="noopener noreferrer">${words.payOnline}</a></div>
</section>`
}

/** A label and a value, with a button that copies the bare value. */
function row(
  { place }: PageOptions,
  label: string,
  value: string,
  bare = value,
  mark: Html = nothing,
): Html {
  const { words } = place.language
  return html`<div class="row"><dt>${label}</dt><dd><span>${mark}${name(value)}</span><button type="button" class="copy js-only" data-copy="${bare}"><span>${words.copy}</span> <span class="seen">${label}</span></button></dd></div>`
}

/** A bank is found faster by a mark; its real one belongs to the bank. */
function bankMark(bankCode: string): Html {
  const initials = bankCode.length > 4 ? bankCode.slice(0, 2) : bankCode
  return html`<svg class="mark" viewBox="0 0 36 20" aria-hidden="true"><rect width="36" height="20" rx="4"/><text x="18" y="14">${initials}</text></svg>`
}

function receipt({ place, shown, timeZone }: PageOptions): Html {
  const { words } = place.language
  const { agent, order } = shown
  const line = (label: string, value: string | Html) =>
    html`<div class="row"><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`
  const paid = moneyText(place.language, order.paidAmountMinor ?? order.amountMinor, order.currency)
  return html`<section class="card receipt">
<h2>${words.receipt}</h2>
<dl>
${line(words.paidTo, agent.name)}
${line(words.paidAmount, paid)}
${line(words.paidOn, timeOf(place, order.completedAt ?? order.createdAt, timeZone))}
${line(words.reference, order.refId)}
${line(words.transaction, txnId(order.agentId, order.orderId))}
</dl>
<div class="actions"><button type="button" class="js-only" data-print>${words.print}</button></div>
</section>`
}

function help(options: PageOptions): Html {
  const { place, shown } = options
  const { words } = place.language
  const { support, name: agentName } = shown.agent
  const isOver = isFinal(shown.state) || shown.state === 'expired'
  return html`<section class="card">
<h2>${words.help}</h2>
<p>${support === null ? fill(words.helpAgent, { agent: name(agentName) }) : name(support)}</p>
${isOver ? nothing : wayBack(options, 'button')}</section>`
}

/** In the sandbox the payer also plays the bank. Plain form buttons work without scripts. */
function bankButtons({ place, shown }: PageOptions): Html {
  const { language } = place
  const { words } = language
  const { order } = shown
  const buttons = sandboxPayments(order.amountMinor).map(({ outcome, amountMinor, label }) => {
    const amount = moneyText(language, amountMinor, order.currency)
    return html`<button name="outcome" value="${outcome}" class="${outcome === 'pay' ? 'main' : ''}">${fillPlain(words[label], { amount })}</button>`
  })
  return html`<section class="card test">
<h2>${words.sandboxTitle}</h2>
<p class="how">${words.sandboxHow}</p>
<form method="post" action="${href(place, '/sandbox')}">${buttons}</form>
</section>`
}
