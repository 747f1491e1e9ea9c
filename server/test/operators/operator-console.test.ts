import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signIn } from '../support/operator.ts'
import { startTestService, type TestService } from '../support/service.ts'

const script = `console.log('${'a console '.repeat(200)}')\n`
const built = `<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__">
<meta name="sluice-root" content="__PUBLIC_PATH__" />
<script type="module" src="./assets/index-abc123.js" nonce="__CSP_NONCE__"></script>`
/** The page as it is sent under a path, with a nonce. */
const page = (
  nonce: string,
  root = '',
) => `<!doctype html><meta property="csp-nonce" nonce="${nonce}">
<meta name="sluice-root" content="${root}" />
<script type="module" src="${root}/console/assets/index-abc123.js" nonce="${nonce}"></script>`

let dir: string
let test: TestService

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-console-'))
  mkdirSync(join(dir, 'dist/assets'), { recursive: true })
  writeFileSync(join(dir, 'dist/index.html'), built)
  writeFileSync(join(dir, 'dist/assets/index-abc123.js'), script)
  writeFileSync(join(dir, 'dist/sluice.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  writeFileSync(join(dir, 'secret.txt'), 'not for you')
  test = await startTestService({ outside: { consoleDir: join(dir, 'dist') } })
})
afterAll(async () => {
  await test.prove()
  await test.close()
  rmSync(dir, { recursive: true })
})

/** The answer as it is, to a path as it is: neither normalised nor unpacked. */
function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const { hostname, port } = new URL(test.service.url)
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      request({ hostname, port, path, method, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
}

describe('the pages of the console', () => {
  it.each(['/console', '/console/', '/console/orders/1-abc?tab=raw', '/console/index.html'])(
    '%s is the page, never kept, with a nonce of its own',
    async (path) => {
      const [one, other] = [await get(path), await get(path)]
      expect(one.status).toBe(200)
      expect(one.headers['cache-control']).toBe('no-store')
      const policy = String(one.headers['content-security-policy'])
      const nonce = /'nonce-([\w+/=]{24})'/.exec(policy)?.[1] ?? ''
      expect(one.body.toString()).toBe(page(nonce))
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonce}'`,
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "frame-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
      ])
      expect(String(other.headers['content-security-policy'])).not.toContain(nonce)
    },
  )

  it('are under the path of PUBLIC_URL, whether a proxy keeps it or not', async () => {
    const under = await startTestService({
      beside: test,
      env: { PUBLIC_URL: 'https://pay.example/a&b$1/' },
      outside: { consoleDir: join(dir, 'dist') },
    })
    try {
      for (const path of ['/console/orders', '/a&b$1/console/orders']) {
        const shown = await fetch(under.service.url + path)
        const [, nonce = ''] =
          /nonce-([^']+)/.exec(String(shown.headers.get('content-security-policy'))) ?? []
        expect(await shown.text()).toBe(page(nonce, '/a&#38;b$1'))
      }
      const script = await fetch(`${under.service.url}/a&b$1/console/assets/index-abc123.js`)
      expect(script.status).toBe(200)
      const out = await fetch(`${under.service.url}/a&b$1/console/api/sign-out`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-sluice-console': '1',
          cookie: `__Host-${(await signIn(test, 'viewer')).cookie}`,
        },
        body: '{}',
      })
      // Over TLS no other host of the domain can plant the cookie, and the browser comes back over TLS alone.
      expect(out.headers.get('set-cookie')).toMatch(
        /^__Host-sluice_session=; Path=\/; Secure; HttpOnly; SameSite=Strict/,
      )
      expect(out.headers.get('strict-transport-security')).toBe('max-age=31536000')
    } finally {
      await under.close()
    }
  })

  it('a file whose name changes with its content is kept for ever, and sent as small as can be', async () => {
    const path = '/console/assets/index-abc123.js'
    const plain = await get(path)
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
    })
    expect(plain.body.toString()).toBe(script)
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.body).toString()).toBe(script)
    const gzipped = await get(path, { 'accept-encoding': 'gzip' })
    expect(gzipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(gzipped.body).toString()).toBe(script)
    expect((await get('/console/sluice.svg')).headers['cache-control']).toBe('max-age=3600')
  })

  it('a file that was not built is not there, and nothing outside can be reached', async () => {
    expect((await get('/console/assets/index-old.js')).status).toBe(404)
    for (const path of [
      '/console/../secret.txt',
      '/console/%2e%2e/secret.txt',
      '/console/..%2fsecret.txt',
      '/console/assets/../../secret.txt',
    ]) {
      const { body } = await get(path)
      expect(body.toString()).not.toContain('not for you')
    }
  })

  it('an address of the API that is not there is a problem, not a page', async () => {
    for (const method of ['GET', 'POST']) {
      const { status, headers } = await get('/console/api/no-such', {}, method)
      expect(status).toBe(404)
      expect(headers['content-type']).toMatch('application/problem+json')
    }
  })

  it('where nothing was built, the answer says how to', async () => {
    const without = await startTestService({
      beside: test,
      outside: { consoleDir: join(dir, 'nowhere') },
    })
    const answer = await fetch(`${without.service.url}/console`)
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain('npm run build')
    await without.close()
  })
})
