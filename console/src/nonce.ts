/**
 * The nonce that the service wrote into this page. Styles created at runtime carry it; the content
 * security policy blocks all other inline styles.
 */
export const styleNonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// The library that locks scrolling behind a dialog adds a style too, and looks for the nonce here.
Object.assign(globalThis, { __webpack_nonce__: styleNonce })
