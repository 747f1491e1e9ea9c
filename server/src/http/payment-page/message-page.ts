import { html } from '../html.ts'
import type { Assets } from './assets.ts'
import { type Page, type Place, wholePage } from './whole-page.ts'

/** A page that only explains why there is no payment page: a wrong link, too many requests, or an error. */
export function messagePage(
  place: Place,
  assets: Assets,
  what: 'notFound' | 'busy' | 'trouble',
): Page {
  const { words } = place.language
  return wholePage(
    place,
    assets,
    { colour: null },
    {
      title: words[`${what}.title`],
      header: html`<header><div class="brand"></div></header>`,
      main: html`<main><section class="card status bad">
<h1>${words[`${what}.title`]}</h1>
<p>${words[`${what}.text`]}</p>
</section></main>`,
      ...(what === 'trouble' && { refreshS: 5 }),
    },
  )
}
