import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { isAllowedIp } from '../agents/allowed-ip.ts'
import { Problem } from '../lib/problem.ts'
import { Html, html, nothing } from './html.ts'

const style = `:root{color-scheme:light dark}
body{max-width:34rem;margin:4rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
li{margin:.5rem 0}
p,li span{opacity:.8}`
const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * `/`: tells a person who opened the service's address in a browser where to go. Programs ask for no page here and
 * get the same answer as at any other path without an endpoint.
 */
export function frontPageRoute(
  app: FastifyInstance,
  rootPath: () => string,
  consoleAddresses: readonly string[],
): void {
  app.get('/', { exposeHeadRoute: true }, async (request, reply) => {
    reply.header('vary', 'accept')
    if (!request.headers.accept?.includes('text/html')) {
      throw new Problem('not_found', 'No endpoint has this path; GET /openapi.json lists them.')
    }
    const root = rootPath()
    const link = (path: string, name: string, what: string) =>
      html`<li><a href="${root}${path}">${name}</a> <span>${what}</span></li>`
    const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>Sluice</h1>
<p>A payment order service.</p>
<ul>
${isAllowedIp(request.ip, consoleAddresses) ? link('/console', 'Console', 'for the people who run it, and for agents') : nothing}
${link('/docs', 'API reference', 'for the programs of agents')}
${link('/openapi.json', 'OpenAPI document', 'the same, for machines')}
${link('/readyz', 'Health', 'whether it can take orders now')}
</ul>
</main>
</body>
</html>`
    reply.header(
      'content-security-policy',
      `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    return reply.type('text/html; charset=utf-8').send(page.text)
  })
}
