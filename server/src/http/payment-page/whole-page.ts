import { createHash } from 'node:crypto'
import type { AgentBrand } from '../../agents/agent-brand.ts'
import { anyOrigin } from '../../agents/frame-origins.ts'
import { Html, html, nothing } from '../html.ts'
import { accentStyle } from './accent.ts'
import type { Assets } from './assets.ts'
import { type Language, languages } from './language.ts'

/** The context of a page, from which its links and headers are built. */
export interface Place {
  /** The path of PUBLIC_URL. */
  root: string
  /** The path of this order's page; empty if the token was wrong. */
  base: string
  language: Language
  /** The explicitly requested language, kept in every link. */
  askedLanguage: string | undefined
  /** The origin that frames the page, checked against the agent's list. */
  parentOrigin: string | undefined
  /** The origins that may show it in a frame. */
  frameOrigins: readonly string[]
}

export interface Page {
  html: string
  headers: Record<string, string>
}

/** A link on the page that keeps the requested query parameters. */
export function href(place: Place, path: string, lang = place.askedLanguage): string {
  const query = new URLSearchParams()
  if (lang !== undefined) query.set('lang', lang)
  if (place.parentOrigin !== undefined) query.set('origin', place.parentOrigin)
  const text = query.toString()
  return `${place.base}${path}${text === '' ? '' : `?${text}`}`
}

/** The data that the script of a live page uses. */
export function liveData(place: Place, txnId: string): Record<string, string> {
  const { copied, leftToPay } = place.language.words
  return {
    base: place.base,
    'txn-id': txnId,
    'parent-origin': place.parentOrigin ?? '',
    copied,
    'left-to-pay': leftToPay,
  }
}

/** A complete page around its main part, with the headers to send it with. */
export function wholePage(
  place: Place,
  assets: Assets,
  brand: Pick<AgentBrand, 'colour'>,
  parts: {
    title: string
    header: Html
    main: Html
    bodyClass?: string
    bodyData?: Record<string, string>
    /** Without scripts, the page reloads after this many seconds. */
    refreshS?: number
    isLive?: boolean
  },
): Page {
  const { language, root } = place
  const accent = accentStyle(brand.colour)
  const data = Object.entries(parts.bodyData ?? {}).map(
    ([name, value]) => html` data-${new Html(name)}="${value}"`,
  )
  const refresh =
    parts.refreshS === undefined
      ? nothing
      : html`<meta http-equiv="refresh" content="${parts.refreshS}">`
  const page = html`<!doctype html>
<html lang="${language.code}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no">
<title>${parts.title}</title>
<link rel="stylesheet" href="${root}/pay/assets/${assets.style.name}">
<link rel="icon" href="data:,">
<style>${new Html(accent)}</style>
${parts.isLive ? html`<noscript>${refresh}</noscript>` : refresh}
</head>
<body class="${parts.bodyClass ?? ''}"${data}>
${parts.header}
${parts.main}
<footer>${languageMenu(place)}</footer>
<p id="live" class="seen" role="status"></p>
${parts.isLive ? html`<script type="module" src="${root}/pay/assets/${assets.script.name}"></script>` : nothing}
</body>
</html>
`
  return { html: page.text, headers: headersOf(place, accent) }
}

function languageMenu(place: Place): Html {
  const item = ({ code, name }: Language) => {
    const current = code === place.language.code ? html` aria-current="true"` : nothing
    return html`<li><a href="${href({ ...place, base: '' }, '', code)}" lang="${code}" hreflang="${code}"${current}>${name}</a></li>`
  }
  return html`<nav aria-label="${place.language.words.language}"><ul>${languages.map(item)}</ul></nav>`
}

function headersOf({ frameOrigins }: Place, accent: string): Record<string, string> {
  // A configured host may contain characters that would end a directive; no browser has such an origin.
  const origins = frameOrigins.includes(anyOrigin)
    ? ['*']
    : frameOrigins.filter((origin) => /^https?:\/\/[\w.:[\]-]+$/.test(origin))
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'sha256-${createHash('sha256').update(accent).digest('base64')}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${origins.length > 0 ? origins.join(' ') : "'none'"}`,
  ]
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(origins.length === 0 && { 'x-frame-options': 'DENY' }),
  }
}
