/** The path of PUBLIC_URL, as the service wrote it into this page; nothing where it has none. */
export const root =
  document.querySelector<HTMLMetaElement>('meta[name="sluice-root"]')?.content ?? ''

/** Where the console's pages are. */
export const base = `${root}/console`
