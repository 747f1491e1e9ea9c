/** The path of PUBLIC_URL, as the service wrote it into this page; empty if it has none. */
export const root =
  document.querySelector<HTMLMetaElement>('meta[name="sluice-root"]')?.content ?? ''

/** The path of the console's pages. */
export const base = `${root}/console`
