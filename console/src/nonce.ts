/**
 * The nonce the service wrote into this page. Styles that are made while the page runs carry it; no
 * other inline style is let in.
 */
export const styleNonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// What keeps the page behind a dialog from scrolling writes a style too, and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })
