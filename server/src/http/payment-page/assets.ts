import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type StaticDocument, staticDocument } from '../static-document.ts'

export interface Asset extends StaticDocument {
  /** Contains a digest of the content if it is for the page itself, so that it can be cached forever. */
  name: string
}

const server = new URL('../../../', import.meta.url)
const built = new URL('dist/http/payment-page/client/', server)

const read = (file: URL) => readFileSync(file, 'utf8')

/** The files of the page, read once at start-up. */
export interface Assets {
  style: Asset
  script: Asset
  /** The script that shops load to open the page. */
  loader: Asset
  loaderTypes: Asset
}

export function readAssets(): Assets {
  const javascript = 'text/javascript; charset=utf-8'
  return {
    style: hashed(
      'style',
      'css',
      'text/css; charset=utf-8',
      read(new URL('src/http/payment-page/style.css', server)).replace(/\n\s*/g, '\n'),
    ),
    script: hashed('page', 'js', javascript, read(new URL('page.js', built))),
    loader: {
      name: 'embed.js',
      ...staticDocument(javascript, read(new URL('embed.js', built))),
    },
    loaderTypes: {
      name: 'embed.d.ts',
      ...staticDocument('text/plain; charset=utf-8', read(new URL('embed.d.ts', built))),
    },
  }
}

function hashed(name: string, extension: string, type: string, body: string): Asset {
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 16)
  return { name: `${name}.${digest}.${extension}`, ...staticDocument(type, body) }
}
