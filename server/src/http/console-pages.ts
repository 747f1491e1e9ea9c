import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../lib/problem.ts'
import { html } from './html.ts'

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

/** A file of the built console, with its compressed forms once they have been requested. */
interface BuiltFile {
  bytes: Buffer
  type: string
  forms: Map<string, Promise<Buffer>>
}

const compress: Record<string, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

/**
 * Serves the console's pages at /console from memory. Paths are looked up only among the built files, so no
 * path can reach any other file. Every other path under /console is a page of the console.
 */
export function consoleRoutes(app: FastifyInstance, dir: string, rootPath: () => string): void {
  const files = readFiles(dir)
  const page = files.get('index.html')?.bytes.toString('utf8')

  const answer = (request: FastifyRequest<{ Params: { '*'?: string } }>, reply: FastifyReply) => {
    const path = request.params['*'] ?? ''
    const file = path === 'index.html' ? undefined : files.get(path)
    if (file) return sendFile(request, reply, path, file)
    if (path.startsWith('assets/')) throw new Problem('not_found', 'The console has no such file.')
    return page === undefined ? sendHowToBuild(reply) : sendPage(reply, page, rootPath())
  }
  app.get('/console', answer)
  app.get('/console/*', answer)
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/console/api/*',
    handler: async () => {
      throw new Problem('not_found', 'GET /console/api/openapi.json lists what is here.')
    },
  })
}

function readFiles(dir: string): Map<string, BuiltFile> {
  if (!existsSync(dir)) return new Map()
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    names.map((name) => [
      name.slice(dir.length).split(sep).filter(Boolean).join('/'),
      {
        bytes: readFileSync(name),
        type: types[extname(name)] ?? 'application/octet-stream',
        forms: new Map(),
      },
    ]),
  )
}

/**
 * Scripts load only from files, and styles created at run time carry the page's nonce. The page refers to its
 * files relative to itself, which the browser would resolve against the current URL, so those references are
 * made absolute.
 */
function sendPage(reply: FastifyReply, page: string, rootPath: string): FastifyReply {
  const { text: root } = html`${rootPath}`
  const nonce = randomBytes(16).toString('base64')
  reply.header(
    'content-security-policy',
    [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      // Menu positions and bar widths are set as style attributes.
      "style-src-attr 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      // The preview of a payment page.
      "frame-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ].join('; '),
  )
  reply.header('cross-origin-opener-policy', 'same-origin')
  const filled = page
    .replaceAll('__CSP_NONCE__', nonce)
    .replaceAll('__PUBLIC_PATH__', () => root)
    .replace(/ (src|href)="\.\//g, (_, name) => ` ${name}="${root}/console/`)
  return reply.type('text/html; charset=utf-8').send(filled)
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { bytes, type, forms }: BuiltFile,
): Promise<FastifyReply> {
  // The names under assets/ contain a hash of their content.
  const isFixed = path.startsWith('assets/')
  reply.header('cache-control', isFixed ? 'public, max-age=31536000, immutable' : 'max-age=3600')
  reply.header('vary', 'accept-encoding')
  reply.type(type)
  const accepted = String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
  const form = /^(text|application|image\/svg)/.test(type)
    ? ['br', 'gzip'].find((each) => accepted.includes(each))
    : undefined
  const smaller = form && compress[form]
  if (form === undefined || !smaller) return reply.send(bytes)
  const made = forms.get(form) ?? smaller(bytes)
  forms.set(form, made)
  return reply.header('content-encoding', form).send(await made)
}

function sendHowToBuild(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .type('text/plain; charset=utf-8')
    .send('The console has not been built. Build it with "npm run build" and start again.\n')
}
